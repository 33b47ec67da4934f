"""Polonius, Rust's borrow checker as rules, over generated functions: as it is defined, and as it is optimised.

`subset(o, q, p)`: at point p all loans of origin o are loans of q, too. The optimised rules follow an origin to others
only where it is about to die, and find the same errors. A function is a line of statements with jumps; a statement
borrows a variable, copies a reference, uses one, or writes to a variable, which invalidates the loans of it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake, Instance, Workload

LIVENESS: Final = """
liveVariable(?v, ?p) :- used(?v, ?p) .
liveVariable(?v, ?p) :- liveVariable(?v, ?q), flow(?p, ?q), not defined(?v, ?p) .
live(?o, ?p) :- liveVariable(?v, ?p), refers(?v, ?o) .
"""

NAIVE: Final = f"""{LIVENESS}
subset(?o, ?q, ?p) :- subsetBase(?o, ?q, ?p) .
subset(?o, ?s, ?p) :- subset(?o, ?q, ?p), subset(?q, ?s, ?p) .
subset(?o, ?q, ?n) :- subset(?o, ?q, ?p), flow(?p, ?n), live(?o, ?n), live(?q, ?n) .
contains(?o, ?l, ?p) :- issued(?o, ?l, ?p) .
contains(?q, ?l, ?p) :- contains(?o, ?l, ?p), subset(?o, ?q, ?p) .
contains(?o, ?l, ?n) :- contains(?o, ?l, ?p), flow(?p, ?n), not killed(?l, ?p), live(?o, ?n) .
liveLoan(?l, ?p) :- contains(?o, ?l, ?p), live(?o, ?p) .
error(?l, ?p) :- invalidated(?l, ?p), liveLoan(?l, ?p) .
"""

OPTIMISED: Final = f"""{LIVENESS}
subset(?o, ?q, ?p) :- subsetBase(?o, ?q, ?p) .
subset(?o, ?q, ?n) :- subset(?o, ?q, ?p), flow(?p, ?n), live(?o, ?n), live(?q, ?n) .
subset(?o, ?s, ?n) :- toDying(?o, ?q, ?p, ?n), reachesLive(?q, ?s, ?p, ?n) .
contains(?o, ?l, ?p) :- issued(?o, ?l, ?p) .
contains(?o, ?l, ?n) :- contains(?o, ?l, ?p), flow(?p, ?n), not killed(?l, ?p), live(?o, ?n) .
contains(?q, ?l, ?n) :- dyingContains(?o, ?l, ?p, ?n), reachesLive(?o, ?q, ?p, ?n) .
toDying(?o, ?q, ?p, ?n) :- subset(?o, ?q, ?p), flow(?p, ?n), live(?o, ?n), not live(?q, ?n) .
dyingContains(?o, ?l, ?p, ?n) :- contains(?o, ?l, ?p), flow(?p, ?n), not killed(?l, ?p), not live(?o, ?n) .
asked(?q, ?p, ?n) :- toDying(_, ?q, ?p, ?n) .
asked(?o, ?p, ?n) :- dyingContains(?o, _, ?p, ?n) .
reaches(?o, ?q, ?p, ?n) :- asked(?o, ?p, ?n), subset(?o, ?q, ?p) .
reaches(?o, ?s, ?p, ?n) :- reaches(?o, ?q, ?p, ?n), not live(?q, ?n), subset(?q, ?s, ?p) .
reachesLive(?o, ?q, ?p, ?n) :- reaches(?o, ?q, ?p, ?n), live(?q, ?n) .
deadContains(?o, ?l, ?p) :- contains(?o, ?l, ?p), not live(?o, ?p) .
deadContains(?q, ?l, ?p) :- deadContains(?o, ?l, ?p), subset(?o, ?q, ?p), not live(?q, ?p) .
liveLoan(?l, ?p) :- contains(?o, ?l, ?p), live(?o, ?p) .
liveLoan(?l, ?p) :- deadContains(?o, ?l, ?p), subset(?o, ?q, ?p), live(?q, ?p) .
error(?l, ?p) :- invalidated(?l, ?p), liveLoan(?l, ?p) .
"""

BORROW, COPY, USE, WRITE = range(4)


def _functions(program: str, functions: int, points: int, variables: int, seed: int) -> Instance:
    if points < 8 or variables < 3:
        raise BenchmarkMistake("polonius wants functions of eight points or more, and three variables or more")
    random = np.random.default_rng(seed)
    rows: dict[str, list[tuple[int, ...]]] = {
        name: [] for name in ("flow", "used", "defined", "subsetBase", "issued", "killed", "invalidated")
    }
    loans = 0
    for function in range(functions):
        loans = _function(random, rows, function * points, points, function * variables, variables, loans)
    names = np.arange(functions * variables)
    arrays = {name: np.unique(np.array(found, np.int64), axis=0).T for name, found in rows.items()}
    arrays["refers"] = np.array([names, names])  # a variable's type has one origin, with its number
    return Instance(
        program,
        {
            name: pa.table({f"a{at}": pa.array(column) for at, column in enumerate(columns)})
            for name, columns in arrays.items()
        },
    )


def _function(
    random: np.random.Generator,
    rows: dict[str, list[tuple[int, ...]]],
    start: int,
    points: int,
    first: int,
    variables: int,
    loans: int,
) -> int:
    """Enters the statements of a function, and gives the number of the next loan."""
    rows["flow"] += [(point, point + 1) for point in range(start, start + points - 1)]
    for _ in range(points // 10):  # an `if` jumps ahead, a loop goes back
        a, b = sorted(int(each) for each in random.integers(start, start + points, 2))
        rows["flow"].append((a, b) if random.random() < 0.7 else (b, max(a, b - 12)))
    of: dict[int, list[int]] = {}
    written: list[tuple[int, int]] = []
    kinds = random.choice(4, points, p=(0.3, 0.35, 0.2, 0.15))
    ones, others = random.integers(first, first + variables, (2, points))
    for point, (kind, one, other) in enumerate(zip(kinds.tolist(), ones.tolist(), others.tolist(), strict=True), start):
        if kind == BORROW:
            rows["issued"].append((one, loans, point))
            of.setdefault(other, []).append(loans)
            loans += 1
        elif kind == COPY:
            rows["subsetBase"].append((other, one, point))
            rows["used"].append((other, point))
        elif kind == USE:
            rows["used"].append((one, point))
        if kind in (BORROW, COPY):
            rows["defined"].append((one, point))
        if kind != USE:
            written.append((one, point))
    for variable, point in written:
        rows["invalidated"] += [(loan, point) for loan in of.get(variable, ())]
        rows["killed"] += [(loan, point) for loan in of.get(variable, ())[::3]]  # of a third the path changes
    return loans


_DEFAULTS: Final = {"functions": 100, "points": 200, "variables": 40, "seed": 1}
POLONIUS: Final = (
    Workload("polonius", "Rust's borrow checker as it is defined", _DEFAULTS, partial(_functions, NAIVE)),
    Workload("polonius-opt", "Rust's borrow checker, optimised", _DEFAULTS, partial(_functions, OPTIMISED)),
)
