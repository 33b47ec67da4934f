"""Best values that steps lead to, followed through many updates: by definition, whatever is kept to follow them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from pyoxigraph import Literal, NamedNode

from everlog import EverlogError, KnowledgeBase
from everlog.engine.memory import tuning
from everlog.reasoning.minima import Minima

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DECIMAL: Final = NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
Step = tuple[Any, Any, Any]


class Kind(NamedTuple):
    """A program over `source(node, value)` and `edge(from, to, weight)`, and what it means."""

    rules: str
    weights: tuple[Any, ...]
    values: tuple[Any, ...]
    steps: Callable[[Step], list[Step]] = lambda edge: [edge]
    best: Callable[..., Any] = min
    add: Callable[[Any, Any], Any] = lambda value, weight: value + weight
    term: Callable[[Any], Any] = lambda number: number
    """What facts have for a weight or a value."""


def decimals(*texts: str) -> tuple[tuple[Decimal, bool], ...]:
    """Numbers, with whether each is a decimal: an integer is before a decimal of equal value."""
    return tuple((Decimal(text), "." in text) for text in texts)


def both_added(value: tuple[Any, bool], weight: tuple[Any, bool]) -> tuple[Any, bool]:
    return value[0] + weight[0], value[1] or weight[1]


def exact_term(number: tuple[Decimal, bool]) -> Any:
    value, is_decimal = number
    return int(value) if not is_decimal else Literal(f"{value.normalize():f}", datatype=DECIMAL)


def doubles(*texts: str) -> tuple[tuple[float, bool], ...]:
    """Numbers, with whether each is a double: an integer is before a double of equal value."""
    return tuple((float(text), "." in text) for text in texts)


def rounded_term(number: tuple[float, bool]) -> Any:
    value, is_double = number
    return value if is_double else int(value)


GIVEN = "best(?x, MIN(?v)) :- source(?x, ?v) ."
SUMS = f"{GIVEN} best(?y, MIN(?d + ?w)) :- best(?x, ?d), edge(?x, ?y, ?w) ."
COPIES = f"{GIVEN} best(?y, MIN(?l)) :- best(?x, ?l), edge(?x, ?y, _) ."
KINDS = {
    "small weights": Kind(SUMS, (0, 0, 1, 2, 5, 60), (0, 3, -7, 100)),
    "large weights": Kind(SUMS, (0, 1, 5_000, 70_000), (0, 2**40)),
    "doubles": Kind(SUMS, (0.0, 0.1, 0.2, 0.7, 1e17), (0.0, 0.3)),
    "decimals": Kind(
        SUMS, decimals("0", "1", "2", "0.5", "1.50", "3.0"), decimals("0", "2.5", "7"), add=both_added, term=exact_term
    ),
    "decimals that add nothing": Kind(
        SUMS, decimals("0", "1", "0.0", "0.5"), decimals("0", "1.0"), add=both_added, term=exact_term
    ),
    "greatest decimals": Kind(
        SUMS.replace("MIN", "MAX"),
        decimals("0", "0.0", "-1", "-1.0", "-0.25"),
        decimals("4", "4.0", "0"),
        best=max,
        add=both_added,
        term=exact_term,
    ),
    "integers that doubles are added to": Kind(
        SUMS,
        doubles("0.0", "0.1", "0.2", "0.7", "3.0"),
        doubles("0", "3", "3.0", "0.3", "2.0", "15", "15.0"),
        add=both_added,
        term=rounded_term,
    ),
    "doubles that integers are added to": Kind(
        SUMS,
        doubles("0", "1", "10", "0.0", "0.1", "0.7"),
        doubles("0.0", "0.3", "5.0"),
        add=both_added,
        term=rounded_term,
    ),
    "greatest doubles that integers are added to": Kind(
        SUMS.replace("MIN", "MAX"),
        doubles("0", "-1", "-10", "0.0", "-0.1", "-0.7"),
        doubles("0.0", "0.3", "5.0"),
        best=max,
        add=both_added,
        term=rounded_term,
    ),
    "integers and halves": Kind(
        SUMS,
        doubles("0", "1", "2", "10", "0.5", "1.5", "3.0"),
        doubles("0", "2.5", "7", "15.0"),
        add=both_added,
        term=rounded_term,
    ),
    "integers and doubles that add nothing": Kind(
        SUMS, doubles("0", "1", "0.0", "0.5"), doubles("0", "1.0", "12"), add=both_added, term=rounded_term
    ),
    "greatest halves": Kind(
        SUMS.replace("MIN", "MAX"),
        doubles("0", "-1", "-1.0", "-0.25"),
        doubles("4", "4.0", "20"),
        best=max,
        add=both_added,
        term=rounded_term,
    ),
    "greatest": Kind(SUMS.replace("MIN", "MAX"), (0, -1, -3), (0, 4), best=max),
    "names": Kind(
        COPIES,
        (1, 2),
        (*"abcdefgh", 1, 2.5),
        add=lambda value, _: value,
        best=lambda *some: min(*some, key=order),
    ),
    "both ways": Kind(
        f"{COPIES} best(?x, MIN(?l)) :- best(?y, ?l), edge(?x, ?y, _) .",
        (1, 2),
        tuple(range(12)),
        steps=lambda edge: [edge, (edge[1], edge[0], edge[2])],
        add=lambda value, _: value,
    ),
    "by a join": Kind(
        f"{GIVEN} best(?y, MIN(?d + ?w)) :- best(?x, ?d), edge(?x, ?y, ?n), costs(?n, ?w) .",
        ("a", "b", "c"),
        (0, 3),
        add=lambda value, name: value + {"a": 1, "b": 2, "c": 2}[name],
    ),
}


def order(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def by_definition(kind: Kind, given: set[tuple[Any, Any]], edges: set[Step]) -> dict[Any, Any]:
    """Every step is taken until nothing improves."""
    found: dict[Any, Any] = {}
    waiting = list(given)
    while waiting:
        improved = False
        for node, value in waiting:
            known = found.get(node)
            if known is None or (kind.best(known, value) == value and value != known):
                found[node], improved = value, True
        steps = [step for edge in edges for step in kind.steps(edge)] if improved else []
        waiting = [(y, kind.add(found[x], weight)) for x, y, weight in steps if x in found]
    return found


@pytest.mark.parametrize("surroundings", ["as they are", "cramped"])
@pytest.mark.parametrize("name", KINDS)
def test_after_every_update(name: str, surroundings: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if surroundings == "cramped":
        monkeypatch.setattr(tuning, "LOOKS_AT_ALL_STEPS", 0)
        monkeypatch.setattr(tuning, "FEW_GROUPS", 12)
        monkeypatch.setattr(tuning, "RESETTLED_SHARE", 1_000)
    follow(KINDS[name], Random(f"{name} {surroundings}"), turns=30)


@pytest.mark.parametrize("name", ["small weights", "decimals", "both ways"])
def test_after_every_update_on_spark(name: str, spark: SparkSession) -> None:
    """The driver of the Spark engine follows them in the same way."""
    follow(KINDS[name], Random(f"{name} on Spark"), turns=8, engine="spark", spark=spark)


def follow(kind: Kind, random: Random, turns: int, engine: str = "memory", spark: SparkSession | None = None) -> None:
    nodes = [f"n{number}" for number in range(40)]

    def some(count: int) -> tuple[set[tuple[Any, Any]], set[Step]]:
        given = {(random.choice(nodes), random.choice(kind.values)) for _ in range(count // 12)}
        ends = [(random.choice(nodes), random.choice(nodes)) for _ in range(count)]
        return given, {(*pair, random.choice(kind.weights)) for pair in ends}

    given, edges = some(60)

    def rows(*facts: set[Any]) -> dict[str, list[Any]]:
        names = zip(("source", "edge"), facts, strict=True)
        return {name: [(*one[:-1], kind.term(one[-1])) for one in sorted(some, key=repr)] for name, some in names}

    kb = KnowledgeBase(kind.rules, engine=engine, spark=spark)
    kb.add({**rows(given, edges), "costs": [("a", 1), ("b", 2), ("c", 2)]})
    kb.materialise()
    for turn in range(turns):
        expected = {node: kind.term(value) for node, value in by_definition(kind, given, edges).items()}
        assert repr(sorted(kb.rows("best"))) == repr(sorted(expected.items())), turn
        less = random.choice([1, 1, 3, 30])
        gone = (
            set(random.sample(sorted(given, key=repr), min(len(given), random.choice([0, 0, 1])))),
            set(random.sample(sorted(edges), min(len(edges), less))),
        )
        if turn % 5 == 4:
            nodes.append(f"n{40 + turn}")
        come = some(random.choice([1, 4, less]))
        kb.update(add=rows(*come), delete=rows(gone[0] - come[0], gone[1] - come[1]))
        given, edges = (given - gone[0]) | come[0], (edges - gone[1]) | come[1]


def test_after_an_update_that_was_refused() -> None:
    """What an update has done to what is kept is of no use if the update does not count."""
    far = "violation(?x) :- best(?x, ?d), FILTER(?d > 8) ."
    edges = {("a", "b", 2), ("b", "c", 2), ("a", "c", 5), ("c", "d", 1)}
    kb = KnowledgeBase(f"{SUMS} {far}", engine="memory", constraints="fail")
    kb.add({"source": [("a", 0)], "edge": sorted(edges)})
    kb.materialise()
    for _ in range(2):
        with pytest.raises(EverlogError):
            kb.update(delete={"edge": [("b", "c", 2)]}, add={"edge": [("d", "e", 4)]})
        assert dict(kb.rows("best")) == {"a": 0, "b": 2, "c": 4, "d": 5}
        kb.update(delete={"edge": [("c", "d", 1)]})
        kb.update(add={"edge": [("c", "d", 1)]})
        assert dict(kb.rows("best")) == {"a": 0, "b": 2, "c": 4, "d": 5}


@pytest.mark.parametrize(
    ("first", "weights", "expected"),
    [
        (0, (0.5, 0.7, 0.1, 20.0), {"a": 0, "b": 0.5, "c": 1.2, "d": 1.3}),
        (0.0, (1, 0.7, 0.1, 20), {"a": 0.0, "b": 1.0, "c": 1.7, "d": 1.8}),
        (0, (1, 2, 0.5, 20), {"a": 0, "b": 1, "c": 3, "d": 3.5}),
        (
            0,
            (1, 2, Literal("0.5", datatype=DECIMAL), 20),
            {"a": 0, "b": 1, "c": 3, "d": Literal("3.5", datatype=DECIMAL)},
        ),
    ],
)
def test_numbers_of_two_kinds_are_followed(
    first: Any, weights: tuple[Any, ...], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is computed again: not where all sums are doubles, and not where all are exact."""
    monkeypatch.delattr(Minima, "computed_again")
    one, two, three, four = weights
    edges = [("a", "b", one), ("b", "c", two), ("c", "d", three), ("a", "d", four), ("d", "a", three)]
    kb = KnowledgeBase(SUMS, engine="memory")
    kb.add({"source": [("a", first)], "edge": edges})
    kb.materialise()
    for _ in range(2):
        assert repr(dict(sorted(kb.rows("best")))) == repr(expected)
        kb.update(delete={"edge": [("c", "d", three)]})
        assert repr(dict(kb.rows("best"))["d"]) == repr(first + four)
        kb.update(add={"edge": [("c", "d", three)], "source": [("c", first)]}, delete={"edge": [("a", "b", one)]})
        assert set(dict(kb.rows("best"))) == set("acd")
        kb.update(add={"edge": [("a", "b", one)]}, delete={"source": [("c", first)]})


def test_of_equal_numbers_the_integer_is_the_least_whatever_came_first() -> None:
    kb = KnowledgeBase(SUMS, engine="memory")
    kb.add({"source": [("a", 0)], "edge": [("a", "b", 15.0), ("b", "c", 0.1)]})
    kb.materialise()
    assert repr(sorted(kb.rows("best"))) == repr([("a", 0), ("b", 15.0), ("c", 15.1)])
    kb.update(add={"source": [("b", 15)]})
    assert repr(sorted(kb.rows("best"))) == repr([("a", 0), ("b", 15), ("c", 15.1)])
    kb.update(add={"source": [("b", 15.0), ("b", 16)]})
    assert repr(sorted(kb.rows("best"))) == repr([("a", 0), ("b", 15), ("c", 15.1)])
    kb.update(delete={"source": [("b", 15)], "edge": [("a", "b", 15.0)]})
    assert repr(sorted(kb.rows("best"))) == repr([("a", 0), ("b", 15.0), ("c", 15.1)])
    kb.update(delete={"source": [("b", 15.0)]})
    assert repr(sorted(kb.rows("best"))) == repr([("a", 0), ("b", 16), ("c", 16.1)])


def in_order(given: set[tuple[Any, Any]], edges: set[Step]) -> dict[Any, Any]:
    """Values settled one after the other, the least first, each from those before it; steps add more than nothing."""
    found: dict[Any, Any] = {}
    waiting = [(value, node) for node, value in given]
    while waiting:
        value, node = min(waiting)
        waiting.remove((value, node))
        if node not in found:
            found[node] = value
            waiting += [(both_added(value, weight), y) for x, y, weight in edges if x == node]
    return found


def test_what_follows_by_rounded_sums_follows_from_what_there_is() -> None:
    """Of `0.9999999999999999` and `1`, the better one leads to `1001.0`, and the other to `1001`, which is before it."""
    kb = KnowledgeBase(SUMS, engine="memory")
    edges = [("a", "p", 1), ("a", "b", 0.5), ("b", "p", 0.4999999999999999), ("p", "y", 1_000), ("y", "z", 1)]
    kb.add({"source": [("a", 0)], "edge": edges})
    kb.materialise()
    expected = [("a", 0), ("b", 0.5), ("p", 0.9999999999999999), ("y", 1001.0), ("z", 1002.0)]
    assert repr(sorted(kb.rows("best"))) == repr(expected)
    weights = doubles("1", "2", "10", "0.1", "0.2", "0.7", "0.3000000000000001", "0.9999999999999999")
    for seed in range(12):
        random = Random(seed)
        given = {(random.randrange(12), one) for one in random.sample(doubles("0", "0.1", "3", "0.7"), 2)}
        steps = {(random.randrange(12), random.randrange(12), random.choice(weights)) for _ in range(40)}
        kb = KnowledgeBase(SUMS, engine="memory")
        kb.add({"source": [(node, rounded_term(value)) for node, value in given]})
        kb.add({"edge": [(x, y, rounded_term(weight)) for x, y, weight in steps]})
        kb.materialise()
        for _ in range(4):
            best = {node: rounded_term(value) for node, value in in_order(given, steps).items()}
            assert repr(sorted(kb.rows("best"))) == repr(sorted(best.items()))
            gone = set(random.sample(sorted(steps), 4))
            kb.update(delete={"edge": [(x, y, rounded_term(weight)) for x, y, weight in gone]})
            steps -= gone
