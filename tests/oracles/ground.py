"""Updates by the letter of the papers, on ground rules: which instances an algorithm considers, in which phase.

A program is grounded once over every fact that could ever follow from some explicit facts. After that everything is
propositional: a fact is in a set or not, a rule instance fires or not. The maintenance algorithms of *Revisited* are
written down here from their definitions, with Python sets and without an engine; they keep the instances that each of
their lines considers, so that a test can hold the engine's numbers to them and the theorems to the record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from everlog.datalog.stratify import Stratum, stratify
from everlog.datalog.syntax import Atom, Constant, Rule
from oracles import naive
from oracles.naive import Fact, Facts, key

Trace = dict[Fact, dict[int, int]]
"""The counts of a fact by iteration of its stratum."""

NOTHING: Facts = frozenset()
NEVER = float("inf")


@dataclass(frozen=True, eq=False)
class Instance:
    """An instance of a rule; two substitutions are two instances, whatever facts they mention."""

    head: Fact
    positive: frozenset[Fact]
    negative: frozenset[Fact]
    stratum: int
    recursive: bool

    def fires(self, positive: Iterable[Fact], negative: Iterable[Fact] | None = None) -> bool:
        """Whether it is in `inst_r[I⁺, I⁻]`."""
        outside = positive if negative is None else negative
        return self.positive.issubset(positive) and self.negative.isdisjoint(outside)

    def meets(self, P: Iterable[Fact], N: Iterable[Fact] = NOTHING) -> bool:
        """Whether a positive body fact is in `P` or a negative one in `N`."""
        return not (self.positive.isdisjoint(P) and self.negative.isdisjoint(N))


@dataclass
class Record:
    """The instances that an update considered, by phase, and the materialisation that it ended with."""

    phases: dict[str, list[Instance]] = field(default_factory=dict)
    operations: dict[tuple[str, str], list[Instance]] = field(default_factory=dict)
    """By phase and operation of the algebra, where an engine was asked."""
    after: Facts = NOTHING

    def note(self, phase: str, instances: Iterable[Instance]) -> list[Instance]:
        noted = list(instances)
        self.phases.setdefault(phase, []).extend(noted)
        return noted

    def numbers(self) -> dict[str, int]:
        return {phase: len(instances) for phase, instances in self.phases.items()}


class Ground:
    """A program over the facts that can follow from some explicit facts, whatever negation lets through."""

    def __init__(self, rules: Sequence[Rule], possible_explicit: Facts, mode: Literal["levels", "single"]) -> None:
        self._strata = stratify(rules, mode=mode)
        self._stratum_of: dict[Fact, int] = {}
        self._stages: dict[Facts, dict[Fact, int]] = {}
        self._firing: dict[Facts, frozenset[Instance]] = {}
        possible = naive._closure(rules, possible_explicit, absent_from=NOTHING)
        self.instances = [
            Instance(
                naive.instance_of(rule.head, one),
                frozenset(naive.instance_of(atom, one) for atom in rule.positive),
                frozenset(naive.instance_of(negation.atoms[0], one) for negation in rule.negative),
                stratum.index,
                rule in stratum.recursive,
            )
            for stratum in self._strata
            for rule in stratum.rules
            for one in naive.instances(rule, possible, NOTHING)
        ]
        self._of: list[list[Instance]] = [[] for _ in range(len(self._strata) + 1)]
        for instance in self.instances:
            self._of[instance.stratum].append(instance)

    def strata(self) -> Iterator[tuple[int, list[Instance]]]:
        yield from ((stratum.index, self._of[stratum.index]) for stratum in self._strata)

    def stratum_of(self, fact: Fact) -> int:
        """`Out^s`: the lowest stratum has what no atom of a higher one matches."""
        if fact not in self._stratum_of:
            found = [stratum.index for stratum in self._strata if stratum.index > 1 and _matches(stratum, fact)]
            self._stratum_of[fact] = found[0] if found else 1
        return self._stratum_of[fact]

    def within(self, facts: Iterable[Fact], s: int) -> set[Fact]:
        return {fact for fact in facts if self.stratum_of(fact) == s}

    # ------------------------------------------------------------------------------------ from scratch

    def materialised(self, E: Facts) -> Facts:
        return frozenset(self.stages(E))

    def stages(self, E: Facts) -> dict[Fact, int]:
        """The first iteration of its stratum in which each fact is derived (*Revisited*, Algorithm 2)."""
        if E not in self._stages:
            self._stages[E] = self._computed_stages(E)
        return self._stages[E]

    def _computed_stages(self, E: Facts) -> dict[Fact, int]:
        stage: dict[Fact, int] = {}
        for s, instances in self.strata():
            new = self.within(E, s) | {one.head for one in instances if not one.recursive and one.fires(stage)}
            number = 1
            while new := new - stage.keys():
                stage.update(dict.fromkeys(new, number))
                number += 1
                new = {one.head for one in instances if one.recursive and one.meets(new) and one.fires(stage)}
        return stage

    def time(self, one: Instance, stage: dict[Fact, int]) -> float:
        """The iteration in which an instance is counted; `NEVER` if it does not fire."""
        if not one.fires(stage):
            return NEVER
        return 1 + max((stage[fact] for fact in one.positive if self.stratum_of(fact) == one.stratum), default=0)

    def trace(self, E: Facts) -> Trace:
        """The trace of Algorithm 2: how often each fact is derived in each iteration, explicit facts in the first."""
        stage = self.stages(E)
        trace: dict[Fact, Counter[int]] = {fact: Counter({1: 1}) if fact in E else Counter() for fact in stage}
        for one in self.instances:
            if (time := self.time(one, stage)) is not NEVER:
                trace[one.head][int(time)] += 1
        return {fact: dict(counts) for fact, counts in trace.items()}

    def counts(self, E: Facts) -> dict[Fact, tuple[int, int]]:
        """The nonrecursive and the recursive count of each fact; being explicit counts as nonrecursive."""
        I = self.materialised(E)
        counts = {fact: [int(fact in E), 0] for fact in I}
        for one in self.instances:
            if one.fires(I):
                counts[one.head][one.recursive] += 1
        return {fact: (nonrecursive, recursive) for fact, (nonrecursive, recursive) in counts.items()}

    def firing(self, I: Facts) -> frozenset[Instance]:
        """`inst_r[I]` for all rules."""
        if I not in self._firing:
            self._firing[I] = frozenset(one for one in self.instances if one.fires(I))
        return self._firing[I]

    # ------------------------------------------------------------------------------------ Algorithm 3

    def counting(self, E: Facts, deleted: Facts, added: Facts) -> Record:
        """The instances whose time changed: subtracted at the old one (lines 23, 36), added at the new (24, 37)."""
        record = Record({"deleted": [], "added": []})
        old, new = self.stages(E), self.stages((E - deleted) | added)
        for one in self.instances:
            before, after = self.time(one, old), self.time(one, new)
            if before != after:
                record.note("deleted", [one] if before is not NEVER else [])
                record.note("added", [one] if after is not NEVER else [])
        record.after = frozenset(new)
        return record

    # ------------------------------------------------------------------------------------ Algorithm 4

    def dred(self, E: Facts, deleted: Facts, added: Facts) -> Record:
        """DRed. `candidates` has all instances that line 42 may choose from; the phase has one for each fact."""
        record = Record({"overdeletion": [], "one_step_rederivation": [], "insertion": [], "candidates": []})
        I, minus, plus = self.materialised(E), (deleted & E) - added, added - E
        D: set[Fact] = set()
        A: set[Fact] = set()
        for s, instances in self.strata():
            lost = record.note("overdeletion", (one for one in instances if one.fires(I) and one.meets(D - A, A - D)))
            N = self.within(minus, s) | {one.head for one in lost}
            while Δ := N - D:
                left, barred = I - (D - A), I | A
                lost = [one for one in instances if one.recursive and one.fires(left, barred) and one.meets(Δ)]
                N = {one.head for one in record.note("overdeletion", lost)}
                D |= Δ
            left, barred = I - (D - A), I | A
            R = self.within(D, s) & (E - minus)
            for fact in self.within(D, s) - R:
                found = [one for one in instances if one.head == fact and one.fires(left, barred)]
                record.note("candidates", found)
                if record.note("one_step_rederivation", found[:1]):
                    R.add(fact)
            self._insert(record, instances, I, D, A, R | self.within(plus, s))
        record.after = frozenset((I - D) | A)
        return record

    @staticmethod
    def _insert(record: Record, instances: list[Instance], I: Facts, D: set[Fact], A: set[Fact], N: set[Fact]) -> None:
        now = (I - D) | A
        new = record.note("insertion", (one for one in instances if one.fires(now) and one.meets(A - D, D - A)))
        N = N | {one.head for one in new}
        while Δ := N - now:
            A |= Δ
            now |= Δ
            new = [one for one in instances if one.recursive and one.fires(now) and one.meets(Δ)]
            N = {one.head for one in record.note("insertion", new)}

    # ------------------------------------------------------------------------------------ Algorithm 5

    def undisturbed(self, E: Facts, deleted: Facts, added: Facts) -> set[Instance]:
        """The instances of the old materialisation that can be proved to fire still, by such instances alone.

        A complete search for proofs finds these, and deletes the rest: a fact that has lost its proofs may well follow
        from what the update adds, but that is for the insertion to find.
        """
        I, after = self.materialised(E), self.materialised((E - deleted) | added)
        left: set[Fact] = set()
        found: set[Instance] = set()
        for s, instances in self.strata():
            candidates = [
                one
                for one in instances
                if one.fires(I)
                and one.negative.isdisjoint(after)
                and all(fact in after for fact in one.positive if self.stratum_of(fact) < s)
            ]
            left |= {fact for fact in after & I if self.stratum_of(fact) < s}
            left |= self.within(E - (deleted - added), s)
            while new := {one.head for one in candidates if one.positive <= left} - left:
                left |= new
            found |= {one for one in candidates if one.positive <= left}
        return found

    # ------------------------------------------------------------------------------------ DRed^c

    def dredc(self, E: Facts, deleted: Facts, added: Facts) -> Record:
        """DRed with counts: facts with a nonrecursive derivation left are not overdeleted, those with a recursive one
        are rederived without a look at the rules."""
        record = Record({"overdeletion": [], "one_step_rederivation": [], "insertion": []})
        I, minus, plus = self.materialised(E), (deleted & E) - added, added - E
        count = {fact: list(both) for fact, both in self.counts(E).items()}
        D: set[Fact] = set()
        A: set[Fact] = set()
        for s, instances in self.strata():
            for fact in self.within(minus, s):
                count[fact][0] -= 1
            lost = record.note("overdeletion", (one for one in instances if one.fires(I) and one.meets(D - A, A - D)))
            N = self.within(minus, s)
            while True:
                for one in lost:
                    count[one.head][one.recursive] -= 1
                N |= {one.head for one in lost}
                Δ = {fact for fact in N - D if count[fact][0] == 0}
                if not Δ:
                    break
                left, barred = I - (D - A), I | A
                again = [one for one in instances if one.recursive and one.fires(left, barred) and one.meets(Δ)]
                lost = record.note("overdeletion", again)
                N = set()
                D |= Δ
            R = {fact for fact in self.within(D, s) if count[fact][1] > 0}
            self._insert(record, instances, I, D, A, R | self.within(plus, s))
        record.after = frozenset((I - D) | A)
        return record


def _matches(stratum: Stratum, fact: Fact) -> bool:
    return any(_is_instance(fact, atom) for atom in stratum.patterns)


def _is_instance(fact: Fact, atom: Atom) -> bool:
    if atom.predicate != fact[0]:
        return False
    bound: dict[str, naive.Key] = {}
    return all(
        (key(term.value) if isinstance(term, Constant) else bound.setdefault(term.name, value)) == value
        for term, value in zip(atom.terms, fact[1], strict=True)
    )
