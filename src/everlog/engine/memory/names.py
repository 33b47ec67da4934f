"""Facts about representatives in all names, for the memory engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.backend import Backend, Difference, Names, Which, World
from everlog.engine.memory.clashes import clashes
from everlog.engine.memory.classes import MemoryClasses
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.facts.table import Ids
from everlog.engine.memory.memory_backend import ByPredicate, MemoryBackend, MemoryBatch

Flags = NDArray[np.bool_]
MemoryWorld = World[MemoryBatch, Ids, ByPredicate]


class MemoryNames(Names[MemoryBatch, Ids, ByPredicate]):
    """Facts are expanded when somebody asks for them, and counted without that."""

    classes: MemoryClasses

    def __init__(self, backend: MemoryBackend, classes: Classes) -> None:
        assert isinstance(classes, MemoryClasses)
        self._backend, self.classes = backend, classes

    def restore(self, pairs: Ids | None) -> None:
        self.classes.restore(np.empty((2, 0), np.int32) if pairs is None else pairs)

    def pairs(self) -> Ids:
        return self.classes.pairs()

    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        return self.classes.literal(literal)

    def several(self) -> bool:
        return bool(self.classes.members)

    def _same(self) -> int:
        return self._backend.engine.constant(SAME_AS)

    # ------------------------------------------------------------------------------------ facts out

    def sizes(self, E: FactSet, I: FactSet) -> dict[str, int]:
        classes, columns, found = self.classes, self._backend.engine.columns, self._backend.counts(I)
        if not classes.members:
            return found
        several = classes.facts_mentioning(np.array([*classes.members], np.int32), I)
        for predicate, n in self._backend.counts(several).items():
            ids = columns(several, predicate)
            found[predicate] += int(classes.sizes()[ids].prod(axis=0).sum()) - n
            if predicate == TRIPLE:
                found[TRIPLE] -= self._reflexive(ids, E)
        return found

    def _reflexive(self, ids: Ids, E: FactSet) -> int:
        """How many facts `c ≈ c` there are among those that some facts with classes stand for, but for explicit ones."""
        equalities = ids[:, self._is_reflexive(ids)]
        names = self.classes.expanded(equalities[:1])[0]
        verbs = np.full(len(names), self._same(), np.int32)
        return len(names) - int(self._backend.among(E, TRIPLE, np.stack([names, verbs, names])).sum())

    def listed(self, E: FactSet, I: FactSet, predicate: str, which: Which, arity: int) -> Ids:
        found = self.classes.expanded(self._backend.engine.columns(as_memory_facts(I), predicate))
        if which == "derived":
            found = found[:, ~self._backend.among(E, predicate, found)]
        if predicate == TRIPLE and found.shape[1]:
            found = found[:, self._shown(found, E)]
        return np.empty((arity, 0), np.int32) if found.shape[0] == 0 and arity else found

    def _shown(self, triples: Ids, E: FactSet) -> Flags:
        """Which of some triples are not `c ≈ c`, or are explicit."""
        reflexive = self._is_reflexive(triples)
        reflexive[reflexive] = ~self._backend.among(E, TRIPLE, triples[:, reflexive])
        shown: Flags = ~reflexive
        return shown

    def _is_reflexive(self, triples: Ids) -> Flags:
        found: Flags = (triples[1] == self._same()) & (triples[0] == triples[2])
        return found

    def answers(
        self,
        scratch: Backend[MemoryBatch, Ids, ByPredicate],
        found: FactSet,
        predicate: str,
        variables: Sequence[Variable],
        goal: Sequence[BodyLiteral],
        E: FactSet,
    ) -> list[tuple[Value, ...]]:
        ids = self.classes.expanded(scratch.listed(found, predicate, 0))
        for triples in self._triples(goal, variables):
            ids = ids[:, self._shown(_filled(triples, ids), E)]
        return scratch.rows(ids, len(variables))

    def _triples(self, goal: Sequence[BodyLiteral], variables: Sequence[Variable]) -> Iterator[list[int]]:
        """The triples of a goal that an answer gives: for each term its place among the variables, or `~id`."""
        places = {variable: place for place, variable in enumerate(variables)}
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                terms = [term for term in atom.terms if isinstance(term, Constant) or term in places]
                if len(terms) == 3:
                    yield [self._backend.engine.term(term, places) for term in terms]

    def derived(self, batches: Sequence[MemoryBatch], E: FactSet, I: FactSet) -> int:
        found = 0
        for predicate, ids in batches:
            holds = self._backend.among(I, predicate, self.classes.representatives()[ids])
            if predicate == TRIPLE and ids.shape[1]:
                holds &= self._shown(ids, E)
            found += int((holds & ~self._backend.among(E, predicate, ids)).sum())
        return found

    # ------------------------------------------------------------------------------------ contradictions

    def merged_apart(self, E: FactSet, I: FactSet) -> bool:
        names = self.classes.representatives()
        if np.equal(*names[self.classes.apart]).any():
            return True
        derived, given = (names[self._unlike_themselves(facts)] for facts in (I, E))
        return not {*derived.tolist()} <= {*given.tolist()}

    def _unlike_themselves(self, facts: FactSet) -> Ids:
        left, right = self._backend.engine.ends(DIFFERENT_FROM, as_memory_facts(facts))
        names: Ids = left[left == right]
        return names

    def clashes(self, I: FactSet) -> list[str]:
        classes, engine = self.classes, self._backend.engine
        refused = {frozenset(ends) for ends in engine.columns(classes.refused(I), TRIPLE)[::2].T.tolist()}
        said = zip(classes.representatives()[classes.apart].T.tolist(), classes.apart.T.tolist(), strict=True)
        told = [(frozenset(ends), pair) for ends, pair in said if frozenset(ends) in refused]
        known = {ends: sorted(ends, key=classes.order_of) for ends in refused}
        known |= dict(sorted(told, key=lambda one: [*map(classes.order_of, one[1])], reverse=True))
        pairs = sorted(known.values(), key=lambda pair: [*map(classes.order_of, pair)])
        return clashes(engine, as_memory_facts(I), np.array(pairs, np.int32).reshape(-1, 2).T)

    # ------------------------------------------------------------------------------------ what changes

    def changed(
        self, then: MemoryWorld, now: MemoryWorld, gone: FactSet, new: FactSet, minus: FactSet, plus: FactSet
    ) -> Difference[ByPredicate]:
        backend, before = self._backend, names_of(then)
        I, J = (now.I - new) | gone, now.I  # `then.I`, which costs as much as it is large by now
        changed = before.classes.changed(self.classes)
        if len(changed):
            stayed, renaming = self.classes.facts_mentioning(changed, J - new), before.classes.renaming(self.classes)
            went, came = gone, new
            went |= stayed
            came |= stayed
            lost = before.lost(backend.part(went), backend, J, self, renaming)
            gained = self.lost(backend.part(came), backend, I, before, renaming)
        else:
            lost, gained = (self._named(backend.part(facts)) for facts in (gone, new))
        stored, derived = I - ((now.E - plus) | minus), J - now.E
        touched = gone
        for facts in (new, minus, plus):
            touched |= facts
        more = fewer = touched
        more &= derived
        more -= stored
        fewer &= stored
        fewer -= derived
        return self.difference(gained, lost, minus, plus, backend.part(more), backend.part(fewer))

    def difference(
        self,
        gained: ByPredicate,
        lost: ByPredicate,
        minus: FactSet,
        plus: FactSet,
        derived_added: ByPredicate,
        derived_deleted: ByPredicate,
    ) -> Difference[ByPredicate]:
        """What an update did; of `c ≈ c` only what is explicit counts."""
        for found, explicit in ((lost, minus), (gained, plus)):
            given = self._backend.engine.columns(as_memory_facts(explicit), TRIPLE)
            given = given[:, self._is_reflexive(given)]
            if given.shape[1]:
                found[TRIPLE] = np.concatenate([found.get(TRIPLE, given[:, :0]), given], axis=1)
        part = self._backend.part
        return Difference(part(plus), part(minus), gained, lost, derived_added, derived_deleted)

    def lost(
        self, facts: ByPredicate, other: MemoryBackend, I: FactSet, others: MemoryNames, renaming: Ids
    ) -> ByPredicate:
        """In all names, what does not hold elsewhere, of facts that are not there or have other names there.

        A class that has lost its representative has another name and the same facts. Of a fact that is there but for that,
        only those names are looked at that have moved to another class.
        """
        lost, classes, now = {}, self.classes, others.classes.representatives()
        size = len(self._backend.engine.dictionary)
        moved = renaming[classes.representatives()[:size]] != now[:size]
        for predicate, ids in facts.items():
            there = other.among(I, predicate, renaming[ids])
            ids = np.concatenate([classes.expanded(ids[:, ~there]), classes.expanded(ids[:, there], moved)], axis=1)
            lost[predicate] = ids[:, ~other.among(I, predicate, now[ids])]
        return self._irreflexive(lost)

    def _named(self, facts: ByPredicate) -> ByPredicate:
        """Facts about representatives in all names."""
        return self._irreflexive({predicate: self.classes.expanded(ids) for predicate, ids in facts.items()})

    def _irreflexive(self, facts: ByPredicate) -> ByPredicate:
        """Some facts without `c ≈ c`."""
        if TRIPLE in facts:
            facts[TRIPLE] = facts[TRIPLE][:, ~self._is_reflexive(facts[TRIPLE])]
        return {predicate: ids for predicate, ids in facts.items() if ids.shape[1]}


def names_of(world: MemoryWorld) -> MemoryNames:
    """The names of a world that has some."""
    assert isinstance(world.names, MemoryNames)
    return world.names


def compared(
    then: MemoryWorld, now: MemoryWorld, deleted: Sequence[MemoryBatch], added: Sequence[MemoryBatch]
) -> Difference[ByPredicate]:
    """What is different between worlds of two engines whose constants are rewritten."""
    before, after, old, new = then.backend, now.backend, names_of(then), names_of(now)
    assert isinstance(before, MemoryBackend)
    assert isinstance(after, MemoryBackend)
    minus, plus = before.present(deleted), before.entered(added)
    minus &= then.E
    minus -= plus
    plus -= then.E
    renaming = old.classes.renaming(new.classes)
    lost = old.lost(before.part(then.I), after, now.I, new, renaming)
    gained = new.lost(after.part(now.I), before, then.I, old, renaming)
    derived_now, derived_then = now.I - now.E, then.I - then.E
    return old.difference(
        gained,
        lost,
        minus,
        plus,
        after.missing(derived_now, after.arities(), before, derived_then),
        before.missing(derived_then, before.arities(), after, derived_now),
    )


def _filled(terms: Sequence[int], answers: Ids) -> Ids:
    """A triple with places for variables, for each answer."""
    return np.stack([np.full(answers.shape[1], ~term, np.int32) if term < 0 else answers[term] for term in terms])
