"""Graphs on Spark against their definitions: many small random graphs side by side, so that a job answers for all."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, product
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.datalog.values import Value
from everlog.engine.algebra import FactSet, Moves, Region
from everlog.engine.memory import tuning as memory_tuning
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.engine.spark.graphs import small_graphs
from everlog.engine.spark.graphs.graphs import SparkGraphs
from oracles import naive
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Pair = tuple[Value, Value]
GRAPHS, NODES = 24, 6
EDGE = Atom("edge", (Variable("x"), Variable("y")))
PROPERTY = Atom("triple", (Variable("x"), Constant("p"), Variable("y")))


class Side:
    """An engine, and pairs as the facts of an atom in it."""

    def __init__(self, spark: SparkSession, atom: Atom = EDGE, values: Iterable[Value] = ()) -> None:
        self.facts = Facts(spark, [*range(GRAPHS * NODES), "p", *values])
        self.graphs = SparkGraphs(self.facts.engine)
        self.atom = atom

    def of(self, pairs: Iterable[tuple[Value, ...]], atom: Atom | None = None) -> FactSet:
        chosen = atom or self.atom
        found = self.facts.stored(naive.fact(chosen.predicate, *_filled(chosen, pair)) for pair in pairs)
        # Sets that are large to the engine are not on the driver.
        return found if tuning.DRIVER_FACTS else self.facts.engine.computed(found.table())

    def pairs(self, facts: FactSet) -> set[Pair]:
        """The ends of facts that are numbers of nodes."""
        return {(first[1], last[1]) for _, (first, *_, last) in self.facts.facts_in(facts)}  # type: ignore[misc]

    def shown(self, facts: FactSet) -> set[tuple[str, str]]:
        """The ends of facts as texts, since 1 and 1.0 are equal."""
        return {tuple(repr(naive.value_of(key)) for key in keys) for _, keys in self.facts.facts_in(facts)}  # type: ignore[misc]


def _filled(atom: Atom, values: tuple[Value, ...]) -> list[Value]:
    left = iter(values)
    return [term.value if isinstance(term, Constant) else next(left) for term in atom.terms]


def let_sets_be_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes all sets too large for the driver, and to be broadcast."""
    for name in ("DRIVER_FACTS", "BROADCAST_LOOK_UP_FACTS", "BROADCAST_JOIN_FACTS"):
        monkeypatch.setattr(tuning, name, 0)


def some(random: Random, density: float) -> set[tuple[int, int]]:
    """Pairs of nodes of the same graph; some graphs are denser than others."""
    found = set()
    for graph in range(GRAPHS):
        nodes = range(graph * NODES, graph * NODES + NODES)
        likely = density * random.choice([0.3, 1, 2])
        found |= {pair for pair in product(nodes, repeat=2) if random.random() < likely}
    return found


def led_to(X: set[Pair], T: set[Pair]) -> set[Pair]:
    found = set(X)
    while True:
        more = {(x, z) for (x, y), (w, z) in product(found, T) if y == w} - found
        if not more:
            return found
        found |= more


def turned(pairs: Iterable[Pair]) -> set[Pair]:
    return {(y, x) for x, y in pairs}


def connected(X: Iterable[Pair]) -> dict[Value, frozenset[Value]]:
    """Each node with all that it is connected with."""
    found: dict[Value, frozenset[Value]] = {}
    for x, y in X:
        together = found.get(x, frozenset([x])) | found.get(y, frozenset([y]))
        found |= dict.fromkeys(together, together)
    return found


@pytest.mark.parametrize(("backwards", "large"), [(False, False), (True, False), (True, True)])
def test_paths(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, backwards: bool, large: bool) -> None:
    if large:
        let_sets_be_large(monkeypatch)
    random = Random(3)
    side = Side(spark, PROPERTY if backwards else EDGE)
    step = Atom("step", EDGE.terms)
    X, T, known, asked = (some(random, density) for density in (0.1, 0.2, 0.2, 0.05))
    expected = turned(led_to(turned(X), turned(T))) if backwards else led_to(X, T)
    paths = side.graphs.paths(side.atom, step, backwards)
    first, steps = side.of(X), side.of(T, step)
    assert side.pairs(paths.outside(first, steps, side.of(asked))) == asked - expected
    assert side.pairs(paths.facts(first, steps, side.of(known))) == expected - known
    assert side.pairs(paths.outside(first, steps, side.of(known))) == known - expected
    assert len(expected) > len(X) > len(asked) and known & expected and known - expected


@pytest.mark.parametrize("large", [False, True])
def test_cliques(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    if large:
        let_sets_be_large(monkeypatch)
    random = Random(5)
    side = Side(spark)
    cliques = side.graphs.cliques(side.atom)
    X, more, known, gone = (some(random, density) for density in (0.05, 0.02, 0.2, 0.01))
    before, after = connected(X), connected(X | more)
    everything = {(x, y) for x, together in after.items() for y in together}
    apart = {(x, y) for x, y in everything if y not in before.get(x, ())}
    first = side.of(X)
    assert side.pairs(cliques.joined(first, side.of(more), side.of(known))) == apart - known
    if not large:
        assert side.pairs(cliques.joined(side.of([]), first, side.of([]))) == {
            (x, y) for x, together in before.items() for y in together
        }
    assert side.pairs(cliques.outside(first, side.of(known))) == {
        (x, y) for x, y in known if y not in before.get(x, ())
    }
    touched = {node for edge in gone for end in edge for node in before.get(end, ())}
    assert side.pairs(cliques.around(first, side.of(gone), side.of(known))) == {
        (x, y) for x, y in known if x in touched and y in touched
    }
    assert touched and apart - known and apart & known


def test_the_components_of_a_chain_take_few_rounds(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    side = Side(spark, values=range(700))
    order = list(range(600))
    Random(7).shuffle(order)
    jobs = []
    run = side.facts.engine.run
    monkeypatch.setattr(side.facts.engine, "run", lambda *given, **named: jobs.append(given) or run(*given, **named))
    labels = side.graphs.cliques(side.atom)._labels(side.of(pairwise(order)))
    assert labels is not None
    rows = side.facts.rows(labels.view())
    assert sorted(row["a0"] for row in rows) == sorted(side.facts.ids.encode(order))
    assert len({row["a1"] for row in rows}) == 1
    assert len(jobs) < 15


VALUES: list[Value] = [
    *(-3, -1, 0, 1, 2, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)),
    *(-1.5, -1.0, -0.5, -0.0, 0.5, 1.0, 2.5, float(2**53), 1e300, -1e300, float(2**63), 5e-324, -5e-324),
    *(float("inf"), float("-inf"), float("nan"), True, "", "a", "b", "B", "é", "\U0001f600", "\uffff", 'quo"te', "10"),
]


@pytest.mark.parametrize(("density", "large"), [(0.4, False), (1.0, True)])
def test_neighbours(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, density: float, large: bool) -> None:
    """In one part, and in ranges."""
    if large:
        monkeypatch.setattr(tuning, "BROADCAST_JOIN_FACTS", 0)
    item = Atom("item", (Variable("x"),))
    side = Side(spark, values=VALUES)
    neighbours = side.graphs.neighbours(side.atom, item)
    random = Random(11)
    chosen = [value for value in VALUES if random.random() < density]
    numbers = [one for one in chosen if type(one) in (int, float) and one == one]
    texts = [one for one in chosen if isinstance(one, str)]
    expected = {
        (repr(x), repr(y))
        for kind in (numbers, texts)
        for x, y in product(kind, repeat=2)
        if x < y and not any(x < z < y for z in kind)  # type: ignore[operator]
    }
    items = side.of([(value,) for value in chosen], item)
    assert side.shown(neighbours.facts(items, side.of([]))) == expected and len(expected) > 5
    others: list[Pair] = [("a", "b"), (1, 2), (0, 1)]
    apart = {(repr(x), repr(y)) for x, y in others} - expected
    assert side.shown(neighbours.outside(items, side.of(others))) == apart


STEP, OTHER = Atom("step", EDGE.terms), Atom("other", EDGE.terms)
# Letters are edge, edge backwards, step, step backwards. The first head goes on along steps, where one backwards must be
# followed by one forwards; the second begins backwards, and its last step is an edge or nothing.
MOVES: list[Moves] = [
    ([{0: 1}, {2: 1, 3: 2}, {2: 1}], frozenset([1])),
    ([{1: 1}, {2: 1, 0: 2}, {}], frozenset([1, 2])),
]


def searched(edges: set[Pair], steps: set[Pair]) -> tuple[list[set[Pair]], list[dict[Value, set[tuple[int, Value]]]]]:
    """The pairs that each automaton accepts, and for each source the states and nodes that it gets to."""
    moved = [edges, turned(edges), steps, turned(steps)]
    pairs: list[set[Pair]] = []
    visited: list[dict[Value, set[tuple[int, Value]]]] = []
    for moves, finals in MOVES:
        at = {(source, 0, source) for source in range(GRAPHS * NODES)}
        found: set[tuple[Value, int, Value]] = set(at)
        while at:
            at = {
                (source, after, y)
                for source, state, node in at
                for letter, after in moves[state].items()
                for x, y in moved[letter]
                if x == node
            } - found
            found |= at
        pairs.append({(source, node) for source, state, node in found if state in finals})
        visited.append({})
        for source, state, node in found:
            visited[-1].setdefault(source, set()).add((state, node))
    return pairs, visited


@pytest.mark.parametrize("large", [False, True])
def test_chains(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    if large:
        let_sets_be_large(monkeypatch)
    random = Random(13)
    side = Side(spark)
    edges, steps, known, changed = (some(random, density) for density in (0.08, 0.1, 0.15, 0.015))
    steps |= changed
    accepted, visited = searched(edges, steps)
    chains = side.graphs.chains([EDGE, OTHER], [EDGE, STEP], MOVES)
    X, T, new = side.of(edges), side.of(steps, STEP), side.of(changed, STEP)
    heads = [(EDGE, accepted[0], visited[0]), (OTHER, accepted[1], visited[1])]

    def of(facts: FactSet, atom: Atom) -> set[Pair]:
        region = Region((atom,))
        return side.pairs(as_spark_facts(facts).within(region))

    asked = side.of(known)
    asked |= side.of(known, OTHER)
    lost = chains.outside(X, T, asked)
    assert of(lost, EDGE) == known - accepted[0] - edges and of(lost, OTHER) == known - accepted[1]
    letters = {letter: {x for x, _ in (changed if letter == 2 else turned(changed))} for letter in (2, 3)}
    near = chains.around(X, T, new, asked)
    found = chains.through(X, T, new, X)
    assert found is not None
    for number, (atom, pairs, places) in enumerate(heads):
        sources = {
            source
            for source, seen in places.items()
            if any(letter in letters and node in letters[letter] for q, node in seen for letter in MOVES[number][0][q])
        }
        assert of(near, atom) == {pair for pair in known if pair[0] in sources} != known
        assert of(found, atom) == {pair for pair in pairs if pair[0] in sources} - (edges if number == 0 else set())
    if not large:  # `through` goes by the same jobs
        everything = chains.facts(X, T, X)
        assert of(everything, EDGE) == accepted[0] - edges and of(everything, OTHER) == accepted[1]
    assert accepted[0] > edges and known & accepted[0] and known & accepted[1] and of(found, EDGE)


@pytest.mark.parametrize("large", [False, True])
def test_neighbours_by_keys(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    if large:
        monkeypatch.setattr(tuning, "BROADCAST_JOIN_FACTS", 0)
    item = Atom("item", (Variable("k"), Variable("v")))
    side = Side(spark, values=VALUES)
    random = Random(17)
    keyed = [(random.choice(VALUES), random.randrange(20)) for _ in range(40)]
    expected = set()
    for kind in ((int, float), (str,)):
        mine = [(key, value) for key, value in keyed if type(key) in kind and key == key]
        expected |= {
            (v, w)
            for (k, v), (l, w) in product(mine, repeat=2)
            if k < l and not any(k < m < l for m, _ in mine)  # type: ignore[operator]
        }
    neighbours = side.graphs.keyed_neighbours(side.atom, item, Variable("k"))
    items, others = side.of(keyed, item), {(x, y) for x in range(20) for y in range(3)}
    assert side.pairs(neighbours.facts(items, side.of([]))) == expected and expected
    assert side.pairs(neighbours.outside(items, side.of(others))) == others - expected != others


@pytest.mark.parametrize("bits", [True, False])
def test_what_is_too_much_for_the_driver(monkeypatch: pytest.MonkeyPatch, bits: bool) -> None:
    if not bits:
        monkeypatch.setattr(memory_tuning, "GRAPH_BYTES", 0)
    chain = np.array([(7 * i, 7 * i + 7) for i in range(50)])
    found = small_graphs.closure(chain, chain, 1275)
    assert found is not None
    assert sorted(map(tuple, found.tolist())) == [(7 * i, 7 * j) for i in range(50) for j in range(i + 1, 51)]
    assert small_graphs.closure(chain, chain, 1274) is None


@pytest.mark.parametrize("cost", [1e-9, 4.0, 1e9], ids=["visited", "as it pays", "by bits"])
@pytest.mark.parametrize("edges", [30, 300, 3_000])
def test_visits_and_bits_close_graphs_alike(monkeypatch: pytest.MonkeyPatch, edges: int, cost: float) -> None:
    monkeypatch.setattr(memory_tuning, "VISIT_COST", cost)
    random = np.random.default_rng(edges)
    first, steps = random.integers(0, 200, (40, 2)), random.integers(0, 200, (edges, 2))
    expected = {(x, y) for x, y in first.tolist()}
    while more := {(x, z) for x, y in expected for w, z in steps.tolist() if y == w} - expected:
        expected |= more
    found = small_graphs.closure(first, steps, 200 * 200)
    assert found is not None
    assert sorted(map(tuple, found.tolist())) == sorted(expected)
    assert small_graphs.closure(first, steps, len(expected) - 1) is None
    assert small_graphs.closure(first[:0], steps, 0).shape == (0, 2)  # type: ignore[union-attr]
