"""Rules that compute: random programs and updates of them, against definitions and against starting again."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import everlog
from everlog import EverlogError, KnowledgeBase
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


ENDLESS = "n(?y) :- n(?x), BIND(?x + 1 AS ?y) ."


def test_what_may_never_end_is_given_up_and_leaves_everything_as_it_was() -> None:
    kb = KnowledgeBase("m(?x) :- n(?x) ." + ENDLESS.replace("n(?x)", "n(?x), go(?x)"), max_rounds=5)
    kb.add({"n": [(1,)], "go": [(1,)]})
    assert "may never end" in " ".join(kb.materialise().warnings)
    before = facts_of(kb)
    with pytest.raises(EverlogError, match=r"no end after 5 rounds \(max_rounds\)"):
        kb.update(add={"go": [(number,) for number in range(2, 20)]})
    assert facts_of(kb) == before
    assert kb.update(add={"go": [(3,), (4,)]}).added == 2
    with pytest.raises(EverlogError, match=r"no end after 10 new facts \(max_facts\)"):
        everlog_of(ENDLESS, {"n": [(0,)]}, max_facts=10)
    assert not [
        one for one in everlog_of("n(?y) :- n(?x), ?x < 3, BIND(?x + 1 AS ?y) .", {"n": [(0,)]}) if "end" in one
    ]


def everlog_of(program: str, facts: Rows, **options: Any) -> list[str]:
    kb = KnowledgeBase(program, **options)
    kb.add(facts)
    return kb.materialise().warnings


def test_aggregates_are_of_things_where_names_are_rewritten() -> None:
    program = """
    ?x = ?y :- same(?x, ?y) .
    size(?d, ?n) :- AGGREGATE(works(?p, ?d) ON ?d BIND COUNT(?p) AS ?n) .
    """
    kb = KnowledgeBase(program, equality="rewrite")
    kb.add({"works": [("ann", "lab"), ("anna", "lab"), ("bob", "lab")]})
    kb.materialise()
    assert kb.rows("size") == [("lab", 3)]
    kb.update(add={"same": [("ann", "anna")]})
    assert kb.rows("size") == [("lab", 2)]
    kb.update(delete={"same": [("ann", "anna")], "works": [("bob", "lab")]})
    assert kb.rows("size") == [("lab", 2)]
    with pytest.raises(EverlogError, match="choose equality='rewrite'"):
        everlog_of(program, {"works": [("ann", "lab")]}, equality="axioms")
    with pytest.raises(EverlogError, match=r"^AGGREGATE.* is not well defined together with equality"):
        everlog_of(program + "?x = ?n :- size(?x, ?n) .", {"works": [("ann", "lab")]}, equality="rewrite")


def test_an_aggregate_of_what_depends_on_it_is_refused() -> None:
    with pytest.raises(EverlogError, match=r"through an aggregate:\n  size.* needs all of works"):
        everlog_of(
            "size(?n) :- AGGREGATE(works(?p) BIND COUNT(?p) AS ?n) . works(?n) :- size(?n) .", {"works": [("a",)]}
        )


def test_the_example_is_a_report_per_department() -> None:
    examples = Path(__file__).resolve().parents[2] / "examples"
    kb = KnowledgeBase((examples / "orders.dlog").read_text(encoding="utf-8"))
    for path in sorted((examples / "orders").glob("*.csv")):
        lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
        kb.add({path.stem: [tuple(int(field) if field.isdigit() else field for field in line) for line in lines]})
    kb.materialise()
    assert sorted(kb.rows("spent")) == [("lab", 1, 360, 360), ("sales", 2, 530, 330)]
    assert (kb.rows("beyond"), kb.rows("idle")) == ([("sales", 30)], [("yard",)])
