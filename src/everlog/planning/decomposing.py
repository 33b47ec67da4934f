"""Which rules are evaluated by a decomposition, and by which.

* `all`: every rule with two positive atoms or more;
* `cyclic`: those whose width is greater than 1, the paper's *combined* approach;
* `auto`: those of them where a decomposition is expected to save most of the work, and that is much.

It is decided when a program is compiled, by the facts that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from everlog.datalog.syntax import Atom, Comparison, Negation, Rule
from everlog.planning.hypertree import decompose, is_acyclic
from everlog.planning.jointree import JoinTree, join_tree
from everlog.planning.negation import HIDDEN
from everlog.planning.statistics import Statistics

TREES: Final = f"{HIDDEN}h"
"""How the hidden predicates of decomposed rules start."""

Hypertree: TypeAlias = Literal["auto", "cyclic", "off", "all"]

_CHEAPER = 4.0
"""A decomposition must be so many times as cheap as a join of the whole body: a fact that is kept costs more than a
binding that is forgotten."""

_MUCH = 500_000.0
"""In memory, a join with fewer bindings than this is left as it is."""


class Decomposer:
    """Decomposes rules; `statistics` is asked for only if there is a rule to be looked at.

    With `auto`, a join with fewer bindings than `much` is left as it is.
    """

    def __init__(self, option: Hypertree, statistics: Callable[[], Statistics], much: float = _MUCH) -> None:
        self._option, self._make, self._much = option, statistics, much
        self._statistics: Statistics | None = None
        self._number = 0

    def __call__(self, rule: Rule, inside: Callable[[Atom], bool]) -> JoinTree | None:
        """The tree of a rule, if it is to have one; `inside` tells the atoms of its stratum."""
        atoms = rule.positive
        if self._option == "off" or len(atoms) < 2 or (self._option != "all" and is_acyclic(atoms)):
            return None
        if self._statistics is None:
            self._statistics = self._make()
        costs = self._statistics.body(atoms)
        whole = costs.join(range(len(atoms)))
        if self._option == "auto" and whole < self._much:
            return None
        asked: tuple[Atom | Negation | Comparison, ...] = (rule.head, *rule.negative, *rule.comparisons)
        needed = frozenset(variable for part in asked for variable in part.variables())
        found = decompose(atoms, needed, costs)
        if found.width == len(atoms) or (self._option == "auto" and whole < _CHEAPER * found.cost):
            return None  # the body stays whole, or should
        tree = join_tree(rule, found, f"{TREES}{self._number}.", inside, costs)
        if self._option == "auto" and len(tree.nodes) == 1:
            return None
        self._number += 1
        return tree
