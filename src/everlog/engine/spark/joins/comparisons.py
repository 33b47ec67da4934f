"""Comparisons of bindings, by the values that the dictionary's texts give (`datalog/comparing.py`).

A value that has an order gets a key, whose order is that of the values and in which values of different kinds are never
equal. Only the variables that are compared are looked up. For `=` and `!=` ids are enough, but for *twins*, ids whose
values are equal to those of others: most dictionaries have few, or none. `~` holds between names: IRIs, blank nodes and
strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from everlog.datalog.comparing import BOOLEAN, DATE, DECIMAL, DOUBLE, INTEGER, INTEGERS, TIME, YEAR, ZONE
from everlog.datalog.syntax import Operator
from everlog.datalog.values import XSD
from everlog.engine.spark.facts.runs import Run
from everlog.engine.spark.facts.sql_text import Table, broadcast, select

_KINDS: Final = ("number", "boolean", "dateTime", "date", "time", "string")
_INSTANTS: Final = ("dateTime", "dateTimeStamp")
_TYPES: Final = (*sorted(INTEGERS), "decimal", "double", "float", "boolean", *_INSTANTS, "date", "time")
_RANGE: Final = "9223372036854775808D"
"""From here on a double is larger than any integer; below its negative, smaller."""

# A number is its whole part, towards zero, and the rest, which a double gives exactly; one that is larger or smaller than
# all integers comes after or before them.
_KEY: Final = f"""named_struct(
  'kind', kind,
  'beyond', CASE WHEN d >= {_RANGE} THEN 1 WHEN d < -{_RANGE} THEN -1 ELSE 0 END,
  'whole', coalesce(i, CASE WHEN d < {_RANGE} AND d >= -{_RANGE} THEN bigint(d) END, 0L),
  'rest', coalesce(CASE WHEN d < {_RANGE} AND d >= -{_RANGE} THEN d - double(bigint(d)) ELSE d END, 0D) + 0D,
  'text', coalesce(s, ''))"""


@dataclass(frozen=True)
class Twins:
    """The ids whose values are equal to those of others, each with the least of these: on the driver, or in Spark."""

    local: Mapping[int, int] | None = None
    run: Run | None = None

    def __len__(self) -> int:
        return len(self.local or ()) if self.run is None else self.run.rows

    def table(self) -> Table | None:
        """A table `(id, least)`, or None if there are no twins."""
        if self.run is not None:
            return self.run.view()
        pairs = ", ".join(f"({id}L, {least}L)" for id, least in (self.local or {}).items())
        return f"(SELECT * FROM VALUES {pairs} AS t(id, least))" if pairs else None


NO_TWINS: Final = Twins()


def comparable(terms: Table) -> str:
    """A query for what is compared by value among terms `(id, term)`: ids, and keys `k`."""
    return f"SELECT id, {_KEY} AS k FROM ({_typed(terms)} UNION ALL {_strings(terms)})"


def twin(terms: Table) -> str:
    """A query for the ids of terms `(id, term)` whose values are equal to others', with the least of these."""
    keyed = f"(SELECT id, min(id) OVER (PARTITION BY {_KEY}) AS least FROM ({_typed(terms)}))"
    return f"SELECT id, least FROM {keyed} WHERE id <> least"


def nameable(terms: Table) -> str:
    """A query for the names among terms `(id, term)`; of literals only strings have no more behind their last quote."""
    return f"""SELECT id FROM {terms} WHERE NOT startswith(term, '"') OR endswith(term, '"')"""


def _strings(terms: Table) -> str:
    # An N-Triples string without a datatype is a JSON string, but for eight-digit escapes, which no writer makes.
    unescaped = "from_json(concat('{\"s\":', term, '}'), 's string', map('allowUnquotedControlChars', 'true')).s"
    return f"""SELECT id, {_KINDS.index("string")} AS kind, bigint(NULL) AS i, double(NULL) AS d,
  CASE WHEN contains(term, r'\') THEN {unescaped} ELSE substring(term, 2, length(term) - 2) END AS s
FROM {terms} WHERE startswith(term, '"') AND endswith(term, '"')"""


def _typed(terms: Table) -> str:
    """Numbers, booleans, instants, dates and times, as integers or doubles."""
    form = rf'^"([^"]*)"\\^\\^<{XSD}({"|".join(_TYPES)})>$'.replace("\\\\", "\\")
    read = f"""SELECT id, regexp_extract(term, r'{form}', 1) AS t, regexp_extract(term, r'{form}', 2) AS n
FROM {terms} WHERE endswith(term, '>') AND startswith(term, '"')"""
    integers = ", ".join(f"'{name}'" for name in sorted(INTEGERS))
    whole = "try_cast(regexp_extract(t, r'^([^.]*)', 1) AS bigint)"
    day = f"unix_date(try_cast(regexp_extract(t, r'^{DATE}', 0) AS date)) * 86400000000L"
    has_day = f"length(regexp_extract(t, r'^{DATE}', 1)) <= {YEAR}"
    instants = ", ".join(f"'{name}'" for name in _INSTANTS)
    return f"""SELECT id, kind, i, CASE WHEN i IS NULL THEN d END AS d, string(NULL) AS s FROM (
  SELECT id,
    CASE n WHEN 'boolean' THEN 1 WHEN 'dateTime' THEN 2 WHEN 'dateTimeStamp' THEN 2 WHEN 'date' THEN 3 WHEN 'time' THEN 4
      ELSE 0 END AS kind,
    CASE
      WHEN n IN ({integers}) AND t RLIKE r'^(?:{INTEGER})$' THEN {whole}
      WHEN n = 'decimal' AND t RLIKE r'^(?:{DECIMAL})$' AND t RLIKE r'^[^.]+([.]0*)?$' THEN {whole}
      WHEN n = 'decimal' AND t RLIKE r'^[+-]?[.]0+$' THEN 0L
      WHEN n = 'boolean' AND t RLIKE r'^(?:{BOOLEAN})$' THEN bigint(t IN ('true', '1'))
      WHEN n IN ({instants}) AND t RLIKE r'^(?:{DATE}T{TIME}{ZONE})$' AND {has_day} THEN {day} + {_of_day(f"{DATE}T", 4)}
      WHEN n = 'date' AND t RLIKE r'^(?:{DATE}{ZONE})$' AND {has_day} THEN {day} - {_offset(DATE, 4)}
      WHEN n = 'time' AND t RLIKE r'^(?:{TIME}{ZONE})$' THEN {_of_day("", 1, "24")}
    END AS i,
    CASE
      WHEN n IN ('double', 'float') AND t IN ('INF', '+INF') THEN double('Infinity')
      WHEN n IN ('double', 'float') AND t = '-INF' THEN double('-Infinity')
      WHEN n IN ('double', 'float') AND t <> 'NaN' AND t RLIKE r'^(?:{DOUBLE})$' THEN try_cast(t AS double)
      WHEN n = 'decimal' AND t RLIKE r'^(?:{DECIMAL})$' THEN try_cast(t AS double)
      WHEN n IN ({integers}) AND t RLIKE r'^(?:{INTEGER})$' THEN try_cast(t AS double)
    END AS d
  FROM ({read}) WHERE n <> ''
) WHERE i IS NOT NULL OR d IS NOT NULL"""


def _of_day(before: str, first: int, midnight: str = "") -> str:
    """The microseconds of the time of day, in UTC, of a text `t`, whose groups begin with `first`."""

    def group(number: int) -> str:
        return f"regexp_extract(t, r'^{before}{TIME}{ZONE}$', {first + number})"

    hour = f"bigint({group(0)})"
    if midnight:
        hour = f"({hour} % {midnight})"
    whole = f"({hour} * 60 + bigint({group(1)})) * 60000000L + bigint({group(2)}) * 1000000L"
    return f"{whole} + bigint(rpad({group(3)}, 6, '0')) - {_offset(before + TIME, first + 4)}"


def _offset(before: str, number: int) -> str:
    """The microseconds by which the zone at the end of a text `t` is ahead of UTC."""
    zone = f"regexp_extract(t, r'^{before}{ZONE}$', {number})"
    minutes = f"(bigint(substring({zone}, 2, 2)) * 60 + bigint(substring({zone}, 5, 2)))"
    signed = f"CASE WHEN startswith({zone}, '-') THEN -{minutes} ELSE {minutes} END"
    return f"(CASE WHEN length({zone}) < 6 THEN 0L ELSE {signed} END * 60000000L)"


def compared(rows: Table, operator: Operator, left: str, right: str, values: Table, at_most: int | None) -> Table:
    """The rows `l` for which a comparison of two ids holds, given a table of keys, or of names for `~`."""
    hint = broadcast("l", at_most)
    if operator == "~":
        for name in (left, right):
            rows = select(["l.*"], f"{values} x JOIN {rows} l ON x.id = {name}", hint=hint)
        return rows
    first = select(["l.*", "x.k AS xk"], f"{values} x JOIN {rows} l ON x.id = {left}", hint=hint)
    joined = f"{values} y JOIN {first} l ON y.id = {right}"
    found = select(["l.*"], joined, ["l.xk.kind = y.k.kind", f"l.xk {operator} y.k"], hint=hint)
    return select(["l.* EXCEPT (xk)"], f"{found} l")


def equal(rows: Table, operator: Operator, left: str, right: str, twins: Twins) -> Table:
    """The rows `l` for which `=` or `!=` holds between two ids."""
    table = twins.table()
    if table is None:
        return select(["l.*"], f"{rows} l", [f"{left} {operator} {right}"])
    joined = f"{rows} l LEFT JOIN {table} x ON x.id = {left} LEFT JOIN {table} y ON y.id = {right}"
    condition = f"coalesce(x.least, {left}) {operator} coalesce(y.least, {right})"
    return select(["l.*"], joined, [condition], hint=broadcast("x, y", len(twins)))
