"""Best facts that follow by steps from one group to another, settled in the order of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Extreme
from everlog.engine.algebra import Steps
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.kernels import settling_kernels as kernels
from everlog.engine.memory.value_columns import column_of_ids
from everlog.expressions.columns import Doubles, Integers
from everlog.expressions.total_order import ranked
from everlog.interrupts import aside

_Numbers = NDArray[Any]

_NEAR: Final = 4096
"""Integers that are less are small weights: what waits is in as many buckets, and not in a heap."""


class Settled(NamedTuple):
    """Groups and the ids of their values."""

    groups: Ids
    values: Ids


def settled(engine: MemoryEngine, extreme: Extreme, given: Settled, steps: Sequence[Steps]) -> Settled | None:
    """The best values of all groups that steps lead to from given ones; None where they cannot be settled in order."""
    ends, added = _ends(engine, steps)
    if not len(given.groups):
        return given
    if not extreme.numbers:
        return _spread(engine, extreme, given, ends)
    dictionary = engine.dictionary
    sign = 1 if extreme.function == "MIN" else -1
    values = _numbers(dictionary, given.values)
    weights = None if values is None else _weights(dictionary, added, values.dtype)
    if values is None or weights is None or (sign * weights < 0).any():
        return None
    graph = aside(len(weights), kernels.grouped_steps, *ends, sign * weights, len(dictionary))
    reached, best = aside(len(weights), _settled, graph, given.groups, sign * values)
    groups = np.flatnonzero(reached).astype(np.int32)
    column = (Integers if values.dtype.kind == "i" else Doubles)(sign * best[reached])
    return Settled(groups, _ids(dictionary, column))


def _settled(graph: tuple[Any, Ids, _Numbers], groups: Ids, values: _Numbers) -> tuple[NDArray[np.bool_], _Numbers]:
    """Which nodes have a value, and which one."""
    if values.dtype.kind == "f":
        return kernels.settle(*graph, groups, values, np.inf)  # type: ignore[no-any-return]
    farthest, most = int(graph[2].max(initial=0)), np.iinfo(np.int64).max
    if farthest >= _NEAR:
        return kernels.settle(*graph, groups, values, most)  # type: ignore[no-any-return]
    order = np.argsort(values, kind="stable")
    width = 64 * (farthest // 64 + 1)
    return kernels.settle_near(*graph, groups[order], values[order], width, most)  # type: ignore[no-any-return]


def _ids(dictionary: Dictionary, column: Integers | Doubles) -> Ids:
    import pyarrow as pa

    return dictionary.encode_column(pa.array(column.array))


def _spread(engine: MemoryEngine, extreme: Extreme, given: Settled, ends: tuple[Ids, Ids]) -> Settled:
    """Values that are passed on as they are: the best one first, to all that it leads to."""
    ranks = ranked(column_of_ids(engine.dictionary, given.values)).ranks
    order = np.argsort(ranks if extreme.function == "MIN" else ~ranks, kind="stable")
    groups = np.ascontiguousarray(given.groups[order])
    starts, targets, _ = aside(
        len(ends[0]), kernels.grouped_steps, *ends, np.empty(0, np.int64), len(engine.dictionary)
    )
    owner = aside(len(ends[0]), kernels.spread, starts, targets, groups)
    reached = np.flatnonzero(owner >= 0).astype(np.int32)
    return Settled(reached, given.values[order][owner[reached]])


def _ends(engine: MemoryEngine, steps: Sequence[Steps]) -> tuple[tuple[Ids, Ids], list[Ids | int]]:
    """Where all steps start and end, and what each adds: ids, or how many steps add nothing."""
    sources, targets, added = [], [], list[Ids | int]()
    for step in steps:
        terms = step.atom.terms
        ids = engine.columns(as_memory_facts(step.facts), step.atom.predicate, len(terms))
        sources.append(ids[terms.index(step.start)])
        targets.append(ids[terms.index(step.end)])
        added.append(ids.shape[1] if step.added is None else ids[terms.index(step.added)])
    return (np.concatenate(sources), np.concatenate(targets)), added


def _numbers(dictionary: Dictionary, ids: Ids) -> _Numbers | None:
    """Integers or doubles that can be compared as such; None if they are others, or of several kinds."""
    found = dictionary.numbers(ids) if dictionary.are_numbers(ids) else None
    if found is None or found.dtype.kind == "b":
        return None
    if found.dtype.kind == "f" and (np.isnan(found) | ((found == 0) & np.signbit(found))).any():
        return None
    return None if found.dtype.kind == "i" and (found == np.iinfo(np.int64).min).any() else found


def _weights(dictionary: Dictionary, added: Sequence[Ids | int], kind: np.dtype[Any]) -> _Numbers | None:
    """What steps add, if all of it is of one kind."""
    found: list[_Numbers] = []
    for ids in added:
        if isinstance(ids, int):
            found.append(np.zeros(ids, kind))
        elif len(ids):
            numbers = _numbers(dictionary, ids)
            if numbers is None or numbers.dtype != kind:
                return None
            found.append(numbers)
    return np.concatenate([np.empty(0, kind), *found])
