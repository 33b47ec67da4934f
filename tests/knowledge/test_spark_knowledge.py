"""A knowledge base on Spark does what one in memory does: results, derivations, counts, and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from pyoxigraph import BlankNode

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.engine.spark import tuning
from oracles.exchange import rows_of
from support.on_spark import Expected, follow, joint_sequence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH = parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    early(?x) :- reach(?x, ?y), ?y < 2.5 .
    sink(?x) :- edge(_, ?x), not edge(?x, _) .
    any() :- edge(_, _) .
    edge(_:b, 1) .
    """
)


@pytest.mark.parametrize(
    ("algorithm", "mode", "tiny", "updates"),
    [
        ("dredc", "levels", 30, ["dredc", "bfc", "fbf", "dred", "bf"]),
        ("counting", "levels", tuning.DRIVER_FACTS, ["counting"] * 5),
        ("counting", "single", 10, ["counting"]),
    ],
)
def test_random_programs_and_updates(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, algorithm: str, mode: str, tiny: int, updates: list[str]
) -> None:
    """Several programs at once, and an update by each algorithm; with rules applied by Spark, or on the driver."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", tiny)
    sequence = joint_sequence(len(algorithm), size=3 if len(updates) > 1 else 2, updates=len(updates), rules=3)
    follow(Expected(sequence), spark, updates, algorithm, mode)


def test_numbers_are_those_of_the_memory_engine(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 10)
    sequence = joint_sequence(8, size=2, updates=1, rules=3)
    seen = []
    for engine in ("memory", "spark"):
        kb = KnowledgeBase(sequence.case.program, engine=engine, spark=spark, algorithm="dred", modules="off")
        kb.add(rows_of(sequence.case.facts))
        (update,) = sequence.updates[:1]
        measured = kb.materialise(profile=True)
        profiles = [kb.profile()]
        reports = [measured, kb.update(add=rows_of(update.add), delete=rows_of(update.delete), profile=True)]
        profiles.append(kb.profile())
        assert all(report.engine == engine for report in reports)
        # On Spark the rules of a stratum are one line; that they are is said.
        assert [len(profile.remarks) for profile in profiles] == ([1, 1] if engine == "spark" else [0, 0])
        if engine == "spark":
            assert all(len({line.stratum for line in one.lines}) == len(one.lines) for one in profiles)
        for report, profile in zip(reports, profiles, strict=True):
            assert sum(line.derivations for line in profile.lines) == sum(report.derivations.values())
        assert all(report.strata and min(report.strata.values()) > 0 for report in reports)
        seen.append(
            [
                (one.facts, one.derivations, one.rounds, one.added, one.deleted, one.warnings, [*one.strata])
                for one in reports
            ]
        )
    assert seen[0] == seen[1]


def test_what_users_see(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {key: value for key, value in spark.conf.getAll.items()}
    kb, memory = (KnowledgeBase(REACH, engine=engine, spark=spark) for engine in ("spark", "memory"))
    seen = []
    for one in (kb, memory):
        one.add({"edge": [(0, 1), (1, 2)]})
        one.materialise()
        one.add({"edge": spark.createDataFrame([(2, 3)], "x bigint, y bigint")})
        with pytest.raises(EverlogError, match="3 values instead of 2"):
            one.update(add={"edge": [(1, 2, 3)]})
        with pytest.raises(EverlogError, match="needs counts that are not kept"):
            one.update(algorithm="counting")
        report = one.update(delete={"edge": [(1, 2)], "reach": [(2, 3)]}, algorithm="remat")
        with pytest.raises(EverlogError, match="there is no predicate nothing"):
            one.rows("nothing")
        facts = one.facts("edge")
        seen.append(
            (
                sorted(map(repr, one.rows("reach"))),
                sorted(map(repr, one.rows("reach", "explicit"))),
                sorted(map(repr, one.rows("edge", "explicit"))),
                sorted(one.rows("early"), key=repr),
                (sorted(one.rows("sink")), one.rows("any"), one.size("edge"), one.size("reach", "derived")),
                (facts.schema, sorted(map(str, facts.to_pylist()))),
                [sorted(map(str, table.to_pylist())) for table in one.changes("reach")],
                one.query("edge(?x, ?y), NOT EXISTS ?z IN (edge(?y, ?z)), ?x != 7"),
                one.query("edge(99, _)"),
                one.head("edge", 2),
                sorted(map(str, one.dataframe("edge").collect())),
                one.dataframe("edge").dtypes,
                (report.facts, report.added, report.deleted, report.warnings),
            )
        )
    assert seen[0] == seen[1]
    assert (BlankNode("b"), 1) in kb.rows("edge")
    monkeypatch.setattr("everlog.knowledge.base.WORTH_SORTING", 0)
    assert len(kb.head("edge", 2)) == 2
    assert {key: value for key, value in spark.conf.getAll.items()} == before


def test_the_engine_is_chosen_by_size(spark: SparkSession) -> None:
    program = parse_program("b(?x) :- a(?x) . a(0) .")
    frame = spark.createDataFrame([(number,) for number in range(100)], "x bigint")
    for memory, engine in (("1k", "spark"), ("1g", "memory")):
        kb = KnowledgeBase(program, spark=spark, memory=memory)
        kb.add({"a": [(100,)]})
        kb.add({"a": frame})
        report = kb.materialise()
        assert report.engine == engine
        assert "may be used" in report.reasons[0]
        assert sorted(kb.rows("b")) == [(number,) for number in range(101)]
    with pytest.raises(EverlogError, match="such as 800m or 4g"):
        KnowledgeBase(program, memory="much")


@pytest.mark.parametrize("engine", ["memory", "spark"])
def test_names_and_widths_of_dataframes_are_checked(spark: SparkSession, engine: Literal["memory", "spark"]) -> None:
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x) ."), engine=engine, spark=spark)
    pairs = spark.createDataFrame([("a", "b")], "x string, y string")
    for predicate, message in (("triple", "triple has 3 arguments"), ("¬x", "needs another name")):
        with pytest.raises(EverlogError, match=message):
            kb.add({predicate: pairs})
    assert kb.predicates() == ["p", "q"]


def test_views_that_the_driver_does_not_keep_are_asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver has what a view is made of, and yet a job computes it, since together it is too much."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 2)
    text = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
    kb = KnowledgeBase(text, engine="spark", spark=spark, modules="off")
    kb.add({"edge": [(0, 1), (1, 2)]})
    kb.materialise()
    kb.update(add={"edge": [(2, 3)]}, delete={"edge": [(0, 1)]})
    assert sorted(kb.rows("reach")) == [(1, 2), (1, 3), (2, 3)]
