"""Batches as versions, exactly once: random streams with failures and restarts end where one update with their sum does."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import everlog
from everlog.store import commit
from everlog.store.cleanup import committed_versions
from everlog.store.manifest import read_manifest
from everlog.streaming.change_files import ChangeFiles
from everlog.streaming.micro_batches import MicroBatches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    open(?x, ?y)  :- reach(?x, ?y), not blocked(?y) .
"""
QUERY = "9a68bbe0"

Row = tuple[str, Any, Any, str | None, int]


class _Rows(everlog.Source):
    """A source whose rows come as a DataFrame would have them."""

    is_folder = False  # type: ignore[assignment]


def sources() -> list[everlog.Source]:
    return [_Rows("edge", "rows", order="at"), _Rows("blocked", "rows")]


def made(store: Path, edges: list[tuple[int, int]] | None = None) -> Path:
    kb = everlog.KnowledgeBase(RULES)
    kb.add({"edge": edges or [(0, 1)], "blocked": [(9,)]})
    kb.materialise()
    kb.save(store)
    return store


def batches_into(store: Path, **options: Any) -> MicroBatches:
    return MicroBatches(store, sources(), [(), ()], store.with_suffix(".stream"), **options)


def table(rows: list[Row]) -> pa.Table:
    """Rows (predicate, arguments, op, place in the order) as Spark hands them over."""
    edge = pa.struct([("x", pa.int64()), ("y", pa.int64()), ("op", pa.string()), ("at", pa.int64())])
    blocked = pa.struct([("x", pa.int64()), ("op", pa.string())])
    numbers, first, second = [], [], []
    for predicate, x, y, op, at in rows:
        numbers.append(0 if predicate == "edge" else 1)
        first.append({"x": x, "y": y, "op": op, "at": at} if predicate == "edge" else None)
        second.append({"x": x, "op": op} if predicate == "blocked" else None)
    return pa.table({"source": numbers, "rows0": pa.array(first, edge), "rows1": pa.array(second, blocked)})


def random_batch(random: Random, clock: int) -> list[Row]:
    """Insertions, deletions, duplicates, rows out of order, and malformed ones."""
    rows: list[Row] = []
    for place in range(random.randrange(1, 12)):
        at = clock * 100 + (place if random.random() < 0.7 else random.randrange(100))
        op = random.choice(["insert", "insert", "delete", "c", "D"])
        if random.random() < 0.25:
            rows.append(("blocked", random.randrange(8), None, op, at))
        else:
            rows.append(("edge", random.randrange(8), random.randrange(8), op, at))
        if random.random() < 0.1:
            rows.append(rows[-1])
        if random.random() < 0.1:
            rows.append(random.choice([("edge", 1, None, "insert", at), ("edge", 1, 2, "?", at)]))
    return rows


def summed(facts: dict[str, set[tuple[int, ...]]], rows: list[Row]) -> None:
    """The oracle: every row of a batch in its order, one after the other."""
    blocked = [row for row in rows if row[0] == "blocked"]
    for predicate, x, y, op, _ in [
        *blocked,
        *sorted((row for row in rows if row[0] == "edge"), key=lambda row: row[4]),
    ]:
        fact = (x, y) if predicate == "edge" else (x,)
        if None in fact or op == "?":
            continue
        (facts[predicate].discard if op in ("delete", "D") else facts[predicate].add)(fact)  # type: ignore[arg-type]


class Crash(Exception):
    """What stands for a process that is gone."""


def crash_at(monkeypatch: pytest.MonkeyPatch, wanted: str | None) -> None:
    def step(name: str) -> None:
        if name == wanted:
            raise Crash(name)

    monkeypatch.setattr(commit, "step", step)


@pytest.mark.parametrize("seed", range(6))
def test_random_streams_end_where_one_update_with_their_sum_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    follow_random_streams(tmp_path, monkeypatch, seed, 12)


def test_random_streams_on_the_spark_engine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = partial(everlog.open, tmp_path / "s.store", spark=spark, engine="spark")
    follow_random_streams(tmp_path, monkeypatch, 1, 3, opened=opened)


def follow_random_streams(
    folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int, batches: int, **options: Any
) -> None:
    random = Random(seed)
    store = made(folder / "s.store")
    first = {"edge": {(0, 1)}, "blocked": {(9,)}}
    facts = {name: set(rows) for name, rows in first.items()}

    def started() -> MicroBatches:
        changes = ChangeFiles(folder / "changes", store)
        return batches_into(store, changes=changes, keep=3 if seed % 2 else None, **options)

    stream = started()
    for number in range(batches):
        rows = random_batch(random, number)
        summed(facts, rows)
        if random.random() < 0.4:  # it dies somewhere, and is started again
            crash_at(monkeypatch, random.choice(commit.STEPS[3:]))
            with pytest.raises(Crash):
                stream.apply(QUERY, number, lambda rows=rows: table(rows))
            crash_at(monkeypatch, None)
            stream = started()
        elif random.random() < 0.3:
            stream = started()
        for _ in range(random.choice([1, 1, 2])):  # Spark may not know that it was done
            stream.apply(QUERY, number, lambda rows=rows: table(rows))
        if number < batches - 1 and random.random() < 0.2:  # somebody else writes, too
            kb = everlog.open(store)
            kb.update(add={"edge": [(number, number)]})
            kb.save(store)
            facts["edge"].add((number, number))
    kb = everlog.open(store)
    assert kb.stored is not None and kb.stored[1].streams[QUERY].batch == batches - 1
    once = everlog.KnowledgeBase(RULES)
    once.add({name: sorted(rows) for name, rows in first.items()})
    once.materialise()
    once.update(
        add={name: sorted(rows - first[name]) for name, rows in facts.items()},
        delete={name: sorted(first[name] - rows) for name, rows in facts.items()},
    )
    for predicate in ("edge", "blocked", "reach", "open"):
        assert set(kb.rows(predicate)) == set(once.rows(predicate)), predicate
    # What was written of changes is what happened, too.
    there = {("edge", (0, 1)), ("blocked", (9,)), ("reach", (0, 1)), ("open", (0, 1))}
    for file in sorted((folder / "changes").glob("*.jsonl")):
        for line in map(json.loads, file.read_text().splitlines()):
            fact = (line["predicate"], tuple(line["arguments"]))
            assert (fact in there) == (line["op"] == "delete")
            (there.remove if line["op"] == "delete" else there.add)(fact)
    assert there == {(name, row) for name in ("edge", "blocked", "reach", "open") for row in once.rows(name)}


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_come_late_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The order of a column counts over batches, and over restarts, as if all rows had come at once."""
    random, store, everything = Random(seed), made(tmp_path / "s.store"), list[Row]()
    only = [_Rows("edge", "rows", order="at")]
    stream = MicroBatches(store, only, [()], tmp_path / "checkpoint", remember=4)
    for number in range(12):
        rows: list[Row] = []
        for _ in range(random.randrange(1, 10)):
            at = 10 * max(0, number - random.randrange(4)) + random.randrange(10)
            edge = (random.randrange(5), random.randrange(5))
            rows.append(("edge", *edge, random.choice(["insert", "delete"]), 1000 * at + len(everything) + len(rows)))
        everything += rows
        arrived = table(rows).select(["source", "rows0"])
        if random.random() < 0.4:
            crash_at(monkeypatch, random.choice(commit.STEPS[3:]))
            with pytest.raises(Crash):
                stream.apply(QUERY, number, lambda arrived=arrived: arrived)
            crash_at(monkeypatch, None)
        if random.random() < 0.4:
            stream = MicroBatches(store, only, [()], tmp_path / "checkpoint", remember=4)
        stream.apply(QUERY, number, lambda arrived=arrived: arrived)
    facts: dict[str, set[tuple[int, ...]]] = {"edge": {(0, 1)}, "blocked": set()}
    summed(facts, everything)
    assert set(everlog.open(store).rows("edge")) == facts["edge"]
    assert len(list((tmp_path / "checkpoint" / "words").iterdir())) <= 6


@pytest.mark.parametrize("step", commit.STEPS[2:])
def test_a_batch_is_there_once_wherever_it_was_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    store = made(tmp_path / "s.store")
    rows: list[Row] = [("edge", 1, 2, "insert", 1), ("edge", 0, 1, "delete", 2)]
    stream = batches_into(store)
    crash_at(monkeypatch, step)
    with pytest.raises(Crash):
        stream.apply(QUERY, 0, lambda: table(rows))
    crash_at(monkeypatch, None)
    assert len(committed_versions(store)) == (2 if step == "current-named" else 1)
    for again in (stream, batches_into(store)):  # the same process goes on, or another one
        again.apply(QUERY, 0, lambda: table(rows))
        assert committed_versions(store) == [1, 2]
    assert set(everlog.open(store).rows("reach")) == {(1, 2)}


def test_a_batch_that_changes_nothing_is_a_version(tmp_path: Path) -> None:
    store = made(tmp_path / "s.store")
    (store.with_suffix(".stream") / "offsets").mkdir(parents=True)
    (store.with_suffix(".stream") / "offsets" / "0").write_text('v1\n{}\n{"logOffset":0}\n-\n')
    stream = batches_into(store, quarantine=tmp_path / "quarantine", metrics=tmp_path / "batches.jsonl")
    stream.apply(QUERY, 0, lambda: table([("edge", 0, 1, "insert", 1), ("edge", None, 1, "insert", 1)]))
    stream.apply(QUERY, 1, lambda: table([("edge", 0, 1, "no", 1)]))
    assert committed_versions(store) == [1, 2, 3]
    assert read_manifest(store, 2).streams[QUERY].offsets == ('{"logOffset":0}', "-")
    assert read_manifest(store, 3).streams[QUERY].batch == 1
    assert sorted(file.name for file in (tmp_path / "quarantine").iterdir()) == [
        f"{QUERY}-{n:06}.jsonl" for n in (0, 1)
    ]
    lines = [json.loads(line) for line in (tmp_path / "batches.jsonl").read_text().splitlines()]
    assert [(one["version"], one["rows"], one["malformed"]) for one in lines] == [(2, 2, 1), (3, 1, 1)]
    assert {"reading", "reasoning", "committing", "total"} == set(lines[0]["seconds"])


def test_other_checkpoints_and_other_writers_have_batches_of_their_own(tmp_path: Path) -> None:
    store = made(tmp_path / "s.store")
    stream = batches_into(store)
    stream.apply(QUERY, 0, lambda: table([("edge", 1, 2, "insert", 1)]))
    batches_into(store).apply("another", 0, lambda: table([("edge", 2, 3, "insert", 1)]))
    stream.apply(QUERY, 1, lambda: table([("edge", 3, 4, "insert", 1)]))
    kb = everlog.open(store)
    assert (0, 4) in kb.rows("reach")
    assert kb.stored is not None
    assert {name: one.batch for name, one in kb.stored[1].streams.items()} == {QUERY: 1, "another": 0}
    kb.save(store)
    assert read_manifest(store, 5).streams == read_manifest(store, 4).streams


def test_old_versions_go_but_not_those_that_are_read(tmp_path: Path) -> None:
    store = made(tmp_path / "s.store")
    reader = everlog.open(store)
    stream = batches_into(store, keep=2)
    for number in range(6):
        stream.apply(QUERY, number, lambda number=number: table([("edge", number, number + 1, "insert", 1)]))
    assert committed_versions(store) == [1, 6, 7]
    reader.update(add={"edge": [(7, 8)]})  # which needs files of version 1
    del reader
    stream.apply(QUERY, 6, lambda: table([("edge", 0, 1, "delete", 1)]))
    assert committed_versions(store) == [7, 8]
    assert not everlog.open(store).query("reach(0, ?y)")


def test_a_batch_that_another_process_of_the_stream_has_applied_is_not_applied_again(tmp_path: Path) -> None:
    """Such as one that was believed dead; what it wrote is newer than what this one has open."""
    store = made(tmp_path / "s.store")
    ours, theirs = batches_into(store), batches_into(store)
    ours.apply(QUERY, 0, lambda: table([("edge", 1, 2, "insert", 0)]))
    theirs.open()
    ours.apply(QUERY, 1, lambda: table([("edge", 2, 3, "insert", 0)]))

    def late() -> pa.Table:
        ours.apply(QUERY, 2, lambda: table([("edge", 3, 4, "insert", 0)]))
        return table([("edge", 2, 3, "insert", 0)])

    theirs.apply(QUERY, 1, late)
    assert committed_versions(store) == [1, 2, 3, 4]
    assert [one.batch for one in read_manifest(store, 4).streams.values()] == [2]
    assert set(everlog.open(store).rows("edge")) == {(0, 1), (1, 2), (2, 3), (3, 4)}
