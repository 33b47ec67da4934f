"""Concepts with broader ones, as SKOS has them: a deep hierarchy, some cycles, and matches between vocabularies."""

from __future__ import annotations

import numpy as np

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import binary

RULES = """
broaderTransitive(?x, ?y) :- broader(?x, ?y) .
broaderTransitive(?x, ?z) :- broaderTransitive(?x, ?y), broaderTransitive(?y, ?z) .
narrower(?y, ?x) :- broader(?x, ?y) .
narrowerTransitive(?y, ?x) :- broaderTransitive(?x, ?y) .
semanticRelation(?x, ?y) :- broaderTransitive(?x, ?y) .
semanticRelation(?x, ?y) :- narrowerTransitive(?x, ?y) .
semanticRelation(?x, ?y) :- related(?x, ?y) .
related(?y, ?x) :- related(?x, ?y) .
exactMatch(?y, ?x) :- exactMatch(?x, ?y) .
exactMatch(?x, ?z) :- exactMatch(?x, ?y), exactMatch(?y, ?z) .
closeMatch(?x, ?y) :- exactMatch(?x, ?y) .
inScheme(?x, ?s) :- topConceptOf(?x, ?s) .
"""


def _concepts(concepts: int, depth: int, cycles: int, seed: int) -> Instance:
    if not 2 <= depth <= concepts or cycles < 0:
        raise BenchmarkMistake("skos wants 2 ≤ depth ≤ concepts, and no fewer than 0 cycles")
    random = np.random.default_rng(seed)
    level = np.sort(random.integers(1, depth, concepts - 1))
    child = np.arange(1, concepts)
    starts = np.searchsorted(level, np.arange(depth + 1))
    # A concept's broader one is anywhere in the level above; some have a second.
    above = np.where(level > 1, starts[np.maximum(level - 1, 1)], 0)
    size = np.where(level > 1, starts[level] - starts[np.maximum(level - 1, 1)], 1)
    parents = [1 + above + random.integers(0, np.maximum(size, 1)) - (level == 1) for _ in range(2)]
    second = np.flatnonzero(random.random(concepts - 1) < 0.2)
    pairs = {(int(x), int(y)) for x, y in zip(child, parents[0], strict=True)}
    pairs |= {(int(child[x]), int(parents[1][x])) for x in second}
    # A cycle: a concept is broader than one that is broader than it.
    back = random.choice(sorted(pairs), min(cycles, len(pairs)), replace=False)
    pairs |= {(int(y), int(x)) for x, y in back}
    broader = np.array(sorted(pair for pair in pairs if pair[0] != pair[1])).T
    some = random.integers(0, concepts, (2, concepts // 4))
    # Matches stay within blocks of a dozen concepts, so that their classes are small.
    first = random.integers(0, concepts, concepts // 3)
    matched = np.array([first, np.minimum(first - first % 12 + random.integers(0, 12, len(first)), concepts - 1)])
    related, exact = (np.unique(one[:, one[0] != one[1]], axis=1) for one in (some, matched))
    top = np.zeros(1, np.int64)
    relations = {"broader": broader, "related": related, "exactMatch": exact, "topConceptOf": np.array([top, top])}
    return Instance(RULES, {name: binary(*pair.astype(np.int64)) for name, pair in relations.items()})


SKOS = Workload(
    "skos",
    "concepts in a deep hierarchy with cycles, and classes of matches",
    {"concepts": 20_000, "depth": 15, "cycles": 20, "seed": 1},
    _concepts,
)
