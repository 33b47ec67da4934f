"""Which rules are evaluated by a decomposition, and by which.

* `all`: every rule with two positive atoms or more;
* `cyclic`: those whose width is greater than 1, the paper's *combined* approach;
* `auto`: those of them where a decomposition is expected to save most of the work, and that is much. Their nodes are kept
  for updates where these gain by it (`decomposition_cost.py`).

It is decided when a program is compiled, by the facts that are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal, TypeAlias

from everlog.datalog.syntax import HIDDEN, Atom, Comparison, Negation, Rule
from everlog.planning.decomposition.decomposition_cost import gain
from everlog.planning.decomposition.hypertree_search import Decomposition, decompose, is_acyclic
from everlog.planning.decomposition.join_tree import JoinTree, join_tree
from everlog.planning.decomposition.size_estimates import Statistics
from everlog.planning.hidden_predicates import named_after

TREES: Final = f"{HIDDEN}h"
"""How the hidden predicates of decomposed rules start."""

Hypertree: TypeAlias = Literal["auto", "cyclic", "off", "all"]


@dataclass(frozen=True)
class Worth:
    """When `auto` decomposes a rule; an engine whose nodes are dear asks for more."""

    cheaper: float = 1.25
    """So many times the bindings of its decomposition are expected of the join of the whole body. Estimates know nothing of
    what is related in several ways, as most of what closes a cycle is, and tend to be too small for the whole."""
    much: float = 200_000.0
    """A join with fewer bindings than this is left as it is."""
    kept: float = 2.0
    """So many times the bindings are expected of an update that follows the rule if nodes are kept for updates."""


IN_MEMORY = Worth()


class Decomposer:
    """Decomposes rules; `statistics` is asked for only if there is a rule to be looked at.

    If somebody has `chosen` the rules before, these are decomposed, however little that is expected to gain now.
    """

    def __init__(
        self,
        option: Hypertree,
        statistics: Callable[[], Statistics],
        worth: Worth | None = None,
        chosen: Callable[[Rule], bool] | None = None,
    ) -> None:
        self._option, self._worth, self._chosen = option, worth or IN_MEMORY, chosen
        self._statistics = cache(statistics)

    def __call__(self, rule: Rule, inside: Callable[[Atom], bool]) -> JoinTree | None:
        """The tree of a rule, if it is to have one; `inside` tells the atoms of its stratum."""
        atoms = rule.positive
        if (
            self._option == "off"
            or len(atoms) < 2
            or rule.computations
            or (self._option != "all" and is_acyclic(atoms))
        ):
            return None
        if self._chosen is not None and not self._chosen(rule):
            return None
        sparing = self._option == "auto" and self._chosen is None
        costs = self._statistics().body(atoms)
        whole = costs.join(range(len(atoms)))
        if sparing and whole < self._worth.much:
            return None
        asked: tuple[Atom | Negation | Comparison, ...] = (rule.head, *rule.negative, *rule.comparisons)
        needed = frozenset(variable for part in asked for variable in part.variables())
        found = decompose(atoms, needed, costs)
        if found.width == len(atoms) or (sparing and whole < self._worth.cheaper * found.cost):
            return None  # the body stays whole, or should
        tree = join_tree(rule, found, _prefix(rule, found, "k"), inside, costs)
        if self._option != "auto":
            return tree
        if len(tree.nodes) == 1:
            return None
        if not tree.recursive and gain(tree, costs) <= self._worth.kept:
            # Other names than those of kept nodes: what these have must not be forgotten with what is made for a while.
            tree = replace(join_tree(rule, found, _prefix(rule, found, "p"), inside, costs), kept=False)
        return tree


def _prefix(rule: Rule, found: Decomposition, kind: str) -> str:
    """How the hidden predicates of a decomposed rule start; no other rule or decomposition has the same."""
    nodes = [(sorted(one.name for one in node.variables), node.atoms, node.parent) for node in found.nodes]
    return f"{named_after(f'{TREES}{kind}', rule, nodes)}."
