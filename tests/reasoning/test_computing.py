"""Rules that compute: random programs and updates of them, against definitions and against starting again."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import everlog
from everlog import KnowledgeBase
from oracles import computing as oracle
from oracles.exchange import facts_of
from oracles.naive import Facts, fact
from support.computing_programs import Computing, Rows, computing

ALGORITHMS = ("auto", "dred", "fbf", "bf", "dredc", "bfc", "counting", "remat")


def given(rows: dict[str, set[tuple[Any, ...]]]) -> Facts:
    return frozenset(fact(predicate, *row) for predicate, some in rows.items() for row in some)


def followed(one: Computing, path: Path | None = None, **options: Any) -> None:
    """A knowledge base is held to the definition after each update; it may be saved and opened in between."""
    held = {name: set(rows) for name, rows in one.facts.items()}
    kb = KnowledgeBase(one.program, **options)
    kb.add(one.facts)
    kb.materialise()
    rules = one.program.rules
    assert facts_of(kb) == oracle.materialise(rules, given(held)), one.program
    for number, (add, delete) in enumerate(one.updates):
        if path is not None and number % 2:
            store = path / f"{number}.store"
            kb.save(store)
            kb = everlog.open(store)
        _apply(held, add, delete)
        kb.update(add=add, delete=delete)
        assert facts_of(kb) == oracle.materialise(rules, given(held)), (number, one.program)


def _apply(held: dict[str, set[tuple[Any, ...]]], add: Rows, delete: Rows) -> None:
    for name in held:
        held[name] = (held[name] - set(delete.get(name, ()))) | set(add.get(name, ()))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_programs_and_updates(algorithm: str) -> None:
    modes = ("levels", "single")
    for seed, mode in product(range(8), modes):
        one = computing(Random(f"{algorithm} {seed}"))
        followed(one, algorithm=algorithm, stratification=mode)


def test_saved_and_opened_in_between(tmp_path: Path) -> None:
    for seed in range(6):
        followed(computing(Random(seed)), tmp_path / str(seed))
