"""Materialisation on Spark, by an algorithm that does not know it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.engine.algebra import FactSet
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.engine.spark import tuning
from everlog.engine.spark.joins.rules import SparkRules
from everlog.planning.compiled_program import compile_program, prepared
from everlog.reasoning.seminaive import materialise
from oracles import naive
from support.joint import joint_case
from support.spark_sets import Facts
from support.stored import facts_in, stored
from support.strategies import VALUES, Writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH = parse_program("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")


def closed(facts: Facts, program: Program, E: FactSet) -> tuple[FactSet, int]:
    strata = compile_program(program.rules, partial(SparkRules, facts.engine))
    return materialise(strata, E, facts.engine, lambda *_: None, {})


@pytest.mark.parametrize("cut", ["local_checkpoint", "persist", "parquet"])
def test_a_chain_takes_a_round_per_edge(
    spark: SparkSession, tmp_path: Path, cut: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 3)
    facts = Facts(spark, range(5), cut=cut, scratch=str(tmp_path / "scratch"))
    E = facts.stored([naive.fact("edge", i, i + 1) for i in range(4)])
    I, rounds = closed(facts, REACH, E)
    assert rounds == 4
    assert facts.engine.derivations == 4 * 5 // 2
    pairs = {(i, j) for i in range(5) for j in range(i + 1, 5)}
    assert {tuple(row) for row in facts.engine.facts_of(I, "reach", 2).frame.collect()} == {
        tuple(facts.ids.encode(pair)) for pair in pairs
    }
    assert facts.engine.counts(I) == {"edge": 4, "reach": len(pairs)}
    assert (
        facts.engine.facts_of(I, "nobody", 3).frame.collect()
        == facts.engine.facts_of(I, "nobody ever", 0).frame.collect()
        == []
    )
    assert (tmp_path / "scratch").exists() == (cut == "parquet")
    assert 0 < facts.engine.spark.sql("SHOW TABLES").count() < 30  # of those, each round made several
    facts.engine.release()
    assert not facts.engine.spark.sql("SHOW TABLES").count()


@pytest.mark.parametrize("tiny", [10, tuning.DRIVER_FACTS])
def test_random_programs(spark: SparkSession, tiny: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results and the number of instances considered are those of the memory engine."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", tiny)
    random = Random(0)
    case = joint_case(Writer(random).case(4) for _ in range(4))
    program = Program(prepared(case.program.rules), case.program.facts)
    memory, facts = MemoryEngine(workers=1), Facts(spark, VALUES)
    strata = compile_program(program.rules, MemoryCompiler(memory))
    expected, rounds = materialise(strata, stored(memory, case.explicit), memory, lambda *_: None, {})
    found, as_many = closed(facts, program, facts.stored(case.explicit))
    assert facts.facts_in(found) == facts_in(memory, expected)  # type: ignore[arg-type]
    assert (facts.engine.derivations, as_many) == (memory.derivations, rounds)
    assert memory.derivations > 30
