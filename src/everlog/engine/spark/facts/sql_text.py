"""Queries as text. A round's plan is one query, so that Spark analyses it once; DataFrame calls would, each time, anew.

A *table* is what may stand behind `FROM`: the name of a view, or a query in brackets. *Keys* say which fact a row asks
for: the relation and the arguments, each an expression over the row (`l.v0`) or an id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.fact_schema import PADDING

Table: TypeAlias = str
Keys: TypeAlias = Sequence[str | int]

_ANY_NUMBER: Final = 1_000_000
"""More partitions than there are."""
_NO_ID: Final = -2
"""No column holds this."""


DISTINCT: Final = "(SELECT DISTINCT * FROM {rows})"
"""The rows that a job is given apart from its query, each once."""


def select(columns: Iterable[str], tables: str, conditions: Iterable[str] = (), hint: str = "") -> Table:
    """A query over some tables."""
    where = " AND ".join(conditions)
    hinted = f"/*+ {hint} */ " if hint else ""
    return f"(SELECT {hinted}{', '.join(columns)} FROM {tables}{f' WHERE {where}' if where else ''})"


def union(tables: Sequence[Table], tasks: int = _ANY_NUMBER) -> Table:
    """All rows of some tables with the same columns, read by at most so many tasks.

    Spark takes a union for partitioned as its parts are, if these are partitioned alike, and plans without moving rows what
    is above it. Then it finds shuffles that it has twice, has one take the place of the other, and if that is one of a
    part, it does not see any more that the parts are alike, and puts their partitions one after the other: joins above
    fail, and rows that are to be told apart are not brought together. So it is told that nothing is known: the hint asks
    for at most so many partitions, of which a task may then have several.
    """
    together = partitioned_union(tables)
    return together if len(tables) == 1 else select(["*"], together, hint=f"COALESCE({tasks})")


def partitioned_union(tables: Sequence[Table]) -> Table:
    """All rows of some tables, partitioned as these are: where there is no shuffle in any, or nothing above the union."""
    return tables[0] if len(tables) == 1 else f"({' UNION ALL '.join(f'SELECT * FROM {table}' for table in tables)})"


def broadcast(aliases: str, facts: int | None) -> str:
    """The hint to broadcast tables that come from so many facts (None: nobody knows); no hint where they are many."""
    return f"BROADCAST({aliases})" if facts is not None and facts <= tuning.BROADCAST_JOIN_FACTS else ""


def fact_columns(keys: Keys, width: int) -> list[str]:
    """The columns of the facts that rows ask for, padded."""
    return [f"{key} AS {name}" for key, name in zip(padded(keys, width), fact_schema.columns(width), strict=True)]


def padded(keys: Keys, width: int) -> list[str]:
    """Keys as expressions for all columns of a fact."""
    return [_text(key) for key in [*keys, *[PADDING] * (width + 1 - len(keys))]]


def own_keys(width: int) -> list[str]:
    """The keys of rows that are facts themselves: all their columns."""
    return [f"l.{name}" for name in fact_schema.columns(width)]


# Which rows name a fact of a set, and which do not
#
# A small set is broadcast. A large one is partitioned by its columns already: the rows that ask are moved to it, kept in a
# hash table, and the set streams past them. Spark builds such a table for an outer or inner join on either side, for semi-
# and anti-joins on the right alone; so an outer join it is, with the rows that found nothing.


def present(rows: Table, keys: Keys, sought: Table, size: int, at_most: int | None, width: int) -> Table:
    """The rows whose keys are among `size` facts or fewer; the rows are at most `at_most` (None: nobody knows)."""
    return _looked_up("SEMI", rows, keys, sought, size, at_most, width)


def absent(rows: Table, keys: Keys, sought: Table, size: int, at_most: int | None, width: int) -> Table:
    """The rows whose keys are not among some facts."""
    return _looked_up("ANTI", rows, keys, sought, size, at_most, width)


def _looked_up(kind: str, rows: Table, keys: Keys, sought: Table, size: int, at_most: int | None, width: int) -> Table:
    if size <= tuning.BROADCAST_LOOK_UP_FACTS:
        return select(["l.*"], f"{rows} l LEFT {kind} JOIN {sought} s ON {same(keys)}", hint="BROADCAST(s)")
    everywhere = _same_everywhere(keys, width)
    if at_most is not None and at_most > tuning.HASHED_ROWS:
        return select(["l.*"], f"{rows} l LEFT {kind} JOIN {sought} s ON {everywhere}")
    if kind == "SEMI":
        return select(["l.*"], f"{rows} l JOIN {sought} s ON {everywhere}", hint="SHUFFLE_HASH(l)")
    joined = f"{rows} l LEFT JOIN {select(['*', 'true AS known'], sought)} s ON {everywhere}"
    return select(["l.*"], joined, ["s.known IS NULL"], hint="SHUFFLE_HASH(l)")


def any_present(rows: Table, asked: Sequence[tuple[Keys, Table, int]]) -> Table:
    """The rows that have keys among the facts that these are looked up in, given with their number."""
    joins, small = f"{rows} l", []
    for number, (keys, sought, size) in enumerate(asked):
        known = select(["*", "true AS known"], sought)
        joins += f" LEFT JOIN {known} s{number} ON {same(keys, f's{number}')}"
        if size <= tuning.BROADCAST_LOOK_UP_FACTS:
            small.append(f"s{number}")
    found = ", ".join(f"s{number}.known" for number in range(len(asked)))
    return select(["l.*"], joins, [f"coalesce({found}, false)"], hint=f"BROADCAST({', '.join(small)})" if small else "")


def same(keys: Keys, alias: str = "s") -> str:
    """The SQL condition that the keys of a row are the columns of a fact."""
    names = fact_schema.columns(len(keys) - 1)
    return " AND ".join(f"{_text(key)} = {alias}.{name}" for key, name in zip(keys, names, strict=True))


def _same_everywhere(keys: Keys, width: int) -> str:
    """Equality in all columns, also in padding, since a set is partitioned by all of them.

    Of a column that is compared with a constant the optimiser makes a filter, and the join has a key less than the
    partitioning; so constants are made to look as if they depended on the row.
    """
    column = next((key for key in keys if isinstance(key, str)), None)
    if column is None:
        return same(keys)
    everywhere = [*keys, *[PADDING] * (width + 1 - len(keys))]
    return same([key if isinstance(key, str) else f"if({column} = {_NO_ID}L, {_NO_ID}L, {key}L)" for key in everywhere])


def _text(key: str | int) -> str:
    return key if isinstance(key, str) else f"{key}L"
