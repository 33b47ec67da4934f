"""`everlog sparql`: queries and files with queries, formats, versions, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

import everlog as package
from support.command import done, everlog

EX = "http://example.org/"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sparql") / "people.store"
    kb = package.KnowledgeBase("""
        @prefix ex: <http://example.org/> .
        [?y, ex:child, ?x] :- [?x, ex:parent, ?y] .
        ex:parent[ex:ben, ex:ann] .  ex:age[ex:ann, 71] .
    """)
    kb.save(path)
    kb.update(add={"triple": [(NamedNode(f"{EX}cleo"), NamedNode(f"{EX}parent"), NamedNode(f"{EX}dora"))]})
    kb.save(path)
    return path


def test_a_table_has_prefixes_and_gaps(store: Path) -> None:
    query = f"PREFIX ex: <{EX}> SELECT ?x ?age {{ ?x ex:child|ex:parent ?y OPTIONAL {{ ?x ex:age ?age }} }} ORDER BY ?x"
    lines = [line.split() for line in done("sparql", store, query).splitlines()]
    assert lines[0] == ["x", "age"]
    assert lines[2:] == [["ex:ann", "71"], ["ex:ben"], ["ex:cleo"], ["ex:dora"], ["4", "answers"]]


def test_formats_and_versions(store: Path, tmp_path: Path) -> None:
    query = f"SELECT ?y {{ ?x <{EX}child> ?y }} ORDER BY ?y"
    file = tmp_path / "children.rq"
    file.write_text(query, encoding="utf-8")
    found = json.loads(done("sparql", store, file, "--format", "json"))
    assert [row["y"]["value"] for row in found["results"]["bindings"]] == [f"{EX}ben", f"{EX}cleo"]
    assert done("sparql", store, query, "--format", "csv", "--version", 1).split() == ["y", f"{EX}ben"]
    assert done("sparql", store, f"ASK {{ ?x <{EX}age> 71 }}") == "true\n"
    assert done("sparql", store, "CONSTRUCT { ?y <p:of> ?x } { ?x <child> ?y }", "--base", EX, "--version", 1) == (
        f"<{EX}ben> <p:of> <{EX}ann> .\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["SELECT ?x { ?x"], "unexpected the end of the query"),
        (["missing.rq"], "missing.rq is neither a file nor a query"),
        (["ASK {}", "--format", "ttl"], "the result of ASK is written as one of json, xml, csv, tsv, not as ttl"),
        (["SELECT * { ?a ?b ?c . ?d ?e ?f }", "--rows", 3], "more than 3 solutions"),
        (["ASK {}", "--version", 7], "7"),
    ],
)
def test_mistakes_end_with_a_message(store: Path, arguments: list[object], message: str) -> None:
    ended = everlog("sparql", store, *arguments)
    assert ended.code == 2
    assert message in ended.err
