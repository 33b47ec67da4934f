"""Classes of equal constants in the memory engine: an array of representatives by id, and the members of each class.

Merging is one pass of union–find over the pairs; which constant represents a class is decided afterwards, by the order of
the terms and not of the ids, so that it does not depend on what was read first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from everlog.datalog.constants import replaced_in
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Rule, Variable
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, term_order
from everlog.engine.algebra import Classes, FactSet, Images
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts import rows as row_sets
from everlog.engine.memory.facts.rows import full_facts
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Ids, Table
from everlog.engine.memory.joins.join_plan import facts_of
from everlog.engine.memory.kernels.graph_kernels import connected_components
from everlog.engine.rule_constants import Vocabularies

Flags = npt.NDArray[np.bool_]


class MemoryClasses(Classes):
    """Classes of one memory engine's constants; at first every constant is alone."""

    def __init__(self, engine: MemoryEngine, vocabularies: Vocabularies | None = None) -> None:
        self._engine = engine
        self._vocabularies = vocabularies or Vocabularies(
            lambda mentioned: engine.dictionary.encode_values([one.value for one in mentioned]).tolist()
        )
        """The constants of rules, by the identity of these: to look rules up by what they say takes too long."""
        self._same = engine.constant(SAME_AS)
        self._representatives: Ids = np.empty(0, np.int32)
        """Of ids from some on every one is alone; copies of this may have the same array, until one of them changes."""
        self._is_shared = False
        self.members: dict[int, Ids] = {}
        """The constants of each class that has several, by its representative."""
        self._looks: dict[Table, int] = {}
        """How often all facts of a table were looked at."""
        self.apart: Ids = np.empty((2, 0), np.int32)
        """Pairs of names that are never made one."""
        self._larger: Ids = np.empty(0, np.int32)
        """The representatives of earlier classes, if these are to be put together again."""

    def representatives(self) -> Ids:
        """The representative of each id."""
        known, size = self._representatives, len(self._engine.dictionary)
        if len(known) < size:
            grown: Ids = np.arange(size + size // 4 + 64, dtype=np.int32)
            grown[: len(known)] = known
            self._representatives, self._is_shared = grown, False
        return self._representatives

    def _changeable(self) -> Ids:
        """The representative of each id, in an array of our own that may be changed."""
        if self._is_shared:
            self._representatives, self._is_shared = self._representatives.copy(), False
        return self.representatives()

    # ------------------------------------------------------------------------------------ merging

    def alone(self) -> MemoryClasses:
        found = MemoryClasses(self._engine, self._vocabularies)
        found._larger, self._is_shared = self.representatives(), True
        return found

    def merge(self, facts: FactSet) -> bool:
        left, right = self._engine.ends(SAME_AS, as_memory_facts(facts))
        return bool(len(self._merged(left, right)))

    def separate(self, facts: FactSet) -> None:
        ends = self._engine.ends(DIFFERENT_FROM, as_memory_facts(facts))
        self.apart = ends[:, self._engine.different_names(ends)]

    def refused(self, facts: FactSet) -> ComputedFacts:
        ends = self._engine.ends(SAME_AS, as_memory_facts(facts))
        return self._engine.present(TRIPLE, self._equalities(*ends[:, self._engine.different_names(ends)]))

    def _equalities(self, left: Ids, right: Ids) -> Ids:
        return np.stack([left, np.full(len(left), self._same, np.int32), right])

    def group(self, facts: FactSet, atom: Atom, value: Variable) -> tuple[ComputedFacts, bool]:
        numbers = {variable: number for number, variable in enumerate(dict.fromkeys(atom.variables()))}
        literal = self._engine.literal(atom, numbers)
        tables = list(facts_of(literal, as_memory_facts(facts)))
        grown, united = [np.empty(0, np.int32)], len(tables) <= 1  # nobody looks for pairs of facts in different tables
        for table in tables:
            ids = full_facts(table, as_memory_facts(facts).rows(table), len(atom.terms))
            if not (instances := _instances(literal.terms, ids)).all():
                ids = ids[:, instances]
            mine = numbers[value]
            places = [literal.terms.index(number) for number in numbers.values() if number != mine]
            if ids.shape[1] * tuning.KEY_FACTS_SHARE > len(self.representatives()):
                for place in places:  # what no other fact has there is not sorted
                    ids = ids[:, np.bincount(ids[place])[ids[place]] > 1]
            others, values = [ids[place] for place in places], ids[literal.terms.index(mine)]
            pairs = _beside(values, others, values)
            if self.apart.shape[1] and len(torn := self._torn(*self._different(*pairs))):
                # Where not all can be one, it matters which are side by side: that must not depend on ids.
                rank = np.zeros(len(self.representatives()), np.int32)
                rank[sorted(torn, key=self.order_of)] = np.arange(len(torn))
                pairs = _beside(values, others, rank[self.representatives()[values]])
            grown.append(self._merged(*pairs))
            united &= np.array_equal(*self.representatives()[np.stack(pairs)])
        return self.named(self.representatives()[np.concatenate(grown)]), united

    def _merged(self, left: Ids, right: Ids) -> Ids:
        """Makes the two sides of pairs one, where they can be; gives constants of the classes that grew."""
        left, right = self._different(left, right)
        if self.apart.shape[1] and len(torn := self._torn(left, right)):
            hard = np.isin(left, torn)
            left, right = (
                np.concatenate([easy, one])
                for easy, one in zip((left[~hard], right[~hard]), self._allowed(left[hard], right[hard]), strict=True)
            )
        if not len(left):
            return left
        ids, roots = self._components(left, right)
        order = np.argsort(roots, kind="stable")
        for group in np.split(ids[order], np.flatnonzero(np.diff(roots[order])) + 1):
            self._join(group.tolist())
        return ids

    def _components(self, left: Ids, right: Ids) -> tuple[Ids, Ids]:
        """The ends of pairs, each once, with one name for all that the pairs connect."""
        ids, numbers = np.unique(np.stack([left, right]), return_inverse=True)
        first, second = numbers.reshape(2, -1).astype(np.int32)
        return ids, ids[connected_components(first, second, len(ids))]

    def _different(self, left: Ids, right: Ids) -> tuple[Ids, Ids]:
        """The representatives of pairs, where they differ and can be merged."""
        pairs = self.representatives()[np.stack([left, right])]
        first, second = pairs[:, self._engine.different_names(pairs)]
        return first, second

    def _torn(self, left: Ids, right: Ids) -> Ids:
        """Those ends of pairs that cannot all be made one, as the pairs say, without what is to stay apart."""
        if not len(left):
            return left
        ids, roots = self._components(left, right)
        component: Ids = np.arange(len(self.representatives()), dtype=np.int32)
        component[ids] = roots
        ends = component[self.representatives()[self.apart]]
        return ids[np.isin(roots, ends[0][ends[0] == ends[1]])]

    def _allowed(self, left: Ids, right: Ids) -> tuple[Ids, Ids]:
        """Those of some pairs that can be made one, one after the other, the least first."""
        ends = {one: self.order_of(one) for one in {*left.tolist(), *right.tolist()}}
        pairs = {tuple(sorted(pair, key=ends.__getitem__)) for pair in zip(left.tolist(), right.tolist(), strict=True)}
        united = {one: {one} for one in ends}
        enemies: dict[int, set[int]] = {one: set() for one in ends}
        for one, other in self.representatives()[self.apart].T.tolist():
            if one in ends and other in ends:
                enemies[one].add(other)
                enemies[other].add(one)
        taken = []
        for one, other in sorted(pairs, key=lambda pair: [ends[end] for end in pair]):
            mine, theirs = united[one], united[other]
            if mine is not theirs and not any(enemies[end] & theirs for end in mine):
                taken.append((one, other))
                mine |= theirs
                united.update(dict.fromkeys(theirs, mine))
        found = np.array(taken, np.int32).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def order_of(self, one: int) -> tuple[int, str]:
        """The place of a constant in the order of terms."""
        return term_order(self._engine.dictionary.value(int(one)))

    def _join(self, group: Sequence[int]) -> None:
        """Makes one class of those that some constants represent."""
        least = self._least(group)
        members = np.concatenate([self.members.pop(one, np.array([one], np.int32)) for one in group])
        self._changeable()[members] = least
        self.members[least] = members

    def _least(self, group: Sequence[int]) -> int:
        """The first of some constants in the order of terms; who represented all of them is the first of even more."""
        if len(self._larger) > max(group):
            first = int(self._larger[group[0]])
            if first in group and (self._larger[list(group)] == first).all():
                return first
        return min(group, key=self.order_of)

    # ------------------------------------------------------------------------------------ as a relation

    def pairs(self) -> Ids:
        """Every constant that another one represents, with that one: two rows of an array."""
        names = [np.full(len(members), name, np.int32) for name, members in self.members.items()]
        both = np.stack([np.concatenate([np.empty(0, np.int32), *ids]) for ids in (self.members.values(), names)])
        found: Ids = both[:, both[0] != both[1]]
        return found

    def other_pairs(self, other: MemoryClasses) -> Ids:
        """Those of the pairs that other classes do not have."""
        pairs = self.pairs()
        return pairs[:, other.representatives()[pairs[0]] != pairs[1]]

    def restore(self, pairs: Ids) -> None:
        """Takes over the classes that `pairs` gave; every constant was alone before."""
        order = np.argsort(pairs[1], kind="stable")
        names, starts = np.unique(pairs[1][order], return_index=True)
        for name, members in zip(names.tolist(), np.split(pairs[0][order], starts[1:]), strict=False):
            self.members[name] = np.append(np.int32(name), members)
        self._changeable()[pairs[0]] = pairs[1]

    # ------------------------------------------------------------------------------------ names again

    def sizes(self) -> npt.NDArray[np.int64]:
        """How many constants each representative stands for."""
        return self._names_of(None).sizes

    def expanded(self, ids: Ids, some: Flags | None = None) -> Ids:
        """All facts that some facts about representatives, one per column of the array, stand for.

        With `some`, only those that mention at least one of the flagged constants.
        """
        if not self.members:
            return ids if some is None else ids[:, some[ids].any(axis=0)]
        arity, any_of = ids.shape[0], self._names_of(None)
        if some is None:
            return _expanded(ids, [any_of] * arity)
        flagged, others = self._names_of(some), self._names_of(~some)
        # Each fact once: by the first place that has a flagged constant.
        chosen = [[others] * place + [flagged] + [any_of] * (arity - place - 1) for place in range(arity)]
        pieces = [_expanded(ids, names, first=place) for place, names in enumerate(chosen)]
        return np.concatenate([ids[:, :0], *pieces], axis=1)

    def _names_of(self, only: Flags | None) -> _Names:
        """The constants that each representative stands for, all or the flagged ones."""
        sizes = np.ones(len(self.representatives()), np.int64)
        if only is not None:
            sizes[: len(only)] = only
        starts = np.full(len(sizes), -1, np.int64)
        members = [one if only is None else one[only[one]] for one in self.members.values()]
        lengths = np.array([len(one) for one in members], np.int64)
        names = list(self.members)
        sizes[names], starts[names] = lengths, np.cumsum(lengths) - lengths
        return _Names(sizes, starts, np.concatenate([np.empty(0, np.int32), *members]))

    def changed(self, other: MemoryClasses) -> Ids:
        """The representatives, here or there, of classes that are not the same."""
        none = np.empty(0, np.int32)
        pairs = (
            (one, self.members.get(one, none), other.members.get(one, none)) for one in {*self.members, *other.members}
        )
        return np.array([one for one, here, there in pairs if here is not there and {*here} != {*there}], np.int32)

    def renaming(self, other: MemoryClasses) -> Ids:
        """A permutation of the constants that makes representatives here those of nearly the same classes there."""
        theirs = other.representatives()
        likely = []
        for name, members in self.members.items():
            if theirs[name] != name or name not in other.members:
                names, counts = np.unique(theirs[members], return_counts=True)
                likely.append((int(counts.max()), name, int(names[counts.argmax()])))
        chosen: dict[int, int] = {}
        for _, name, others in sorted(likely, reverse=True):
            if others not in chosen and theirs[others] == others and others not in self.members:
                chosen[others] = name
        found: Ids = np.arange(len(self.representatives()), dtype=np.int32)
        for others, name in chosen.items():
            found[name], found[others] = others, name
        return found

    # ------------------------------------------------------------------------------------ rewriting

    def outdated(self, facts: FactSet) -> ComputedFacts:
        return self._mentioning(self._represented(self.members), as_memory_facts(facts))

    def _represented(self, names: Iterable[int]) -> Ids:
        """The members of the classes that some constants represent."""
        ids = np.concatenate([np.empty(0, np.int32), *(self.members[name] for name in names)])
        gone: Ids = ids[self.representatives()[ids] != ids]
        return gone

    def _mentioning(self, names: Ids, facts: MemoryFacts) -> ComputedFacts:
        """Those of some facts that mention one of some distinct constants."""
        if not len(names):
            return self._engine.empty()
        flags = np.zeros(len(self.representatives()), np.bool_)
        flags[names] = True
        parts = {}
        for table in facts.tables():
            if any(flags[value] for _, value in table.fixed):
                parts[table] = facts.rows(table)
                continue
            at_most = facts.at_most(table)
            if not at_most or not table.arity:
                continue
            if self._is_sought(table, len(names), at_most):
                rows = np.concatenate([table.index((at,)).rows_with(names, table.n) for at in range(table.arity)])
                rows = rows[facts.contains(table, rows)]
                rows = rows if table.arity == 1 else np.unique(rows)
            else:
                rows = facts.rows(table).array()
                rows = rows[np.logical_or.reduce([flags[column[rows]] for column in table.cols])]
            if len(rows):
                parts[table] = row_sets.listed(table, rows)
        return ComputedFacts(self._engine.within, parts)

    def _is_sought(self, table: Table, names: int, at_most: int) -> bool:
        """Whether facts of a table are found by its indexes, and not by looking at them all.

        Indexes that nobody else has made pay when the facts have been looked at some times.
        """
        if names * tuning.CONSTANT_LOOK_UP_COST > at_most:
            return False
        if all(2 * table.indexed((at,)) >= table.n for at in range(table.arity)):
            return True
        self._looks[table] = self._looks.get(table, 0) + 1
        return self._looks[table] > tuning.LOOKS_BEFORE_INDEXES

    def normal(self, facts: FactSet) -> ComputedFacts:
        rewritten = self._rewritten(as_memory_facts(facts))
        return self._engine.union(self._engine.insert(table.predicate, ids) for table, _, ids in rewritten)

    def _rewritten(self, facts: MemoryFacts) -> Iterator[tuple[Table, Ids, Ids]]:
        """Rows of tables and what their facts are rewritten to."""
        representatives = self.representatives()
        for table in facts.tables():
            rows = facts.rows(table)
            if len(rows):
                arity = self._engine.relations()[table.predicate].arity
                yield table, rows.array(), representatives[full_facts(table, rows, arity)]

    def images(self, facts: FactSet) -> MemoryImages:
        return MemoryImages(self._engine, self, as_memory_facts(facts))

    def rewritten_about(self, names: Ids, facts: MemoryFacts) -> Iterator[tuple[Table, Ids, Ids]]:
        """Rows of facts that mention what some constants represent, and what these facts are rewritten to."""
        return self._rewritten(self._mentioning(self._represented(names.tolist()), facts))

    def rewritten_like(self, asked: MemoryFacts, facts: MemoryFacts) -> Iterator[tuple[Table, Ids, Ids]]:
        """The same of facts that may be rewritten to one that is asked about: each argument is to one of theirs."""
        representatives = self.representatives()
        wanted: dict[str, list[Flags]] = {}
        for table, _, ids in self._rewritten(asked):
            flags = wanted.setdefault(table.predicate, [np.zeros(len(representatives), np.bool_) for _ in ids])
            for place, column in enumerate(ids):
                flags[place][column] = True
        names = {predicate: [one[representatives] for one in flags] for predicate, flags in wanted.items()}
        for table in facts.tables():
            flags = names.get(table.predicate, [])
            if not flags or not all(flags[place][value] for place, value in table.fixed):
                continue
            rows, every = np.empty(0, np.int32), slice(table.n)
            # The argument of which the fewest names are wanted goes first.
            columns = sorted(zip(table.positions, table.cols, strict=True), key=lambda one: int(flags[one[0]].sum()))
            for number, (place, column) in enumerate(columns):
                if number:
                    rows = rows[flags[place][column[rows]]]
                else:
                    rows = np.flatnonzero(flags[place][column[every]]).astype(np.int32)
            rows = rows[facts.contains(table, rows)]
            if len(rows):
                yield from self._rewritten(ComputedFacts(self._engine.within, {table: row_sets.listed(table, rows)}))

    def of(self, facts: FactSet) -> ComputedFacts:
        return self.named(self.several(as_memory_facts(facts)))

    def several(self, facts: MemoryFacts) -> Ids:
        """The representatives of several constants that facts mention, or what these are rewritten to."""
        if not self.members:
            return np.empty(0, np.int32)
        several = np.zeros(len(self.representatives()), np.bool_)
        several[list(self.members)] = True
        mentioned = [ids[several[ids]] for _, _, ids in self._rewritten(facts)]
        return np.unique(np.concatenate([np.empty(0, np.int32), *mentioned]))

    def named(self, ids: Ids) -> ComputedFacts:
        """The facts `c ≈ c` for some constants."""
        return self._engine.insert(TRIPLE, self._equalities(ids, ids)) if len(ids) else self._engine.empty()

    def _names(self, classes: FactSet) -> Ids:
        """The representatives of classes."""
        return self._engine.loops(SAME_AS, as_memory_facts(classes))

    def mentioning(self, classes: FactSet, facts: FactSet) -> ComputedFacts:
        return self.facts_mentioning(self._names(classes), facts)

    def facts_mentioning(self, names: Ids, facts: FactSet) -> ComputedFacts:
        """Those of some facts that mention one of some constants."""
        return self._mentioning(np.unique(names), as_memory_facts(facts))

    def whole(self, classes: FactSet, others: Classes) -> ComputedFacts:
        assert isinstance(others, MemoryClasses)
        known, alone = self.representatives(), np.empty(0, np.int32)
        names = self._names(classes)
        kept = [(known[others.members.get(name, alone)] == name).all() for name in names.tolist()]
        return self.named(names[np.array(kept, np.bool_)])

    def departed(self, classes: FactSet, others: Classes) -> ComputedFacts:
        assert isinstance(others, MemoryClasses)
        known, alone = self.representatives(), np.empty(0, np.int32)
        members = [(name, others.members.get(name, alone)) for name in self._names(classes).tolist()]
        return self.named(np.concatenate([alone, *(some[known[some] != name] for name, some in members)]))

    def split(self, classes: FactSet, others: Classes) -> MemoryClasses:
        assert isinstance(others, MemoryClasses)
        found = copy(self)
        found.members = dict(self.members)
        found._is_shared = self._is_shared = True
        for name in self._names(classes).tolist():
            if (members := found.members.pop(name, None)) is not None:
                found._changeable()[members] = others.representatives()[members]
                found.members |= {one: others.members[one] for one in members.tolist() if one in others.members}
        return found

    def rewritten(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        if not self.members:
            return rules
        known = self._vocabularies.of(rules)
        return known.rewritten(self.representatives()[known.ids].tolist(), self._representative)

    def literal(self, literal: BodyLiteral) -> BodyLiteral:
        """A literal about representatives."""
        return replaced_in(literal, self._representative)

    def _representative(self, constant: Constant) -> Constant:
        known = self._engine.dictionary.find_value(constant.value)
        if known < 0 or self.representatives()[known] == known:
            return constant
        return Constant(self._engine.dictionary.value(int(self.representatives()[known])))


class _Names(NamedTuple):
    """Constants by representative: how many, and where in a list; -1 is the representative itself."""

    sizes: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    names: Ids


def _instances(terms: Sequence[int], ids: Ids) -> Flags:
    """Which facts, one per column, are instances of an atom."""
    found = np.ones(ids.shape[1], np.bool_)
    for place, term in enumerate(terms):
        if term < 0 or terms.index(term) < place:
            found &= ids[place] == (~term if term < 0 else ids[terms.index(term)])
    return found


def _beside(values: Ids, others: Sequence[Ids], rank: Ids) -> tuple[Ids, Ids]:
    """Pairs of values that connect those for which all `others` are the same; `rank` says which are side by side."""
    order = np.lexsort([rank, *others])
    beside = np.ones(max(len(order) - 1, 0), np.bool_)
    for column in others:
        ordered = column[order]
        beside &= ordered[1:] == ordered[:-1]
    values = values[order]
    return values[:-1][beside], values[1:][beside]


def _expanded(ids: Ids, places: Sequence[_Names], first: int = 0) -> Ids:
    """Facts with all names at their places; the `first` place goes first, where it leaves few facts over."""
    for place in sorted(range(len(places)), key=lambda place: place != first):
        sizes, starts, names = places[place]
        counts, start = sizes[ids[place]], starts[ids[place]]
        if (counts == 1).all() and (start < 0).all():
            continue
        ids = np.repeat(ids, counts, axis=1)
        listed = np.repeat(start >= 0, counts)
        number = np.arange(ids.shape[1]) - np.repeat(np.cumsum(counts) - counts - start, counts)
        ids[place, listed] = names[number[listed]]
    return ids


_Moved = tuple[Table, Ids, Table, Ids]
"""Rows of a table, and those of facts in a table, which may be the same, that are rewritten to them."""


class MemoryImages(Images):
    """Facts that are not rewritten are their own images; the others are listed by the row of theirs.

    They are listed class by class, when one is first asked about: there may be many facts, and few that matter. Those of a
    large class are not listed for a few facts that are asked about: all are looked at, a few times.
    """

    def __init__(self, engine: MemoryEngine, classes: MemoryClasses, facts: MemoryFacts) -> None:
        self._engine, self._classes, self._facts = engine, classes, facts
        self._listed: Ids = np.empty(0, np.int32)
        self._moved: list[_Moved] = []
        self._looks = 0

    def of(self, facts: FactSet) -> ComputedFacts:
        asked = as_memory_facts(facts)
        new, moved = np.setdiff1d(self._classes.several(asked), self._listed), self._moved
        if len(new) and self._looks < tuning.LOOKS_BEFORE_LISTS and self._looks_pay(asked, new):
            self._looks += 1
            moved = [*moved, *self._rewritten(self._classes.rewritten_like(asked, self._facts))]
        elif len(new):
            self._listed = np.concatenate([self._listed, new])
            moved.extend(self._rewritten(self._classes.rewritten_about(new, self._facts)))
        found: FactSet = asked
        found &= self._facts
        tables = asked.tables()
        for target, images, source, rows in moved:
            if target in tables:
                inside = rows[asked.contains(target, images)]
                if len(inside):
                    found |= ComputedFacts(self._engine.within, {source: row_sets.listed(source, np.sort(inside))})
        return as_memory_facts(found).computed()

    def _looks_pay(self, asked: MemoryFacts, names: Ids) -> bool:
        """Whether to look at all facts for those in other names takes less than to list what is known about classes."""
        predicates = {table.predicate for table in asked.tables()}
        every = sum(self._facts.at_most(table) for table in self._facts.tables() if table.predicate in predicates)
        members = sum(len(self._classes.members[name]) for name in names.tolist())
        listed = every * members / len(self._engine.dictionary)
        return every + tuning.IMAGE_COST * len(asked) < tuning.IMAGE_COST * listed

    def _rewritten(self, facts: Iterable[tuple[Table, Ids, Ids]]) -> Iterator[_Moved]:
        """Rows of what facts are rewritten to, as far as that has rows, with those of the facts."""
        for source, rows, ids in facts:
            for target, tuples, places in self._engine.relation(source.predicate, ids.shape[0]).split(ids):
                images = target.find(tuples)
                known = images >= 0
                yield target, images[known], source, rows[places][known]
