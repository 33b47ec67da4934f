"""Best facts that follow by steps, on the driver: the loops of the memory engine settle them in the order of their values.

In rounds of jobs every round would meet all steps again, and there are as many rounds as the longest way has steps. The
loops know groups by numbers and do not ask what they mean; values are those that the driver knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.syntax import Extreme
from everlog.engine.group_numbers import distinct_numbers
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.settled_facts import settled
from everlog.engine.memory.settled_forest import SettledForest
from everlog.engine.memory.step_lists import Ends
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.engine.spark.facts.driver_terms import DriverTerms

Wide = NDArray[np.int64]
"""Ids of the Spark engine."""

_DENSE: Final = 8
"""Ids from a range up to so many times as large as they are many are told apart by an array with a place for each."""


class Moves(NamedTuple):
    """Steps as columns: where they start, where they end, and the values that they add, if they add any."""

    start: Wide
    end: Wide
    added: Wide | None


class DriverForest:
    """Best values of groups, the steps between these, and where each value comes from.

    In the dictionary here a group is the integer that is its id, and a value is itself. It does no harm that a group and a
    value may be the same: one is looked up by its place, the other by its meaning.
    """

    def __init__(self, terms: DriverTerms) -> None:
        self._terms, self._dictionary = terms, Dictionary()
        self._forest: SettledForest | None = None

    def settle(
        self, extreme: Extreme, groups: Wide, values: Wide, moves: Sequence[Moves], symmetric: bool
    ) -> tuple[Wide, Wide] | None:
        """The groups that moves lead to from given ones, and their best values; None if these are not found in order."""
        given, *ends = self._nodes(groups, *(column for move in moves for column in move[:2]))
        steps = [Ends(ends[2 * at], ends[2 * at + 1], self._added(move)) for at, move in enumerate(moves)]
        found = settled(self._dictionary, extreme, given, self._values(values), steps)
        if found is None:
            return None
        self._forest = SettledForest(self._dictionary, found, symmetric)
        nodes, best = self._forest.values()
        return self._groups(nodes), self._ids(best)

    def lost(self, gone: Sequence[Moves], groups: Wide) -> Wide | None:
        """The groups that lose their values with some moves, or that were given others; as of `SettledForest`."""
        assert self._forest is not None, "which has settled values"
        (nodes,) = self._nodes(groups)
        lost = self._forest.lost([self._ends(move) for move in gone], nodes)
        return None if lost is None else self._groups(lost)

    def resettled(self, groups: Wide, values: Wide, come: Sequence[Moves]) -> tuple[Wide, Wide, Wide] | None:
        """Groups, and the values that they had and have, -1 for none; as of `SettledForest`."""
        assert self._forest is not None, "which has settled values"
        (nodes,), steps = self._nodes(groups), [self._ends(move) for move in come]
        found = self._forest.resettled(nodes, self._values(values), steps)
        if found is None:
            return None
        return self._groups(found.groups), self._ids(found.old), self._ids(found.new)

    def nbytes(self) -> int:
        """The memory in use."""
        return 0 if self._forest is None else self._forest.nbytes()

    def _ends(self, move: Moves) -> Ends:
        start, end = self._nodes(move.start, move.end)
        return Ends(start, end, self._added(move))

    def _added(self, move: Moves) -> Ids:
        return np.empty(0, np.int32) if move.added is None else self._values(move.added)

    def _nodes(self, *groups: Wide) -> list[Ids]:
        return _translated(groups, lambda distinct: self._dictionary.encode_column(pa.array(distinct)))

    def _values(self, ids: Wide) -> Ids:
        (found,) = _translated([ids], lambda some: ids_of_column(self._dictionary, self._terms.column(some))[0])
        return found

    def _groups(self, nodes: Ids) -> Wide:
        return self._dictionary.numbers(nodes) if len(nodes) else np.empty(0, np.int64)

    def _ids(self, values: Ids) -> Wide:
        """Values as the Spark engine knows them; -1 stays what it is."""
        found, known = np.full(len(values), -1, np.int64), values >= 0
        if known.any():
            found[known], _ = self._terms.ids(column_of_ids(self._dictionary, values[known]))
        return found


def _translated(columns: Sequence[Wide], translate: Callable[[Wide], Ids]) -> list[Ids]:
    """What the ids of some columns are translated to, each distinct one once; a column may be there several times."""
    apart = {id(column): column for column in columns}
    some = [column for column in apart.values() if len(column)]
    least = min((int(column.min()) for column in some), default=0)
    size = max((int(column.max()) for column in some), default=-1) + 1 - least
    if size > _DENSE * sum(map(len, some)):
        distinct = distinct_numbers(np.concatenate(some))
        table = translate(distinct)
        found = {key: table[np.searchsorted(distinct, column)] for key, column in apart.items()}
    else:
        table = np.zeros(size, np.int32)
        for column in some:
            table[column - least] = 1
        places = np.flatnonzero(table)
        table[places] = translate(places + least)
        found = {key: table[column - least] for key, column in apart.items()}
    return [found[id(column)] for column in columns]
