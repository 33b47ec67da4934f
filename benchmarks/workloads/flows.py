"""Analyses of where values and nulls flow in C programs, as Graspan's: `cspa` and `csda`, over generated programs.

`cspa`: functions have variables and what these point to; assignments are drawn inside a function, some between two that
call each other. `csda`: functions are long lines of statements with branches, and nulls start at some of them; a round
goes one statement further.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import Column, binary, distinct

POINTERS: Final = """
valueFlow(?y, ?x) :- assign(?y, ?x) .
valueFlow(?x, ?y) :- assign(?x, ?z), memoryAlias(?z, ?y) .
valueFlow(?x, ?y) :- valueFlow(?x, ?z), valueFlow(?z, ?y) .
valueFlow(?x, ?x) :- assign(?x, _) .
valueFlow(?x, ?x) :- assign(_, ?x) .
memoryAlias(?x, ?w) :- dereference(?y, ?x), valueAlias(?y, ?z), dereference(?z, ?w) .
memoryAlias(?x, ?x) :- assign(_, ?x) .
memoryAlias(?x, ?x) :- assign(?x, _) .
valueAlias(?x, ?y) :- valueFlow(?z, ?x), valueFlow(?z, ?y) .
valueAlias(?x, ?y) :- valueFlow(?z, ?x), memoryAlias(?z, ?w), valueFlow(?w, ?y) .
"""

NULLS: Final = """
null(?x, ?y) :- nullEdge(?x, ?y) .
null(?x, ?y) :- null(?x, ?w), arc(?w, ?y) .
"""


def _pointers(functions: int, variables: int, assignments: int, seed: int) -> Instance:
    """Variable v of a function is the number v there, and what it points to is v + `variables`."""
    random = np.random.default_rng(seed)
    names = 2 * variables
    pairs = variables * names
    # A value is assigned to a variable or to what one points to, from a variable.
    codes = np.concatenate([distinct(random, pairs, assignments) for _ in range(functions)])
    first = np.repeat(np.arange(functions) * names, assignments)
    target, source = first + codes % names, first + codes // names
    called = np.arange(functions - 1)  # each function hands a value to the next, and so on as a tree
    caller = (called // 3) * names
    to = (called + 1) * names
    assign = np.unique(np.array([np.append(target, to), np.append(source, caller)]), axis=1)
    assign = assign[:, assign[0] != assign[1]]
    variable = (np.arange(functions)[:, None] * names + np.arange(variables)).ravel()
    return Instance(POINTERS, {"assign": binary(*assign), "dereference": binary(variable, variable + variables)})


def _nulls(functions: int, statements: int, branches: int, nulls: int, seed: int) -> Instance:
    if statements < 3:
        raise BenchmarkMistake("csda wants functions of three statements or more")
    random = np.random.default_rng(seed)
    starts = np.arange(functions) * statements
    line = np.arange(statements - 1)
    first, second = _in_all(starts, line, line + 1)
    jump = np.arange(functions).repeat(branches) * statements + random.integers(0, statements - 2, functions * branches)
    room = statements - 1 - jump % statements
    land = jump + 2 + random.integers(0, np.minimum(room - 1, 20))  # an `if` leaves out some statements
    arcs = np.unique(np.array([np.append(first, jump), np.append(second, land)]), axis=1)
    at = np.sort(distinct(random, functions * statements // 2, nulls)) * 2
    at = at[at % statements < statements - 1]
    return Instance(NULLS, {"nullEdge": binary(at, at + 1), "arc": binary(*arcs)})


def _in_all(starts: Column, first: Column, second: Column) -> tuple[Column, Column]:
    return (starts[:, None] + first).ravel(), (starts[:, None] + second).ravel()


CSPA: Final = Workload(
    "cspa",
    "which expressions of C programs are aliases (Graspan's pointer analysis)",
    {"functions": 100, "variables": 100, "assignments": 110, "seed": 1},
    _pointers,
)
CSDA: Final = Workload(
    "csda",
    "where nulls get to in C programs (Graspan's dataflow analysis)",
    {"functions": 100, "statements": 1_000, "branches": 100, "nulls": 2_000, "seed": 1},
    _nulls,
)
