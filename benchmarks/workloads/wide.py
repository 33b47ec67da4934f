"""Rules with cyclic and wide bodies, at the sizes of the benchmark `complex` (*Hypertree* §5).

* `expressions`: trees of sums, differences and products, evaluated for many assignments of numbers to their leaves. Rules
  compute no numbers; what they find out is which slots, of an expression and an assignment, have a value.
* `campus`: LUBM's lower-bound program with sixteen more rules about who works with whom.
* `pattern`: a cycle, a clique, a petal or a flower of edges of several kinds, in a graph whose degrees follow a power law.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload
from benchmarks.workloads.pairs import Column, binary

_OPERATIONS: Final = ("sum", "difference", "product")
EXPRESSIONS: Final = "\n".join(
    f"val(?e, ?n) :- {operation}(?e), left(?e, ?l), right(?e, ?r), val(?l, ?p), in(?p, ?s), val(?r, ?q), in(?q, ?s), "
    "slot(?e, ?n), in(?n, ?s) ."
    for operation in _OPERATIONS
)
"""`val(e, n)`: the expression `e` is evaluated in the assignment of its slot `n`, as both of its sides are in theirs."""


def expressions(count: int, assignments: int, depth: int = 5, seed: int = 1) -> Instance:
    """Random trees with an operation at each inner node; their leaves are evaluated in all assignments."""
    random = np.random.default_rng(seed)
    kinds: dict[str, list[int]] = {operation: [] for operation in _OPERATIONS}
    sides: dict[str, list[tuple[int, int]]] = {"left": [], "right": []}
    leaves: list[int] = []
    waiting = [(number, 0) for number in range(count)]
    last = count
    while waiting:
        node, level = waiting.pop()
        if level == depth or (level > 1 and random.random() < 0.4):
            leaves.append(node)
            continue
        kinds[_OPERATIONS[int(random.integers(3))]].append(node)
        for side in sides.values():
            side.append((node, last))
            waiting.append((last, level + 1))
            last += 1
    inner = np.sort(np.concatenate([np.array(nodes, np.int64) for nodes in kinds.values()]))
    number = np.arange(last * assignments)
    owner, slot = number // assignments, last + number
    is_inner = np.isin(owner, inner)
    return Instance(
        EXPRESSIONS,
        {
            **{operation: pa.table({"a0": pa.array(nodes, pa.int64())}) for operation, nodes in kinds.items()},
            **{side: binary(*np.array(pairs, np.int64).T) for side, pairs in sides.items()},
            "val": binary(owner[~is_inner], slot[~is_inner]),
            "slot": binary(owner[is_inner], slot[is_inner]),
            "in": binary(slot, last + last * assignments + number % assignments),
        },
    )


_ARMS: Final = {
    "teaches": "ub:teacherOf[?t{0}, ?c{0}], ub:takesCourse[?s{0}, ?c{0}], ub:memberOf[?s{0}, ?d], ub:worksFor[?t{0}, ?d]",
    "advises": "ub:advisor[?s{0}, ?t{0}], ub:memberOf[?s{0}, ?d], ub:worksFor[?t{0}, ?d]",
    "writesWith": "ub:publicationAuthor[?p{0}, ?t{0}], ub:publicationAuthor[?p{0}, ?s{0}], ub:memberOf[?s{0}, ?d], "
    "ub:worksFor[?t{0}, ?d]",
}
"""What a teacher does with members of the department."""


def _both(one: str, other: str) -> str:
    """Pairs of teachers of a department."""
    return f"{one}And{other}(?t1, ?t2) :- {_ARMS[one].format(1)}, {_ARMS[other].format(2)} ."


_ALUMNI: Final = "ub:hasAlumnus[?o, ?x], ub:hasAlumnus[?o, ?y], "
RELATIONS: Final = "\n".join(
    [
        f"haveSameAdvisor(?x, ?y) :- {_ALUMNI} ub:advisor[?x, ?z], ub:advisor[?y, ?z] .",
        f"haveSameCourse(?x, ?y) :- {_ALUMNI} ub:takesCourse[?x, ?z], ub:takesCourse[?y, ?z] .",
        f"haveSamePaper(?x, ?y) :- {_ALUMNI} ub:publicationAuthor[?z, ?x], ub:publicationAuthor[?z, ?y] .",
        f"teachesAlumnus(?x, ?y) :- {_ALUMNI} ub:teacherOf[?x, ?z], ub:takesCourse[?y, ?z] .",
        *(_both(one, other) for number, one in enumerate(_ARMS) for other in list(_ARMS)[number:]),
        "advisesOfTaught(?t, ?u) :- ub:advisor[?s1, ?t], ub:undergraduateDegreeFrom[?s1, ?u], ub:teacherOf[?t, ?c], "
        "ub:takesCourse[?s2, ?c], ub:undergraduateDegreeFrom[?s2, ?u] .",
        "meetsInClass(?d, ?t) :- ub:memberOf[?s1, ?d], ub:takesCourse[?s1, ?c], ub:teacherOf[?t, ?c], "
        "ub:advisor[?s2, ?t], ub:memberOf[?s2, ?d] .",
        "coursesTogether(?c1, ?t2) :- ub:takesCourse[?s1, ?c1], ub:memberOf[?s1, ?d], ub:teacherOf[?t1, ?c1], "
        f"ub:worksFor[?t1, ?d], {_ARMS['teaches'].format(2)} .",
        "assistsColleague(?t1, ?t2) :- ub:teachingAssistantOf[?s, ?c], ub:teacherOf[?t1, ?c], ub:advisor[?s, ?t2], "
        f"ub:worksFor[?t1, ?d], ub:worksFor[?t2, ?d], {_ARMS['teaches'].format(3)} .",
        "circle(?t1, ?t2) :- ub:publicationAuthor[?p, ?t1], ub:publicationAuthor[?p, ?s1], ub:advisor[?s1, ?t2], "
        f"ub:worksFor[?t1, ?d], ub:worksFor[?t2, ?d], {_ARMS['advises'].format(3)} .",
        "classesAndPapers(?t, ?d) :- ub:worksFor[?t, ?d], ub:teacherOf[?t, ?c], ub:takesCourse[?s1, ?c], "
        "ub:memberOf[?s1, ?d], ub:publicationAuthor[?p, ?t], ub:publicationAuthor[?p, ?s2], ub:memberOf[?s2, ?d] .",
    ]
)


def campus(k: int, complex_rules: bool = True) -> Instance:
    """LUBM_L over k copies of a university, with or without the further rules."""
    lubm = workload("lubm").instance(k=k)
    prefix = "@prefix ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> .\n"
    return Instance(lubm.program + (f"\n{prefix}{RELATIONS}\n" if complex_rules else ""), lubm.facts)


PATTERNS: Final = {
    "cycle": "cycle(?x, ?z) :- knows(?x, ?y), likes(?y, ?z), follows(?z, ?w), knows(?w, ?x) .",
    "clique": "clique(?v0, ?v1, ?v2, ?v3, ?v4) :- "
    + ", ".join(f"friend(?v{one}, ?v{other})" for one, other in combinations(range(5), 2))
    + " .",
    "petal": "petal(?s, ?t) :- knows(?s, ?a), knows(?a, ?t), likes(?s, ?b), likes(?b, ?t), follows(?s, ?c), "
    "follows(?c, ?t) .",
    "flower": "flower(?m) :- knows(?m, ?a), knows(?a, ?b), knows(?b, ?m), likes(?m, ?c), likes(?c, ?d), likes(?d, ?m), "
    "follows(?m, ?e), follows(?e, ?f), follows(?f, ?m) .",
}

SIZES: Final = {
    "cycle": (30_000, 40_000),
    "clique": (120_000, 40_000),
    "petal": (30_000, 40_000),
    "flower": (30_000, 34_000),
}
"""Nodes, and edges of each kind, at which a plain join takes from a second to half a minute."""


def pattern(name: str, nodes: int = 30_000, edges: int = 40_000, seed: int = 1) -> Instance:
    """A pattern over `edges` of each of three kinds, together the kind `friend`; few nodes have many edges."""
    if name not in PATTERNS:
        raise BenchmarkMistake(f"no pattern {name}; there are {', '.join(PATTERNS)}")
    random = np.random.default_rng(seed)
    facts = {kind: _power_law(random, nodes, edges) for kind in ("knows", "likes", "follows")}
    if name == "clique":
        both = np.unique(np.concatenate(list(facts.values()), axis=1), axis=1)
        return Instance(PATTERNS[name], {"friend": binary(*both)})
    return Instance(PATTERNS[name], {kind: binary(*pairs) for kind, pairs in facts.items()})


def _power_law(random: np.random.Generator, nodes: int, edges: int) -> Column:
    """Distinct edges whose ends are drawn with a weight that falls with the number of the node."""
    weights = (1.0 + np.arange(nodes)) ** -0.75
    chances = np.cumsum(weights) / weights.sum()
    drawn = np.searchsorted(chances, random.random((2, 2 * edges)))
    codes = np.unique(drawn[0] * nodes + drawn[1])
    codes = random.permutation(codes)[:edges]
    return np.array([codes // nodes, codes % nodes])
