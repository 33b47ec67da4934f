"""What the values of a column `op` mean: that a row comes, that it goes, or both, as an update of a row says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast, get_args

from everlog.errors import EverlogError

Meaning: TypeAlias = Literal["insert", "delete"]

_NAMES: Final[Mapping[str, Meaning]] = {
    "insert": "insert",
    "i": "insert",
    "+i": "insert",
    "+": "insert",
    "c": "insert",
    "r": "insert",
    "+u": "insert",
    "update_postimage": "insert",
    "delete": "delete",
    "d": "delete",
    "-d": "delete",
    "-": "delete",
    "-u": "delete",
    "update_preimage": "delete",
}
"""Ours, those of changelogs with signs, what Debezium says of new rows, and Delta's."""


@dataclass(frozen=True)
class Operations:
    """Names of operations, in small letters."""

    names: Mapping[str, Meaning] = field(default_factory=lambda: _NAMES)

    def with_names(self, more: Mapping[str, str]) -> Operations:
        """With names of one's own, which go before the others."""
        for name, meaning in more.items():
            if meaning not in get_args(Meaning):
                raise EverlogError(f"the operation {name} means {meaning!r}; choose one of: insert, delete")
        known = cast(Mapping[str, Meaning], more)
        return Operations({**self.names, **{name.lower(): meaning for name, meaning in known.items()}})

    def meaning(self, name: str | None) -> Meaning | None:
        """What a value says; None if nobody knows."""
        return None if name is None else self.names.get(str(name).strip().lower())


INSERTS_AND_DELETES: Final = Operations()
