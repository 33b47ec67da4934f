"""Andersen's points-to analysis: address-of, copy, load and store, over groups of variables that do not meet.

Statements are drawn uniformly inside each group. With the default mix a group is a little above the point where facts
begin to feed one another: about 2.4 million facts come out of 100,000, by some 30 million rule instances.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.workload import Instance, Workload
from benchmarks.workloads.pairs import binary, distinct

RULES = """
pt(?y, ?x) :- addressOf(?y, ?x) .
pt(?y, ?x) :- assign(?y, ?z), pt(?z, ?x) .
pt(?y, ?w) :- load(?y, ?x), pt(?x, ?z), pt(?z, ?w) .
pt(?z, ?w) :- store(?y, ?x), pt(?y, ?z), pt(?x, ?w) .
"""


def _statements(random: np.random.Generator, groups: int, variables: int, count: int) -> pa.Table:
    """`count` distinct pairs of variables for each group; group g has the variables from g·variables on."""
    pairs = variables * variables
    codes = np.concatenate([distinct(random, pairs, count) for _ in range(groups)])
    first = np.repeat(np.arange(groups) * variables, count)
    return binary(first + codes // variables, first + codes % variables)


def _andersen(groups: int, variables: int, addresses: int, copies: int, loads: int, stores: int, seed: int) -> Instance:
    random = np.random.default_rng(seed)
    counts = {"addressOf": addresses, "assign": copies, "load": loads, "store": stores}
    return Instance(RULES, {name: _statements(random, groups, variables, count) for name, count in counts.items()})


ANDERSEN = Workload(
    "andersen",
    "points-to analysis; addresses, copies, loads and stores are per group",
    {"groups": 200, "variables": 250, "addresses": 95, "copies": 355, "loads": 25, "stores": 25, "seed": 1},
    _andersen,
)
