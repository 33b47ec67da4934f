"""Samples by random walks (*Revisited*, section 10.1) of facts that are in memory; `pipeline/sampling.py` has Spark's.

Facts are the edges of a graph: one leads from its first argument to its last. A walk starts at any fact, goes on with one
of those that leave the place where it arrived, and ends where none leaves or after `longest` facts; then another starts.
With one seed a larger sample contains the smaller. Starting Spark takes longer than all walks of an experiment.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from benchmarks.updates_worker import taken
from benchmarks.workloads.pairs import Column


class Walks:
    def __init__(self, facts: Mapping[str, pa.Table]) -> None:
        self._facts = facts
        self._target = np.concatenate([_codes(table.columns[-1]) for table in facts.values()])
        source = np.concatenate([_codes(table.columns[0]) for table in facts.values()])
        self._order = np.argsort(source, kind="stable")
        sources = source[self._order]
        self._first = np.searchsorted(sources, self._target, "left")
        self._end = np.searchsorted(sources, self._target, "right")

    def of(self, count: int, seed: int) -> dict[str, pa.Table]:
        """The first `count` facts that walks meet, or all facts if there are fewer."""
        return taken(self._facts, np.array(list(self.numbers(count, seed)), np.int64))

    def numbers(self, count: int, seed: int, longest: int = 25) -> dict[int, None]:
        """The same as numbers of facts, in the order in which they were met."""
        random = np.random.default_rng(seed)
        met: dict[int, None] = {}
        wanted = min(count, len(self._target))
        while len(met) < wanted:
            fact = int(random.integers(len(self._target)))
            for _ in range(longest):
                met.setdefault(fact)
                first, end = int(self._first[fact]), int(self._end[fact])
                if first == end or len(met) == wanted:
                    break
                fact = int(self._order[random.integers(first, end)])
        return met


def _codes(column: pa.ChunkedArray) -> Column:
    """Integers as they are, texts by their place in the dictionary that all columns share."""
    if pa.types.is_dictionary(column.type):
        return np.concatenate([chunk.indices.to_numpy().astype(np.int64) for chunk in column.chunks])
    return np.asarray(column.to_numpy(), np.int64)
