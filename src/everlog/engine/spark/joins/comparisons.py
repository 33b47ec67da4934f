"""Comparisons of bindings. `=` and `!=` compare ids; the others need values, which the dictionary's texts give.

`~` holds between names: IRIs, blank nodes and strings. Numbers are ordered by value, an int and a float exactly; strings
by code point, which is the order of their UTF-8 bytes; everything else is in no order. Only the variables that are compared
are looked up, and only what can be compared is found.
"""

from __future__ import annotations

from types import UnionType
from typing import Final

from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.syntax import Operator
from everlog.datalog.values import XSD, Value
from everlog.engine.spark.facts.sql_text import Table, broadcast, select

_INTEGER: Final = f'"^^<{XSD}integer>'
_DOUBLE: Final = f'"^^<{XSD}double>'


def comparable(terms: Table) -> str:
    """A query for the numbers and strings among terms `(id, term)`, each in the column of its kind."""

    def lexical(suffix: str) -> str:
        return f"substring(term, 2, length(term) - {len(suffix) + 1})"

    number = lexical(_DOUBLE)
    # An N-Triples string without a datatype is a JSON string, but for eight-digit escapes, which no writer makes.
    unescaped = "from_json(concat('{\"s\":', term, '}'), 's string', map('allowUnquotedControlChars', 'true')).s"
    plain = "startswith(term, '\"') AND endswith(term, '\"')"
    return f"""SELECT id,
  CASE WHEN endswith(term, '{_INTEGER}') THEN try_cast({lexical(_INTEGER)} AS bigint) END AS i,
  CASE WHEN NOT endswith(term, '{_DOUBLE}') OR {number} = 'NaN' THEN NULL WHEN {number} = 'INF' THEN double('Infinity')
    WHEN {number} = '-INF' THEN double('-Infinity') ELSE try_cast({number} AS double) END AS d,
  CASE WHEN NOT ({plain}) THEN NULL WHEN contains(term, r'\\') THEN {unescaped}
    ELSE substring(term, 2, length(term) - 2) END AS s
FROM {terms} WHERE ({plain}) OR endswith(term, '{_INTEGER}') OR endswith(term, '{_DOUBLE}')"""


def nameable(terms: Table) -> str:
    """A query for the names among terms `(id, term)`; of literals only strings have no more behind their last quote."""
    return f"""SELECT id FROM {terms} WHERE NOT startswith(term, '"') OR endswith(term, '"')"""


def compared(
    rows: Table, operator: Operator, left: str, right: str, values: Table | None, at_most: int | None
) -> Table:
    """The rows `l` for which a comparison of two ids holds, given a table of values or names where it needs one."""
    if values is None:
        return select(["l.*"], f"{rows} l", [f"{left} {operator} {right}"])
    hint = broadcast("l", at_most)
    if operator == "~":
        for name in (left, right):
            rows = select(["l.*"], f"{values} x JOIN {rows} l ON x.id = {name}", hint=hint)
        return rows
    if operator in (">", ">="):
        left, right = right, left
    first = select(
        ["l.*", "x.i AS xi", "x.d AS xd", "x.s AS xs"],
        f"{values} x JOIN {rows} l ON x.id = {left}",
        hint=hint,
    )
    joined = f"{values} y JOIN {first} l ON y.id = {right}"
    found = select(["l.*"], joined, [_is_less("<=" if operator in ("<=", ">=") else "<")], hint=hint)
    return select(["l.* EXCEPT (xi, xd, xs)"], f"{found} l")


def _is_less(sign: str) -> str:
    """Whether the value x is less than y, or equal to it; null is no."""
    # An integer i and a double d: i < d exactly if i < ⌈d⌉, i ≤ d if i ≤ ⌊d⌋, d < i if ⌊d⌋ < i, d ≤ i if ⌈d⌉ ≤ i.
    up, down = ("floor", "ceil") if sign == "<=" else ("ceil", "floor")
    large, small = "9223372036854775808D", "-9223372036854775808D"
    return f"""CASE
  WHEN l.xi IS NOT NULL AND y.i IS NOT NULL THEN l.xi {sign} y.i
  WHEN l.xd IS NOT NULL AND y.d IS NOT NULL THEN l.xd {sign} y.d
  WHEN l.xi IS NOT NULL AND y.d IS NOT NULL THEN y.d >= {large} OR (y.d >= {small} AND l.xi {sign} {up}(y.d))
  WHEN l.xd IS NOT NULL AND y.i IS NOT NULL THEN l.xd < {small} OR (l.xd < {large} AND {down}(l.xd) {sign} y.i)
  ELSE l.xs {sign} y.s END"""


def holds(operator: Operator, x: Value, y: Value) -> bool:
    """Whether a comparison of two values on the driver holds, for all operators but `=` and `!=`."""
    if operator == "~":
        return all(isinstance(one, str | NamedNode | BlankNode) for one in (x, y))
    if operator in (">", ">="):
        x, y = y, x
    kind: type | UnionType = str if isinstance(x, str) else int | float
    # Python takes true and false to be numbers; it compares an int with a float exactly.
    if isinstance(x, bool) or isinstance(y, bool) or not (isinstance(x, kind) and isinstance(y, kind)):
        return False
    return bool(x <= y if operator in ("<=", ">=") else x < y)  # type: ignore[operator]
