"""Stores that one engine makes and the other updates: facts, counts, manifests and files are the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import everlog
from everlog import KnowledgeBase, parse_program
from everlog.engine.spark.shelf import SparkShelf
from everlog.knowledge.stores import init_store, update_store
from everlog.sources.read_facts import read_paths
from everlog.store.versions import Store
from support.on_spark import kept_counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = everlog.parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    sink(?x) :- edge(_, ?x), not edge(?x, _) .
    both() :- edge(1, 2), edge(2, 3) .
    edge(_:here, 1) .
    """
)
ADD, DELETE = "3,4\nx,<http://example.org/y>\n_:new,1\n", "1,2\n100,200\n"


def given(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "edge.csv").write_text(text)
    return folder


def contents(store: Path) -> tuple[object, ...]:
    kb = everlog.open(store, engine="memory")
    assert Store.open(store).manifest.counts == {
        predicate: {which: kb.size(predicate, which) for which in ("explicit", "derived")}
        for predicate in kb.predicates()
    }
    facts = {
        (predicate, which): sorted(map(repr, kb.rows(predicate, which)))
        for predicate in kb.predicates()
        for which in ("explicit", "derived")
    }
    kb.update(algorithm="counting")
    counts = {(kind, repr(fact), place): count for (kind, fact, place), count in kept_counts(kb).items()}
    return facts, counts


def test_engines_take_turns(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one makes the other updates, both ways round: each stage is the same whoever made it."""
    facts = given(tmp_path / "facts", "".join(f"{i},{i + 1}\n" for i in range(1, 3)))
    seen = []
    for first_engine, second_engine in (("memory", "spark"), ("spark", "memory")):
        store = tmp_path / first_engine
        init_store(
            store,
            PROGRAM,
            read_paths(spark, [facts]),
            spark=spark,
            options={"engine": first_engine, "algorithm": "counting"},
        )
        found = [contents(store)]
        parts = (("add", ADD), ("delete", DELETE))
        reads = [
            read_paths(spark, [given(tmp_path / f"given to {second_engine}" / name, text)]) for name, text in parts
        ]
        with monkeypatch.context() as patched:
            patched.setattr(SparkShelf, "kept", None)  # an update writes no more than what changed
            report, changes = update_store(store, *reads, spark=spark, engine=second_engine)
        assert report.engine == second_engine and report.algorithm == "counting"
        sizes = [
            {predicate: frame.count() for predicate, frame in facts.items()}
            for facts in (changes.added, changes.deleted)
        ]
        seen.append([*found, contents(store), (sizes, report.added, report.deleted)])
        files = [file for file in store.rglob("*") if file.is_file() and file.name not in ("CURRENT", "LOCK")]
        named = {store / file for files in Store.open(store).manifest.files.values() for file in files}
        assert {file for file in files if file.suffix == ".parquet"} >= named
        assert not [file for file in files if file.suffix not in (".parquet", ".json")]
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[0][1]


def test_a_knowledge_base_is_saved_from_spark(spark: SparkSession, tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase(PROGRAM, engine="spark", spark=spark)
    kb.add({"edge": [(1, 2), (2, 3)]})
    assert kb.save(tmp_path / "store") == 1
    kb.update(add={"edge": [(3, "four")]}, delete={"edge": [(1, 2)]}, algorithm="remat")
    assert kb.save(tmp_path / "store") == 2
    opened = everlog.open(tmp_path / "store", spark=spark)
    assert opened.query("reach(2, ?y)") == [(3,), ("four",)]
    in_memory = everlog.open(tmp_path / "store", engine="memory")
    for predicate in kb.predicates():
        for which in ("explicit", "derived"):
            expected = {tuple(map(_plain, row)) for row in kb.rows(predicate, which)}
            assert {tuple(map(_plain, row)) for row in in_memory.rows(predicate, which)} == expected
    with pytest.raises(everlog.EverlogError, match="there is a store"):
        init_store(tmp_path / "store", PROGRAM, spark=spark)


def test_a_hidden_fact_without_arguments_is_saved(spark: SparkSession, tmp_path: Path) -> None:
    """What changed of it could not be written: rows without columns had no shape."""
    program = parse_program("ok(?x) :- a(?x), NOT EXISTS ?y IN (b(?y)) .")
    kb = everlog.KnowledgeBase(program, engine="spark", spark=spark, algorithm="fbf")
    kb.add({"a": [(1,)]})
    kb.save(tmp_path / "store")
    for change, expected in (({"add": {"b": [(2,)]}}, []), ({"delete": {"b": [(2,)]}}, [(1,)])):
        kb.update(**change)
        kb.save(tmp_path / "store")
        for engine in ("spark", "memory"):
            opened = everlog.open(tmp_path / "store", engine=engine, spark=spark)
            opened.update(add={"a": [(1,)]}, algorithm="fbf")
            assert opened.query("ok(?x)") == expected


def _plain(value: object) -> object:
    """Blank nodes have other names in a store."""
    return "blank" if type(value).__name__ == "BlankNode" else value


@pytest.mark.parametrize("algorithm", ["dredc", "counting"])
def test_what_is_kept_is_what_the_memory_engine_keeps(spark: SparkSession, algorithm: str) -> None:
    program = parse_program(
        "p(?x, ?z) :- p(?x, ?y), e(?y, ?z) . p(?x, ?y) :- e(?x, ?y), NOT EXISTS ?z IN (f(?y, ?z)) ."
    )
    seen = []
    for engine in ("memory", "spark"):
        kb: Any = KnowledgeBase(program, engine=engine, spark=spark, algorithm=algorithm)
        kb.add({"e": [(1, 2), (2, 3), (3, 1), (1, 3)], "f": [(2, 5)]})
        kb.materialise()
        kb.update(delete={"e": [(1, 3)]}, add={"e": [(3, 4)]})
        kept = kb.reasoner.kept()
        seen.append({name: ids.shape[1] if engine == "memory" else ids.size for name, ids in kept.items()})
    assert seen[0] == seen[1] and len(seen[0]) > 2
