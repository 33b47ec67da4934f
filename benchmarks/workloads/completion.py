"""`galen`: what follows in an ontology of EL, by six rules over relations of two and three columns.

`sub(x, y)`: every x is a y; `role(x, r, y)`: every x has an r to some y. Given are hierarchies of concepts and roles,
what is both of two concepts, what has a role to something, and chains of two roles.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import Column

RULES: Final = """
sub(?x, ?z) :- sub(?x, ?y), sub(?y, ?z) .
sub(?x, ?z) :- both(?y, ?w, ?z), sub(?x, ?y), sub(?x, ?w) .
sub(?x, ?z) :- role(?x, ?r, ?y), sub(?y, ?w), having(?w, ?r, ?z) .
role(?x, ?r, ?z) :- sub(?x, ?y), role(?y, ?r, ?z) .
role(?x, ?q, ?z) :- role(?x, ?r, ?z), wider(?r, ?q) .
role(?x, ?e, ?o) :- role(?x, ?y, ?z), chain(?y, ?u, ?e), role(?z, ?u, ?o) .
"""


def relation(columns: Column) -> pa.Table:
    """The relation with these columns, each row once."""
    rows = np.unique(columns, axis=1)
    return pa.table({f"a{at}": pa.array(column, pa.int64()) for at, column in enumerate(rows)})


def _completion(parts: int, concepts: int, roles: int, seed: int) -> Instance:
    """Parts of an ontology have the roles in common; axioms are drawn inside a part of so many concepts."""
    if parts < 1 or concepts < 20 or roles < 4:
        raise BenchmarkMistake("galen wants one part or more, of 20 concepts or more, and four roles or more")
    random = np.random.default_rng(seed)
    made = [_part(random, part * concepts, concepts, roles) for part in range(parts)]
    together = {name: np.concatenate([one[name] for one in made], axis=1) for name in made[0]}
    narrow = np.arange(roles // 2, roles)
    together["wider"] = np.array([narrow, narrow - roles // 2])
    together["chain"] = np.array([narrow[:2]] * 3)  # two roles are transitive
    return Instance(RULES, {name: relation(columns) for name, columns in together.items()})


def _part(random: np.random.Generator, first: int, concepts: int, roles: int) -> dict[str, Column]:
    """A tree of concepts, a tenth with a second parent; and what is said of some of them."""
    child = np.arange(1, concepts)
    above = (child * random.uniform(0.3, 0.98, concepts - 1)).astype(np.int64)
    again = random.choice(concepts - 1, concepts // 10, replace=False)
    second = (child[again] * random.uniform(0, 0.9, len(again))).astype(np.int64)
    few, some = concepts // 20, concepts // 2
    role = random.integers(0, roles, some + few)

    def drawn(count: int) -> Column:
        return first + random.integers(0, concepts, count)

    return {
        "sub": first + np.array([np.append(child, child[again]), np.append(above, second)]),
        "role": np.array([drawn(some), role[:some], drawn(some)]),
        "both": np.array([drawn(few), drawn(few), drawn(few)]),
        "having": np.array([drawn(few), role[some:], drawn(few)]),
    }


GALEN: Final = Workload(
    "galen",
    "the completion of an ontology of EL (six rules)",
    {"parts": 16, "concepts": 400, "roles": 20, "seed": 1},
    _completion,
)
