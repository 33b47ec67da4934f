"""A family: generations of people, with the relations of the Family History Knowledge Base that make its rules hard.

Ancestors are transitive, siblings and blood relations symmetric and transitive. People marry within a branch of a
generation, so branches are the components of blood relations; a branch's people are all each other's relations.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import binary

RULES = """
hasParent(?x, ?y) :- hasFather(?x, ?y) .
hasParent(?x, ?y) :- hasMother(?x, ?y) .
hasChild(?y, ?x) :- hasParent(?x, ?y) .
hasAncestor(?x, ?y) :- hasParent(?x, ?y) .
hasAncestor(?x, ?z) :- hasAncestor(?x, ?y), hasAncestor(?y, ?z) .
isAncestorOf(?y, ?x) :- hasAncestor(?x, ?y) .
isSiblingOf(?x, ?y) :- hasFather(?x, ?f), hasFather(?y, ?f), hasMother(?x, ?m), hasMother(?y, ?m) .
isSiblingOf(?y, ?x) :- isSiblingOf(?x, ?y) .
isSiblingOf(?x, ?z) :- isSiblingOf(?x, ?y), isSiblingOf(?y, ?z) .
isBloodRelationOf(?x, ?y) :- hasAncestor(?x, ?y) .
isBloodRelationOf(?x, ?y) :- isSiblingOf(?x, ?y) .
isBloodRelationOf(?y, ?x) :- isBloodRelationOf(?x, ?y) .
isBloodRelationOf(?x, ?z) :- isBloodRelationOf(?x, ?y), isBloodRelationOf(?y, ?z) .
hasUncleOrAunt(?x, ?z) :- hasParent(?x, ?y), isSiblingOf(?y, ?z), ?y != ?z .
isCousinOf(?x, ?y) :- hasParent(?x, ?a), isSiblingOf(?a, ?b), ?a != ?b, hasParent(?y, ?b) .
"""


def _family(branches: int, generations: int, width: int, seed: int) -> Instance:
    if branches < 1 or generations < 2 or width < 2:
        raise BenchmarkMistake("family wants one branch or more, of two generations or more, of two people or more")
    random = np.random.default_rng(seed)
    children, fathers, mothers = [], [], []
    for branch in range(branches):
        first = branch * generations * width
        for generation in range(1, generations):
            above = first + (generation - 1) * width
            # Couples are neighbours: an even number is a father, the next odd one a mother.
            couple = random.integers(0, width // 2, width)
            children.append(above + width + np.arange(width))
            fathers.append(above + 2 * couple)
            mothers.append(above + 2 * couple + 1)
    child, father, mother = (np.concatenate(parts).astype(np.int64) for parts in (children, fathers, mothers))
    return Instance(RULES, {"hasFather": binary(child, father), "hasMother": binary(child, mother)})


FAMILY = Workload(
    "family",
    "genealogies: ancestors, siblings and blood relations, in branches of some generations",
    {"branches": 10, "generations": 8, "width": 60, "seed": 1},
    _family,
)
