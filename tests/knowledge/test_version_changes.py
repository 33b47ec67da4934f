"""What differs between two versions is the difference of the versions as they are opened."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal

import pytest
from pyoxigraph import NamedNode

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import SAME_AS
from everlog.store import version_diff
from everlog.store.history import restore_version
from everlog.store.versions import Store
from support.command import done, files
from support.command import everlog as command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = everlog.parse_program("""
    @prefix ex: <http://ex.org/> .
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    cyclic() :- reach(?x, ?x) .
    [?x, a, ex:Node] :- edge(?x, ?y) .
""")
STEPS = everlog.parse_program("two(?x, ?z) :- edge(?x, ?y), edge(?y, ?z) . cyclic() :- two(?x, ?x) .")
Facts = dict[tuple[str, str], set[tuple[str, ...]]]


def facts_of(kb: everlog.KnowledgeBase) -> Facts:
    """What a version has, as terms, by predicate and section."""
    found: Facts = {}
    for predicate in kb.predicates():
        for which in ("explicit", "derived"):
            rows = {tuple(map(write_term, row)) for row in kb.rows(predicate, which)}  # type: ignore[arg-type]
            found[predicate, which] = rows
    return found


def agrees(store: Path, versions: list[int]) -> None:
    """Compares what differs with what is there, for all pairs of versions."""
    opened = {version: facts_of(everlog.open(store, version, engine="memory")) for version in versions}
    for first, second in permutations(versions, 2):
        found = everlog.diff(store, first, second)
        before, after = opened[first], opened[second]
        for which, section in (("explicit", found.explicit), ("derived", found.derived)):
            for changed, old, new in ((section.added, before, after), (section.deleted, after, before)):
                assert {name: set(rows) for name, rows in changed.items()} == {
                    name: rows
                    for name in {name for name, _ in (*old, *new)}
                    if (rows := new.get((name, which), set()) - old.get((name, which), set()))
                }, (first, second, which)
                assert all(rows == sorted(set(rows)) for rows in changed.values())


@pytest.fixture(scope="module", params=["memory", "spark"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """Random updates, then back to the second version and on from there, with other new names."""
    path, random = tmp_path_factory.mktemp("versions") / "s", Random(5)
    engine: Literal["memory", "spark"] = request.param
    kb = everlog.KnowledgeBase(STEPS, engine=engine, spark=spark)
    kb.add({"edge": [(f"n{random.randrange(12)}", random.randrange(12)) for _ in range(30)], "other": [("x",)]})
    kb.save(path)

    def changed(kb: everlog.KnowledgeBase, name: str, times: int) -> None:
        for number in range(times):
            gone = random.sample(kb.rows("edge", "explicit"), 3)
            new = [(f"n{random.randrange(12)}", f"{name}{number}"), (f"{name}{number}", f"n{random.randrange(12)}")]
            kb.update(add={"edge": new}, delete={"edge": gone})
            kb.save(path)

    changed(kb, "first", 3 if engine == "memory" else 1)
    restore_version(path, 2)
    changed(everlog.open(path, spark=spark), "second", 1)
    return path


def test_all_pairs_of_versions(store: Path) -> None:
    agrees(store, Store.open(store).versions())


def test_only_what_differs_is_read(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_diff, "net_change", None)
    newest = Store.open(store).versions()[-1]
    assert everlog.diff(store, newest, newest) == everlog.diff(store, 1, 1)


def test_an_overwritten_store_has_other_ids(tmp_path: Path, spark: SparkSession) -> None:
    path = tmp_path / "s"
    for rows, overwrite in (([("a", 1), ("b", 2)], False), ([("b", 2), ("c", 3)], True)):
        kb = everlog.KnowledgeBase(everlog.parse_program("q(?y, ?x) :- p(?x, ?y) ."), engine="memory", spark=spark)
        kb.add({"p": rows})
        kb.save(path, overwrite=overwrite)
    agrees(path, [1, 2])
    assert everlog.diff(path, 1, 2).rows("q", "added", "derived") == [(3, "c")]


def test_equal_names_are_compared_in_all_names(tmp_path: Path, spark: SparkSession) -> None:
    path, names = tmp_path / "s", [NamedNode(f"http://ex.org/{name}") for name in "abcp"]
    a, b, c, p = names
    program = everlog.parse_program("[?y, ?p, ?x] :- [?x, ?p, ?y] .")
    kb = everlog.KnowledgeBase(program, engine="memory", equality="rewrite", spark=spark)
    kb.add({"triple": [(b, p, c), (c, p, c)]})
    kb.save(path)
    kb.update(add={"triple": [(a, SAME_AS, b)]})
    kb.save(path)
    kb.update(delete={"triple": [(b, p, c)]})
    kb.save(path)
    agrees(path, [1, 2, 3])
    assert (a, p, c) in everlog.diff(path, 1, 2).rows("triple", "added", "derived")


def test_the_command(tmp_path: Path, spark: SparkSession) -> None:
    path = tmp_path / "s"
    kb = everlog.KnowledgeBase(PROGRAM, engine="memory", spark=spark)
    kb.add({"edge": [("a", "b"), ("b", "c")]})
    kb.save(path)
    kb.update(add={"edge": [("c", 5)]}, delete={"edge": [("a", "b")]})
    kb.save(path)
    lines = done("diff", path, 1, 2).splitlines()
    assert "+ explicit edge(c, 5)" in lines and "- derived  reach(a, c)" in lines
    assert "- derived  [a, rdf:type, ex:Node]" in lines
    assert lines[-1] == "explicit: 1 fact added, 1 deleted; derived: 3 facts added, 3 deleted"
    assert "added,explicit,edge,c,5\n" in done("diff", path, 1, 2, "--format", "csv")
    assert {"change": "added", "section": "explicit", "predicate": "edge", "arguments": ["c", 5]} in json.loads(
        done("diff", path, 1, 2, "--format", "json")
    )
    done("diff", path, 1, 2, "--format", "csv", "--out", tmp_path / "csv")
    assert files(tmp_path / "csv")["added/derived/reach.csv"] == "b,5\nc,5\n"
    assert command("diff", path, 1, 2, "--format", "nt").code == 2
    ended = command("diff", path, 1, 7)
    assert ended.code == 2 and "has no version 7; it has versions 1–2" in ended.err
