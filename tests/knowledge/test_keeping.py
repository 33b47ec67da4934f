"""What updates need besides facts goes through a store: hidden facts, counts, the trace."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import everlog
from everlog.errors import EverlogError
from everlog.knowledge.stores import init_store, update_store
from everlog.store.versions import Store
from support.kept_state import counts, stages, trace
from support.reads import read_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.sources.read_facts import Read

PROGRAM = everlog.parse_program(
    """
    t(?x, ?y) :- e(?x, ?y), not b(?x) .
    t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .
    source(?x) :- e(?x, _), not e(_, ?x) .
    far(?x, ?y) :- source(?x), t(?x, ?y), NOT EXISTS ?z IN (t(?y, ?z)) .
    far(?x, ?z) :- far(?x, ?y), e(?z, ?y) .
    """
)

Edges = set[tuple[int, int]]


def read(spark: SparkSession, edges: Edges) -> Read:
    return read_of(spark, {"e": sorted(edges)})


def some(random: Random, count: int) -> Edges:
    return {(random.randrange(9), random.randrange(9)) for _ in range(count)}


def from_scratch(edges: Edges, algorithm: str) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(PROGRAM, algorithm=algorithm)
    kb.add({"e": sorted(edges)})
    kb.materialise()
    kb.update()
    return kb


def contents(kb: everlog.KnowledgeBase) -> dict[str, set[object]]:
    return {predicate: set(kb.rows(predicate)) for predicate in ("e", "t", "source", "far")}


def kept(kb: everlog.KnowledgeBase) -> object:
    """All that is kept; an update without facts brings it in from a store."""
    kb.update()
    return counts(kb, False), counts(kb, True), trace(kb), stages(kb) if trace(kb) is not None else None


@pytest.mark.parametrize("algorithm", ["auto", "dredc", "counting"])
def test_updates_by_processes_of_their_own(spark: SparkSession, tmp_path: Path, algorithm: str) -> None:
    random, store = Random(3), tmp_path / "store"
    edges = some(random, 14)
    init_store(store, PROGRAM, read(spark, edges), spark=spark, options={"algorithm": algorithm})
    for _ in range(2):
        gone, new = set(random.sample(sorted(edges), 3)), some(random, 4)
        update_store(store, read(spark, new), read(spark, gone), spark=spark)
        edges = (edges - gone) | new
        manifest = Store.open(store).manifest
        expected = from_scratch(edges, algorithm)
        assert contents(everlog.open(store)) == contents(expected)
        assert kept(everlog.open(store)) == kept(expected)
        for predicate in ("t", "source", "far"):
            assert manifest.counts[predicate]["derived"] == len(expected.rows(predicate, "derived"))
    # By `save`, whether it was updated since or only opened.
    opened = everlog.open(store, spark=spark)
    opened.save(tmp_path / "copy")
    opened.update(add={"e": [(20, 21)]})
    opened.update(add={"e": [(21, 22)]}, delete={"e": [next(iter(edges))]})
    opened.save(store)
    expected = from_scratch(set(opened.rows("e")), algorithm)  # type: ignore[arg-type]
    assert kept(everlog.open(store)) == kept(expected)
    assert kept(everlog.open(tmp_path / "copy")) == kept(from_scratch(edges, algorithm))


def test_what_is_not_kept_up_leaves_the_store(spark: SparkSession, tmp_path: Path) -> None:
    store = tmp_path / "store"
    edges = some(Random(4), 14)
    init_store(store, PROGRAM, read(spark, edges), spark=spark, options={"algorithm": "counting"})
    assert "trace" in Store.open(store).manifest.state_kinds
    update_store(store, read(spark, {(7, 7)}), None, spark=spark, algorithm="dred")
    manifest = Store.open(store).manifest
    assert not any(name.startswith("trace:") for name in manifest.state_arities)
    assert "trace" not in manifest.state_kinds and "hidden" in manifest.state_kinds
    with pytest.raises(EverlogError, match="needs"):
        update_store(store, read(spark, {(8, 8)}), None, spark=spark, algorithm="counting")
    update_store(store, None, read(spark, {(7, 7)}), spark=spark, algorithm="fbf")
    assert contents(everlog.open(store)) == contents(from_scratch(edges - {(7, 7)}, "auto"))
