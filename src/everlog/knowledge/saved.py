"""What a store keeps of a state besides facts a user sees: hidden facts, counts of derivations, and the trace.

Each is a relation of its own, named after its kind and its predicate: `hidden:p` has the facts of a hidden predicate,
`nonrecursive:p` and `recursive:p` have the facts of `p` with a count, `trace:p` has them with the place of a stratum, an
iteration, and a count, and `backbones:p` has those in the backbone of a module, with its number. `classes` has the
constants that others represent, with these. So they can be stored, and changed, like facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from everlog.datalog.syntax import HIDDEN
from everlog.engine.algebra import FactSet
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.annotations import CountedFacts, RowAnnotation, RowValues
from everlog.engine.memory.facts.rows import full_facts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.knowledge.materialisation import Materialisation
from everlog.knowledge.saved_kinds import BACKBONE, HIDDEN_FACTS
from everlog.reasoning.algorithms import NONRECURSIVE, RECURSIVE, TRACE
from everlog.reasoning.kept import Kept

Relations = dict[str, Ids]
"""Rows by relation, one per column of the array."""


def whole(engine: MemoryEngine, materialisation: Materialisation) -> Relations:
    """All there is to be kept."""
    found = _Collected(engine)
    I = as_memory_facts(materialisation.I)
    found.hidden(I)
    for kind, place, annotation in _annotations(materialisation.asked()):
        for table in I.tables():
            if annotation.mentions(table):
                rows = I.rows(table).array()
                found.values(kind, place, table, rows, annotation.of(table, rows))
    for number, module in enumerate(materialisation.backbones()):
        found.backbone(number, as_memory_facts(module.X))
    return found.relations()


def change(
    engine: MemoryEngine, materialisation: Materialisation, added: FactSet, deleted: FactSet
) -> tuple[Relations, Relations]:
    """What the last update added to it and deleted from it; `added` and `deleted` are what it did to `I`."""
    more, less = _Collected(engine), _Collected(engine)
    more.hidden(as_memory_facts(added))
    less.hidden(as_memory_facts(deleted))
    for kind, place, annotation in _annotations(materialisation.asked()):
        for table, rows, old, new in annotation.changed():
            other = old != new
            less.values(kind, place, table, rows[other], old[other])
            more.values(kind, place, table, rows[other], new[other])
    for number, (module, before) in enumerate(
        zip(materialisation.backbones(), materialisation.backbones_before, strict=True)
    ):
        more.backbone(number, as_memory_facts(module.X - before))
        less.backbone(number, as_memory_facts(before - module.X))
    return more.relations(), less.relations()


def restore(
    engine: MemoryEngine, materialisation: Materialisation, I: FactSet, saved: Iterable[tuple[str, Ids]]
) -> None:
    """Gives a materialisation its facts, and what was kept."""
    kept, modules = materialisation.kept, materialisation.backbones()
    trace: dict[tuple[int, int], dict[Table, list[tuple[Ids, RowValues]]]] = {}
    for name, columns in saved:
        kind, _, predicate = name.partition(":")
        if kind == HIDDEN_FACTS:
            I |= engine.insert(predicate, columns)
        elif kind in (NONRECURSIVE, RECURSIVE):
            annotation = getattr(kept, kind)
            if annotation is not None:
                for table, rows, values in _found(engine, predicate, columns[:-1], columns[-1:]):
                    annotation.add(_counted(I, table, rows, values[0]))
        elif kind == BACKBONE and modules:
            for table, rows, values in _found(engine, predicate, columns[:-1], columns[-1:]):
                for number in np.unique(values[0]):
                    module = modules[number]
                    mine = row_sets.listed(table, rows[values[0] == number])
                    module.X |= ComputedFacts(as_memory_facts(I)._within, {table: mine})
        elif kind == TRACE and kept.trace is not None:
            for table, rows, values in _found(engine, predicate, columns[:-3], columns[-3:]):
                for place, i in np.unique(values[:2], axis=1).T:
                    chosen = (values[0] == place) & (values[1] == i)
                    parts = trace.setdefault((int(place), int(i)), {}).setdefault(table, [])
                    parts.append((rows[chosen], values[2, chosen]))
    materialisation.restore(I)
    if kept.trace is None:
        return
    for (place, i), tables in sorted(trace.items()):
        for table, parts in tables.items():
            rows, counts = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
            facts = _counted(I, table, rows, counts)
            kept.trace.change(engine, place, i, facts)
            new = facts.support()
            new -= kept.trace.new[place].between(1, i)
            kept.trace.old[place].set(new, i)
            kept.trace.new[place].set(new, i)


def _counted(I: FactSet, table: Table, rows: Ids, counts: RowValues) -> CountedFacts:
    return CountedFacts(as_memory_facts(I)._within, {table: (rows, counts.astype(np.int64))})


def _found(
    engine: MemoryEngine, predicate: str, facts: Ids, values: RowValues
) -> Iterator[tuple[Table, Ids, RowValues]]:
    """The rows of facts that are there, by table, with the columns that belong to them."""
    for table, tuples, places in engine.relation(predicate, facts.shape[0]).split(facts):
        yield table, table.find(tuples), np.ascontiguousarray(values[:, places])


def _annotations(kept: Kept) -> Iterator[tuple[str, tuple[int, ...], RowAnnotation]]:
    """Everything that gives facts a value: its kind, where in the trace it belongs, and itself."""
    found = [(NONRECURSIVE, (), kept.nonrecursive), (RECURSIVE, (), kept.recursive)]
    parts: list[tuple[str, tuple[int, ...], object]] = [part for part in found if part[2] is not None]
    if kept.trace is not None:
        parts += [
            (TRACE, (place, i), counts)
            for place, iterations in enumerate(kept.trace.iterations)
            for i, counts in enumerate(iterations, start=1)
        ]
        parts += [(TRACE, (place, i), counts) for place, i, counts in kept.trace.forgotten]
    for kind, at, annotation in parts:
        assert isinstance(annotation, RowAnnotation), "an annotation of another engine"
        yield kind, at, annotation


class _Collected:
    """Relations in the making."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self._pieces: dict[str, list[Ids]] = {}

    def hidden(self, facts: MemoryFacts) -> None:
        for table in facts.tables():
            if table.predicate.startswith(HIDDEN):
                self._add(HIDDEN_FACTS, table, facts.rows(table).array(), ())

    def backbone(self, number: int, facts: MemoryFacts) -> None:
        for table in facts.tables():
            rows = facts.rows(table).array()
            self._add(BACKBONE, table, rows, (np.full(len(rows), number, np.int32),))

    def values(self, kind: str, place: tuple[int, ...], table: Table, rows: Ids, values: RowValues) -> None:
        """Facts that have another value than 0."""
        there = values != 0
        rows, values = rows[there], values[there]
        if len(rows):
            columns = [np.full(len(rows), number, np.int32) for number in place]
            self._add(kind, table, rows, (*columns, values))

    def _add(self, kind: str, table: Table, rows: Ids, more: tuple[RowValues, ...]) -> None:
        if len(rows):
            order = np.argsort(rows)
            arity = self._engine.relations()[table.predicate].arity
            facts = full_facts(table, row_sets.listed(table, rows[order]), arity)
            columns = np.array([*facts, *(column[order] for column in more)], np.int32).reshape(-1, len(rows))
            self._pieces.setdefault(f"{kind}:{table.predicate}", []).append(columns)

    def relations(self) -> Relations:
        return {name: np.concatenate(pieces, axis=1) for name, pieces in self._pieces.items()}
