"""What a query may take: time, solutions of one operator, and the memory that these need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from everlog import clock
from everlog.errors import EverlogError
from everlog.sparql.solutions import Solutions

_ID: Final = 8
"""Bytes of a term in a column of solutions."""


class QueryTooLarge(EverlogError):
    """A query that was given up, since it took more than it was allowed."""


@dataclass
class Limits:
    """None is no limit; `memory` is in bytes."""

    seconds: float | None = None
    rows: int | None = None
    memory: int | None = None
    begun: float = field(default_factory=clock.now)

    def check(self, found: Solutions) -> None:
        """Gives the query up if its time is over, or if some solutions are too many."""
        self.check_rows(len(found.columns), found.length)

    def of_columns(self, columns: int) -> Callable[[int], None]:
        """Looks at numbers of solutions that have so many columns, before they are made."""
        return partial(self.check_rows, columns)

    def check_rows(self, columns: int, rows: int) -> None:
        """The same for so many solutions with so many columns."""
        if self.rows is not None and rows > self.rows:
            raise QueryTooLarge(
                f"the query was given up: it has more than {self.rows:,} solutions on the way (rows); "
                "ask for less, or allow more"
            )
        if self.memory is not None and rows * columns * _ID > self.memory:
            raise QueryTooLarge(
                f"the query was given up: {rows:,} solutions on its way need more than {self.memory:,} bytes (memory); "
                "ask for less, or allow more"
            )
        if self.seconds is not None and clock.now() - self.begun > self.seconds:
            raise QueryTooLarge(
                f"the query was given up after {self.seconds:g} seconds (seconds); ask for less, or allow more"
            )
