"""`--constraints` and `--shapes` of `init`, `update` and `run`, and `validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import done, everlog, written

RULES = """@prefix ex: <http://ex.org/> .
:- ex:Person[?x], not ex:name[?x, _] .
ex:Person[?x] :- ex:Child[?x] .
"""
DATA = '@prefix ex: <http://ex.org/> . ex:ann a ex:Person ; ex:name "Ann" .'
CHILD = "@prefix ex: <http://ex.org/> . ex:bob a ex:Child ."
SHAPES = """@prefix ex: <http://ex.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
ex:PersonShape a sh:NodeShape ; sh:targetClass ex:Person ;
    sh:property [ sh:path ex:name ; sh:minCount 1 ; sh:message "A person has a name." ] .
"""


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("spark")
def test_what_would_violate_a_constraint_is_not_written(tmp_path: Path) -> None:
    rules, data = written(tmp_path / "rules.dlog", RULES), written(tmp_path / "data.ttl", DATA)
    child, store = written(tmp_path / "child.ttl", CHILD), tmp_path / "store"
    refused = everlog("init", store, rules, "--facts", data, "--facts", child, "--constraints", "fail")
    assert refused.code == 2
    assert "`:- [?x, rdf:type, ex:Person], not [?x, ex:name, _] .` is violated by" in refused.err
    assert not store.exists()

    done("init", store, rules, "--facts", data, "--constraints", "fail")
    before = contents(store)
    refused = everlog("update", store, "--add", child)
    assert refused.code == 2
    assert "[ex:bob, rdf:type, ex:Child]  given" in refused.err
    assert contents(store) == before

    warned = everlog("update", store, "--add", child, "--constraints", "warn")
    assert (warned.code, "is violated by" in warned.err) == (0, True)
    assert everlog("update", store, "--add", data, "--constraints", "strict").code == 2
    assert everlog("update", store, "--add", data, "--constraints", "never").code == 2


@pytest.mark.usefixtures("spark")
def test_shapes_of_a_store_and_others(tmp_path: Path) -> None:
    data, child = written(tmp_path / "data.ttl", DATA), written(tmp_path / "child.ttl", CHILD)
    shapes, store = written(tmp_path / "shapes.ttl", SHAPES), tmp_path / "store"
    rules = written(tmp_path / "rules.dlog", RULES.splitlines()[0] + RULES.splitlines()[2])
    done("init", store, rules, "--facts", data, "--shapes", shapes)
    assert done("validate", store) == "everything conforms\n"

    warned = everlog("update", store, "--add", child)
    assert (warned.code, "sh:minCount of ex:PersonShape ex:name is violated by" in warned.err) == (0, True)
    report = everlog("validate", store, "--format", "json")
    (row,) = json.loads(report.out)["results"]
    assert report.code == 1
    assert (row["focus"], row["path"], row["message"]) == ("ex:bob", "ex:name", "A person has a name.")
    assert "sh:focusNode ex:bob" in everlog("validate", store, "--format", "ttl").out

    others = written(tmp_path / "others.ttl", SHAPES.replace("sh:minCount 1", "sh:maxCount 0"))
    assert "1 result:\n  ex:ann ex:name  (sh:maxCount of" in everlog("validate", store, "--shapes", others).out
    assert "1 result:\n  ex:bob ex:name  (sh:minCount of" in everlog("validate", store).out
    done("update", store, "--shapes", others)
    assert "1 result:\n  ex:ann ex:name  (sh:maxCount of" in everlog("validate", store).out
    broken = written(tmp_path / "broken.ttl", SHAPES.replace("sh:minCount 1", "sh:minCount -1"))
    assert everlog("update", store, "--shapes", broken).code == 2
    ended = everlog("validate", store, "--shapes", broken)
    assert (ended.code, "sh:minCount is a number that is not negative" in ended.err) == (2, True)
    assert everlog("init", tmp_path / "other", "--facts", data, "--shapes", broken).code == 2
    assert not (tmp_path / "other").exists()
