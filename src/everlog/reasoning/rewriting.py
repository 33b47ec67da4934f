"""The r-materialisation `(π, I)` of *Equality* §2, set at a time, and what additions do to it.

A round's equalities merge classes; facts that mention a constant which another one now represents leave `I`, and what they
are rewritten to is new. Rules are about representatives, too: one whose constants change is applied to all facts once. Of
`c ≈ c` only those facts are kept that name a class of several constants, or are explicit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

from everlog.datalog.syntax import Rule, Variable
from everlog.engine.algebra import Classes, Engine, FactSet, Region, Rules
from everlog.planning.equality import core_of, finding, key_of, same
from everlog.planning.program import Compiler
from everlog.reasoning.seminaive import Progress

Form = Callable[[Rule], Sequence[Rule]]
"""What becomes of a rule about representatives before it is compiled."""


class Rewritten:
    """Some rules as they are about the representatives of some classes; `find` and `fresh` follow the classes."""

    def __init__(self, source: Sequence[Rule], compiler: Compiler, classes: Classes, form: Form = finding) -> None:
        self.source, self.classes = source, classes
        self._compiler, self._form = compiler, form
        self.all = compiler(self._now())

    def _now(self) -> list[Rule]:
        rules = [self.classes.rewritten(rule) for rule in self.source]
        self.keys = list(dict.fromkeys(key for rule in rules if (key := key_of(rule)) is not None))
        return list(dict.fromkeys(made for rule in rules for made in self._form(rule)))

    def merged(self, Δ: FactSet, nothing: FactSet) -> tuple[bool, FactSet]:
        """Makes one what new facts say is equal; tells whether classes grew, and which did without an equality in `Δ`.

        Values of a key are made one before any rule looks at their pairs, of which there may be many.
        """
        grown, classes = self.classes.merge(Δ), nothing
        for key in self.keys:
            classes |= self.classes.group(Δ, key.atom, key.value)
        return grown or bool(classes), classes

    def follow(self) -> Rules | None:
        """Brings the rules up to date with the classes; gives those that were others before, if there are any."""
        before, now = set(self.all.rules), self._now()
        if len(before) == len(now) and before.issuperset(now):
            return None
        self.all = self._compiler(now)
        return self._compiler([rule for rule in now if rule not in before])


class RMaterialisation:
    """`π` and `I`; `rules` is the program, of which the core is evaluated here."""

    def __init__(self, rules: Sequence[Rule], compiler: Compiler, engine: Engine, classes: Classes) -> None:
        self.rules, self.compiler, self.engine = list(rules), compiler, engine
        self.classes = classes
        self.I = self.nothing = engine.empty()
        self.core = core_of(rules)
        self._divided = self.rules
        """The rules, about representatives, that the core was found for."""
        self.rounds = 0
        self.trail: Trail | None = None
        """What happened to `I`, where somebody wants to know."""

    def copy(self) -> RMaterialisation:
        """The same, to be changed apart from this one."""
        other = copy(self)
        other.classes, other.core = self.classes.split(self.nothing, self.classes), set(self.core)
        other.trail, other.rounds = Trail(self.nothing), 0
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

    def core_rules(self) -> list[Rule]:
        return [rule for number, rule in enumerate(self.rules) if number in self.core]

    def rewritten(self) -> Rewritten:
        """The core as it is now."""
        return Rewritten(self.core_rules(), self.compiler, self.classes)

    def resume(self, E: FactSet, I: FactSet) -> None:
        """Takes over what was computed earlier for `E`: of `I`, also with what is above, what the core derives.

        No head above can be a fact of the core's, or it would be in the core itself.
        """
        self._divided = [self.classes.rewritten(rule) for rule in self.rules]
        self.core |= core_of(self._divided)
        heads = dict.fromkeys(rule.head for number, rule in enumerate(self._divided) if number in self.core)
        self.I = I.within(Region((same(Variable("x"), Variable("y")), *heads)))
        self.I |= self._represented(E)

    def _represented(self, facts: FactSet) -> FactSet:
        """`π(F)` for some facts."""
        old = self.classes.outdated(facts)
        found: FactSet = self.classes.normal(old)
        found |= facts - old
        return found

    def add(self, facts: FactSet, progress: Progress) -> None:
        """Adds facts, in whatever names, and what follows from them."""
        rules = self.rewritten()
        Δ = self._represented(facts)
        first = not self.I
        Δ -= self.I
        self._extend(rules, Δ, progress, first)
        # Where constants of rules have been merged, equality may depend on more rules than before.
        while (now := [self.classes.rewritten(rule) for rule in self.rules]) != self._divided:
            self._divided, grown = now, core_of(now)
            more = [rule for number, rule in enumerate(self.rules) if number in grown - self.core]
            self.core |= grown
            found = Rewritten(more, self.compiler, self.classes).all.apply(self.I, excluding=self.I)
            self._extend(self.rewritten(), found, progress)

    def _extend(self, rules: Rewritten, Δ: FactSet, progress: Progress, first: bool = False) -> None:
        while Δ or first:
            self.come(Δ)
            steady, fresh = rules.all, None
            grown, classes = rules.merged(Δ, self.nothing)
            if grown:
                old = self.classes.outdated(self.I)
                self.leave(old)
                new = renewed(self.classes, self.I, old, classes)
                self.come(new)
                Δ -= old
                Δ |= new
                fresh = rules.follow()
                if fresh is not None:
                    changed = set(fresh.rules)
                    steady = self.compiler([rule for rule in rules.all.rules if rule not in changed])
            some = [] if first else [(Δ, self.nothing)]
            N = steady.apply(self.I, some=some, excluding=self.I)
            if fresh is not None:
                N |= fresh.apply(self.I, excluding=self.I)
            Δ, first = N, False
            self.rounds += 1
            progress(0, self.rounds, len(Δ))


def renewed(classes: Classes, I: FactSet, old: FactSet, names: FactSet) -> FactSet:
    """What is new in `I` when facts have left it because classes have grown; `names` are those of some that did."""
    new: FactSet = classes.normal(old)
    new |= classes.normal(names)
    new -= I
    return new


class Trail:
    """The difference that changes make to a set: what has left, and what has come."""

    def __init__(self, nothing: FactSet) -> None:
        self.left = self.came = nothing

    def leave(self, facts: FactSet) -> None:
        """Notes that facts leave, which were there."""
        first = facts
        first -= self.came
        self.came -= facts
        self.left |= first

    def come(self, facts: FactSet) -> None:
        """Notes that facts come, which were not there."""
        first = facts
        first -= self.left
        self.left -= facts
        self.came |= first
