"""A rule that is decomposed to be materialised, and whose nodes are not kept: updates follow the rule as it is written.

That is for rules whose changes spread little, and that do not depend on themselves (`planning/upkeep.py`). Nodes that
nobody will ask for again need not be whole, either: one node after the other is computed, those with few variables first,
and what has no match in an earlier one is not even stored. Where the last one has the variables of all others, it is not
stored at all: its matches are tested by the others and give the heads.
"""

from __future__ import annotations

from collections.abc import Callable

from everlog.datalog.printer import print_atom, print_rule
from everlog.datalog.syntax import BodyLiteral, Negation, Rule
from everlog.engine.algebra import Engine, FactSet, Labelled, Matcher, Region, Rules
from everlog.planning.jointree import JoinTree
from everlog.planning.program import Compiler
from everlog.reasoning.modules.crossnode import Active, CrossNode
from everlog.reasoning.modules.module import Module, Oracle


class Passing(Module):
    """One rule, which is not recursive."""

    kind = "hypertree"

    def __init__(self, tree: JoinTree, engine: Engine, compiled: Compiler, matcher: Matcher) -> None:
        assert not tree.recursive, "a change of a recursive rule changes its nodes again and again"
        super().__init__(tree.rule.head, engine.empty())
        self.tree = tree
        self._engine = engine
        self._rule = compiled([tree.rule])
        self._across = CrossNode(tree, engine, matcher)
        self._last: Rules | None = None
        if self._across.direct:
            steps, last = _successive(tree)
            self._last = compiled([last])
        else:
            steps = [(number, node.rule) for number, node in enumerate(tree.nodes) if node.rule is not None]
        self._steps = [(number, compiled([rule])) for number, rule in steps]
        self._heads = Region((tree.rule.head,))
        self._now = self._outside = self._nothing
        self._sizes = [0] * len(tree.nodes)
        """How many instantiations of each node were stored for the time being."""

    # ------------------------------------------------------------------------------------ everything

    def _materialised(self, now: FactSet) -> FactSet:
        found = self._one_by_one(now) if self._last is not None else self._all_at_once(now)
        for node in self.tree.nodes:
            if node.rule is not None:
                self._engine.forget(node.atom.predicate)
        return found

    def _one_by_one(self, now: FactSet) -> FactSet:
        """The heads where the nodes can be joined as they are."""
        assert self._last is not None
        for number, rules in self._steps:
            facts = rules.apply(now)
            self._sizes[number] = len(facts)
            now = now | facts
        return self._last.apply(now, excluding=now)

    def _all_at_once(self, now: FactSet) -> FactSet:
        """The heads where the nodes are reduced by each other."""
        facts = [now] * len(self.tree.nodes)
        sizes = [0 if node.rule else len(now.within(Region((node.atom,)))) for node in self.tree.nodes]
        for number, rules in self._steps:
            facts[number] = rules.apply(now)
            self._sizes[number] = sizes[number] = len(facts[number])
        active = Active(facts, sizes, min(range(len(sizes)), key=sizes.__getitem__))
        tests = [Labelled(atom, now, negative=True) for atom in self.tree.negative]
        heads = self._across.heads(active, tests, now)
        return self._nothing if heads is None else heads

    # ------------------------------------------------------------------------------------ changes

    def stepped(self, now: FactSet, more: FactSet, fewer: FactSet, given: FactSet) -> FactSet:
        if more is now:
            return self._materialised(now)
        return self._rule.apply(now, some=[(more, fewer)], excluding=now)

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        return self._nothing

    def halted(self, now: FactSet, more: FactSet, fewer: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        then = now | fewer
        self._now, self._outside = now, then | more
        lost = self._rule.apply(then, some=[(fewer, more)])
        lost &= now
        if lost:
            lost -= oracle(lost)
        return lost

    def delete(self, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        return self._nothing

    def rederive(self, deleted: FactSet) -> FactSet:
        mine = deleted.within(self._heads)
        found = self._rule.provable(mine, self._now, self._outside) if mine else self._nothing
        self._now = self._outside = self._nothing
        return found

    # ------------------------------------------------------------------------------------ around it

    def savepoint(self) -> Callable[[], None]:
        return lambda: None

    def described(self) -> dict[str, object]:
        nodes = [
            {
                "atoms": [print_atom(atom) for atom in node.atoms],
                "variables": [variable.name for variable in node.atom.variables()],
                "facts": size,
                "bytes": 0,
            }
            for node, size in zip(self.tree.nodes, self._sizes, strict=True)
        ]
        return {"rule": print_rule(self.tree.rule), "width": self.tree.width, "kept": False, "nodes": nodes}


def _successive(tree: JoinTree) -> tuple[list[tuple[int, Rule]], Rule]:
    """The rules of nodes that are computed one after the other, by their numbers, and that of the head."""
    steps: list[tuple[int, Rule]] = []
    known: list[BodyLiteral] = []
    order = sorted(range(len(tree.nodes)), key=lambda number: (len(tree.nodes[number].variables), number))
    for number in order:
        node = tree.nodes[number]
        filters = [one for one in known if node.variables.issuperset(one.variables())]
        if node.rule is None:
            known.append(node.atom)
        elif number == order[-1] and len(filters) == len(known):
            known = [*node.rule.body, *known]
        else:
            steps.append((number, Rule(node.atom, (*node.rule.body, *filters))))
            known.append(node.atom)
    negative = (Negation((atom,)) for atom in tree.negative)
    return steps, Rule(tree.rule.head, (*known, *negative, *tree.comparisons))
