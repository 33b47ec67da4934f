"""What is not whole is noticed: every file of a store cut off, taken away, changed or exchanged, and `everlog check`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import everlog
from everlog.errors import Failure
from everlog.knowledge.stores import init_store, update_store
from everlog.spark.failures import spark_failures
from everlog.store import fingerprints, store_check
from everlog.store.fingerprints import END, fingerprint
from everlog.store.manifest import FORMAT, DamagedStore, NoStore
from everlog.store.publish import export
from everlog.store.store_check import check_store
from everlog.store.versions import Store
from support.reads import read_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.sources.read_facts import Read

PROGRAM = everlog.parse_program(
    """
    two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) .
    start(?x) :- edge(?x, _), not edge(_, ?x) .
    edge(first, 0) .
    """
)
ENGINES = ("memory", "spark")
CHAIN = 60


def read(spark: SparkSession, edges: list[tuple[object, object]]) -> Read:
    return read_of(spark, {"edge": edges})


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three versions, with layers, deletions, several parts of the dictionary, and counts."""
    store = tmp_path_factory.mktemp("made") / "store"
    chain = [(one, one + 1) for one in range(CHAIN)]
    init_store(store, PROGRAM, read(spark, chain), spark=spark, options={"algorithm": "counting"})
    update_store(store, read(spark, [(CHAIN, "last")]), read(spark, chain[:1]), spark=spark)
    update_store(store, read(spark, [("last", "very last")]), spark=spark)
    return store


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    return Path(shutil.copytree(made, tmp_path / "store"))


def files_of(store: Path, version: int | None = None) -> list[str]:
    return list(dict.fromkeys(Store.open(store, version).manifest.all_files()))


def needed_by(engine: str, store: Path) -> list[str]:
    """Files to damage: all of them, or for the Spark engine, which takes its time, a few of each kind."""
    if engine == "memory":
        return files_of(store)
    files = Store.open(store).manifest.files
    return [files[section][-1] for section in ("dictionary", "explicit/edge", "derived/two")]


def used(store: Path, engine: str, spark: SparkSession) -> dict[str, set[tuple[object, ...]]]:
    """All facts of a store, after everything that it has was needed."""
    kb = everlog.open(store, engine=engine, spark=spark)
    found = {predicate: set(kb.rows(predicate)) for predicate in kb.predicates()}
    if engine == "memory":  # which reads the section `state` now
        kb.update(add={"edge": [("beside", "it")]})
    return found


def made_old(store: Path) -> None:
    """Makes the manifests of a store what they were before there were fingerprints."""
    for manifest in (store / "manifest").iterdir():
        data = json.loads(manifest.read_text())
        del data["fingerprints"], data["checksum"]
        manifest.write_text(json.dumps({**data, "format": 1}))


def damage(store: Path, version: int | None = None) -> dict[int, dict[str, str]]:
    """What a check finds: by version, the damaged files and what is wrong with them."""
    checked = check_store(store, version)
    assert checked.current is None
    assert checked.is_whole == (not any(one.damage for one in checked.versions))
    return {one.version: {found.file: found.what for found in one.damage} for one in checked.versions}


def cut(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size - 1)


def grow(file: Path) -> None:
    with file.open("ab") as opened:
        opened.write(b"x")


def fill(file: Path) -> None:
    file.write_bytes(b"x" * file.stat().st_size)


def flip(file: Path, place: int | None = None) -> None:
    """Changes a bit; near the end of the values of the first column, unless told where."""
    if place is None:
        column = pq.read_metadata(file).row_group(0).column(0)
        place = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 3
    data = bytearray(file.read_bytes())
    data[place] ^= 4
    file.write_bytes(data)


# Files that are recorded


def test_every_version_has_fingerprints_and_takes_over_those_before(
    made: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, object] = {}
    for version in (1, 2, 3):
        manifest = Store.open(made, version).manifest
        assert set(manifest.fingerprints) == set(manifest.all_files())
        for file, recorded in manifest.fingerprints.items():
            assert known.setdefault(file, recorded) == recorded == fingerprint(made / file)
    assert set(files_of(made, 1)) & set(files_of(made, 2)) & set(files_of(made, 3)), "versions share files"
    # The next version reads only what is new.
    store = Path(shutil.copytree(made, tmp_path / "store"))
    taken = []
    monkeypatch.setattr(fingerprints, "fingerprint", lambda file: taken.append(file) or fingerprint(file))
    update_store(store, read(spark, [("a", "b")]), spark=spark, engine="spark")
    new = {store / file for file in files_of(store)} - {store / file for file in files_of(made)}
    assert set(taken) == new and len(taken) == len(new)
    assert damage(store) == {1: {}, 2: {}, 3: {}, 4: {}}


@pytest.mark.parametrize("engine", ENGINES)
def test_saved_stores_have_fingerprints(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    kb = everlog.KnowledgeBase(PROGRAM, spark=spark, engine=engine)
    kb.add({"edge": [(1, 2), (2, 3)]})
    kb.save(tmp_path / "store")
    kb.update(add={"edge": [("three", 4)]})
    assert kb.save(tmp_path / "store") == 2, "what was saved is what is read"
    for version in (1, 2):
        manifest = Store.open(tmp_path / "store", version).manifest
        assert manifest.fingerprints and set(manifest.fingerprints) == set(manifest.all_files())
    assert damage(tmp_path / "store") == {1: {}, 2: {}}


# Damaged files


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (cut, r"has [\d,]+ bytes instead of [\d,]+"),
        (grow, r"has [\d,]+ bytes instead of [\d,]+"),
        (Path.unlink, "is missing"),
    ],
)
def test_a_file_of_another_size_or_none(
    store: Path, spark: SparkSession, spoil: Callable[[Path], None], message: str
) -> None:
    """In each file of each version: nothing is read, and nothing written."""
    versions = {version: files_of(store, version) for version in (1, 2, 3)}
    for file in dict.fromkeys(file for files in versions.values() for file in files):
        kept = (store / file).read_bytes()
        spoil(store / file)
        for version, files in versions.items():
            if file not in files:
                Store.open(store, version)
                continue
            with pytest.raises(DamagedStore, match=message) as caught:
                Store.open(store, version)
            assert f"is damaged: {file} of version {version} " in str(caught.value)
            for engine in ENGINES:
                with pytest.raises(DamagedStore, match=message):
                    everlog.open(store, version, engine=engine, spark=spark)
        if file in versions[3]:
            with pytest.raises(DamagedStore, match=message):
                update_store(store, read(spark, [("a", "b")]), spark=spark)
        found = damage(store)
        assert {version for version in found if found[version]} == {v for v in versions if file in versions[v]}
        assert all(set(wrong) <= {file} for wrong in found.values())
        (store / file).write_bytes(kept)
    assert not any(damage(store).values())


def test_the_message_says_how_many_files_are_damaged(store: Path) -> None:
    for file in files_of(store)[:3]:
        (store / file).unlink()
    with pytest.raises(DamagedStore, match="is missing, and 2 more of its files are damaged"):
        Store.open(store)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("spoil", [fill, flip])
def test_a_file_that_has_changed_inside(
    store: Path, spark: SparkSession, engine: str, spoil: Callable[[Path], None]
) -> None:
    """Its size is right. Whoever needs it learns its name, with fingerprints or without; nobody gets other facts."""
    for old in (False, True):
        if old:
            made_old(store)
        for file in needed_by(engine, store):
            kept = (store / file).read_bytes()
            spoil(store / file)
            with pytest.raises(DamagedStore) as caught:
                used(store, engine, spark)
            assert caught.value.file == file, str(caught.value)
            assert ("its end has changed" in str(caught.value)) == (not old)
            found = damage(store)[3]
            assert set(found) == {file}
            assert ("cannot be read" if old else "is not as it was written: its CRC-32 is") in found[file]
            (store / file).write_bytes(kept)


@pytest.mark.parametrize("end", [END, 600])
def test_any_bit_of_a_file(store: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, end: int) -> None:
    """A sample of them, in files that the look at the end covers and in such that it does not."""
    monkeypatch.setattr(fingerprints, "END", end)
    kb = everlog.KnowledgeBase(PROGRAM, spark=spark, engine="memory")
    kb.add({"edge": [(one, one + 1) for one in range(CHAIN)]})
    place = store.with_name("other")
    kb.save(place)
    expected = used(place, "memory", spark)
    for section in ("dictionary", "derived/two"):
        file = Store.open(place).manifest.files[section][-1]
        kept = (place / file).read_bytes()
        assert 600 < len(kept) < END
        for bit in range(0, len(kept), 37):
            flip(place / file, bit)
            try:
                assert used(place, "memory", spark) == expected and end < len(kept) - bit
            except DamagedStore as caught:
                assert caught.file == file
            assert set(damage(place)[1]) == {file}
            (place / file).write_bytes(kept)


def test_exchanged_files_of_one_size(spark: SparkSession, tmp_path: Path) -> None:
    store = tmp_path / "store"
    program = everlog.parse_program("c(?x) :- a(?x) . d(?x) :- b(?x) .")
    kb = everlog.KnowledgeBase(program, spark=spark)
    kb.add({"a": [("one",)], "b": [("two",)]})
    kb.save(store)
    files = Store.open(store).manifest.files
    [one], [other] = files["explicit/a"], files["explicit/b"]
    assert (store / one).stat().st_size == (store / other).stat().st_size
    contents = (store / one).read_bytes()
    (store / one).write_bytes((store / other).read_bytes())
    (store / other).write_bytes(contents)
    with pytest.raises(DamagedStore, match="its end has changed, and 1 more of its files are damaged"):
        everlog.open(store)
    assert set(damage(store)[1]) == {one, other}


@pytest.mark.parametrize("engine", ENGINES)
def test_other_rows_or_columns(store: Path, spark: SparkSession, engine: str) -> None:
    """Where nothing is known about sizes, as in stores from before, rows and columns are."""
    made_old(store)
    manifest = Store.open(store).manifest
    together = {file: part.files for _, part in manifest.parts() for file in part.files}
    for file in needed_by(engine, store):
        kept = (store / file).read_bytes()
        table = pq.ParquetFile(store / file).read()
        other = pa.table({"other": pa.array(range(table.num_rows))})
        for changed in (table.slice(1), pa.concat_tables([table, table]), other):
            pq.write_table(changed, store / file)
            with pytest.raises(DamagedStore) as caught:
                used(store, engine, spark)
            if changed is other:
                assert caught.value.file == file
            else:
                assert caught.value.file in together[file] and " row" in str(caught.value)
                assert set(damage(store)[3]) == {together[file][0]}
        (store / file).write_bytes(kept)


def test_spark_leaves_no_damaged_file_out(store: Path, spark: SparkSession) -> None:
    """Also in a session that would: its owner means other files than ours."""
    made_old(store)
    file = Store.open(store).manifest.files["derived/two"][0]
    flip(store / file)
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(DamagedStore) as caught:
            used(store, "spark", spark)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
    assert caught.value.file == file


# Stores from before there were fingerprints


def test_an_export_says_which_file_is_damaged(store: Path, spark: SparkSession, tmp_path: Path) -> None:
    made_old(store)  # without fingerprints only who reads a page sees it
    name = Store.open(store).manifest.files["explicit/edge"][0]
    flip(store / name)
    (tmp_path / "out").mkdir()
    opened = Store.open(store)
    expected = f"{store} is damaged: {name} cannot be read: .*`everlog check"
    with pytest.raises(Failure, match=expected), spark_failures("exporting"):
        export(spark, opened.filed("all", spark, tmp_path), tmp_path / "out", "csv")
    assert not list((tmp_path / "out").iterdir()), "nothing is left behind"


def test_an_old_store_is_read_updated_and_checked(store: Path, spark: SparkSession) -> None:
    expected = used(store, "memory", spark)
    made_old(store)
    assert Store.open(store).manifest.format == 1
    for engine in ENGINES:
        assert used(store, engine, spark) == expected
    checked = check_store(store)
    assert checked.is_whole
    assert [one.unmarked for one in checked.versions] == [len(files_of(store, version)) for version in (1, 2, 3)]
    old = set(files_of(store))
    update_store(store, read(spark, [("a", "b")]), spark=spark)
    manifest = Store.open(store).manifest
    assert manifest.format == FORMAT
    assert set(manifest.fingerprints) == set(manifest.all_files()) - old, "what is new is known"
    assert set(manifest.all_files()) & old
    assert damage(store) == {1: {}, 2: {}, 3: {}, 4: {}}
    # What is missing is noticed all the same, and so is a page that has changed.
    file = next(file for file in old if file in manifest.all_files())
    flip(store / file)
    assert "cannot be read" in damage(store)[4][file]
    (store / file).unlink()
    with pytest.raises(DamagedStore, match="is missing"):
        Store.open(store)
    assert damage(store)[4][file] == "is missing"


# The check


def test_every_file_is_read_once(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    monkeypatch.setattr(store_check, "fingerprint", lambda file: taken.append(file) or fingerprint(file))
    said: list[tuple[int, int]] = []
    assert check_store(made, progress=lambda done, total: said.append((done, total))).is_whole
    everything = {made / file for version in (1, 2, 3) for file in files_of(made, version)}
    assert set(taken) == everything and len(taken) == len(everything)
    assert said == [(done, len(everything)) for done in range(len(everything))]


def test_a_version_by_itself(store: Path) -> None:
    cut(store / next(file for file in files_of(store, 3) if file not in files_of(store, 2)))
    assert damage(store, 2) == {2: {}}
    assert damage(store, 3)[3]


def test_what_cannot_be_checked(store: Path, tmp_path: Path) -> None:
    with pytest.raises(NoStore, match="has no version 4; it has: 1, 2, 3"):
        check_store(store, 4)
    with pytest.raises(NoStore, match="there is no store"):
        check_store(tmp_path / "nothing")


def test_a_damaged_current_hides_no_version(store: Path) -> None:
    (store / "CURRENT").write_bytes(b"\x00\xff")
    checked = check_store(store)
    assert checked.current is not None and checked.current.file == "CURRENT"
    assert not checked.is_whole and checked.newest_whole == 3
    (store / "CURRENT").write_text("000003\n")
    assert check_store(store).is_whole


def test_a_store_goes_on_from_an_older_version(store: Path, spark: SparkSession) -> None:
    """As the message of a check says: CURRENT names it, and the next update removes what came after."""
    [file] = [file for file in files_of(store, 3) if file not in files_of(store, 2)][:1]
    cut(store / file)
    assert check_store(store).newest_whole == 2
    with pytest.raises(DamagedStore):
        everlog.open(store)
    (store / "CURRENT").write_text("000002")
    expected = set(everlog.open(store).rows("edge"))
    update_store(store, read(spark, [("a", "b")]), spark=spark)
    assert set(everlog.open(store).rows("edge")) == expected | {("a", "b")}
    assert damage(store) == {1: {}, 2: {}, 3: {}}
    assert not (store / file).exists()


def test_a_check_starts_no_spark(made: Path) -> None:
    program = (
        "import sys; from everlog.store.store_check import check_store; "
        "print(check_store(sys.argv[1]).is_whole, {'pyspark', 'numba'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program, made], capture_output=True, text=True, check=True)
    assert ended.stdout == "True set()\n"
