"""The best facts of groups, where they depend on each other: shortest paths and their kin, and how they are kept.

Rules derive *candidates* from best facts; the best candidate of a group replaces what the group had. A better value only
ever improves what follows (`planning/monotonicity.py`), so rounds in which whatever has improved is followed up end with
the one solution, in whatever order: each fact follows from others, and no candidate is better.

An update goes as DRed does. Overdeletion takes away the best facts that have lost an instance of their own value, and what
that leads to; what is left then follows as before. The groups of what is gone are looked at again as a whole, together with
what has come, and what improves is followed up as above. Explicit facts stay, also where their group has a better one.

That is right if every fact follows, in the end, from best facts alone: it does where each step adds something, exactly,
to the value that it gets, or never gives a better one (`_well_founded`). Elsewhere a fact may owe its existence to a value
that has been improved since, perhaps by that very fact; then all that the rules derive is computed again when something
goes. So it is, whatever changes, where integers and doubles are added to both, since sums of doubles are rounded: of
`0.9999999999999999` and `1` the better one leads to the worse of `1001.0` and `1001`; if doubles came before integers,
so would `1`, of `1` and `1.0000000000000002`. No order of equal numbers makes that right. What is computed again takes the
same rounds from the same facts, and so comes to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Final, NamedTuple
from weakref import ref

from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import HIDDEN, Atom, Rule, Term, Variable
from everlog.engine.algebra import BestFacts, Engine, FactSet, Forest, Graphs, Labelled, Matcher, Region, Rules, Steps
from everlog.errors import EverlogError
from everlog.planning.compiled_program import CompiledMinima, Compiler
from everlog.planning.hidden_predicates import named_after
from everlog.planning.steps import Step, steps_of

_TOUCHED: Final = f"{HIDDEN}touched"
_STEP: Final = f"{HIDDEN}step"
_FEW: Final = 10_000
_SHARE: Final = 32
"""Where everything can be settled in order, no more than so many facts, or one in so many, are taken away one by one."""
_PATIENCE: Final = 64
"""So many rounds nobody wonders about."""

Note = Callable[[FactSet], None]
"""Is told of the facts that a round has changed."""


class Below(NamedTuple):
    """An update of explicit facts, and what it has changed so far, below a stratum."""

    I: FactSet
    E: FactSet
    minus: FactSet
    plus: FactSet
    D: FactSet
    A: FactSet


class _Again(Exception):
    """Everything has to be computed again."""


class _Choice:
    """One relation: its groups, and the rule that chooses the best facts of them."""

    def __init__(self, rule: Rule, best: BestFacts, matcher: Matcher) -> None:
        assert rule.extreme is not None, "a rule that chooses"
        place = rule.extreme.place
        self.rule, self.extreme, self.best, self._matcher = rule, rule.extreme, best, matcher
        self.head, (self.candidate,) = rule.head, rule.positive
        self.facts, self.candidates = Region((self.head,)), Region((self.candidate,))
        self._rival = Atom(self.head.predicate, _with(self.head.terms, place, (Variable("rival"),)))
        self.touched = Atom(named_after(_TOUCHED, rule), _with(self.head.terms, place, ()))

    def guarded(self, rule: Rule) -> Rule:
        """A rule for candidates, for groups that are touched."""
        group = Atom(self.touched.predicate, _with(rule.head.terms, self.extreme.place, ()))
        return Rule(rule.head, (group, *rule.body))

    def as_written(self, rule: Rule) -> Rule:
        """A rule for candidates as the program has it."""
        return Rule(Atom(self.head.predicate, rule.head.terms), rule.body, self.extreme)

    def derived(self, found: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that are candidates among what was found."""
        return self._matched(self.head, (self.candidate, found), (self.head, facts))

    def as_candidates(self, facts: FactSet) -> FactSet:
        """Some facts as candidates."""
        return self._matched(self.candidate, (self.head, facts))

    def groups(self, facts: FactSet) -> FactSet:
        """The groups that some facts touch."""
        return self._matched(self.touched, (self.head, facts))

    def rivals(self, found: FactSet, given: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that are of the same groups as candidates, or as given facts, and these."""
        beside = self._matched(self._rival, (self.candidate, found), (self._rival, facts))
        return beside.plus(given).plus(self._matched(self._rival, (self.head, given), (self._rival, facts)))

    def given(self, groups: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that are of some groups."""
        return self._matched(self.head, (self.touched, groups), (self.head, facts))

    def _matched(self, wanted: Atom, *literals: tuple[Atom, FactSet]) -> FactSet:
        return self._matcher.match([Labelled(atom, facts) for atom, facts in literals]).facts(wanted)


def _with(terms: tuple[Term, ...], place: int, others: tuple[Term, ...]) -> tuple[Term, ...]:
    return (*terms[:place], *others, *terms[place + 1 :])


class _Taken:
    """Steps as facts of an atom: a hidden one if several atoms make a step."""

    def __init__(self, step: Step) -> None:
        self._step, self.is_joined = step, step.is_joined
        self.atom = Atom(named_after(_STEP, step), step.variables) if step.is_joined else step.atoms[0]
        self._region = Region((self.atom,))
        self._rules: Rules | None = None

    def of(self, facts: FactSet) -> Steps:
        """Those of some facts that are such steps."""
        return Steps(self.atom, facts.within(self._region), self._step.start, self._step.end, self._step.added)

    def rules(self, compiler: Compiler) -> Rules:
        """A rule for steps that several atoms make."""
        if self._rules is None:
            self._rules = compiler([Rule(self.atom, self._step.atoms)])
        return self._rules


def _read(rules: Sequence[Rule]) -> Iterator[Atom]:
    """The atoms that the bodies of some rules have."""
    for rule in rules:
        yield from rule.positive
        for negation in rule.negative:
            yield from negation.atoms


class Minima:
    """The rules of a stratum that depend on each other through minima and maxima."""

    def __init__(
        self, compiled: CompiledMinima, engine: Engine, graphs: Graphs, matcher: Matcher, compiler: Compiler
    ) -> None:
        self._engine, self.compiled, self._compiler = engine, compiled, compiler
        self._nothing = engine.empty()
        self._choices = [_Choice(rule, graphs.best_facts(rule), matcher) for rule in compiled.choices]
        chosen = {choice.head.predicate for choice in self._choices} | {
            one.candidate.predicate for one in self._choices
        }
        self._plain = Region(tuple(atom for atom in compiled.region.patterns if atom.predicate not in chosen))
        self._again: dict[tuple[Rule, ...], Rules] = {}
        one = compiled.choices[0] if len(compiled.choices) == 1 and not self._plain.patterns else None
        self._steps = None if one is None else steps_of(one, compiled.recursive.rules)
        self._matcher = matcher
        self._kinds: frozenset[str] | None = None
        """The kinds of numbers that there are; None if nobody has looked."""
        self._size = 0
        """About how many facts there are."""
        self._forest: Forest | None = None
        self._held: Callable[[], FactSet | None] = lambda: None
        """What shows why best facts hold, and the materialisation that it belongs to."""
        self._in_rounds = self._steps is None
        """Whether best facts are known not to be kept in such a way."""
        self._reads = Region(tuple(_read(compiled.rules.rules)))
        self._taken = [_Taken(step) for step in self._steps or ()]

    def rules(self) -> list[Rule]:
        """The rules as the program has them."""
        choices = {choice.candidate.predicate: choice for choice in self._choices}
        return [
            rule if rule.head.predicate not in choices else choices[rule.head.predicate].as_written(rule)
            for rule in self.compiled.rules.rules
        ]

    # ------------------------------------------------------------------------------------ from the beginning

    def begin(self, I: FactSet, E: FactSet, note: Note) -> FactSet:
        """What follows from facts below and from explicit ones."""
        given = E.within(self.compiled.region)
        state = _State(I, self._nothing, self._nothing, self._nothing, self._nothing)
        state.explicit = given
        found = self.compiled.nonrecursive.apply(I)
        settled = None if self._steps is None else self._settled(I, found, given)
        self._held, self._forest = lambda: None, None
        if settled is None:
            self._settle(state, found, given, note, None)
            self._found_again(state, note)
        else:
            self._forget()
            best, self._forest = settled
            state.A = best.plus(given)
            note(state.A)
        self._in_rounds = self._forest is None
        self._kinds, self._size = self._kinds_of(state.A), len(state.A)
        return state.A

    def _settled(self, I: FactSet, found: FactSet, given: FactSet) -> tuple[FactSet, Forest | None] | None:
        """All best facts at once, where an engine can settle them in order."""
        (choice,) = self._choices
        taken = [one.of(one.rules(self._compiler).apply(I) if one.is_joined else I) for one in self._taken]
        best = choice.best.settled(found.within(choice.candidates), given, taken)
        self._forget_steps()
        return best

    def _forget_steps(self) -> None:
        for one in self._taken:
            if one.is_joined:
                self._engine.forget(one.atom.predicate)

    def hold(self, I: FactSet) -> None:
        """Is told of a materialisation that counts from now on, after everything was computed or updated."""
        if self._forest is not None:
            self._held = ref(I)

    def nbytes(self) -> int:
        """The memory of what is kept for updates."""
        return 0 if self._forest is None else self._forest.nbytes()

    # ------------------------------------------------------------------------------------ updates

    def update(self, below: Below, note: Note) -> tuple[FactSet, FactSet]:
        """What is gone and what is new, given what changed below."""
        region = self.compiled.region
        minus, plus = below.minus.within(region), below.plus.within(region)
        forest = None if self._held() is not below.I else self._forest
        self._held, self._forest = lambda: None, forest
        if not (minus or plus or below.D.within(self._reads) or below.A.within(self._reads)):
            return self._nothing, self._nothing
        self._forest = None
        if not self._in_rounds:
            followed = None if forest is None else self._followed(forest, below, minus, plus, note)
            if followed is None:
                return self.computed_again(below, note)
            self._forest = forest
            return followed
        with nullcontext() if self._steps is None else self._unlimited():
            return self._updated(below, minus, plus, note)

    def _followed(
        self, forest: Forest, below: Below, minus: FactSet, plus: FactSet, note: Note
    ) -> tuple[FactSet, FactSet] | None:
        """What is gone and what is new, by a forest; None if everything has to be computed again."""
        (choice,) = self._choices
        explicit, nonrecursive = (below.E - minus) | plus, self.compiled.nonrecursive
        now = (below.I - below.D) | below.A
        gone = [one.of(self._changed(one, (below.I, below.D, below.A), now)) for one in self._taken]
        lost = forest.lost(gone, nonrecursive.apply(below.I, some=[(below.D, below.A)]), minus, choice.touched)
        self._forget_steps()
        self._forget()
        if lost is None:
            return None
        found, given = nonrecursive.apply(now, some=[(below.A, below.D)]), plus
        if lost:
            found |= self._guarded(nonrecursive.rules).apply(now | lost, some=[(lost, self._nothing)])
            given |= choice.given(lost, explicit)
        come = [one.of(self._changed(one, (now, below.A, below.D), below.I)) for one in self._taken]
        changed = forest.resettled(found, given, come)
        self._forget_steps()
        self._forget()
        self._engine.forget(choice.touched.predicate)
        if changed is None:
            return None
        old, new = changed
        new = new.plus(plus)
        D, A = old.plus(minus).minus(new).minus(explicit), new.minus(below.I)
        note(A)
        return D, A

    def _changed(self, step: _Taken, of: tuple[FactSet, FactSet, FactSet], other: FactSet) -> FactSet:
        """The steps that there are by facts of one set, with some that are not in another, and are not by the other."""
        facts, more, fewer = of
        if not step.is_joined:
            return more
        rules = step.rules(self._compiler)
        found = rules.apply(facts, some=[(more, fewer)])
        return found.minus(rules.provable(found, other)) if found else found

    def _updated(self, below: Below, minus: FactSet, plus: FactSet, note: Note) -> tuple[FactSet, FactSet]:
        try:
            if self._kinds is None:
                self._kinds = self._kinds_of(below.I)
                self._size = len(below.I.within(self.compiled.region))
            self._uniform(self._kinds)
            return self._maintained(below, minus, plus, self._kinds, note)
        except _Again:
            return self.computed_again(below, note)

    def computed_again(self, below: Below, note: Note) -> tuple[FactSet, FactSet]:
        """What is gone and what is new, by computing everything again."""
        mine = below.I.within(self.compiled.region)
        now = self.begin(((below.I - mine) - below.D) | below.A, (below.E - below.minus) | below.plus, note)
        return mine.minus(now), now.minus(mine)

    @contextmanager
    def _unlimited(self) -> Iterator[None]:
        """What can be settled in order ends in good time by itself: no update is given up for it."""
        before, guard = self._engine.derivations, self._engine.guard
        self._engine.guard = None
        try:
            yield
        finally:
            self._engine.derivations, self._engine.guard = before, guard

    def _maintained(
        self, below: Below, minus: FactSet, plus: FactSet, kinds: frozenset[str], note: Note
    ) -> tuple[FactSet, FactSet]:
        state = _State(below.I, below.D, below.A, self._nothing, self._nothing)
        state.explicit = (below.E - minus) | plus
        lost = self.compiled.rules.apply(state.I, some=[(below.D, below.A)])
        if (lost or minus) and not self._well_founded(kinds):
            raise _Again
        self._overdelete(state, lost, minus, note)
        found = self.compiled.rules.apply(state.now, some=[(below.A, below.D)])
        found |= self._rederived(state)
        self._settle(state, found, plus.minus(state.now), note, kinds)
        return state.D, state.A

    def _well_founded(self, kinds: frozenset[str]) -> bool:
        """Whether every fact follows from best facts alone, in steps that do not lead back to it."""
        exact = kinds <= {"integer"}
        return all(
            one.extreme.worsens or (one.extreme.adds and (exact or not one.extreme.numbers)) for one in self._choices
        )

    def _overdelete(self, state: _State, found: FactSet, minus: FactSet, note: Note, limited: bool = True) -> None:
        """Takes away what has lost an instance, unless it is explicit, and what follows from it."""
        Δ = self._lost(found, state.I).plus(minus).minus(state.explicit)
        while Δ:
            if limited and self._steps is not None and len(state.D) + len(Δ) > max(_FEW, self._size // _SHARE):
                raise _Again
            found = self.compiled.recursive.apply(state.survivors, state.I | state.below_A, some=[(Δ, self._nothing)])
            state.D |= Δ
            note(Δ)
            Δ = self._lost(found, state.survivors).minus(state.explicit)

    def _lost(self, found: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that are among what was found, as candidates or as they are."""
        lost = found.within(self._plain).common(facts)
        for choice in self._choices:
            lost |= choice.derived(found, facts)
        self._forget()
        return lost

    def _rederived(self, state: _State) -> FactSet:
        """The candidates for groups that lost their best fact, and other facts that are gone and follow all the same."""
        if not state.D:
            return self._nothing
        touched = self._nothing
        for choice in self._choices:
            touched |= choice.groups(state.D)
        guarded = self._guarded(self.compiled.rules.rules)
        found = guarded.apply(state.now | touched, some=[(touched, self._nothing)])
        for choice in self._choices:
            self._engine.forget(choice.touched.predicate)
        plain = state.D.within(self._plain)
        return found.plus(self.compiled.rules.provable(plain, state.now)) if plain else found

    def _guarded(self, rules: Sequence[Rule]) -> Rules:
        """Those of some rules that derive candidates, for groups that are touched."""
        known = tuple(rules)
        if known not in self._again:
            choices = {choice.candidate.predicate: choice for choice in self._choices}
            mine = [rule for rule in known if rule.head.predicate in choices]
            self._again[known] = self._compiler([choices[rule.head.predicate].guarded(rule) for rule in mine])
        return self._again[known]

    # ------------------------------------------------------------------------------------ what improves

    def _settle(self, state: _State, found: FactSet, given: FactSet, note: Note, kinds: frozenset[str] | None) -> None:
        """Chooses among what was found, with new explicit facts, and follows up whatever improves until nothing does.

        If all numbers have to be of some kinds, others raise `_Again`.
        """
        rounds, enough = 0, _PATIENCE
        while True:
            Δ, worse = self._improved(state, found, given, kinds)
            self._forget()
            if not Δ and not worse:
                return
            state.change(worse, Δ)
            note(Δ)
            rounds += 1
            if rounds > enough:
                facts = len(state.now.within(self.compiled.region))
                if rounds > facts:
                    self._refuse_cycles()
                enough = max(facts, 2 * rounds)
            found = self.compiled.recursive.apply(state.now, some=[(Δ, self._nothing)])
            given = self._nothing

    def _found_again(self, state: _State, note: Note) -> None:
        """Has facts follow from others as they are now, where numbers are of several kinds.

        There a value that was improved may have led to a better one than that which improved it, of equal numbers that of
        the better kind: what follows from it no longer is taken away with all that it leads to, and found again.
        """
        for _ in range(_PATIENCE):
            if not self._of_several_kinds(self._kinds_of(state.A)):
                return
            again = _State(state.now, self._nothing, self._nothing, self._nothing, self._nothing)
            again.explicit = state.explicit
            lost = self._nothing
            for choice in self._choices:
                mine = state.A.within(choice.facts).minus(state.explicit)
                lost |= mine.minus(
                    choice.derived(self.compiled.rules.provable(choice.as_candidates(mine), again.I), mine)
                )
            self._forget()
            if not lost:
                return
            self._overdelete(again, self._nothing, lost, note, limited=False)
            self._settle(again, self._rederived(again), self._nothing, note, None)
            state.change(again.D, again.A)

    def _improved(
        self, state: _State, found: FactSet, given: FactSet, kinds: frozenset[str] | None
    ) -> tuple[FactSet, FactSet]:
        """The facts that are new, and those that are worse than others of their groups and not explicit."""
        now = state.now
        new, worse = found.within(self._plain).plus(given).minus(now), self._nothing
        for choice in self._choices:
            candidates, mine = found.within(choice.candidates), given.within(choice.facts)
            if not candidates and not mine:
                continue
            rivals = choice.rivals(candidates, mine, now)
            if kinds is not None and choice.extreme.numbers:
                self._uniform(kinds | choice.best.kinds(candidates, mine))
            best = choice.best.best(candidates, rivals)
            new |= best.minus(now)
            worse |= rivals.minus(best).minus(state.explicit)
        return new, worse

    def _refuse_cycles(self) -> None:
        """Refuses to go on after more rounds than there are facts: with sums, some fact has then improved itself."""
        if all(choice.extreme.adds for choice in self._choices):
            choices = {choice.candidate.predicate: choice for choice in self._choices}
            rules = [rule for rule in self.compiled.recursive.rules if rule.head.predicate in choices]
            by = "`, `".join(print_rule(choices[rule.head.predicate].as_written(rule)) for rule in rules)
            raise EverlogError(
                "some facts lead back to themselves with a better value each time, as the weights of a negative cycle do, "
                f"so that there is no best one, by `{by}`"
            )

    def _kinds_of(self, facts: FactSet) -> frozenset[str]:
        found = (
            choice.best.kinds(self._nothing, facts.within(choice.facts))
            for choice in self._choices
            if choice.extreme.numbers
        )
        return frozenset().union(*found)

    def _uniform(self, kinds: frozenset[str]) -> None:
        if self._of_several_kinds(kinds):
            raise _Again

    @staticmethod
    def _of_several_kinds(kinds: frozenset[str]) -> bool:
        return len(kinds) > 1 or "other" in kinds

    def _forget(self) -> None:
        for choice in self._choices:
            self._engine.forget(choice.candidate.predicate)


class _State:
    """Facts as they are updated: `I`, what changed below, and `D` and `A` of the stratum's own."""

    def __init__(self, I: FactSet, below_D: FactSet, below_A: FactSet, D: FactSet, A: FactSet) -> None:
        self.I, self.below_D, self.below_A, self.D, self.A = I, below_D, below_A, D, A
        self.explicit = D
        """The explicit facts after the update."""

    @property
    def survivors(self) -> FactSet:
        return self.I - (self.below_D | self.D)

    @property
    def now(self) -> FactSet:
        return (self.I - (self.below_D | self.D)) | (self.below_A | self.A)

    def change(self, worse: FactSet, new: FactSet) -> None:
        """Replaces facts by others."""
        self.D |= worse.common(self.I)
        self.A -= worse
        self.D -= new
        self.A |= new.minus(self.I)
