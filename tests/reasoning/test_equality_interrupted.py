"""An update with equality that fails, wherever it does, leaves the knowledge base as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.values import DIFFERENT_FROM
from everlog.engine.memory.classes import MemoryClasses
from everlog.engine.memory.joins.rules import MemoryRules
from oracles.exchange import facts_of
from support.equalities import if_defined, r_materialisation, random_case, rows

_WATCHED = [
    *((MemoryRules, name) for name in ("apply", "apply_counted", "provable", "premises")),
    *((MemoryClasses, name) for name in ("merge", "outdated", "split", "renaming", "changed", "refused")),
]


@contextmanager
def interrupted(monkeypatch: pytest.MonkeyPatch, step: int) -> Iterator[list[int]]:
    """Ends at some step of what rules and classes are asked; the steps are counted in the list."""
    steps = [0]

    def counting(method: Any) -> Any:
        def watched(*arguments: Any, **options: Any) -> Any:
            found = method(*arguments, **options)
            steps[0] += 1
            if steps[0] == step:
                raise KeyboardInterrupt
            return found

        return watched

    with monkeypatch.context() as patched:
        for owner, name in _WATCHED:
            patched.setattr(owner, name, counting(getattr(owner, name)))
        yield steps


def interrupted_everywhere(
    monkeypatch: pytest.MonkeyPatch, kb: KnowledgeBase, probe: dict[str, Any] | None = None, **update: Any
) -> int:
    """Updates a knowledge base once it is not interrupted any more; gives the number of steps.

    Facts to probe it with are added and deleted after every interruption.
    """
    before, size = (facts_of(kb), facts_of(kb, "derived"), r_materialisation(kb)), sum(map(kb.size, kb.predicates()))
    step = 0
    while True:
        step += 1
        with interrupted(monkeypatch, step) as steps, suppress(KeyboardInterrupt):
            kb.update(**update)
        if steps[0] < step:
            return step
        assert (facts_of(kb), facts_of(kb, "derived"), r_materialisation(kb)) == before, f"interrupted at {step}"
        assert sum(map(kb.size, kb.predicates())) == size
        if probe:  # what an update goes on with is as it was, too
            kb.update(add=probe)
            kb.update(delete=probe)
            assert (facts_of(kb), facts_of(kb, "derived"), r_materialisation(kb)) == before, f"after {step}"


def anew(kb: KnowledgeBase) -> KnowledgeBase:
    found = KnowledgeBase(kb.program, engine="memory", equality="rewrite", workers=1)
    found.add({name: kb.rows(name, "explicit") for name in kb.predicates()})
    found.materialise()
    return found


def test_updates_of_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    for seed in range(6000, 6003):
        case = random_case(seed, updates=1)
        kb = if_defined(case)
        if kb is None:
            continue
        for add, delete in case.updates:
            steps += interrupted_everywhere(monkeypatch, kb, add=rows(add), delete=rows(delete))
            assert r_materialisation(kb) == r_materialisation(anew(kb)), f"{seed}: {case}"
    assert steps > 40


def test_what_is_above_follows_or_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is above has been updated, with its counts, when an update ends, or when everything has to start again."""
    program = parse_program("""
        ?x = ?y :- key(?x, ?k), key(?y, ?k) .
        [?x, owl:differentFrom, ?y] :- far(?x, ?y), not near(?x, ?y) .
        path(?x, ?y) :- far(?x, ?y) .  path(?x, ?z) :- path(?x, ?y), far(?y, ?z) .
    """)
    kb = KnowledgeBase(program, engine="memory", equality="rewrite", workers=1, algorithm="dredc", modules="off")
    kb.add({"key": [("a", 1), ("b", 1)], "far": [("a", "c"), ("c", "d")], "near": [("a", "b")]})
    kb.materialise()
    merged = {"add": {"far": [("a", "b")]}, "delete": {"near": [("a", "b")]}}
    for update in ({"delete": {"far": [("c", "d")]}}, merged):
        assert interrupted_everywhere(monkeypatch, kb, {"far": [("f", "g")]}, **update) > 5
        assert r_materialisation(kb) == r_materialisation(anew(kb))
        assert facts_of(kb) == facts_of(anew(kb))
    assert any(DIFFERENT_FROM in row for row in kb.rows("triple"))


def test_a_materialisation_may_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase(
        parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k) . q(?x) :- p(?x) ."), engine="memory", equality="rewrite"
    )
    kb.add({"key": [("a", 1), ("b", 1)], "p": [("b",)]})
    with interrupted(monkeypatch, 2), pytest.raises(KeyboardInterrupt):
        kb.materialise()
    assert kb.rows("p") == [("b",)] and kb.size("p") == 1
    kb.materialise()
    assert sorted(kb.rows("q")) == [("a",), ("b",)]
