"""Materialisation on Spark, by an algorithm that does not know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_sets import Facts

from everlog.datalog.reader import parse_program
from everlog.planning.program import compile_program
from everlog.planning.spark_rules import SparkCompiler
from everlog.reasoning.seminaive import materialise
from oracles import naive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH = parse_program("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")


def test_a_chain_takes_a_round_per_edge(spark: SparkSession) -> None:
    facts = Facts(spark, range(12))
    E = facts.stored([naive.fact("edge", i, i + 1) for i in range(12)])
    strata = compile_program(REACH.rules, SparkCompiler(facts.engine))
    I, rounds = materialise(strata, E, facts.engine, lambda *_: None, {})
    assert rounds == 12
    assert facts.engine.derivations == 12 * 13 // 2
    pairs = {(i, j) for i in range(13) for j in range(i + 1, 13)}
    assert {tuple(row) for row in facts.engine.frame(I, "reach", 2).collect()} == {
        tuple(facts.ids.encode(pair)) for pair in pairs
    }
