"""B/F≈ (*Equality*, Algorithms 1–7): deletions from an r-materialisation, set at a time.

The sets are the paper's. `D` are doubtful facts, `C` checked ones, both in the names of `π`; `P` are proved facts in the
names of `γ`, which starts with every constant alone and merges what is proved to be equal again. `Y` are proved facts that
were not asked about yet, `O` the doubtful facts that are dealt with, `S` the disproved ones.

It departs from the paper as follows.

* Facts are checked level by level, as in `fbf.py`. A frontier that is not expanded waits for the next call; only when it
  is empty is every fact of `C` decided, and what has no proof is disproved.
* A fact with constants of several names counts as proved when the classes of its constants are whole in `γ` and it is in
  `P`. The paper also accepts that all of `F^π` is proved one by one, which would have to be listed; to doubt more is sound,
  since what is proved comes back in the end.
* `c ≈ c` is not derived for every constant, but stands for a class of several. Lines 12, 25–28, 37–39 and 47, the rules
  (≈4), are not needed; where a program has such rules, they are ordinary ones.
* Outdated facts leave `P` instead of entering `P̂`.
* Line 40 walks the explicit facts that were rewritten, not all names that a fact may have.
* Lines 9–11 doubt all facts about a class that is no longer whole. A class is decided by then: `γ` has its parts, and one
  of them keeps the representative. What was derived from facts about that part follows from them still; so only those
  facts are doubted that are explicit with a name which has departed, and what is derived from them. That does not go for
  rules with such a name: where there is one, all facts are doubted.
* At the end `γ` replaces `π` for the classes that were doubtful: others in `C` may not be decided, and have not changed.
"""

from __future__ import annotations

from everlog.engine.algebra import FactSet, Region
from everlog.planning.equality_rules import over_representatives
from everlog.reasoning.equality.rewriting import RMaterialisation

_EVERYTHING = Region((), rest=True)


class Deletion:
    """One deletion: brings `(π, I)` up to date with the explicit facts `E` that are left."""

    def __init__(self, before: RMaterialisation, E: FactSet) -> None:
        self._before, self._engine = before, before.engine
        self.π, self.I = before.classes, before.I
        self.γ = before.classes.alone()
        self._E, self._explicit = E, self.π.images(E)
        self._nothing = before.nothing
        self.D = self.C = self.P = self.Y = self.O = self.S = self._frontier = self._nothing
        # Line 13 and lines 32–35 are about representatives, lines 48–58 about what γ makes of the program.
        self._doubting = before.rewritten(over_representatives).all
        self._proving = before.rewritten(classes=self.γ)
        groundless = before.compiler([rule for rule in self._proving.all.rules if not rule.positive])
        self.Y |= groundless.apply(self._nothing)
        self.phases = {"deletion_propagation": 0, "backward": 0, "forward": 0}

    def run(self, minus: FactSet) -> None:
        """Algorithm 1 for the explicit facts `minus`; afterwards `before` has the new `π` and `I`."""
        Δ = self.π.normal(minus).common(self.I)  # 3, 4
        while Δ:  # 5
            self.D |= Δ
            self._check(Δ)  # 6, 7
            doubtful = self._unproved(Δ)  # 8
            if not doubtful:
                break
            begun = self._engine.derivations
            rest = self.I - self.O
            N = self._doubting.apply(rest, some=[(doubtful, self._nothing)])  # 13–15
            N |= self._about(self.π.of(doubtful) & doubtful, rest)  # 9–11
            self.phases["deletion_propagation"] += self._engine.derivations - begun
            self.O |= doubtful  # 16
            Δ = N.common(self.I).minus(self.D)
        self._propagate()  # 17

    def _about(self, broken: FactSet, facts: FactSet) -> FactSet:
        """Those of some facts that may not hold, or may hold for other names, since some classes are known to be broken."""
        if not broken:
            return self._nothing
        core = self._before.core
        if self.π.split(broken, self.γ).rewritten(core) != self.π.rewritten(core):
            return self.π.mentioning(broken, facts)
        departed = self.γ.departed(broken, self.π)
        return self.π.normal(self.π.mentioning(departed, self._E)).common(facts)

    def _propagate(self) -> None:
        """Algorithm 2: gives `before` the new `π` and `I`."""
        proved = self.π.images(self.P).of(self.D)
        classes = self.π.split(self.D, self.γ)
        self._before.classes = classes  # 18, 19
        self._before.leave(self.D)  # 20
        self._before.come(classes.normal(proved).minus(self._before.I))  # 21

    def _unproved(self, facts: FactSet) -> FactSet:
        """Those of some facts of `C` for which not all that they stand for is known to be proved: not `allProved`."""
        proved = facts.common(self.P)
        classes = self.π.of(proved)
        broken = classes.minus(self.γ.whole(classes, self.π))
        return facts.minus(proved.minus(self.π.mentioning(broken, proved)))

    def _check(self, asked: FactSet) -> None:
        """Algorithm 4 for many facts at once: looks for proofs of the facts asked for."""
        facts = asked.minus(self.C)  # 22
        while True:
            # Lines 29–31, before anything else: without its classes no fact counts as proved, and with them no equality
            # that facts of C derive has to wait in Y, where there would be one for every pair of names.
            facts |= self.π.of(facts) - self.C
            self.C |= facts
            self._frontier |= facts
            self._saturate(facts)  # 23
            if not self._unproved(asked):  # 24, 31, 35
                return
            self._frontier = self._unproved(self._frontier)
            if not self._frontier:
                break
            begun = self._engine.derivations
            left = self.I - self.S
            premises = self._doubting.premises(self._frontier, left, left, _EVERYTHING)  # 32, 33
            self.phases["backward"] += self._engine.derivations - begun
            facts = premises.minus(self.S).minus(self.C)  # 34, 22
            self._frontier = self._nothing
        self.S |= self.C - self.π.normal(self.P)  # 7

    def _saturate(self, facts: FactSet) -> None:
        """Algorithms 5–7: proves what follows within `C`, to which some facts were added."""
        begun = self._engine.derivations
        known = self._explicit.of(facts).plus(self.π.images(self.Y).of(facts))  # 36, 40
        Δ = self.γ.normal(known).minus(self.P)
        while Δ:  # 41
            self.P |= Δ  # 42
            steady, fresh = self._proving.all, None
            grown, classes, _ = self._proving.merged(Δ, self._nothing)  # 45, 51, 52
            if grown:
                old = self.γ.outdated(self.P)
                self.P -= old
                new = self.γ.normal(old).plus(self.γ.normal(classes)).minus(self.P)
                self.P |= new  # 43, 44, 53, 54
                Δ = Δ.minus(old).plus(new)
                steady, fresh = self._proving.follow()  # 55, 56
            N = steady.apply(self.P, some=[(Δ, self._nothing)], excluding=self.P)  # 48–50
            if fresh is not None:
                N |= fresh.apply(self.P, excluding=self.P)  # 57, 58
            checked = self.π.images(N).of(self.C)  # 59
            self.Y |= N - checked
            Δ = checked.minus(self.P)
        self.phases["forward"] += self._engine.derivations - begun
