"""What the papers about Datalog engines ask of graphs (BigDatalog, RaSQL, RecStep, DCDatalog, FlowLog).

Each program has two workloads: over a uniform graph, and with `-rmat` over one with hubs. In the papers `attend`
counts, in a recursion, how many friends of a person come; such a count is no Datalog, so three friends are told apart
by their order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from benchmarks.generators.random_graphs import rmat, uniform
from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import Column, binary

Draw: TypeAlias = Callable[[np.random.Generator, int, int], tuple[Column, Column]]

CLOSURE: Final = """
tc(?x, ?y) :- arc(?x, ?y) .
tc(?x, ?z) :- tc(?x, ?y), arc(?y, ?z) .
"""

GENERATION: Final = """
sg(?x, ?y) :- arc(?p, ?x), arc(?p, ?y), ?x != ?y .
sg(?x, ?y) :- arc(?a, ?x), sg(?a, ?b), arc(?b, ?y) .
"""

REACH: Final = """
reach(?x) :- start(?x) .
reach(?y) :- reach(?x), arc(?x, ?y) .
"""

BIPARTITE: Final = """
even(?x) :- start(?x) .
odd(?y) :- even(?x), arc(?x, ?y) .
even(?y) :- odd(?x), arc(?x, ?y) .
conflict(?x) :- even(?x), odd(?x) .
"""

COMPONENTS: Final = """
label(?x, MIN(?x)) :- arc(?x, _) .
label(?y, MIN(?y)) :- arc(_, ?y) .
label(?y, MIN(?l)) :- label(?x, ?l), arc(?x, ?y) .
label(?x, MIN(?l)) :- label(?y, ?l), arc(?x, ?y) .
component(?l) :- label(_, ?l) .
"""

SHORTEST: Final = """
dist(?x, MIN(0)) :- start(?x) .
dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), road(?x, ?y, ?w) .
"""

ATTEND: Final = """
attend(?x) :- organizer(?x) .
attend(?x) :- friend(?x, ?a), friend(?x, ?b), friend(?x, ?c), attend(?a), attend(?b), attend(?c), ?a < ?b, ?b < ?c .
"""

DYCK: Final = """
dyck(?x, ?y) :- open1(?x, ?z), close1(?z, ?y) .
dyck(?x, ?y) :- open2(?x, ?z), close2(?z, ?y) .
dyck(?x, ?y) :- open1(?x, ?a), dyck(?a, ?b), close1(?b, ?y) .
dyck(?x, ?y) :- open2(?x, ?a), dyck(?a, ?b), close2(?b, ?y) .
dyck(?x, ?z) :- dyck(?x, ?y), dyck(?y, ?z) .
"""


def unary(values: Column) -> pa.Table:
    """The relation with this one column."""
    return pa.table({"a0": pa.array(values, pa.int64())})


def _arcs(program: str, draw: Draw, nodes: int, edges: int, seed: int) -> Instance:
    return Instance(program, {"arc": binary(*draw(np.random.default_rng(seed), nodes, edges))})


def _started(program: str, draw: Draw, nodes: int, edges: int, seed: int) -> Instance:
    """From where the first edge begins."""
    first, second = draw(np.random.default_rng(seed), nodes, edges)
    return Instance(program, {"start": unary(first[:1]), "arc": binary(first, second)})


def _weighted(draw: Draw, nodes: int, edges: int, seed: int) -> Instance:
    random = np.random.default_rng(seed)
    first, second = draw(random, nodes, edges)
    roads = binary(first, second).append_column("a2", pa.array(random.integers(1, 1_000, edges), pa.int64()))
    return Instance(SHORTEST, {"start": unary(first[:1]), "road": roads})


def _attend(draw: Draw, people: int, friends: int, organizers: int, seed: int) -> Instance:
    if not 3 <= organizers <= people:
        raise BenchmarkMistake("attend wants three organizers or more, and no more than there are people")
    random = np.random.default_rng(seed)
    first, second = draw(random, people, friends)
    return Instance(ATTEND, {"organizer": unary(np.arange(organizers)), "friend": binary(first, second)})


def _dyck(draw: Draw, nodes: int, edges: int, seed: int) -> Instance:
    """An edge opens or closes a bracket of one of two kinds."""
    random = np.random.default_rng(seed)
    first, second = draw(random, nodes, edges)
    kinds = np.arange(edges) % 4
    names = ("open1", "close1", "open2", "close2")
    return Instance(DYCK, {name: binary(first[kinds == at], second[kinds == at]) for at, name in enumerate(names)})


def _both(
    name: str, about: str, build: Callable[..., Instance], uniformly: dict[str, int], hubs: dict[str, int]
) -> tuple[Workload, ...]:
    return (
        Workload(name, f"{about} of a uniform graph", {**uniformly, "seed": 1}, partial(build, uniform)),
        Workload(f"{name}-rmat", f"{about} of a graph with hubs", {**hubs, "seed": 1}, partial(build, rmat)),
    )


def _graph(nodes: int, edges: int) -> dict[str, int]:
    return {"nodes": nodes, "edges": edges}


def _people(people: int, friends: int, organizers: int) -> dict[str, int]:
    return {"people": people, "friends": friends, "organizers": organizers}


LINKED: Final[tuple[Workload, ...]] = (
    *_both("tc", "the transitive closure", partial(_arcs, CLOSURE), _graph(2_000, 20_000), _graph(2_000, 20_000)),
    *_both(
        "sg", "same generation, by the edges", partial(_arcs, GENERATION), _graph(1_000, 5_000), _graph(1_000, 5_000)
    ),
    *_both(
        "reach",
        "what one node reaches",
        partial(_started, REACH),
        _graph(100_000, 1_000_000),
        _graph(100_000, 1_000_000),
    ),
    *_both(
        "bipartite",
        "two colours, and where they meet,",
        partial(_started, BIPARTITE),
        _graph(100_000, 1_000_000),
        _graph(100_000, 1_000_000),
    ),
    *_both(
        "cc", "connected components", partial(_arcs, COMPONENTS), _graph(100_000, 1_000_000), _graph(100_000, 1_000_000)
    ),
    *_both("sssp", "shortest paths", _weighted, _graph(100_000, 1_000_000), _graph(100_000, 1_000_000)),
    *_both(
        "attend",
        "who comes if three friends do,",
        _attend,
        _people(20_000, 300_000, 500),
        _people(20_000, 100_000, 500),
    ),
    *_both("dyck", "paths with balanced brackets", _dyck, _graph(2_000, 4_000), _graph(2_000, 4_000)),
)
