"""A knowledge base on Spark does what one in memory does: results, derivations, counts, and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from on_spark import all_facts, joint_sequence, kept_counts
from pyoxigraph import BlankNode

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.engine.spark import limits
from oracles import naive
from oracles.exchange import rows_of
from sequences import Sequence

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


def pair(
    sequence: Sequence, spark: SparkSession, algorithm: str, stratification: str
) -> tuple[KnowledgeBase, KnowledgeBase]:
    """A knowledge base in memory and one on Spark, materialised alike."""
    found = []
    for engine in ("memory", "spark"):
        kb = KnowledgeBase(
            sequence.case.program,
            engine=engine,
            spark=spark,
            algorithm=algorithm,
            stratification=stratification,
            modules="off",
        )
        kb.add(rows_of(sequence.case.facts))
        found.append((kb, kb.materialise()))
    (memory, first), (on_spark, second) = found
    assert first.derivations == second.derivations and first.facts == second.facts
    assert first.rounds == second.rounds
    assert (first.engine, second.engine) == ("memory", "spark")
    return memory, on_spark


@pytest.mark.parametrize(
    ("algorithm", "stratification", "tiny"),
    [
        ("dred", "levels", 0),
        ("bf", "levels", limits.TINY),
        ("dredc", "single", 10),
        ("counting", "single", limits.TINY),
    ],
)
def test_random_programs_and_updates(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, algorithm: str, stratification: str, tiny: int
) -> None:
    """Several programs at once, each with an update; with sets of any size in jobs, or only those that are not tiny."""
    monkeypatch.setattr(limits, "TINY", tiny)
    sequence = joint_sequence(len(algorithm), size=4, updates=1, rules=3)
    memory, on_spark = pair(sequence, spark, algorithm, stratification)
    explicit = sequence.explicit()
    assert all_facts(on_spark) == naive.materialise(sequence.case.program.rules, explicit[0])
    for number, update in enumerate(sequence.updates, start=1):
        first, second = (kb.update(add=rows_of(update.add), delete=rows_of(update.delete)) for kb in (memory, on_spark))
        assert all_facts(on_spark) == naive.materialise(sequence.case.program.rules, explicit[number])
        assert kept_counts(on_spark) == kept_counts(memory)
        assert first.facts == second.facts and first.algorithm == second.algorithm == algorithm
        assert (first.added, first.deleted) == (second.added, second.deleted)
        assert first.derivations == second.derivations
        assert first.warnings == second.warnings


def test_what_users_see(spark: SparkSession) -> None:
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
        assert one.rows("nothing") == []
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
                sorted(map(str, one.dataframe("edge").collect())),
                one.dataframe("edge").dtypes,
                (report.facts, report.added, report.deleted, report.warnings),
            )
        )
    assert seen[0] == seen[1]
    assert (BlankNode("b"), 1) in kb.rows("edge")
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
