"""Best facts that follow by steps, on the driver: a memory engine of its own settles them in the order of their values.

In rounds of jobs every round would meet all steps again, and there are as many rounds as the longest way has steps. Groups
are numbered for the memory engine, which does not ask what they mean; values are those that the driver knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Extreme, Rule, Variable
from everlog.engine.algebra import Steps
from everlog.engine.memory.best_facts import MemoryBestFacts
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column
from everlog.engine.spark.facts.driver_terms import DriverTerms

_Ids = NDArray[np.int64]
_GROUP, _VALUE, _START, _END, _ADDED = (Variable(name) for name in ("group", "value", "start", "end", "added"))
_BEST, _CANDIDATE = Atom("best", (_GROUP, _VALUE)), Atom("candidate", (_GROUP, _VALUE))


class Moves(NamedTuple):
    """Steps as columns: where they start, where they end, and the values that they add, if they add any."""

    start: _Ids
    end: _Ids
    added: _Ids | None


def settled(
    terms: DriverTerms, extreme: Extreme, groups: _Ids, values: _Ids, moves: Sequence[Moves]
) -> tuple[_Ids, _Ids] | None:
    """The best values of all groups that moves lead to from given ones; None where they cannot be settled in order."""
    engine = MemoryEngine()
    ends = [column for move in moves for column in (move.start, move.end)]
    known = np.unique(np.concatenate([groups, *ends]))
    numbers = engine.dictionary.encode_column(pa.array(np.arange(len(known))))

    def numbered(ids: _Ids) -> NDArray[np.int32]:
        return numbers[np.searchsorted(known, ids)]

    def valued(ids: _Ids) -> NDArray[np.int32]:
        distinct, places = np.unique(ids, return_inverse=True)
        found, _ = ids_of_column(engine.dictionary, terms.column(distinct))
        return found[places]

    steps = []
    for number, move in enumerate(moves):
        variables = (_START, _END) if move.added is None else (_START, _END, _ADDED)
        columns = [numbered(move.start), numbered(move.end), *([] if move.added is None else [valued(move.added)])]
        atom = Atom(f"step{number}", variables)
        facts = engine.append(atom.predicate, np.stack(columns))
        steps.append(Steps(atom, facts, _START, _END, None if move.added is None else _ADDED))
    given = engine.insert(_CANDIDATE.predicate, np.stack([numbered(groups), valued(values)]))
    best = MemoryBestFacts(engine, Rule(_BEST, (_CANDIDATE,), replace(extreme, place=1)))
    found = best.settled(given, engine.empty(), steps)
    if found is None:
        return None
    facts, _ = found
    nodes, best_values = engine.columns(facts, _BEST.predicate, 2)
    ids, _ = terms.ids(column_of_ids(engine.dictionary, best_values))
    return known[engine.dictionary.numbers(nodes)], ids
