"""tc: a transitive relation (*Modular*, Algorithms 4–6).

The closure of the backbone is computed as a whole, over the graph's strongly connected components; a few new facts are
propagated through the backbone instead, as the paper does.
"""

from __future__ import annotations

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
        self._first, self._second = _renamed(atom, z, y), _renamed(atom, x, y)
        self._held = X
        """What held when deletion began: a path may lead through a fact that is deleted by now, and comes back."""

    def begin(self, now: FactSet) -> None:
        self._held = now

    def rederive(self, deleted: FactSet) -> FactSet:
        self._held = self._nothing
        return super().rederive(deleted)

    def _added(self, before: FactSet, new: FactSet, now: FactSet) -> FactSet:
        X = self.X
        if self._few(new):
            # Lines 49–57: the new facts before those that hold, and then the backbone before what was derived.
            start = self._joined(new, now, now)
            start |= new
            J = followed(start, lambda Q, found: self._joined(X, Q, now | found), self._limit())
            if J is not None:
                J -= now
                return J
        return self._paths.more(X, X, (before, before), now)

    def _joined(self, first: FactSet, second: FactSet, excluding: FactSet) -> FactSet:
        literals = [Labelled(self._first, first), Labelled(self._second, second)]
        return self._matcher.match(literals).facts(self.atom, excluding)

    def _outside(self, X: FactSet, facts: FactSet) -> FactSet:
        return self._paths.outside(X, X, facts)

    def _fewer(self, before: FactSet, facts: FactSet) -> FactSet:
        return self._paths.fewer(self.X, self.X, (before, before), facts)

    def _around(self, gone: FactSet, now: FactSet, limit: int | None = None) -> FactSet | None:
        # Lines 59–73, without the oracle: it is asked about all of them afterwards.
        start = self._joined(gone, self._held, self._nothing)
        start |= gone
        found = followed(start, lambda Q, seen: self._joined(self.X, Q, seen), limit)
        if found is not None:
            found &= now
        return found


def _renamed(atom: Atom, old: Variable, new: Variable) -> Atom:
    return Atom(atom.predicate, tuple(new if term == old else term for term in atom.terms))
