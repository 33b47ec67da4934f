"""What is known of facts on Spark, for estimates: about the same as in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from everlog.datalog.reader import parse_program
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.statistics import memory_facts
from everlog.engine.spark.statistics import spark_facts
from oracles.naive import fact
from support.spark_sets import Facts
from support.stored import stored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATOMS = """
    edge(?x, ?y), edge(?x, ?x), edge(1, ?y), wide(?x, ?y, ?z, ?w), absent(?x), [?x, 7, ?y], [?x, 8, 3], [?x, ?p, ?y], on()
"""


def test_estimates(spark: SparkSession) -> None:
    facts = {fact("edge", x, (x + step) % 12) for x in range(12) for step in (1, 2, 3)}
    facts |= {fact("wide", x, 0, x % 3, 1) for x in range(6)} | {fact("on")}
    facts |= {fact("triple", x, 7, x % 4) for x in range(8)} | {fact("triple", x, 8, 3) for x in range(5)}
    there, here = Facts(spark, range(12)), MemoryEngine(workers=1)
    of_spark = spark_facts(there.engine, there.stored(facts))
    stored(here, facts)
    of_memory = memory_facts(here)
    for atom in parse_program(f"h() :- {ATOMS}.").rules[0].positive:
        found, expected = of_spark(atom), of_memory(atom)
        assert found.size == pytest.approx(expected.size, rel=0.5, abs=0.1), atom
        for variable, number in expected.values.items():
            assert found.values[variable] == pytest.approx(number, rel=0.5), (atom, variable)
