"""Best values that steps lead to, followed through many updates: by definition, whatever is kept to follow them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import pytest

from everlog import EverlogError, KnowledgeBase
from everlog.engine.memory import tuning

Step = tuple[Any, Any, Any]


class Kind(NamedTuple):
    """A program over `source(node, value)` and `edge(from, to, weight)`, and what it means."""

    rules: str
    weights: tuple[Any, ...]
    values: tuple[Any, ...]
    steps: Callable[[Step], list[Step]] = lambda edge: [edge]
    best: Callable[..., Any] = min
    add: Callable[[Any, Any], Any] = lambda value, weight: value + weight


GIVEN = "best(?x, MIN(?v)) :- source(?x, ?v) ."
SUMS = f"{GIVEN} best(?y, MIN(?d + ?w)) :- best(?x, ?d), edge(?x, ?y, ?w) ."
COPIES = f"{GIVEN} best(?y, MIN(?l)) :- best(?x, ?l), edge(?x, ?y, _) ."
KINDS = {
    "small weights": Kind(SUMS, (0, 0, 1, 2, 5, 60), (0, 3, -7, 100)),
    "large weights": Kind(SUMS, (0, 1, 5_000, 70_000), (0, 2**40)),
    "doubles": Kind(SUMS, (0.0, 0.1, 0.2, 0.7, 1e17), (0.0, 0.3)),
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
    kind, random = KINDS[name], Random(f"{name} {surroundings}")
    nodes = [f"n{number}" for number in range(40)]

    def some(count: int) -> tuple[set[tuple[Any, Any]], set[Step]]:
        given = {(random.choice(nodes), random.choice(kind.values)) for _ in range(count // 12)}
        ends = [(random.choice(nodes), random.choice(nodes)) for _ in range(count)]
        return given, {(*pair, random.choice(kind.weights)) for pair in ends}

    given, edges = some(60)
    kb = KnowledgeBase(kind.rules, engine="memory")
    kb.add({"source": sorted(given, key=repr), "edge": sorted(edges), "costs": [("a", 1), ("b", 2), ("c", 2)]})
    kb.materialise()
    for turn in range(30):
        assert dict(kb.rows("best")) == by_definition(kind, given, edges), turn
        less = random.choice([1, 1, 3, 30])
        gone = (
            set(random.sample(sorted(given, key=repr), min(len(given), random.choice([0, 0, 1])))),
            set(random.sample(sorted(edges), min(len(edges), less))),
        )
        if turn % 5 == 4:
            nodes.append(f"n{40 + turn}")
        come = some(random.choice([1, 4, less]))
        kb.update(
            add={"source": sorted(come[0], key=repr), "edge": sorted(come[1])},
            delete={"source": sorted(gone[0] - come[0], key=repr), "edge": sorted(gone[1] - come[1])},
        )
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
