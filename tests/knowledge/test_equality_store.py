"""A store in which equal constants are rewritten: π and the explicit names in it, all names seen from outside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyoxigraph import NamedNode

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import SAME_AS
from everlog.engine.spark.shelf import SparkShelf
from everlog.knowledge.stores import init_store, open_store, update_store
from everlog.store.versions import Store
from support.equalities import r_materialisation
from support.reads import read_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.sources.read_facts import Read

IRI = "http://example.org/"
PROGRAM = everlog.parse_program(
    f"""
    @prefix ex: <{IRI}> .
    ?x = ?y :- [?x, ex:mbox, ?m], [?y, ex:mbox, ?m] .
    [?x, ex:knows, ?y] :- [?y, ex:knows, ?x] .
    alone(?x) :- [?x, ex:mbox, ?m], NOT EXISTS ?y IN ([?x, ex:knows, ?y]) .
    """
)
Triples = set[tuple[str, str, str]]
Change = tuple[Triples, Triples]
"""What goes, and what comes."""
GIVEN: Triples = {
    ("a", "mbox", "m1"),
    ("b", "mbox", "m1"),
    ("c", "mbox", "m2"),
    ("d", "mbox", "m3"),
    ("b", "mbox", "m2"),
    ("b", "knows", "d"),
    ("e", "mbox", "m4"),
    ("c", "likes", "a"),
}


def nodes(triples: Triples) -> list[tuple[NamedNode, ...]]:
    return [tuple(NamedNode(IRI + name) for name in triple) for triple in sorted(triples)]


def read(spark: SparkSession, triples: Triples) -> Read:
    return read_of(spark, {"triple": nodes(triples)})


def from_scratch(triples: Triples) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(PROGRAM, engine="memory", equality="rewrite")
    kb.add({"triple": nodes(triples)})
    kb.materialise()
    return kb


def texts(store: Path, spark: SparkSession, predicate: str, which: str) -> list[tuple[str, ...]]:
    return sorted(map(tuple, Store.open(store).text(predicate, which, spark).collect()))  # type: ignore[arg-type]


def written(kb: everlog.KnowledgeBase, predicate: str, which: str) -> list[tuple[str, ...]]:
    return sorted(tuple(map(write_term, row)) for row in kb.rows(predicate, which))  # type: ignore[arg-type]


def test_classes_go_through_a_store(spark: SparkSession, tmp_path: Path) -> None:
    store, now = tmp_path / "store", GIVEN
    init_store(store, PROGRAM, read(spark, now), spark=spark, options={"equality": "rewrite"})
    agrees(store, now)
    for which in ("all", "derived", "explicit"):
        assert texts(store, spark, "triple", which) == written(from_scratch(now), "triple", which)
    # {a, b, c} falls apart into {a, b} and {c}, and e joins d.
    gone, new = {("b", "mbox", "m2")}, {("e", "mbox", "m3"), ("d", "sees", "d")}
    report, changes = update_store(store, read(spark, new), read(spark, gone), spark=spark)
    before, now = from_scratch(now), (now - gone) | new
    agrees(store, now)
    then, later = (set(written(kb, "triple", "all")) for kb in (before, from_scratch(now)))
    assert set(map(tuple, changes.added["triple"].collect())) == later - then
    assert set(map(tuple, changes.deleted["triple"].collect())) == then - later
    assert (report.added, report.deleted) == (len(later - then) + 1, len(then - later) + 1), "alone: c, not e"
    assert settled(open_store(store, version=1)) == settled(before), "the old version is whole"
    # By `save`: an update since, and the whole at another place.
    kb = everlog.open(store, spark=spark)
    kb.update(add={"triple": [(NamedNode(IRI + "a"), SAME_AS, NamedNode(IRI + "e"))]})
    expected = r_materialisation(kb)
    for place in (store, tmp_path / "copy"):
        kb.save(place)
        assert settled(everlog.open(place)) == expected
    counts = Store.open(store).manifest.counts["triple"]
    assert counts["explicit"] + counts["derived"] == kb.size("triple") > counts["representatives"]


def test_engines_take_turns(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one engine has written the other updates; π, I and all names are those of the facts in the end."""
    splitting: Change = (
        {("b", "mbox", "m2")},
        {("e", "mbox", "m3"), ("d", "sees", "d")},
    )  # one class, and makes another
    both: Change = (
        {("b", "knows", "d"), ("b", "mbox", "m1"), ("c", "likes", "a")},
        {("a", "mbox", "m4"), ("f", "knows", "c"), ("f", "mbox", "m2")},
    )
    store, now = tmp_path / "store", GIVEN
    options = {"equality": "rewrite", "engine": "spark"}
    init_store(store, PROGRAM, read(spark, now), spark=spark, options=options)
    agrees(store, now)
    monkeypatch.setattr(SparkShelf, "kept", None)  # an update writes no more than what changed
    for engine, (gone, new) in (("memory", splitting), ("spark", both)):
        report, _ = update_store(store, read(spark, new), read(spark, gone), spark=spark, engine=engine)
        before, now = from_scratch(now), (now - gone) | new
        assert report.engine == engine and report.algorithm != "remat"
        then, later = (everything(kb) for kb in (before, from_scratch(now)))
        assert (report.added, report.deleted) == (len(later - then), len(then - later))
        agrees(store, now)


def everything(kb: everlog.KnowledgeBase) -> set[tuple[str, ...]]:
    return {(name, *row) for name in kb.predicates() for row in written(kb, name, "all")}


def test_saving_from_spark(spark: SparkSession, tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase(PROGRAM, engine="spark", spark=spark, equality="rewrite")
    kb.add({"triple": nodes(GIVEN)})
    kb.save(tmp_path / "store")
    agrees(tmp_path / "store", GIVEN)
    opened = everlog.open(tmp_path / "store", spark=spark)
    opened.save(tmp_path / "copy")
    agrees(tmp_path / "copy", GIVEN)
    now = GIVEN - {("b", "mbox", "m2")}
    assert opened.size("triple") == from_scratch(GIVEN).size("triple")
    opened.update(delete={"triple": nodes(GIVEN - now)})
    assert written(opened, "triple", "derived") == written(from_scratch(now), "triple", "derived")
    opened.save(tmp_path / "store")
    agrees(tmp_path / "store", now)


def agrees(store: Path, triples: Triples) -> None:
    """A store is what the same facts give in memory, and goes on as these."""
    opened, expected = everlog.open(store, engine="memory"), from_scratch(triples)
    counts = Store.open(store).manifest.counts
    assert expected.reasoner.stored_counts({name: {} for name in expected.predicates()}) == counts
    for predicate in ("triple", "alone"):
        for which in ("all", "derived", "explicit"):
            assert written(opened, predicate, which) == written(expected, predicate, which)
        assert opened.size(predicate) == expected.size(predicate)
    assert opened.query("[?x, owl:sameAs, ?y]") == expected.query("[?x, owl:sameAs, ?y]")
    assert settled(opened) == settled(expected)


def settled(kb: everlog.KnowledgeBase) -> object:
    """π and I; an update without facts brings in what is hidden in a store."""
    kb.update()
    return r_materialisation(kb)
