"""`galen`: what follows in an ontology of EL, by six rules over relations of two and three columns.

`sub(x, y)`: every x is a y; `role(x, r, y)`: every x has an r to some y. Given are hierarchies of concepts and roles,
what is both of two concepts, what has a role to something, and chains of two roles.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import Column, binary

RULES: Final = """
sub(?x, ?z) :- sub(?x, ?y), sub(?y, ?z) .
sub(?x, ?z) :- both(?y, ?w, ?z), sub(?x, ?y), sub(?x, ?w) .
sub(?x, ?z) :- role(?x, ?r, ?y), sub(?y, ?w), having(?w, ?r, ?z) .
role(?x, ?r, ?z) :- sub(?x, ?y), role(?y, ?r, ?z) .
role(?x, ?q, ?z) :- role(?x, ?r, ?z), wider(?r, ?q) .
role(?x, ?e, ?o) :- role(?x, ?y, ?z), chain(?y, ?u, ?e), role(?z, ?u, ?o) .
"""


def ternary(*columns: Column) -> pa.Table:
    """The relation with these columns, each row once."""
    rows = np.unique(np.array(columns), axis=1)
    return pa.table({f"a{at}": pa.array(column, pa.int64()) for at, column in enumerate(rows)})


def _completion(concepts: int, roles: int, seed: int) -> Instance:
    if concepts < 20 or roles < 4:
        raise BenchmarkMistake("galen wants 20 concepts or more, and four roles or more")
    random = np.random.default_rng(seed)
    child = np.arange(1, concepts)
    # Concepts are a tree of some depth, and a tenth have a second parent; a concept is below ones with smaller numbers.
    above = (child * random.uniform(0.3, 0.98, concepts - 1)).astype(np.int64)
    again = np.sort(random.choice(concepts - 1, concepts // 10, replace=False))
    second = (child[again] * random.uniform(0, 0.9, len(again))).astype(np.int64)
    sub = np.unique(np.array([np.append(child, child[again]), np.append(above, second)]), axis=1)
    few, some = concepts // 10, concepts // 2

    def drawn(count: int) -> Column:
        return random.integers(0, concepts, count)

    role = ternary(drawn(some), random.integers(0, roles, some), drawn(some))
    narrow = np.arange(roles // 2, roles)
    return Instance(
        RULES,
        {
            "sub": binary(*sub),
            "role": role,
            "both": ternary(drawn(few), drawn(few), drawn(few)),
            "having": ternary(drawn(few), random.integers(0, roles, few), drawn(few)),
            "wider": binary(narrow, narrow - roles // 2),
            "chain": ternary(narrow[:2], narrow[:2], narrow[:2]),  # two roles are transitive
        },
    )


GALEN: Final = Workload(
    "galen", "the completion of an ontology of EL (six rules)", {"concepts": 4_000, "roles": 20, "seed": 1}, _completion
)
