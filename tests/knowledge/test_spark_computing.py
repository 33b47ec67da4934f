"""Rules that compute, on Spark: by jobs and on the driver, the same as in memory, after updates and turns of engines."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import everlog
from everlog import KnowledgeBase
from everlog.engine.spark import tuning
from oracles import computing as oracle
from oracles.naive import fact
from support.computing_programs import computing
from support.joint import joint_computing
from support.minimum_programs import with_minima
from support.on_spark import all_facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
cost(?o, ?i, ?c) :- line(?o, ?i, ?n), price(?i, ?p), BIND(?n * ?p AS ?c), FILTER(?c > 1 && STRLEN(?i) = 3) .
total(?o, ?sum, ?n) :- AGGREGATE(cost(?o, ?i, ?c) ON ?o BIND SUM(?c) AS ?sum BIND COUNT(*) AS ?n) .
next(?x, ?y) :- line(_, _, ?x), BIND(?x + 1 AS ?y), line(_, _, ?y) .
all(?n) :- AGGREGATE(line(_, ?i, _) BIND COUNT(DISTINCT ?i) AS ?n) .
"""
LINES = [("o1", "fig", 3), ("o1", "nut", 2), ("o2", "fig", 4), ("o3", "kiwi", 9), ("o3", "nut", "x")]
PRICES = [("fig", 2), ("nut", 0.75), ("kiwi", 1)]


@pytest.mark.parametrize("few", [1, 1_000], ids=["far", "near"])
def test_as_in_memory(spark: SparkSession, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", few)
    program = PROGRAM if few > 1 else "".join(PROGRAM.splitlines(keepends=True)[:3])  # jobs take their time
    found = []
    for engine in ("memory", "spark"):
        kb = KnowledgeBase(program, engine=engine, spark=spark)
        kb.add({"line": LINES, "price": PRICES})
        kb.materialise()
        before = all_facts(kb)
        change = {"line": [("o2", "fig", 4), ("o1", "nut", 2)]}
        report = kb.update(add={"line": [("o1", "fig", 5), ("o4", "nut", 8)]}, delete=change)
        found.append((before, all_facts(kb), report.added, report.deleted))
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


def test_random_programs_and_engines_that_take_turns(spark: SparkSession, tmp_path: Path) -> None:
    """Expressions, aggregates, values made in recursion and minima; each update is by the engine that has its turn."""
    cases = [computing(Random(f"spark {seed}"), updates=2) for seed in range(4)]
    one = joint_computing([*cases, *(with_minima(Random(f"spark {seed}"), updates=2) for seed in range(3))])
    held = {name: set(rows) for name, rows in one.facts.items()}
    kb = KnowledgeBase(one.program, engine="spark", spark=spark)
    kb.add(one.facts)
    kb.materialise()
    for number, (add, delete) in enumerate([({}, {}), *one.updates]):
        if number > 1:
            kb.save(tmp_path / f"{number}.store")
            kb = everlog.open(
                tmp_path / f"{number}.store", engine="memory" if number % 2 == 0 else "spark", spark=spark
            )
        for name in held:
            held[name] = (held[name] - set(delete.get(name, ()))) | set(add.get(name, ()))
        if number:
            kb.update(add, delete)
        explicit = frozenset(fact(name, *row) for name, rows in held.items() for row in rows)
        assert all_facts(kb) == oracle.materialise(one.program.rules, explicit), number
