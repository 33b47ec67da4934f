"""Possible collaborators: the cyclic rule and the data of *Hypertree*, section 3.

Any order of the four atoms considers n·k² bindings, of which n·k lead to a fact; a decomposition considers n·k. Nothing
is random, hence no seed. The materialisation adds n·k + k facts.
"""

from __future__ import annotations

import numpy as np

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import binary

RULE = """
PC(?x, ?y) :- CW(?x, ?z1), CA(?x, ?z2), PC(?z1, ?y), PC(?z2, ?y) .
"""


def _collaborators(n: int, k: int) -> Instance:
    if n < 4 or k < 1:
        raise BenchmarkMistake("pc wants n ≥ 4 and k ≥ 1: a_n works with a_2 and writes with a_3")
    a = np.repeat(np.arange(n), k)  # a_i
    j = np.tile(np.arange(k), n)
    b = n + 1 + np.arange(n * k)  # b_{ik+j}, after a_0 … a_n
    c = b + n * k
    d = 1 + n + 2 * n * k + j
    return Instance(
        RULE,
        {
            "CW": binary(np.append(a, n), np.append(b, 2)),
            "CA": binary(np.append(a, n), np.append(c, 3)),
            "PC": binary(np.concatenate((b, c)), np.concatenate((d, d))),
        },
    )


PC = Workload("pc", "possible collaborators: one cyclic rule with four atoms", {"n": 200, "k": 200}, _collaborators)
