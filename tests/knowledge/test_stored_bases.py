"""Knowledge bases in stores: what goes in comes out, versions, small updates, and no reasoning when one is opened."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from pyoxigraph import BlankNode

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import Program
from everlog.datalog.values import Value, identity
from everlog.errors import ArityMistake, EverlogError, Failure
from everlog.knowledge.reasoners import Loading
from everlog.knowledge.stores import KnowledgeBase, init_store, update_store
from everlog.store.layers import merged_length
from everlog.store.manifest import DamagedStore, NoStore
from everlog.store.versions import Store
from support.nasty import ALL
from support.reads import read_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REACH = everlog.parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    source(?x) :- edge(?x, _), not edge(_, ?x) .
    busy() :- edge(_, _) .
    [?x, rdf:type, <a:Node>] :- edge(?x, _) .
    edge(start, 0) .
    """
)
FLAT = Program(REACH.rules[2:], REACH.facts)
"""Without the closure, which is large."""
RULES = Program(FLAT.rules)

Facts = Mapping[str, Sequence[tuple[Value, ...]]]


def contents(kb: everlog.KnowledgeBase, which: str = "all") -> dict[str, set[tuple[object, ...]]]:
    """The facts of a knowledge base by predicate, in a form that tells 1 from 1.0."""
    return {
        predicate: {tuple(map(identity, row)) for row in kb.rows(predicate, which)}  # type: ignore[arg-type]
        for predicate in kb.predicates()
    }


def bytes_of(store: Path) -> dict[str, int]:
    return {str(file): file.stat().st_size for file in store.rglob("*") if file.is_file()}


def test_a_store_from_its_first_version_on(spark: SparkSession, tmp_path: Path) -> None:
    """Several updates: every version is what starting again gives; small updates write small files."""
    random = Random(7)
    store = tmp_path / "store"
    edges: set[tuple[Value, ...]] = {(one, one + random.randint(1, 9)) for one in range(4000)}
    report = init_store(store, FLAT, read_of(spark, {"edge": sorted(edges)}), spark=spark)
    edges.add(("start", 0))
    assert report.facts["explicit"] == len(edges)
    history = [set(edges)]
    for round in range(3):
        before = bytes_of(store)
        gone = set(random.sample(sorted(edges, key=str), 5)) | {("not", "there")}
        new = {(f"new {round}", random.randint(0, 4000)) for _ in range(5)} | {next(iter(gone))}
        if round == 2:
            new |= history[0] - edges  # what was deleted comes back
        added, deleted = (read_of(spark, {"edge": sorted(some, key=str)}) for some in (new, gone))
        report, changes = update_store(store, added, deleted, spark=spark)
        edges = (edges - gone) | new
        assert changes.added["edge"].count() == len(edges - history[-1])
        assert changes.deleted["edge"].count() == len(history[-1] - edges)
        history.append(set(edges))
        after = bytes_of(store)
        assert before.items() <= {**after, str(store / "CURRENT"): before[str(store / "CURRENT")]}.items()
        written = sum(size for file, size in after.items() if file not in before and "manifest" not in file)
        assert written < 0.3 * sum(before.values())
    fresh = [everlog.KnowledgeBase(RULES) for _ in history]
    opened = [everlog.open(store, version) for version in (1, 2, 3, None)]
    assert [kb.reasoner.engine.derivations for kb in opened] == [0] * 4, "opening a store reasons"
    for kb, expected, again in zip(opened, history, fresh, strict=True):
        again.add({"edge": sorted(expected, key=str)})
        again.materialise()
        assert contents(kb) == contents(again)
        assert contents(kb, "derived") == contents(again, "derived")
    manifest = Store.open(store).manifest
    assert manifest.counts["edge"] == {"explicit": len(edges), "derived": 0}
    assert manifest.counts["source"]["derived"] == len(fresh[-1].rows("source"))
    # Spark reads the same from the layers as Arrow does.
    texts = {tuple(row) for row in Store.open(store).text("edge", "all", spark).collect()}
    assert texts == {tuple(map(write_term, edge)) for edge in edges}
    with pytest.raises(NoStore, match="versions 1–4"):
        everlog.open(store, version=5)


def test_what_was_loaded_beforehand(spark: SparkSession, tmp_path: Path) -> None:
    """A version that is loaded while Spark starts is taken if it still is the newest; what went wrong is said."""
    store = tmp_path / "store"
    init_store(store, RULES, read_of(spark, {"edge": [(1, 2)]}), spark=spark)
    first = Store.open(store)
    early, late = Loading(first.path, first.manifest), Loading(first.path, first.manifest)
    update_store(store, read_of(spark, {"edge": [(2, 3)]}), spark=spark, loading=early)
    update_store(store, read_of(spark, {"edge": [(3, 4)]}), spark=spark, loading=late)
    assert sorted(everlog.open(store).rows("edge")) == [(1, 2), (2, 3), (3, 4)]
    newest = Store.open(store)
    file = store / newest.manifest.files["dictionary"][0]
    kept = file.read_bytes()
    file.write_bytes(b"no Parquet")
    failed = Loading(store, newest.manifest)
    failed._thread.join()
    with pytest.raises(DamagedStore, match="has 10 bytes instead of"):
        update_store(store, read_of(spark, {"edge": [(4, 5)]}), spark=spark, loading=failed)
    file.write_bytes(kept)
    with pytest.raises(Failure, match="cannot be read"):
        update_store(store, read_of(spark, {"edge": [(4, 5)]}), spark=spark, loading=failed)
    assert Store.open(store).manifest == newest.manifest


def test_round_trip_of_nasty_values(spark: SparkSession, tmp_path: Path) -> None:
    program = everlog.parse_program('copy(?x, ?y) :- p(?x, ?y) . p("in the program", <a:b>) .')
    facts: Facts = {"p": [(value, number) for number, value in enumerate(ALL)], "on": [()]}
    init_store(tmp_path / "store", program, read_of(spark, facts), spark=spark)
    expected = everlog.KnowledgeBase(program)
    expected.add(facts)
    expected.materialise()
    opened = everlog.open(tmp_path / "store", spark=spark)
    assert contents(opened) == contents(expected)
    # By `save` too, into another store and as a second version.
    assert opened.save(tmp_path / "other") == 1
    assert contents(everlog.open(tmp_path / "other")) == contents(expected)
    before = bytes_of(tmp_path / "other")
    opened.update(add={"p": [("more", 1)]}, delete={"p": [("", 0)]})
    assert opened.save(tmp_path / "other") == 2
    assert contents(everlog.open(tmp_path / "other")) == contents(opened)
    assert contents(everlog.open(tmp_path / "other", version=1)) == contents(expected)
    new = {file: size for file, size in bytes_of(tmp_path / "other").items() if file not in before}
    assert sum(size for file, size in new.items() if "manifest" not in file) < 10_000


def test_a_knowledge_base_saved_over_another(spark: SparkSession, tmp_path: Path) -> None:
    """The store's ids are not those of a knowledge base that does not come from it."""
    for number in (1, 2):
        kb = KnowledgeBase(everlog.parse_program("q(?x) :- p(?x) ."), spark=spark)
        kb.add({"p": [(f"{number}{letter}",) for letter in "abc"[:: 1 if number == 1 else -1]]})
        if number == 2:
            with pytest.raises(EverlogError, match=r"neither opened from nor saved to: .* overwrite=True"):
                kb.save(tmp_path / "store")
        assert kb.save(tmp_path / "store", overwrite=True) == number
    assert contents(everlog.open(tmp_path / "store")) == contents(kb)
    assert sorted(everlog.open(tmp_path / "store", version=1).rows("q")) == [("1a",), ("1b",), ("1c",)]


def test_a_store_that_has_moved_on_is_not_saved_over(spark: SparkSession, tmp_path: Path) -> None:
    store = tmp_path / "store"
    ours = KnowledgeBase(everlog.parse_program("q(?x) :- p(?x) . p(a) ."), spark=spark)
    assert ours.save(store) == 1
    theirs = everlog.open(store, spark=spark)
    theirs.update(add={"p": [("theirs",)]})
    assert theirs.save(store) == 2
    ours.update(add={"p": [("ours",)]})
    for late in (ours, everlog.open(store, version=1, spark=spark)):
        with pytest.raises(EverlogError, match=r"is at version 2, and .* version 1 .* Open the store anew"):
            late.save(store)
    assert contents(everlog.open(store)) == contents(theirs)
    assert ours.save(tmp_path / "elsewhere") == 1
    assert theirs.save(store) == 3
    # Another store in the old one's place, of the same number, is none of ours.
    shutil.rmtree(tmp_path / "elsewhere")
    assert KnowledgeBase(everlog.parse_program("p(b) ."), spark=spark).save(tmp_path / "elsewhere") == 1
    with pytest.raises(EverlogError, match="has changed since"):
        ours.save(tmp_path / "elsewhere")


def test_blank_nodes(spark: SparkSession, tmp_path: Path) -> None:
    """A program's blank node is one in rules and facts, and stored nodes are named by their ids."""
    program = everlog.parse_program("p(_:b, one) . q(?y) :- p(_:b, ?y) .")
    init_store(tmp_path / "store", program, read_of(spark, {"p": [(BlankNode("other"), "two")]}), spark=spark)
    kb = everlog.open(tmp_path / "store")
    assert kb.rows("q") == [("one",)]
    ((node,),) = kb.query("p(?x, one)")
    assert isinstance(node, BlankNode) and node.value.startswith("everlog")
    added = read_of(spark, {"p": [(node, "three"), (BlankNode("b"), "four")]})
    update_store(tmp_path / "store", added, None, spark=spark)
    assert sorted(everlog.open(tmp_path / "store").rows("q")) == [("one",), ("three",)]
    saved = KnowledgeBase(program, spark=spark)
    saved.save(tmp_path / "saved")
    assert everlog.open(tmp_path / "saved").rows("q") == [("one",)]


def test_a_failed_update_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    store = tmp_path / "store"
    init_store(store, everlog.parse_program("q(?x) :- p(?x) ."), read_of(spark, {"p": [("a",)]}), spark=spark)
    before = bytes_of(store)

    def refuse(*given: object) -> None:
        raise EverlogError("no, thanks")

    with pytest.raises(EverlogError, match="no, thanks"):
        update_store(store, read_of(spark, {"p": [("b",)]}), None, spark=spark, before_commit=refuse)
    with pytest.raises(ArityMistake, match="p has 1 argument, but the facts given have 2"):
        update_store(store, read_of(spark, {"p": [("b", "c")]}), None, spark=spark)
    assert bytes_of(store) == before
    with pytest.raises(ArityMistake, match="p has 1 argument, but the facts given have 2"):
        init_store(
            tmp_path / "no", everlog.parse_program("q(?x) :- p(?x) ."), read_of(spark, {"p": [("a", "b")]}), spark=spark
        )
    assert not (tmp_path / "no").exists()


def test_into_and_out_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a,1\n1,2\n")
    kb = everlog.KnowledgeBase(REACH, spark=spark)
    kb.load(tmp_path / "edge.csv")
    kb.add({"edge": spark.createDataFrame([(2, 3)], "x bigint, y bigint"), "two words": [("x",)]})
    kb.materialise()
    assert ("a", 3) in kb.rows("reach")
    frame = kb.dataframe("edge")
    assert frame.schema["x"].metadata == {"everlog": "ntriples"}
    assert {field.dataType.simpleString() for field in frame.schema} == {"string", "bigint"}
    names = kb.create_views()
    assert names["two words"] == "`two words`"
    joined = spark.sql("SELECT count(*) AS n FROM reach JOIN edge ON reach.a1 = edge.y CROSS JOIN `two words`")
    assert joined.collect()[0]["n"] > 0
    assert kb.dataframe("busy").collect() == [(True,)]


def test_views_that_sql_cannot_tell_apart(spark: SparkSession) -> None:
    kb = everlog.KnowledgeBase(everlog.parse_program("p(a) . P(b) ."), spark=spark)
    with pytest.raises(EverlogError, match="would be one view"):
        kb.create_views()


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [([5], 1), ([1000, 10], 1), ([1000, 10, 10], 2), ([1000, 40, 10], 1), ([1000, 30, 10, 10], 3), ([10, 10], 2)],
)
def test_layers_are_merged_when_they_are_of_a_size(sizes: list[int], merged: int) -> None:
    assert merged_length(sizes) == merged


def test_facts_to_delete_that_are_not_there(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing says so otherwise where they are written in another way, as a date and its text."""
    store = tmp_path / "store"
    init_store(store, everlog.parse_program("q(?x) :- p(?x) ."), read_of(spark, {"p": [("a",), (5,)]}), spark=spark)
    report, _ = update_store(store, None, read_of(spark, {"p": [("5",)]}), spark=spark)
    assert report.warnings[0].startswith("the fact to delete is not among the explicit facts; are the values")
    report, _ = update_store(store, None, read_of(spark, {"p": [("5",), (5,)]}), spark=spark)
    assert report.warnings == []
    report, _ = update_store(store, None, read_of(spark, {"pp": [(5,)]}), spark=spark)
    assert report.warnings == ["there are no facts of pp to delete"]
    report, _ = update_store(store, read_of(spark, {"new": [(1,)]}), None, spark=spark)
    assert report.warnings == ["no rule mentions new, of which there are facts"]
