"""What changed of what is kept for updates on Spark since a store had it: only that is looked at, and written.

Annotations are runs that nothing changes, and what lies over them on the driver. Where the runs are still those that the
store's values came from, what changed is among the facts on the driver.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import HIDDEN, Atom, Variable
from everlog.engine.algebra import FactSet, Region
from everlog.engine.backend import KeptState
from everlog.engine.kept_kinds import BACKBONE, CLASSES, HIDDEN_FACTS
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import AnnotationSnapshot, differences
from everlog.engine.spark.facts.driver_facts import DriverFacts
from everlog.engine.spark.facts.sets import computed
from everlog.engine.spark.kept_relations import spark_annotations

Changes: TypeAlias = dict[str, NDArray[np.int64]]
"""Rows by relation, one per column of the array."""

_Found: TypeAlias = defaultdict[str, list[tuple[int, ...]]]


class KeptSnapshot(NamedTuple):
    """What is kept at a time when a store has it."""

    values: Mapping[tuple[str, tuple[int, ...]], AnnotationSnapshot]
    """By kind, and place in the trace."""
    hidden: FactSet
    backbones: Sequence[FactSet]
    classes: Mapping[int, int]
    """The constants that others represent, with these."""


def snapshot(state: KeptState, hidden: FactSet, classes: Mapping[int, int]) -> KeptSnapshot:
    """What is kept now, with the hidden facts there are."""
    kept = spark_annotations(state.annotations)
    values = {(kind, place): annotation.values() for kind, place, annotation in kept}
    return KeptSnapshot(values, hidden, state.backbones, dict(classes))


def changes(
    engine: SparkEngine, then: KeptSnapshot, now: KeptSnapshot, kinds: frozenset[str]
) -> tuple[Changes, Changes] | None:
    """The rows of some kinds that are new since then, and those that are gone; None if they may be many."""
    more, fewer = _Found(list), _Found(list)
    predicates = {number: name for name, (number, _) in engine.relations().items()}
    nothing = AnnotationSnapshot((), None)
    for key in {**then.values, **now.values}:
        kind, place = key
        if kind not in kinds:
            continue
        found = differences(engine, then.values.get(key, nothing), now.values.get(key, nothing))
        if found is None:
            return None
        for rows, numbers in zip((fewer, more), found, strict=True):
            for relation, arguments, number in _by_relation(engine, numbers):
                rows[f"{kind}:{predicates[relation]}"] += [
                    (*fact, *place, n) for fact, n in zip(arguments, number, strict=True)
                ]
    backbones = zip_longest(then.backbones, now.backbones, fillvalue=engine.empty())
    sets: list[tuple[str, tuple[int, ...], FactSet, FactSet]] = [(HIDDEN_FACTS, (), then.hidden, now.hidden)]
    sets += [(BACKBONE, (number,), before, after) for number, (before, after) in enumerate(backbones)]
    for kind, place, before, after in sets:
        if kind not in kinds:  # as when no module is left: a store forgets what it had of them
            continue
        for rows, changed in ((fewer, before - after), (more, after - before)):
            few = computed(changed).local()
            if few is None:
                return None
            for relation, arguments, _ in _by_relation(engine, few):
                rows[f"{kind}:{predicates[relation]}"] += [(*fact, *place) for fact in arguments]
    for rows, one, other in ((fewer, then, now), (more, now, then)):
        rows[CLASSES] += [pair for pair in one.classes.items() if pair not in other.classes.items()]
    return _arrays(more), _arrays(fewer)


def _by_relation(engine: SparkEngine, facts: DriverFacts) -> Iterator[tuple[int, list[list[int]], list[int]]]:
    """Facts by relation: their arguments, and the numbers beside them."""
    for relation in np.unique(facts.rows[:, 0]).tolist():
        mine = facts.rows[:, 0] == relation
        yield relation, facts.rows[mine, 1 : engine.arities[relation] + 1].tolist(), facts.numbers[mine].tolist()


def _arrays(found: _Found) -> Changes:
    return {name: np.array(rows, np.int64).reshape(len(rows), -1).T for name, rows in found.items() if rows}


def hidden_facts(engine: SparkEngine, facts: FactSet) -> FactSet:
    """The facts of hidden predicates."""
    atoms = [
        Atom(name, tuple(Variable(f"x{place}") for place in range(arity)))
        for name, (_, arity) in engine.relations().items()
        if name.startswith(HIDDEN)
    ]
    return computed(facts.within(Region(tuple(atoms)))) if atoms else engine.empty()
