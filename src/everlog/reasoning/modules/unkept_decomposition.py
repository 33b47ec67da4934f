"""A rule that is decomposed to be materialised, and whose nodes are not kept: updates follow the rule as it is written.

That is for rules whose changes spread little, and that do not depend on themselves (`decomposition_cost.py`). Nodes that
nobody will ask for again need not be whole, either. Of a variable that several nodes share, only those values count that
all atoms have. Then one node after the other is computed, those with few variables first, and what has no match in an
earlier one is not even stored. Where the last one has the variables of all others, it is not stored at all: its matches are
tested by the others and give the heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, BodyLiteral, Negation, Rule
from everlog.engine.algebra import Engine, FactSet, Matcher, Region, Rules
from everlog.planning.compiled_program import Compiler
from everlog.planning.decomposition.join_tree import JoinTree
from everlog.reasoning.modules.crossnode import Active
from everlog.reasoning.modules.hypertree import Decomposed
from everlog.reasoning.modules.module import Oracle, Update


class Passing(Decomposed):
    """One rule, which is not recursive, by a join tree whose nodes are computed only when everything is."""

    keeps_nodes = False

    def __init__(self, tree: JoinTree, engine: Engine, compiled: Compiler, matcher: Matcher) -> None:
        assert not tree.recursive, "a change of a recursive rule changes its nodes again and again"
        super().__init__(tree, engine, matcher)
        self._engine = engine
        self._rule = compiled([tree.rule])
        self._last: Rules | None = None
        projections, meetings = _common(tree)
        self._before = [compiled(rules) for rules in (projections, meetings) if meetings]
        nodes = _narrowed(tree, [rule.head for rule in meetings])
        if self._across.direct:
            steps, last = _successive(tree, nodes)
            self._last = compiled([last])
        else:
            steps = list(nodes.items())
        self._steps = [(number, compiled([rule])) for number, rule in steps]
        self._hidden = [rule.head.predicate for rule in (*projections, *meetings, *nodes.values())]
        self._sizes = [0] * len(tree.nodes)
        """How many instantiations of each node were stored for the time being."""

    def _materialised(self, now: FactSet) -> FactSet:
        """All heads but for those in `now`: shared values first, then nodes, then heads; nodes are forgotten again."""
        for rules in self._before:
            now = now | rules.apply(now)
        found = self._one_by_one(now) if self._last is not None else self._all_at_once(now)
        for predicate in self._hidden:
            self._engine.forget(predicate)
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
        nodes = [(now, 0 if node.rule else len(now.within(Region((node.atom,))))) for node in self.tree.nodes]
        for number, rules in self._steps:
            facts = rules.apply(now)
            self._sizes[number] = len(facts)
            nodes[number] = facts, len(facts)
        return self._across.heads(Active(nodes), self._tests(now), now)

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        if update.more is now:
            return self._materialised(now)
        return self._rule.apply(now, some=[(update.more, update.fewer)], excluding=now)

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        return self._nothing

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        lost = self._rule.apply(update.then, some=[(update.fewer, update.more)]).common(now)
        return lost.minus(oracle(lost)) if lost else lost

    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        return self._nothing

    def rederive(self, update: Update, now: FactSet, deleted: FactSet) -> FactSet:
        mine = deleted.within(self._heads)
        return self._rule.provable(mine, now, update.then_or_now) if mine else mine

    def _stored(self) -> Iterable[tuple[int, int]]:
        return ((size, 0) for size in self._sizes)


def _common(tree: JoinTree) -> tuple[list[Rule], list[Rule]]:
    """Rules for the values that atoms have of variables which nodes share, and for those that all atoms have.

    Atoms that differ in nothing else have the same values; a variable of which there is but one set has no rule.
    """
    projections: dict[Rule, Rule] = {}
    meetings: list[Rule] = []
    nodes = [frozenset(variable for atom in node.atoms for variable in atom.variables()) for node in tree.nodes]
    for variable in dict.fromkeys(variable for atom in tree.rule.positive for variable in atom.variables()):
        if sum(variable in variables for variables in nodes) < 2:
            continue
        sets: dict[str, None] = {}
        for atom in tree.rule.positive:
            if variable in atom.terms:
                like = canonical_rule(Rule(Atom(tree.prefix, (variable,)), (atom,)))
                head = Atom(f"{tree.prefix}v{len(projections)}", (variable,))
                sets[projections.setdefault(like, Rule(head, (atom,))).head.predicate] = None
        if len(sets) > 1:
            head = Atom(f"{tree.prefix}w{len(meetings)}", (variable,))
            meetings.append(Rule(head, tuple(Atom(predicate, (variable,)) for predicate in sets)))
    asked = {atom.predicate for rule in meetings for atom in rule.positive}
    return [rule for rule in projections.values() if rule.head.predicate in asked], meetings


def _narrowed(tree: JoinTree, common: Sequence[Atom]) -> dict[int, Rule]:
    """The rules of nodes, by their numbers, for values that all atoms have."""
    found = {}
    for number, node in enumerate(tree.nodes):
        if node.rule is not None:
            mine = {variable for atom in node.atoms for variable in atom.variables()}
            found[number] = Rule(node.atom, (*node.rule.body, *(one for one in common if one.terms[0] in mine)))
    return found


def _successive(tree: JoinTree, rules: Mapping[int, Rule]) -> tuple[list[tuple[int, Rule]], Rule]:
    """The rules of nodes that are computed one after the other, by their numbers, and that of the head."""
    steps: list[tuple[int, Rule]] = []
    known: list[BodyLiteral] = []
    order = sorted(range(len(tree.nodes)), key=lambda number: (len(tree.nodes[number].variables), number))
    for number in order:
        node = tree.nodes[number]
        filters = [one for one in known if node.variables.issuperset(one.variables())]
        if number not in rules:
            known.append(node.atom)
        elif number == order[-1] and len(filters) == len(known):
            known = [*rules[number].body, *known]
        else:
            steps.append((number, Rule(node.atom, (*rules[number].body, *filters))))
            known.append(node.atom)
    negative = (Negation((atom,)) for atom in tree.negative)
    return steps, Rule(tree.rule.head, (*known, *negative, *tree.comparisons))
