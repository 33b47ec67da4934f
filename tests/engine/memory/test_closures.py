"""Relations that are closed, as components and rows of bits, beside a search from every node."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.graphs.closed_cliques import ClosingCliques
from everlog.engine.memory.graphs.closed_paths import ClosingPaths

Pair = tuple[int, int]
H, S = (Atom(name, (Variable("x"), Variable("y"))) for name in ("h", "s"))


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "CLOSED_FACTS", 0)
    monkeypatch.setattr(tuning, "CLOSED_CLIQUE_FACTS", 0)
    monkeypatch.setattr(tuning, "CLOSED_PAIR_BYTES", 1e9)


def led_to(first: set[Pair], steps: set[Pair]) -> set[Pair]:
    found, new = set(first), set(first)
    while new:
        new = {(x, z) for x, y in new for there, z in steps if there == y} - found
        found |= new
    return found


def pairs_of(pieces: Iterator[Any]) -> set[Pair]:
    found = [pair for piece in pieces for pair in zip(*piece.tolist(), strict=True)]
    assert len(found) == len(set(found)), "each pair once"
    return set(found)


def check(closure: Any, expected: set[Pair], size: int) -> None:
    assert len(closure) == len(expected)
    assert pairs_of(closure.pairs()) == expected
    every = np.array([(x, y) for x in range(size) for y in range(size)], np.int32).T
    assert [tuple(pair) for pair in every[:, closure.holds(every)].T.tolist()] == sorted(expected)
    some = np.array(random.sample(range(size), 3), np.int32)
    for place in (0, 1):
        assert pairs_of(closure.ending(place, some)) == {pair for pair in expected if pair[place] in some}


@pytest.mark.parametrize("kind", ["tc", "stc", "reach", "backwards", "alike"])
@pytest.mark.parametrize("seed", range(4))
def test_changes_of_edges_close_relations_again(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    monkeypatch.setattr(tuning, "CLOSED_AGAIN_SHARE", 0 if seed % 4 else 4)
    engine, size = MemoryEngine(workers=1), dice.choice([5, 20, 150])
    closing = (
        ClosingCliques(engine, H)
        if kind == "stc"
        else ClosingPaths(engine, H, H if kind == "tc" else S, kind == "backwards")
    )
    edges: dict[str, set[Pair]] = {"h": set(), "s": set()}

    def some(most: int) -> set[Pair]:
        ends = range(size)
        return {(dice.choice(ends), dice.choice(ends)) for _ in range(dice.randrange(1, most))}

    def facts(name: str, pairs: set[Pair]) -> Any:
        return engine.insert(name, np.array(sorted(pairs), np.int32).reshape(-1, 2).T)

    def expected() -> set[Pair]:
        if kind == "stc":
            both = edges["h"] | {pair[::-1] for pair in edges["h"]}
            return led_to(both, both)
        if kind == "backwards":
            turned = [{pair[::-1] for pair in edges[name]} for name in ("h", "s")]
            return {pair[::-1] for pair in led_to(*turned)}
        return led_to(edges["h"], edges["h" if kind == "tc" else "s"])

    def everything(name: str) -> Any:
        return facts(name, edges[name])

    first = some(2 * size)
    edges["h"], edges["s"] = first, set(first) if kind == "alike" else some(2 * size)
    steps = "h" if kind in ("tc", "stc") else "s"
    closure, before = closing.closed(everything("h"), everything(steps)), expected()
    assert closure is not None
    check(closure, before, size + 3)
    for _ in range(12):
        size += dice.choice([0, 0, 1])
        names = ["h", "s"] if kind == "alike" and dice.random() < 0.8 else [dice.choice(["h", steps])]
        gone = {pair for pair in edges[names[0]] if dice.random() < dice.choice([0.05, 0.3])}
        come = some(4) - edges[names[0]] if dice.random() < 0.7 else set()
        for name in names:
            edges[name] = (edges[name] - gone) | come
        sets = [engine.union(facts(name, changed) for name in names) for changed in (come, gone)]
        after = closing.changed(closure, everything("h"), everything(steps), *sets)
        now = expected()
        check(after, now, size + 3)
        assert pairs_of(after.beyond(closure)) == now - before
        assert pairs_of(closure.beyond(after)) == before - now
        assert (after.size_beyond(closure), closure.size_beyond(after)) == (len(now - before), len(before - now))
        if dice.random() < 0.8:  # otherwise it has come to nothing, and the old one goes on
            closure, before = after, now
        else:
            for name in names:
                edges[name] = (edges[name] - come) | gone
            check(closure, before, size + 3)
    again = closing.closed(everything("h"), everything(steps))
    if again is not None:  # with other numbers for nodes
        assert (again.size_beyond(closure), closure.size_beyond(again)) == (0, 0)
        assert not pairs_of(again.beyond(closure))
