"""Values on the driver: those of the ids that rules compare or compute with there, in a dictionary of the driver's own.

What was asked once is remembered, as no id ever means another value. Where very much is, it is forgotten again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.values import Value
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.engine.spark import tuning
from everlog.expressions.columns import Column

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine


class DriverTerms:
    """Values by the ids of an engine, and the other way round."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self._forget()

    def _forget(self) -> None:
        self._dictionary = Dictionary()
        self._here: dict[int, int] = {}
        """The engine's ids, with those of the driver's dictionary."""
        self._there: dict[int, int] = {}

    def values(self, ids: Iterable[int]) -> Mapping[int, Value]:
        """The values of some ids."""
        asked = np.array(sorted(set(ids)), np.int64)
        here = self._known(asked)
        return dict(zip(asked.tolist(), self._dictionary.values(here), strict=True))

    def column(self, ids: NDArray[np.int64]) -> Column:
        """The values of some ids, one after the other, to compute with."""
        distinct, places = np.unique(ids, return_inverse=True)
        here = self._known(distinct)
        return column_of_ids(self._dictionary, here[places])

    def ids(self, column: Column) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The ids of computed values, new ones if they have none, and where there are values."""
        here, kept = ids_of_column(self._dictionary, column)
        found = np.full(len(here), -1, np.int64)
        distinct, places = np.unique(here[kept], return_inverse=True)
        unknown = np.array([one for one in distinct.tolist() if one not in self._there], np.int32)
        if len(unknown):
            self._learn(unknown.tolist(), self._engine.encoded(self._dictionary.values(unknown)))
        there = np.array([self._there[one] for one in distinct.tolist()], np.int64)
        found[kept] = there[places] if len(there) else 0
        return found, kept

    def _known(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Distinct ids as those of the driver's dictionary."""
        if len(self._here) > tuning.DRIVER_TERMS:
            self._forget()
        unknown = [id for id in ids.tolist() if id not in self._here]
        if unknown:
            table = self._engine.texts_of(np.array(unknown, np.int64))
            here = self._dictionary.encode_ntriples(table.column("term"))
            self._learn(here.tolist(), table.column("id").to_pylist())
        return np.array([self._here[id] for id in ids.tolist()], np.int32)

    def _learn(self, here: Iterable[int], there: Iterable[int]) -> None:
        pairs = list(zip(here, there, strict=True))
        self._here.update((id, one) for one, id in pairs)
        self._there.update(pairs)
