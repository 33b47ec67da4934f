"""Facts that the driver of Spark has are shown by it, without a job, as they would be by joins with the dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from pyoxigraph import BlankNode, NamedNode

from everlog import KnowledgeBase
from everlog.datalog.values import SAME_AS
from everlog.engine.spark.listed_facts import SparkListed
from support.on_spark import jobs_started

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    any() :- edge(_, _) .
"""
A, B, C = (NamedNode(f"http://ex.org/{name}") for name in "abc")
EDGES = [(A, B), (C, 2), (B, BlankNode("n")), (2, "two")]
SAME = [(A, SAME_AS, C), (B, SAME_AS, B)]


@pytest.mark.parametrize("equality", ["off", "rewrite"])
def test_without_a_job(spark: SparkSession, equality: Literal["off", "rewrite"]) -> None:
    kb = KnowledgeBase(PROGRAM, engine="spark", spark=spark, equality=equality)
    kb.add({"edge": EDGES, "triple": SAME})
    kb.materialise()
    before = jobs_started(spark)
    backend: Any = kb.reasoner.backend
    shown = {}
    for predicate in kb.predicates():
        for which in ("all", "explicit", "derived"):
            assert kb.size(predicate, which) == len(kb.rows(predicate, which)) == kb.facts(predicate, which).num_rows
            listed = kb.reasoner.listed(predicate, which, kb.arity(predicate))
            assert listed.size == kb.size(predicate, which)
            two = [row for start in (0, 2) for row in backend.rows(listed.first(2, start), kb.arity(predicate))]
            assert set(two) <= set(kb.rows(predicate, which)) and len(two) == min(4, listed.size)
            if predicate != "edge" and which != "explicit":
                shown[listed] = kb.rows(predicate, which), kb.arity(predicate), kb.head(predicate, 99, which)
    assert kb.query("reach(?x, 2)") == sorted([(A,), (C,)] if equality == "rewrite" else [(C,)], key=str)
    assert kb.explain("reach", (C, 2)).holds
    assert jobs_started(spark) == before
    for listed, (rows, arity, some) in shown.items():
        by_joins = backend.rows(SparkListed.of(listed.frame), arity)
        assert sorted(map(repr, by_joins)) == sorted(map(repr, rows)) == sorted(map(repr, some))
