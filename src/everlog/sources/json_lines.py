"""JSON lines in Spark tasks: a fact per line, as an array or as an object.

An object's keys name the arguments: `a0`, `a1`, … in the order of their numbers, any other keys in the order of the first
line, and every line has the same ones. Values are strings, numbers and booleans. `5` is an integer, `5.0` a float.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from everlog.datalog.values import XSD, canonical_double
from everlog.sources.column_names import columns_of_width
from everlog.sources.csv_fields import string_text
from everlog.sources.line_blocks import Lines
from everlog.sources.null_policy import Nulls, null_reason
from everlog.sources.parsed_rows import Parsed, columns_of_terms
from everlog.wording import counted


class MalformedJson(ValueError):
    """A line that is no fact."""


@dataclass(frozen=True)
class JsonLines:
    """Parses arrays of this many values, and objects with these keys."""

    width: int
    keys: tuple[str, ...]
    nulls: Nulls = "error"
    picked: bool = False
    """Whether objects may have more keys, and no arrays are meant; a key that is missing is a null then."""

    def __call__(self, lines: Lines, mark: str) -> Parsed:
        records = ((row, line) for row, line in enumerate(lines.texts.to_pylist()) if line is not None)
        columns, mistakes = columns_of_terms(records, self._terms, self.width, MalformedJson)
        return columns, lines.not_utf8 + mistakes

    def _terms(self, line: str) -> list[str]:
        fact = load(line)
        if self.picked:
            if isinstance(fact, list):
                raise MalformedJson(f"an array, where an object with the keys {_listed(self.keys)} is expected")
            values = [fact.get(key) for key in self.keys]
        elif isinstance(fact, dict):
            if len(fact) != len(self.keys) or any(key not in fact for key in self.keys):
                raise MalformedJson(f"the keys {_listed(fact)}, where {_listed(self.keys)} are expected")
            values = [fact[key] for key in self.keys]
        else:
            values = fact
        if len(values) != self.width:
            raise MalformedJson(f"{counted(len(values), 'value')}, where {self.width} are expected")
        if None in values:
            if self.nulls != "empty":
                raise MalformedJson(null_reason(self.nulls, self._null(values.index(None))))
            values = ["" if value is None else value for value in values]
        return [_term(value, number) for number, value in enumerate(values)]

    def _null(self, place: int) -> str:
        return f"{self.keys[place]} is null, or not there" if self.picked else f"value {place + 1} is null"


def load(line: str) -> list[object] | dict[str, object]:
    """A line as a list or dict, or `MalformedJson`."""
    try:
        fact = json.loads(line, parse_constant=_no_constant)
    except json.JSONDecodeError as mistake:
        raise MalformedJson(f"column {mistake.colno}: not JSON: {mistake.msg}") from mistake
    except RecursionError as mistake:
        raise MalformedJson("nested too deeply") from mistake
    except ValueError as mistake:  # an integer with thousands of digits
        raise MalformedJson(str(mistake)) from mistake
    if isinstance(fact, list | dict):
        return fact
    raise MalformedJson(f"a fact is an array or an object, not {_kind(fact)}")


def keys_of(fact: list[object] | dict[str, object]) -> tuple[str, ...]:
    """The keys of objects in this file, given its first fact.

    >>> keys_of({"a1": 1, "a0": 2}), keys_of({"to": 1, "from": 2})
    (('a0', 'a1'), ('to', 'from'))
    """
    usual = columns_of_width(len(fact)) if fact else []
    if isinstance(fact, list) or set(fact) == set(usual):
        return tuple(usual)
    return tuple(fact)


def _no_constant(name: str) -> NoReturn:
    raise MalformedJson(f"{name} is not JSON")


def _term(value: object, number: int) -> str:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MalformedJson(f"value {number + 1} holds a lone surrogate, which is no character") from None
        return string_text(value)
    if isinstance(value, bool):
        return f'"{"true" if value else "false"}"^^<{XSD}boolean>'
    if isinstance(value, int):
        return f'"{value}"^^<{XSD}integer>'
    if isinstance(value, float):
        if math.isinf(value):
            raise MalformedJson(f"value {number + 1} is too large for a float")
        return f'"{canonical_double(value)}"^^<{XSD}double>'
    raise MalformedJson(f"value {number + 1} is {_kind(value)}; a fact holds strings, numbers and booleans")


def _kind(value: object) -> str:
    names = {type(None): "null", list: "an array", dict: "an object", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")


def _listed(keys: Sequence[str] | dict[str, object]) -> str:
    return ", ".join(sorted(keys)) or "none"
