"""Facts about representatives in all names, for the memory engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import ior
from typing import TYPE_CHECKING, TypeAlias

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

if TYPE_CHECKING:
    from everlog.engine.memory.memory_backend import MemoryBackend

MemoryBatch: TypeAlias = tuple[str, Ids]
"""Facts of a predicate."""

ByPredicate: TypeAlias = dict[str, Ids]

Flags = NDArray[np.bool_]
AnyNames = Names[MemoryBatch, Ids, ByPredicate]
MemoryWorld = World[MemoryBatch, Ids, ByPredicate]


class MemoryNames(AnyNames):
    """Facts are expanded when somebody asks for them, and counted without that."""

    classes: MemoryClasses

    def __init__(self, backend: MemoryBackend, classes: Classes) -> None:
        assert isinstance(classes, MemoryClasses)
        self._backend, self.classes, self._same = backend, classes, backend.engine.constant(SAME_AS)

    def restore(self, pairs: Ids | None) -> None:
        self.classes.restore(np.empty((2, 0), np.int32) if pairs is None else pairs)

    def pairs(self) -> Ids:
        return self.classes.pairs()

    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        return self.classes.literal(literal)

    def several(self) -> bool:
        return bool(self.classes.members)

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
                names = classes.expanded(ids[:1, self._is_reflexive(ids)])[0]
                reflexive = np.stack([names, np.full(len(names), self._same, np.int32), names])
                found[TRIPLE] -= int(self._hidden(reflexive, E).sum())
        return found

    def listed(self, E: FactSet, I: FactSet, predicate: str, which: Which, arity: int) -> Ids:
        found = self.classes.expanded(self._backend.listed(I, predicate, arity))
        if which == "derived":
            found = found[:, ~self._backend.among(E, predicate, found)]
        return found[:, ~self._hidden(found, E)] if predicate == TRIPLE and found.shape[1] else found

    def _hidden(self, triples: Ids, E: FactSet) -> Flags:
        """Which of some triples are `c ≈ c` and not explicit."""
        hidden = self._is_reflexive(triples)
        hidden[hidden] = ~self._backend.among(E, TRIPLE, triples[:, hidden])
        return hidden

    def _is_reflexive(self, triples: Ids) -> Flags:
        found: Flags = (triples[1] == self._same) & (triples[0] == triples[2])
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
        ids = self.in_all_names(scratch.listed(found, predicate, 0), variables, goal, E)
        return scratch.rows(ids, len(variables))

    def over_representatives(
        self, atoms: Sequence[Atom], seeds: Mapping[Variable, Ids]
    ) -> tuple[list[Atom], dict[Variable, Ids]]:
        """Atoms, and values of their variables, in the names of representatives."""
        literals = [self.literal(atom) for atom in atoms]
        known = self.classes.representatives()
        return [one for one in literals if isinstance(one, Atom)], {name: known[ids] for name, ids in seeds.items()}

    def in_all_names(self, ids: Ids, variables: Sequence[Variable], goal: Sequence[BodyLiteral], E: FactSet) -> Ids:
        """Values of the variables of a goal, one match per column, in all names of these."""
        ids = self.classes.expanded(ids)
        places = {variable: place for place, variable in enumerate(variables)}
        for atom in goal:
            if isinstance(atom, Atom) and atom.predicate == TRIPLE:
                terms = [term for term in atom.terms if isinstance(term, Constant) or term in places]
                if len(terms) == 3:
                    sources = [self._backend.engine.term(term, places) for term in terms]
                    columns = [ids[at] if at >= 0 else np.full(ids.shape[1], ~at, np.int32) for at in sources]
                    ids = ids[:, ~self._hidden(np.stack(columns), E)]
        return ids

    def derived(self, batches: Sequence[MemoryBatch], E: FactSet, I: FactSet) -> int:
        found = 0
        for predicate, ids in batches:
            holds = self._backend.among(I, predicate, self.classes.representatives()[ids])
            if predicate == TRIPLE and ids.shape[1]:
                holds &= ~self._hidden(ids, E)
            found += int((holds & ~self._backend.among(E, predicate, ids)).sum())
        return found

    # ------------------------------------------------------------------------------------ contradictions

    def merged_apart(self, E: FactSet, I: FactSet) -> bool:
        names = self.classes.representatives()
        if np.equal(*names[self.classes.apart]).any():
            return True
        unlike = (self._backend.engine.loops(DIFFERENT_FROM, as_memory_facts(facts)) for facts in (I, E))
        derived, given = ({*names[one].tolist()} for one in unlike)
        return not derived <= given

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
        added, deleted = backend.part(plus), backend.part(minus)
        I, J = (now.I - new) | gone, now.I  # `then.I`, which costs as much as it is large by now
        changed = before.classes.changed(self.classes)
        if len(changed):
            stayed, renaming = self.classes.facts_mentioning(changed, J - new), before.classes.renaming(self.classes)
            went, came = gone, new
            went |= stayed
            came |= stayed
            lost = before.lost(backend.part(went), deleted, backend, J, self, renaming)
            gained = self.lost(backend.part(came), added, backend, I, before, renaming)
        else:
            lost, gained = (
                self._seen({name: self.classes.expanded(ids) for name, ids in backend.part(facts).items()}, explicit)
                for facts, explicit in ((gone, deleted), (new, added))
            )
        stored, derived = I - ((now.E - plus) | minus), J - now.E
        more = fewer = reduce(ior, (gone, new, minus, plus))
        more &= derived
        more -= stored
        fewer &= stored
        fewer -= derived
        return Difference(added, deleted, gained, lost, backend.part(more), backend.part(fewer))

    def lost(
        self,
        facts: ByPredicate,
        explicit: ByPredicate,
        other: MemoryBackend,
        I: FactSet,
        others: MemoryNames,
        renaming: Ids,
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
        return self._seen(lost, explicit)

    def _seen(self, facts: ByPredicate, explicit: ByPredicate) -> ByPredicate:
        """Some facts, of `c ≈ c` only what is explicit."""
        given = explicit.get(TRIPLE, np.empty((3, 0), np.int32))
        found = facts.get(TRIPLE, given[:, :0])
        found = np.concatenate([found[:, ~self._is_reflexive(found)], given[:, self._is_reflexive(given)]], axis=1)
        return nonempty({**facts, TRIPLE: found}.items())


def nonempty(facts: Iterable[MemoryBatch]) -> ByPredicate:
    """Facts by predicate, for the predicates that have any."""
    return {predicate: ids for predicate, ids in facts if ids.shape[1]}


def names_of(world: MemoryWorld) -> MemoryNames:
    """The names of a world that has some."""
    assert isinstance(world.names, MemoryNames)
    return world.names


def compared(
    then: MemoryWorld, now: MemoryWorld, deleted: Sequence[MemoryBatch], added: Sequence[MemoryBatch]
) -> Difference[ByPredicate]:
    """What is different between worlds of two engines whose constants are rewritten."""
    old, new = names_of(then), names_of(now)
    before, after = old._backend, new._backend
    minus, plus = before.present(deleted), before.entered(added)
    minus &= then.E
    minus -= plus
    plus -= then.E
    explicit_added, explicit_deleted, renaming = (
        before.part(plus),
        before.part(minus),
        old.classes.renaming(new.classes),
    )
    gained = new.lost(after.part(now.I), explicit_added, before, then.I, old, renaming)
    lost = old.lost(before.part(then.I), explicit_deleted, after, now.I, new, renaming)
    derived_now, derived_then = now.I - now.E, then.I - then.E
    derived_added, derived_deleted = after.apart(derived_now, before, derived_then)
    return Difference(explicit_added, explicit_deleted, gained, lost, derived_added, derived_deleted)
