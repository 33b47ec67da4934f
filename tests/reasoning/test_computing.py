"""Rules that compute: random programs and updates of them, against definitions and against starting again."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

import everlog
from everlog import EverlogError, KnowledgeBase
from everlog.datalog.values import XSD, Value
from everlog.engine.memory import tuning
from oracles import computing as oracle
from oracles.exchange import facts_of
from oracles.naive import Facts, fact
from support.computing_programs import Computing, Rows, computing
from support.cramped import cramped

DECIMAL = NamedNode(f"{XSD}decimal")
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
    for seed, mode in product(range(5), modes):
        one = computing(Random(f"{algorithm} {seed}"))
        followed(one, algorithm=algorithm, stratification=mode)


def test_saved_and_opened_in_between(tmp_path: Path) -> None:
    for seed in range(6):
        followed(computing(Random(seed)), tmp_path / str(seed))


ENDLESS = "n(?y) :- n(?x), BIND(?x + 1 AS ?y) ."


def test_what_may_never_end_is_given_up_and_leaves_everything_as_it_was() -> None:
    kb = KnowledgeBase("m(?x) :- n(?x) ." + ENDLESS.replace("n(?x)", "n(?x), go(?x)"), max_rounds=5)
    kb.add({"n": [(1,)], "go": [(1,)]})
    (warning,) = kb.materialise().warnings
    assert warning == (
        "`n(?y) :- n(?x), go(?x), BIND(?x + 1 AS ?y) .` makes values out of those that it has made, and may never end: "
        "give it a condition, or set max_rounds or max_facts"
    )
    before = facts_of(kb)
    with pytest.raises(EverlogError) as caught:
        kb.update(add={"go": [(number,) for number in range(2, 20)]})
    assert str(caught.value) == (
        "there was no end after 5 rounds (max_rounds), and everything is as before: a rule that makes values out of those "
        "that it has made needs a condition, such as FILTER(?x < 100); or allow more by max_rounds"
    )
    for name in ("max_rounds", "max_facts"):
        with pytest.raises(EverlogError, match=f"^{name} is at least 1, not 0$"):
            KnowledgeBase(ENDLESS, **{name: 0})
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


@pytest.mark.parametrize("made", ["BIND(?y + 1 AS ?z)", 'SKOLEM("a", ?y, ?z)', "FILTER(STRLEN(?y) > 1), q(?y, ?z)"])
def test_what_equality_depends_on_does_not_compute(made: str) -> None:
    undone = made.partition(", q")[0].replace('SKOLEM("a", ?y, ?z)', 'BIND(SKOLEM("a", ?y) AS ?z)')
    with pytest.raises(EverlogError) as caught:
        everlog_of(f"?x = ?z :- p(?x, ?z) . p(?x, ?z) :- q(?x, ?y), {made} .", {}, equality="rewrite")
    assert f"could undo {undone}. Use it only in rules that no equality depends on" in str(caught.value)


def test_goals_may_aggregate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "CLOSED_FACTS", 1)
    monkeypatch.setattr(tuning, "CLOSED_PAIR_BYTES", 1e9)
    rows = {"r": [(1, 2), (1, 10), (2, 3)], "s": [(1,)], "same": [("a", "b")], "t": [("a", 1), ("b", 1), ("c", 1)]}
    closed = "reach(?x, ?y) :- r(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z) ."
    kb = KnowledgeBase(closed, engine="memory")
    kb.add(rows)
    kb.materialise()
    assert kb.reasoner.I.closures
    assert kb.query("AGGREGATE(r(?x, ?y) BIND SUM(?y) AS ?n)") == [(15,)]
    assert kb.query("AGGREGATE(r(?x, ?y), not s(?x) ON ?x BIND MAX(?y + 1) AS ?n), FILTER(?n > 1)") == [(2, 4)]
    assert kb.query("s(?x), AGGREGATE(reach(?x, ?y) ON ?x BIND COUNT(*) AS ?n BIND AVG(?y) AS ?m), ?n = 4") == []
    assert kb.query("s(?x), AGGREGATE(reach(?x, ?y) ON ?x BIND COUNT(*) AS ?n)") == [(1, 3)]
    assert kb.query("AGGREGATE(s(5), r(?x, _) BIND COUNT(*) AS ?n)") == [(0,)]
    equal = KnowledgeBase("?x = ?y :- same(?x, ?y) .", equality="rewrite", engine="memory")
    equal.add(rows)
    equal.materialise()
    assert equal.query("AGGREGATE(t(?x, ?y) ON ?y BIND COUNT(?x) AS ?n)") == [(1, 2)]
    assert kb.rows("r") == rows["r"]


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


TOLD = """
told(?g, ?n, ?s, ?a, ?x, ?m) :- AGGREGATE(r(?i, ?g, ?v) ON ?g BIND COUNT(?v) AS ?n BIND SUM(?v) AS ?s
    BIND AVG(?v) AS ?a BIND MIN(?v) AS ?x BIND MAX(?v) AS ?m) .
all(?n) :- AGGREGATE(r(?i, ?g, ?v) BIND COUNT(*) AS ?n) .
"""
LARGE = 2**63 - 1


@pytest.mark.parametrize("many", [1, 1_000], ids=["by kernels", "by columns"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-0.0, -0.0], (2, 0.0, 0.0, -0.0, -0.0)),
        ([-0.0, 0], (2, 0.0, 0.0, 0, -0.0)),
        ([math.nan, 1.0], (2, math.nan, math.nan, 1.0, math.nan)),
        ([math.inf, -math.inf], (2, math.nan, math.nan, -math.inf, math.inf)),
        ([math.inf, 1], (2, math.inf, math.inf, 1, math.inf)),
        ([LARGE, 1], None),
        ([-LARGE, -2], None),
        ([LARGE, 1, -1, 0], (4, LARGE, Literal("2305843009213693951.75", datatype=DECIMAL), -1, LARGE)),
        ([15, 15.0], (2, 30.0, 15.0, 15, 15.0)),
        ([True, 1], None),
    ],
)
def test_groups_at_the_edges(
    values: list[Value], expected: tuple[Value, ...] | None, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Infinities, signed zeros, what is no number, sums that do not fit: after updates, and after the group was gone."""
    monkeypatch.setattr(tuning, "MANY_MEMBERS", many)
    rows = [(number, "g", value) for number, value in enumerate(values)]
    kb = KnowledgeBase(TOLD, engine="memory")
    kb.add({"r": rows})
    kb.materialise()
    told = repr([] if expected is None else [("g", *expected)])
    more = {"r": [(98, "g", 3), (99, "h", 1)]}
    for _ in range(2):
        assert repr(kb.rows("told")) == told
        kb.update(add=more)
        kb.update(delete=more)
        assert repr(kb.rows("told")) == told
        kb.update(delete={"r": rows})
        assert (kb.rows("told"), kb.rows("all")) == ([], [(0,)])
        kb.update(add={"r": rows})


def test_random_programs_where_everything_is_cramped() -> None:
    with cramped():
        for seed in range(4):
            followed(computing(Random(f"cramped {seed}"), updates=3), algorithm=ALGORITHMS[seed], engine="memory")
