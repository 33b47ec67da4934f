"""`format("everlog")`: facts of a version as a table, changes of versions as a stream.

Spark starts processes for each query of a source in Python, so that most of this asks the source itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, In, IsNotNull
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.types import LongType, StructField, StructType

import everlog
from everlog import EverlogError
from everlog.store.history import forget_versions
from everlog.store.manifest import NoStore
from everlog.streaming.change_reader import ChangeReader
from everlog.streaming.store_source import StoreSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    busy()        :- reach(?x, ?x) .
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three versions: a chain, a ring, and the chain with another kind of value."""
    kb = everlog.KnowledgeBase(RULES)
    kb.add({"edge": [("a", "b"), ("b", "c")], "age": [("a", 1), ("b", 2)]})
    kb.materialise()
    kb.save(tmp_path / "s.store")
    kb.update(add={"edge": [("c", "a")], "reach": [("a", "b")]})
    kb.save(tmp_path / "s.store")
    kb.update(delete={"edge": [("c", "a")]}, add={"edge": [("c", 'd"')]})
    kb.save(tmp_path / "s.store")
    return tmp_path / "s.store"


def read(store: Path, *filters: Filter, schema: StructType | None = None, **options: Any) -> set[tuple[Any, ...]]:
    """What Spark gets; all conditions must be those that the source sees to."""
    source = StoreSource({"path": str(store), **{name: str(value) for name, value in options.items()}})
    reader = source.reader(schema or source.schema())
    assert list(reader.pushFilters(list(filters))) == [one for one in filters if isinstance(one, GreaterThan)]
    return set(_rows(reader, reader.partitions()))


def _rows(reader: Any, partitions: Any) -> Iterator[tuple[Any, ...]]:
    for partition in partitions:
        for batch in reader.read(partition):
            for row in batch.to_pylist():
                yield tuple(tuple(value) if isinstance(value, list) else value for value in row.values())


def followed(reader: ChangeReader, start: int, most: int | None = None) -> tuple[list[tuple[Any, ...]], int]:
    """The rows of the next batch, and the version that it ends with."""
    limit = ReadAllAvailable() if most is None else ReadMaxFiles(most)
    end = reader.latestOffset({"version": start}, limit)
    rows = list(_rows(reader, reader.partitions({"version": start}, end)))
    reader.commit(end)
    return rows, end["version"]


def changes_of(store: Path, **options: Any) -> ChangeReader:
    given = {"path": str(store), "changes": "true", **{name: str(value) for name, value in options.items()}}
    reader = StoreSource(given).streamReader(StoreSource(given).schema())
    assert isinstance(reader, ChangeReader)
    return reader


def test_facts_of_a_version_are_a_table(store: Path) -> None:
    for version in (1, 2, 3):
        kb = everlog.open(store, version)
        for which in ("all", "explicit", "derived"):
            found = read(store, predicate="reach", version=version, which=which)
            assert found == set(kb.rows("reach", which))  # type: ignore[arg-type]
    assert read(store, predicate="busy", version=2) == {(True,)} and not read(store, predicate="busy")
    schema = StructType([StructField("a1", LongType())])
    assert read(store, predicate="age", schema=schema) == {(1,), (2,)}  # only what is named is read


def test_conditions_are_looked_for_among_ids(store: Path) -> None:
    assert read(store, EqualTo(("a1",), 2), IsNotNull(("a1",)), predicate="age") == {("b", 2)}
    assert read(store, EqualTo(("a1",), 3), predicate="age") == set()
    assert read(store, In(("a0",), ("a", "x")), EqualTo(("a1",), 1), predicate="age") == {("a", 1)}
    assert read(store, EqualTo(("a1",), 1), EqualTo(("a1",), 2), predicate="age") == set()
    assert read(store, GreaterThan(("a1",), 1), predicate="age") == {("a", 1), ("b", 2)}  # which Spark sees to
    assert read(store, EqualTo(("a1",), r'"d\""'), predicate="edge", terms="ntriples") == {('"c"', r'"d\""')}
    assert read(store, EqualTo(("a1",), "no term"), predicate="edge", terms="ntriples") == set()


def test_columns_have_the_types_of_their_values(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase("some(?x) :- v(?x, ?y, ?z, ?u) .")
    row = (1.5, True, date(2026, 1, 2), Decimal("1.25"))
    kb.add({"v": [row], "mixed": [("a",), (1,)]})
    kb.materialise()
    kb.save(tmp_path / "s.store")
    source = StoreSource({"path": str(tmp_path / "s.store"), "predicate": "v"})
    assert source.schema().simpleString() == "struct<a0:double,a1:boolean,a2:date,a3:decimal(38,18)>"
    assert read(tmp_path / "s.store", EqualTo(("a2",), row[2]), EqualTo(("a0",), 1.5), predicate="v") == {row}
    mixed = StoreSource({"path": str(tmp_path / "s.store"), "predicate": "mixed"}).schema()
    assert mixed.fields[0].metadata == {"everlog": "ntriples"}
    with pytest.raises(EverlogError, match=r"the column a0 of mixed holds .*, and the column is of type bigint"):
        read(tmp_path / "s.store", predicate="mixed", schema=StructType([StructField("a0", LongType())]))


def test_equal_names_are_all_there(tmp_path: Path) -> None:
    kb = everlog.KnowledgeBase("?x = ?y :- same(?x, ?y) . known(?x) :- p(?x) .", equality="rewrite")
    kb.add({"same": [("a", "b")], "p": [("a",)]})
    kb.materialise()
    kb.save(tmp_path / "s.store")
    assert read(tmp_path / "s.store", predicate="known") == set(kb.rows("known"))
    kb.update(add={"p": [("c",)]})
    kb.save(tmp_path / "s.store")
    assert followed(changes_of(tmp_path / "s.store", predicate="known"), 1)[0] == [("c", "insert", 2)]


def test_what_there_is_not_is_said(store: Path) -> None:
    for options, message in (
        ({"predicate": "raech"}, "there is no predicate raech; did you mean reach"),
        ({"predicate": "age", "version": "9"}, "has no version 9"),
        ({"predicate": "age", "version": "new"}, "the option version is a whole number from 1 on, not 'new'"),
        ({"predicate": "age", "what": "1"}, "has no option what"),
        ({"predicate": "age", "which": "some"}, "the option which is one of all, explicit, derived"),
        ({}, "of which predicate"),
    ):
        with pytest.raises(EverlogError, match=message):
            read(store, **options)
    with pytest.raises(EverlogError, match="age has no column b; it has a0, a1"):
        read(store, predicate="age", schema=StructType([StructField("b", LongType())]))
    with pytest.raises(EverlogError, match="which store"):
        StoreSource({"predicate": "age"})
    plain = StoreSource({"path": str(store), "predicate": "age"})
    with pytest.raises(EverlogError, match=r'say .option\("changes", "true"\)'):
        plain.streamReader(plain.schema())


@pytest.mark.parametrize("seed", range(3))
def test_changes_lead_from_one_version_to_the_next(tmp_path: Path, seed: int) -> None:
    """Whoever follows, from wherever and in whatever steps, has what the versions have."""
    random, store = Random(seed), tmp_path / "s.store"
    kb = everlog.KnowledgeBase(RULES)
    kb.add({"edge": [(0, 1)], "reach": [(2, 3)]})
    kb.materialise()
    kb.save(store)
    readers = {"reach": changes_of(store, predicate="reach"), None: changes_of(store)}
    seen: dict[Any, tuple[set[Any], int]] = {name: (set(), 0) for name in readers}
    for _ in range(8):
        edges = [(random.randrange(6), random.randrange(6)) for _ in range(4)]
        name = random.choice(["edge", "edge", "reach"])
        kb.update(add={name: edges[:2]}, delete={name: edges[2:]})
        kb.save(store)
        if random.random() < 0.3:
            forget_versions(store, keep=random.randrange(1, 4))
        for predicate, reader in readers.items():
            if random.random() < 0.5:
                facts, version = seen[predicate]
                rows, version = followed(reader, version, random.choice([None, 1, 2]))
                for *fact, op, number in sorted(rows, key=lambda row: (row[-1], row[-2] != "delete")):
                    assert number <= version and (tuple(fact) in facts) == (op == "delete")
                    (facts.remove if op == "delete" else facts.add)(tuple(fact))
                seen[predicate] = facts, version
                if version:
                    then = everlog.open(store, version)
                    if predicate is not None:
                        assert facts == set(then.rows("reach"))
                    else:
                        assert len(facts) == sum(then.size(name) for name in then.predicates())


def test_who_was_away_too_long_is_told(store: Path) -> None:
    kb = everlog.open(store)
    for number in range(3):
        kb.update(add={"age": [("c", number)]})
        kb.save(store)
    del kb
    gc.collect()
    running = changes_of(store, predicate="age")
    assert followed(running, 3, 1)[1] == 4  # which it needs for what comes
    assert forget_versions(store, keep=2)[0] == [1, 2, 3]
    assert followed(running, 4) == ([("c", 1, "insert", 5), ("c", 2, "insert", 6)], 6)
    running.stop()
    with pytest.raises(EverlogError, match=r"version 3 of the store .* was forgotten before its changes were read"):
        followed(changes_of(store, predicate="age"), 3)
    rows, version = followed(changes_of(store, predicate="age", onForgotten="snapshot"), 3)
    assert version == 6 and {row[2:] for row in rows} == {("snapshot", 6)}
    assert {row[:2] for row in rows} == set(everlog.open(store).rows("age"))


def test_spark_reads_and_follows_a_store(spark: SparkSession, store: Path, tmp_path: Path) -> None:
    everlog.register(spark)
    ages = spark.read.format("everlog").option("predicate", "age").load(str(store)).where("a1 = 2 AND a0 IN ('b', 'x')")
    assert [tuple(row) for row in ages.collect()] == [("b", 2)]
    assert "Filter (" not in ages._jdf.queryExecution().toString().partition("Physical")[2], "the source has done it"
    frame = everlog.changes(spark, store, "reach", from_version=2, max_versions=1)
    assert frame.schema.simpleString() == "struct<a0:string,a1:string,op:string,version:bigint>"
    rows: set[tuple[Any, ...]] = set()
    _take(frame, tmp_path / "checkpoint", rows)
    before, after = (set(everlog.open(store, version).rows("reach")) for version in (2, 3))
    assert rows == {(*row, "delete", 3) for row in before - after} | {(*row, "insert", 3) for row in after - before}
    with pytest.raises(NoStore, match="has no version 9"):
        everlog.changes(spark, store, "reach", from_version=9)


def _take(frame: DataFrame, checkpoint: Path, into: set[tuple[Any, ...]]) -> None:
    """Everything that a stream has by now."""
    writer = frame.writeStream.foreachBatch(lambda batch, _: into.update(map(tuple, batch.collect())))
    writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start().awaitTermination()
