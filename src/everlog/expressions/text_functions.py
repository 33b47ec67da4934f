"""SPARQL's functions on strings, one by one.

An argument is a string with or without a language, and the result has the language of the first one. Two arguments go
together if the second has no language, or the same. Positions count characters from 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, TypeAlias
from urllib.parse import quote

from pyoxigraph import Literal

from everlog.datalog.values import Value
from everlog.expressions.numbers import number

Text: TypeAlias = str | Literal
"""A string, or one with a language."""


def text(value: Value) -> str | None:
    """What a string says, with or without a language; None of other values."""
    if isinstance(value, str):
        return value
    return value.value if isinstance(value, Literal) and value.language is not None else None


def like(source: Value, said: str) -> Text:
    """A string in the language of another one."""
    if not isinstance(source, Literal):
        return said
    return Literal(said, language=source.language, direction=source.direction)


def length(value: Value) -> int | None:
    said = text(value)
    return None if said is None else len(said)


def _mapped(change: Callable[[str], str]) -> Callable[[Value], Value | None]:
    def changed(value: Value) -> Value | None:
        said = text(value)
        return None if said is None else like(value, change(said))

    return changed


upper: Final = _mapped(str.upper)
lower: Final = _mapped(str.lower)


def concatenate(*values: Value) -> Value | None:
    """All strings in a row; in a language, if all are in that one."""
    said = [text(value) for value in values]
    if None in said:
        return None
    joined = "".join(one for one in said if one is not None)
    alike = {(value.language, value.direction) if isinstance(value, Literal) else None for value in values}
    return like(values[0], joined) if len(alike) == 1 else joined


def substring(source: Value, start: Value, count: Value | None = None) -> Value | None:
    """The characters from a position on, so many or all."""
    said, first = text(source), number(start)
    if said is None or not isinstance(first, int):
        return None
    if count is None:
        return like(source, said[max(first - 1, 0) :])
    characters = number(count)
    if not isinstance(characters, int):
        return None
    return like(source, said[max(first - 1, 0) : max(first - 1 + characters, 0)])


def _of_two(compute: Callable[[Value, str, str], Value]) -> Callable[[Value, Value], Value | None]:
    def computed(value: Value, part: Value) -> Value | None:
        said, sought = text(value), text(part)
        if said is None or sought is None or not _go_together(value, part):
            return None
        return compute(value, said, sought)

    return computed


def _go_together(value: Value, part: Value) -> bool:
    if not isinstance(part, Literal):
        return True
    return isinstance(value, Literal) and (value.language, value.direction) == (part.language, part.direction)


def _before(value: Value, said: str, sought: str) -> Value:
    found = said.find(sought)
    return "" if found < 0 else like(value, said[:found])


def _after(value: Value, said: str, sought: str) -> Value:
    found = said.find(sought)
    return "" if found < 0 else like(value, said[found + len(sought) :])


contains: Final = _of_two(lambda _, said, sought: sought in said)
starts: Final = _of_two(lambda _, said, sought: said.startswith(sought))
ends: Final = _of_two(lambda _, said, sought: said.endswith(sought))
before: Final = _of_two(_before)
after: Final = _of_two(_after)


def encoded(value: Value) -> Value | None:
    """A string as a part of an IRI, with all characters percent-encoded that are not its own there."""
    said = text(value)
    return None if said is None else quote(said, safe="")


def hashed(algorithm: str) -> Callable[[Value], Value | None]:
    """The function that hashes a string without a language."""

    def digest(value: Value) -> Value | None:
        return (
            hashlib.new(algorithm, value.encode(), usedforsecurity=False).hexdigest()
            if isinstance(value, str)
            else None
        )

    return digest
