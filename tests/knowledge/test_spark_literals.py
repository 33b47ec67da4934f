"""Literals that object properties have as values, on Spark: where sets are on the driver, and by jobs."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal

import everlog
from everlog import KnowledgeBase
from everlog.planning.literal_places import literal_flow
from long_sequences.surroundings import surrounded
from oracles import computing
from oracles.naive import fact
from support.literal_values import literal_case
from support.on_spark import all_facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_no_literal_is_a_subject(spark: SparkSession, tmp_path: Path) -> None:
    case = literal_case(Random(6), 2)
    states = list(case.held())
    kb = KnowledgeBase(case.program, engine="spark", spark=spark)
    kb.add({"triple": list(states[0])})
    kb.materialise()
    for (add, delete), now in zip(case.updates, states[1:], strict=True):
        kb.update(add={"triple": list(add)}, delete={"triple": list(delete)})
        given = frozenset(fact("triple", *one) for one in now)
        assert all_facts(kb) == computing.materialise(case.program.rules, given)
    kb.save(tmp_path / "store")
    kb = everlog.open(tmp_path / "store", engine="memory")
    kb.update(delete={"triple": list(case.updates[0][0])})
    given = frozenset(fact("triple", *one) for one in states[-1] - set(case.updates[0][0]))
    assert all_facts(kb) == computing.materialise(case.program.rules, given)


def test_where_literals_are_by_one_job(spark: SparkSession) -> None:
    """As in memory, in facts that are on the driver and in others."""
    case = literal_case(Random(5), 4)
    given = {"triple": list(max(case.held(), key=len)), "age": [("a", 1), ("b", 2)]}
    flow = literal_flow(case.program.rules)
    assert flow is not None
    places = [*flow.asked, ("age", None, 0), ("age", None, 1), ("nobody", None, 0)]
    found = []
    ways: list[tuple[Literal["memory", "spark"], tuple[str, ...]]] = [
        ("memory", ()),
        ("spark", ()),
        ("spark", ("by jobs",)),
    ]
    for engine, where in ways:
        with surrounded(where):
            kb = KnowledgeBase("", engine=engine, spark=spark if engine == "spark" else None)
            kb.add(given)
            kb.materialise()
            found.append(kb.reasoner.backend.literals(kb.reasoner.E, places))
    assert found[0] == found[1] == found[2] and found[0] >= {("age", None, 1)} and len(found[0]) > 2
