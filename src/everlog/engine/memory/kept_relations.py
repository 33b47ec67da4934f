"""What is kept for updates (`engine/kept_kinds.py`) as relations of ids, and back, for the memory engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import HIDDEN
from everlog.engine.algebra import Annotation, FactSet
from everlog.engine.backend import KeptState, Recovered
from everlog.engine.kept_kinds import BACKBONE, HIDDEN_FACTS, NONRECURSIVE, RECURSIVE, TRACE
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.annotations import CountedFacts, RowAnnotation, RowValues
from everlog.engine.memory.facts.rows import full_facts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table

Relations = dict[str, Ids]
"""Rows by relation, one per column of the array."""


def whole(engine: MemoryEngine, state: KeptState) -> Relations:
    """All there is to be kept."""
    I = as_memory_facts(state.I)
    found = _Collected(engine, I)
    for kind, place, annotation in _valued(state.annotations):
        for table in I.tables():
            if annotation.mentions(table):
                rows = I.rows(table).array()
                found.values(kind, place, table, rows, annotation.of(table, rows))
    return found.with_backbones(state.backbones)


def change(engine: MemoryEngine, state: KeptState, added: FactSet, deleted: FactSet) -> tuple[Relations, Relations]:
    """What the last update added to it and deleted from it; `added` and `deleted` are what it did to `I`."""
    more, less = (_Collected(engine, as_memory_facts(facts)) for facts in (added, deleted))
    for kind, place, annotation in _valued([*state.annotations, *state.forgotten]):
        for table, rows, old, new in annotation.changed():
            other = old != new
            less.values(kind, place, table, rows[other], old[other])
            more.values(kind, place, table, rows[other], new[other])
    backbones = list(zip(state.backbones, state.backbones_before, strict=True))
    return (
        more.with_backbones(X - before for X, before in backbones),
        less.with_backbones(before - X for X, before in backbones),
    )


def recovered(engine: MemoryEngine, kept: Mapping[str, Ids], kinds: frozenset[str], I: FactSet) -> Recovered:
    """What relations of some kinds say about the facts of `I`, and hidden facts."""
    named = [(*name.partition(":")[::2], columns) for name, columns in kept.items()]
    hidden = engine.union(
        engine.insert(predicate, columns) for kind, predicate, columns in named if kind == HIDDEN_FACTS
    )
    found, within = Recovered(hidden), as_memory_facts(I)._within
    counts: dict[str, list[_Counts]] = {}
    trace: dict[tuple[int, int], list[_Counts]] = {}
    for kind, predicate, columns in named:
        if kind not in kinds:
            continue
        if kind in (NONRECURSIVE, RECURSIVE):
            for table, rows, values in _found(engine, predicate, columns, 1):
                counts.setdefault(kind, []).append((table, rows, values[0]))
        elif kind == BACKBONE:
            for table, rows, values in _found(engine, predicate, columns, 1):
                for number in np.unique(values[0]).tolist():
                    X = found.backbones.get(number, engine.empty())
                    X |= ComputedFacts(within, {table: row_sets.listed(table, rows[values[0] == number])})
                    found.backbones[number] = X
        elif kind == TRACE:
            for table, rows, values in _found(engine, predicate, columns, 3):
                for place, i in np.unique(values[:2], axis=1).T.tolist():
                    chosen = (values[0] == place) & (values[1] == i)
                    trace.setdefault((place, i), []).append((table, rows[chosen], values[2, chosen]))
    found.counts = {kind: CountedFacts(within, _by_table(parts)) for kind, parts in counts.items()}
    found.trace = {key: CountedFacts(within, _by_table(parts)) for key, parts in sorted(trace.items())}
    found.stages = {place: CountedFacts(within, _stages(place, trace)) for place in {place for place, _ in trace}}
    return found


_Counts = tuple[Table, Ids, RowValues]
"""Rows of a table, with a number for each."""

_Tables = dict[Table, tuple[Ids, NDArray[np.int64]]]


def _by_table(parts: Iterable[_Counts]) -> _Tables:
    tables: dict[Table, tuple[list[Ids], list[RowValues]]] = {}
    for table, rows, counts in parts:
        known = tables.setdefault(table, ([], []))
        known[0].append(rows)
        known[1].append(counts)
    return {
        table: (np.concatenate(rows), np.concatenate(counts, dtype=np.int64))
        for table, (rows, counts) in tables.items()
    }


def _stages(place: int, trace: Mapping[tuple[int, int], Sequence[_Counts]]) -> _Tables:
    """The facts that iterations of a stratum derive, each with the number of the first that does."""
    stages = sorted(i for at, i in trace if at == place)
    parts = ((table, rows, np.full(len(rows), i, np.int32)) for i in stages for table, rows, _ in trace[place, i])
    found = {}
    for table, (rows, numbers) in _by_table(parts).items():
        distinct, first = np.unique(rows, return_index=True)  # of equal rows the first, and iterations are in order
        found[table] = distinct, numbers[first]
    return found


def _found(engine: MemoryEngine, predicate: str, columns: Ids, more: int) -> Iterator[tuple[Table, Ids, RowValues]]:
    """The rows of facts that are there, by table, with the last columns, which belong to them."""
    facts, values = columns[:-more], columns[-more:]
    for table, tuples, places in engine.relation(predicate, facts.shape[0]).split(facts):
        yield table, table.find(tuples), np.ascontiguousarray(values[:, places])


def _valued(
    annotations: Sequence[tuple[str, tuple[int, ...], Annotation]],
) -> Iterator[tuple[str, tuple[int, ...], RowAnnotation]]:
    for kind, at, annotation in annotations:
        assert isinstance(annotation, RowAnnotation), "an annotation of another engine"
        yield kind, at, annotation


class _Collected:
    """Relations in the making, with those of some facts that are hidden."""

    def __init__(self, engine: MemoryEngine, facts: MemoryFacts) -> None:
        self._engine = engine
        self._pieces: dict[str, list[Ids]] = {}
        for table in facts.tables():
            if table.predicate.startswith(HIDDEN):
                self._add(HIDDEN_FACTS, table, facts.rows(table).array())

    def values(self, kind: str, place: tuple[int, ...], table: Table, rows: Ids, values: RowValues) -> None:
        """Facts that have another value than 0."""
        there = values != 0
        self._add(kind, table, rows[there], *place, values[there])

    def _add(self, kind: str, table: Table, rows: Ids, *more: int | RowValues) -> None:
        """Facts with more columns; a number is the same in all rows."""
        if len(rows):
            order = np.argsort(rows)
            arity = self._engine.relations()[table.predicate].arity
            facts = full_facts(table, row_sets.listed(table, rows[order]), arity)
            columns = [*facts, *(np.broadcast_to(column, len(rows))[order] for column in more)]
            piece = np.array(columns, np.int32).reshape(-1, len(rows))
            self._pieces.setdefault(f"{kind}:{table.predicate}", []).append(piece)

    def with_backbones(self, backbones: Iterable[FactSet]) -> Relations:
        for number, X in enumerate(backbones):
            for table, rows in as_memory_facts(X).arrays():
                self._add(BACKBONE, table, rows, number)
        return {name: np.concatenate(pieces, axis=1) for name, pieces in self._pieces.items()}
