"""Engines take turns on a store with equality: what follows by an equality comes with it, and goes with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import everlog
from everlog.datalog.values import SAME_AS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EQUAL = {"triple": [("n0", SAME_AS, "n1")]}


@pytest.mark.parametrize("mode", ["axioms", "rewrite"])
def test_what_an_equality_alone_derives_goes_with_it(
    spark: SparkSession, tmp_path: Path, mode: Literal["axioms", "rewrite"]
) -> None:
    """A predicate that comes late, in the turn of an engine that was told nothing about it, is equated like others."""
    store = tmp_path / "store"
    kb = everlog.KnowledgeBase(everlog.parse_program("up(?x) :- a(?x) ."), engine="memory", spark=spark, equality=mode)
    kb.add({**EQUAL, "a": [("n5",)]})
    kb.materialise()
    kb.save(store)
    kb = everlog.open(store, engine="spark", spark=spark)
    kb.update(add={"lo": [("n3", "n0")]}, algorithm="bf")
    assert sorted(kb.rows("lo")) == [("n3", "n0"), ("n3", "n1")]
    kb.save(store)
    kb = everlog.open(store, engine="memory", spark=spark)
    kb.update(add={"late": [("n1",)]}, algorithm="dred")
    assert sorted(kb.rows("late")) == [("n0",), ("n1",)]
    kb.save(store)
    kb = everlog.open(store, engine="memory", spark=spark)
    kb.update(delete=EQUAL)
    assert (kb.rows("lo"), kb.rows("late")) == ([("n3", "n0")], [("n1",)])
