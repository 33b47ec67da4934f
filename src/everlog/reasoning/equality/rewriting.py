"""The r-materialisation `(π, I)` of *Equality* §2, set at a time, and what additions do to it.

A round's equalities merge classes; facts that mention a constant which another one now represents leave `I`, and what they
are rewritten to is new. Rules are about representatives, too: one whose constants change is applied to all facts once. Of
`c ≈ c` only those facts are kept that name a class of several constants, or are explicit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy

from everlog.datalog.syntax import Rule, Variable
from everlog.engine.algebra import Classes, Engine, FactSet, Region, Rules
from everlog.planning.compiled_program import Compiler
from everlog.planning.equality_rules import Key, core_of, key_of, same, without_reflexive_heads
from everlog.reasoning.change import Progress

Form = Callable[[Rule], Sequence[Rule]]
"""What becomes of a rule about representatives before it is compiled."""


class Rewritten:
    """Some rules, compiled with constants replaced by the representatives of their classes."""

    def __init__(
        self, source: tuple[Rule, ...], compiler: Compiler, classes: Classes, form: Form = without_reflexive_heads
    ) -> None:
        self.source, self.classes = source, classes
        self._compiler, self._form = compiler, form
        self._take(classes.rewritten(source))

    def _take(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self.keys = list(dict.fromkeys(key for rule in rules if (key := key_of(rule)) is not None))
        self.all = self.but_for(())

    def over(self, classes: Classes) -> Rewritten:
        """The same about other classes; what is compiled is used again where it can be."""
        other = copy(self)
        other.classes, now = classes, classes.rewritten(self.source)
        if now is not self._rules:
            other._take(now)
        return other

    def merged(self, Δ: FactSet, nothing: FactSet) -> tuple[bool, FactSet, set[Key]]:
        """Merges constants that new facts make equal, by an equality in `Δ` or as values of a key.

        Values of a key are merged before any rule looks at their pairs, of which there may be many. Gives whether a class
        has grown, the classes that keys made grow, and the keys all of whose values in `Δ` are one now.
        """
        grown, classes, done = self.classes.merge(Δ), nothing, set[Key]()
        for key in self.keys:
            more, united = self.classes.group(Δ, key.atom, key.value)
            classes |= more
            if united:
                done.add(key)
        return grown or bool(classes), classes, done

    def but_for(self, keys: Collection[Key]) -> Rules:
        """The rules but for some keys."""
        left = (rule for rule in self._rules if key_of(rule) not in keys)
        return self._compiler(list(dict.fromkeys(made for rule in left for made in self._form(rule))))

    def follow(self) -> tuple[Rules, Rules | None]:
        """Brings the rules up to date with classes that have grown; gives those that were there before, and new ones."""
        now = self.classes.rewritten(self.source)
        if now is self._rules:
            return self.all, None
        known = set(self.all.rules)
        self._take(now)
        fresh = [rule for rule in self.all.rules if rule not in known]
        if not fresh:
            return self.all, None
        return self._compiler([rule for rule in self.all.rules if rule in known]), self._compiler(fresh)


class RMaterialisation:
    """`π` and `I`; `rules` is the program, of which the core is evaluated here."""

    def __init__(self, rules: Sequence[Rule], compiler: Compiler, engine: Engine, classes: Classes) -> None:
        self.rules, self.compiler, self.engine = tuple(rules), compiler, engine
        self.classes = classes
        self.I = self.nothing = engine.empty()
        self._divided = self.rules
        """The rules, about representatives, that the core was found for."""
        self._divide(core_of(rules))
        self._known: dict[tuple[Form, bool], Rewritten] = {}
        """The core as it was compiled last, for all copies of this."""
        self.rounds = 0
        self.trail: Trail | None = None
        """What has left `I` and come into it, noted on copies."""

    def copy(self) -> RMaterialisation:
        """The same, to be changed apart from this one."""
        other = copy(self)
        other.classes = self.classes.split(self.nothing, self.classes)
        other.trail, other.rounds = Trail(self.nothing), 0
        return other

    def with_other_rules_above(self, rules: Sequence[Rule]) -> RMaterialisation | None:
        """The same for another program, of which equality depends on the same rules; None if it does not."""
        about = self.classes.rewritten(tuple(rules))
        core = set(self.core)
        places = {number for number, rule in enumerate(rules) if rule in core}
        if len(places) != len(self.core) or not core_of(rules) | core_of(about) <= places:
            return None
        other = copy(self)
        other.rules, other._divided = tuple(rules), about
        other._divide(places)
        other.core = self.core  # the very tuple for which rules are known
        return other

    def leave(self, facts: FactSet) -> None:
        """Takes facts out of `I`."""
        self.I -= facts
        if self.trail is not None:
            self.trail.leave(facts)

    def come(self, facts: FactSet) -> None:
        """Takes facts that are not there into `I`."""
        self.I |= facts
        if self.trail is not None:
            self.trail.come(facts)

    def derives(self, predicate: str) -> bool:
        """Whether a rule derives facts of a predicate."""
        return any(rule.head.predicate == predicate for rule in self.rules)

    def _divide(self, core: Collection[int]) -> None:
        self._places = frozenset(core)
        self.core = tuple(rule for number, rule in enumerate(self.rules) if number in core)
        self._above = tuple(rule for number, rule in enumerate(self.rules) if number not in core)

    def above(self) -> tuple[Rule, ...]:
        """The rules above, about representatives."""
        return self.classes.rewritten(self._above)

    def rewritten(self, form: Form = without_reflexive_heads, classes: Classes | None = None) -> Rewritten:
        """The core about the representatives of some classes, else of `π`."""
        key = form, classes is None
        known = self._known.get(key)
        if known is None or known.source is not self.core:
            known = Rewritten(self.core, self.compiler, classes or self.classes, form)
        self._known[key] = known = known.over(classes or self.classes)
        return copy(known)

    def resume(self, E: FactSet, I: FactSet) -> None:
        """Takes over what was computed earlier for `E`: of `I`, also with what is above, what the core derives.

        No head above can be a fact of the core's, or it would be in the core itself.
        """
        self._divided = self.classes.rewritten(self.rules)
        self._divide(self._places | core_of(self._divided))
        heads = dict.fromkeys(rule.head for rule in self.classes.rewritten(self.core))
        self.I = I.within(Region((same(Variable("x"), Variable("y")), *heads)))
        self.I |= self._represented(E)

    def _represented(self, facts: FactSet) -> FactSet:
        """`π(F)` for some facts."""
        old = self.classes.outdated(facts)
        return self.classes.normal(old).plus(facts - old)

    def add(self, facts: FactSet, progress: Progress) -> None:
        """Adds facts, in whatever names, and what follows from them."""
        first = not self.I
        Δ = self._represented(facts).minus(self.I)
        if Δ or first:
            self._extend(self.rewritten(), Δ, progress, first)
        # Where constants of rules have been merged, equality may depend on more rules than before.
        while (now := self.classes.rewritten(self.rules)) != self._divided:
            self._divided, grown = now, core_of(now)
            more = tuple(rule for number, rule in enumerate(self.rules) if number in grown - self._places)
            self._divide(self._places | grown)
            found = Rewritten(more, self.compiler, self.classes).all.apply(self.I, excluding=self.I)
            self._extend(self.rewritten(), found, progress)

    def _extend(self, rules: Rewritten, Δ: FactSet, progress: Progress, first: bool = False) -> None:
        while Δ or first:
            self.come(Δ)
            steady, fresh = rules.all, None
            grown, classes, done = rules.merged(Δ, self.nothing)
            if grown:
                old = self.classes.outdated(self.I)
                self.leave(old)
                new = self.classes.normal(old).plus(self.classes.normal(classes)).minus(self.I)
                self.come(new)
                Δ = Δ.minus(old).plus(new)
                steady, fresh = rules.follow()
            elif first:
                steady = rules.but_for(done)  # all facts are in Δ
            some = [] if first else [(Δ, self.nothing)]
            N = steady.apply(self.I, some=some, excluding=self.I)
            if fresh is not None:
                N |= fresh.apply(self.I, excluding=self.I)
            Δ, first = N, False
            self.rounds += 1
            progress(0, self.rounds, len(Δ))


class Trail:
    """The difference that changes make to a set: what has left, and what has come."""

    def __init__(self, nothing: FactSet) -> None:
        self.left = self.came = nothing

    def leave(self, facts: FactSet) -> None:
        """Notes that facts leave, which were there."""
        first = facts.minus(self.came)
        self.came -= facts
        self.left |= first

    def come(self, facts: FactSet) -> None:
        """Notes that facts come, which were not there."""
        first = facts.minus(self.left)
        self.left -= facts
        self.came |= first
