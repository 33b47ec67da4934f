"""Results that are remembered together with the sets they were computed from."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

from everlog.engine.algebra import FactSet

T = TypeVar("T")


class Recent(Generic[T]):
    """The latest results, at most so many: an update asks about the same sets, told apart by identity, several times."""

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._results: list[tuple[tuple[FactSet, ...], T]] = []

    def known(self, *sets: FactSet) -> T | None:
        """The result for some sets, if it is remembered."""
        return next((result for others, result in self._results if all(map(is_, sets, others))), None)

    def of(self, compute: Callable[[], T], *sets: FactSet) -> T:
        """The result for some sets, computed unless it is remembered."""
        found = self.known(*sets)
        if found is None:
            found = compute()
            self._results = [(sets, found), *self._results[: self._most - 1]]
        return found
