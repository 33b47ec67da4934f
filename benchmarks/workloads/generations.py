"""Same generation, over people in levels below one ancestor.

Everyone has a parent in the level above and some have two, so a pair of one level is found through one to four pairs of
the level above. The result has nearly all pairs of each level: about five million of 12,000.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import binary, distinct

RULES = """
sg(?x, ?y) :- parent(?x, ?p), parent(?y, ?p) .
sg(?x, ?y) :- parent(?x, ?a), sg(?a, ?b), parent(?y, ?b) .
"""


def _same_generation(people: int, levels: int, edges: int, seed: int) -> Instance:
    if not edges >= people >= levels >= 1:
        raise BenchmarkMistake("same-generation wants levels ≤ people ≤ edges")
    random = np.random.default_rng(seed)
    starts = np.concatenate(([0], 1 + np.arange(levels + 1) * people // levels))  # the ancestor, then the levels
    child = np.arange(1, people + 1)
    level = np.searchsorted(starts, child, side="right") - 1
    above, width = starts[level - 1], starts[level] - starts[level - 1]
    first = random.integers(0, width)
    choosy = np.flatnonzero(width > 1)  # below a single person there is no second parent
    again = choosy[distinct(random, len(choosy), edges - people)]
    second = (first[again] + 1 + random.integers(0, width[again] - 1)) % width[again]
    return Instance(
        RULES,
        {
            "parent": binary(
                np.concatenate((child, child[again])), np.concatenate((above + first, above[again] + second))
            )
        },
    )


SAME_GENERATION = Workload(
    "same-generation",
    "pairs of one generation, below one ancestor",
    {"people": 9_000, "levels": 16, "edges": 12_000, "seed": 1},
    _same_generation,
)
