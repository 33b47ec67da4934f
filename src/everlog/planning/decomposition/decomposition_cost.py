"""What a small update of a decomposed rule costs: by its nodes, if they are kept, or by the rule as it is written.

A decomposition pays where many partial matches come to nothing. The matches of one changed fact may be few: in a cycle of
four, what a new edge closes is found by two steps from each of its ends, and to change the nodes takes one step, for each
instantiation the question whether it has another derivation, and to look at the other nodes. So updates may be better off
with the rule, and then instantiations, which are often many times the facts, need not be kept.
"""

from __future__ import annotations

from everlog.planning.decomposition.cardinality import Cardinalities
from everlog.planning.decomposition.join_tree import JoinTree

_DELETED = 0.5
"""The share of changes that are deletions: only they ask for other derivations."""


def gain(tree: JoinTree, costs: Cardinalities) -> float:
    """How many times the bindings that an update goes through by the nodes it would go through by the rule.

    `costs` are those of the rule's body. Atoms with more facts are taken to change more often. Where there are more
    instantiations than facts, a change of one is as much dearer: it is found among all others.
    """
    body = tree.rule.positive
    places = [tuple(body.index(atom) for atom in node.atoms) for node in tree.nodes]
    nodes = [costs.projection(mine, node.variables) for mine, node in zip(places, tree.nodes, strict=True)]
    sizes = [atom.size for atom in costs.atoms]
    facts = max(sum(sizes), 1.0)
    by_rule = by_nodes = 0.0
    for place, atom in enumerate(body):
        share, known = sizes[place] / facts, frozenset(atom.variables())
        by_rule += share * costs.followed([other for other in range(len(body)) if other != place], known)[0]
        for number, node in enumerate(tree.nodes):
            if place in places[number]:
                steps, found = costs.followed([other for other in places[number] if other != place], known)
                others = [other for other in range(len(nodes)) if other != number]
                across = Cardinalities(nodes).followed(others, node.variables)[0]
                again = 0.0 if node.unique else _DELETED * node.search
                by_nodes += share * (steps + found * (across + again))
    stored = sum(one.size for one, node in zip(nodes, tree.nodes, strict=True) if node.rule is not None)
    return by_rule / max(by_nodes * max(1.0, stored / facts), 1.0)
