"""tc: a transitive relation (*Modular*, Algorithms 4–6).

`Add`, `Del` and `Red` are those of `Backbone`, which has lines 49, 50, 59, 65, 66 and 72–81; lines 51–57 are `_added` and
60–71 `_around`. It departs from the paper in two points, besides those of `Backbone`. Where many facts are new or gone,
the closure of the backbone is computed as a whole, over the graph's strongly connected components. And the oracle is
asked about all facts around those that are gone at once, when all of them are known.
"""

from __future__ import annotations

from everlog.datalog.substitution import substitute_atom
from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import FactSet, Labelled, Matcher, Paths
from everlog.reasoning.modules.module import Backbone, followed


class Transitive(Backbone):
    """`R(x, z) :- R(x, y), R(y, z)`."""

    kind = "tc"

    def __init__(self, atom: Atom, X: FactSet, grounded: bool, paths: Paths, matcher: Matcher) -> None:
        super().__init__(atom, X, grounded)
        self._paths, self._matcher = paths, matcher
        x, z = atom.variables()
        y = Variable("y?")  # no variable of a program is called so
        self._first, self._second = substitute_atom(atom, {z: y}), substitute_atom(atom, {x: y})

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        """Lines 51–57."""
        X = self.X
        if self._few(new):
            start = self._joined(new, now, now).plus(new)  # 52, 53
            J = followed(start, lambda Q, found: self._joined(X, Q, now | found), self._limit())  # 54–57
            if J is not None:
                return J.minus(now)
        return self._paths.more(X, X, (before, before), now)

    def _around(self, then: FactSet, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        """Lines 60–71, but for what is not in `now`."""
        start = self._joined(gone, then, self._nothing).plus(gone)  # 62–64
        found = followed(start, lambda Q, seen: self._joined(self.X, Q, seen), limit)  # 67–71
        return None if found is None else found.common(now)

    def _joined(self, first: FactSet, second: FactSet, excluding: FactSet) -> FactSet:
        """`R(u, w)` for `R(u, v)` in one set and `R(v, w)` in another."""
        literals = [Labelled(self._first, first), Labelled(self._second, second)]
        return self._matcher.match(literals).facts(self.atom, excluding)

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        """Lines 78–80: the facts `R(u, w)` for which `w` is not reachable from `u`."""
        return self._paths.outside(X, X, facts)

    def _fewer(self, before: FactSet, facts: FactSet) -> FactSet:
        return self._paths.fewer(self.X, self.X, (before, before), facts)
