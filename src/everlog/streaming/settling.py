"""The last word about each fact: rows of a batch that speak of the same fact are settled before it is applied.

A row says that a fact is there, or that it is gone. Rows count in the order of a column, and where that is the same, or
there is none, in the order in which they came; sources of one predicate come one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from everlog.errors import EverlogError
from everlog.sources.problems import Problem

ORDER: Final = "order"
_GONE, _PLACE = "gone", "place"


@dataclass(frozen=True)
class Words:
    """Rows about facts of a predicate: their arguments as N-Triples texts, which of them are gone, and their order.

    Facts without arguments have a column of their own, so that they can be counted.
    """

    predicate: str
    columns: Sequence[pa.Array]
    gone: pa.Array
    order: pa.Array | None = None
    is_nullary: bool = False

    def __len__(self) -> int:
        return len(self.gone)


@dataclass
class Heard:
    """What a batch says, and what in it says nothing."""

    words: list[Words] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rows: int = 0
    """How many rows there were, malformed ones included."""
    left_out: int = 0
    """Rows that were left out for a null, as was asked for."""
    late: int = 0
    """Facts about which an earlier batch has said something later."""

    def add(self, other: Heard) -> None:
        """With what another part of the batch says."""
        self.words += other.words
        self.problems += other.problems
        self.rows += other.rows
        self.left_out += other.left_out


@dataclass(frozen=True)
class Settled:
    """The facts of a predicate that are there after a batch, and those that are gone."""

    added: pa.Table | list[tuple[()]]
    deleted: pa.Table | list[tuple[()]]


Fresh: TypeAlias = Callable[[str, pa.Table], pa.Table]
"""Leaves out words that come late, given a predicate and the last words about its facts (`late_words.py`)."""


def settled(words: Sequence[Words], fresh: Fresh | None = None) -> dict[str, Settled]:
    """The last word about each fact, by predicate."""
    by_predicate: dict[str, list[Words]] = {}
    for some in words:
        if len(some):
            by_predicate.setdefault(some.predicate, []).append(some)
    return {predicate: _settled(predicate, some, fresh) for predicate, some in by_predicate.items()}


def _settled(predicate: str, words: Sequence[Words], fresh: Fresh | None) -> Settled:
    names = [f"a{place}" for place in range(len(words[0].columns))]
    orders = {None if some.order is None else some.order.type for some in words}
    if len(orders) > 1 or any(len(some.columns) != len(names) for some in words):
        raise EverlogError(
            f"sources of {predicate} do not fit together: "
            + ("they have different numbers of columns" if len(orders) == 1 else "their orders are of different types")
        )
    table = pa.concat_tables([_table(some, names) for some in words])
    has_order = ORDER in table.column_names
    if pc.any(table.column(_GONE)).as_py() or (fresh is not None and has_order):
        table = _last_words(table, names, has_order)
        table = fresh(predicate, table) if fresh is not None and has_order else table
    # Else there is nothing to settle, and sets do not mind that something is said twice.
    gone = table.column(_GONE)
    added, deleted = table.filter(pc.invert(gone)).select(names), table.filter(gone).select(names)
    if words[0].is_nullary:
        return Settled([()] * min(1, added.num_rows), [()] * min(1, deleted.num_rows))
    return Settled(added, deleted)


def _last_words(table: pa.Table, names: Sequence[str], has_order: bool) -> pa.Table:
    """One row for each fact: the last one."""
    if has_order:
        table = table.append_column(_PLACE, pa.array(range(table.num_rows), pa.int64()))
        table = table.sort_by([(ORDER, "ascending"), (_PLACE, "ascending")])
    kept = [_GONE, ORDER] if has_order else [_GONE]
    found = table.group_by(names, use_threads=False).aggregate([(name, "last") for name in kept])
    return found.rename_columns([name.removesuffix("_last") for name in found.column_names])


def _table(words: Words, names: Sequence[str]) -> pa.Table:
    columns = dict(zip(names, map(_plain, words.columns), strict=True))
    order = {} if words.order is None else {ORDER: words.order}
    return pa.table({**columns, _GONE: words.gone, **order})


def _plain(texts: pa.Array) -> pa.Array:
    """Texts of one type, without a dictionary."""
    return (
        texts.dictionary_decode().cast(pa.string())
        if isinstance(texts, pa.DictionaryArray)
        else texts.cast(pa.string())
    )
