"""How many matches a conjunction has, by the textbook (Garcia-Molina et al., *Database Systems*, 16.4).

An atom has a size and, for each variable, a number of different values. Values are taken to be spread evenly, and those of
the smaller set to occur in the larger: a join is the product of the sizes, divided for each variable by all of its numbers
of values but the smallest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import sqrt

from everlog.datalog.syntax import Variable


@dataclass(frozen=True)
class Estimate:
    """About how many facts match an atom, and how many values each of its variables has."""

    size: float
    values: Mapping[Variable, float]


class Cardinalities:
    """Estimates for the joins of some atoms, which are given by their places."""

    def __init__(self, atoms: Sequence[Estimate]) -> None:
        self.atoms = atoms

    def joined(self, atoms: Sequence[int]) -> Estimate:
        """The join of some atoms."""
        size = 1.0
        values: dict[Variable, list[float]] = {}
        for place in atoms:
            size *= self.atoms[place].size
            for variable, number in self.atoms[place].values.items():
                values.setdefault(variable, []).append(max(1.0, number))
        for numbers in values.values():
            numbers.sort()
            for number in numbers[1:]:
                size /= number
        return Estimate(size, {variable: min(numbers[0], max(1.0, size)) for variable, numbers in values.items()})

    def projection(self, atoms: Sequence[int], variables: Set[Variable]) -> Estimate:
        """The join of some atoms, projected to some variables."""
        found = self.joined(atoms)
        return Estimate(
            projected(found, variables),
            {variable: number for variable, number in found.values.items() if variable in variables},
        )

    def join(self, atoms: Sequence[int]) -> float:
        """The bindings that a good order of some atoms goes through, the smallest atom first.

        An atom that binds nothing closes a cycle. Things that are related in one way are likely to be in another, which
        the textbook does not know; so such an atom is taken to leave the square root of what it would leave out.
        """
        left = sorted(atoms, key=lambda place: self.atoms[place].size)
        order, bound = [left.pop(0)], set[Variable]()
        cost = bindings = size = self.atoms[order[0]].size
        bound.update(self.atoms[order[0]].values)
        while left:
            near = [place for place in left if not bound.isdisjoint(self.atoms[place].values)] or left
            sizes = {place: self.joined([*order, place]).size for place in near}
            best = min(near, key=sizes.__getitem__)
            left.remove(best)
            order.append(best)
            factor, size = sizes[best] / max(size, 1e-300), sizes[best]
            bindings *= sqrt(factor) if factor < 1 and bound.issuperset(self.atoms[best].values) else factor
            bound.update(self.atoms[best].values)
            cost += bindings
        return cost

    def followed(self, atoms: Sequence[int], known: Set[Variable]) -> tuple[float, float]:
        """The bindings that all matches of some atoms go through for known values, these included; and the matches."""
        left, bound = list(atoms), set(known)
        cost, bindings = 1.0, 1.0
        while left:
            fanouts = {place: self._fanout(place, bound) for place in left}
            best = min(left, key=fanouts.__getitem__)
            left.remove(best)
            bindings *= fanouts[best]
            cost += bindings
            bound.update(self.atoms[best].values)
        return cost, bindings

    def _fanout(self, place: int, bound: Set[Variable]) -> float:
        atom = self.atoms[place]
        size = atom.size
        for variable, number in atom.values.items():
            if variable in bound:
                size /= max(1.0, number)
        return size


def projected(found: Estimate, variables: Set[Variable]) -> float:
    """How many different values some variables have together."""
    product = 1.0
    for variable in variables:
        product *= found.values.get(variable, 1.0)
    return min(found.size, product)
