"""`everlog update` with rules and ontologies, and what `info` and `diff` say of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import everlog
from support.command import REACH, done, written
from support.command import everlog as command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("spark")

ANIMALS = """Prefix(:=<http://ex.org/>) Ontology(
  SubClassOf(:Cat :Animal) SubClassOf(:Dog :Animal) {more}
  ClassAssertion(:Cat :tom) ClassAssertion(:Dog :{dog})
)"""


def classes(kb: everlog.KnowledgeBase) -> set[tuple[str, str]]:
    rows = kb.query("[?x, rdf:type, ?c]")
    return {(str(x).strip("<>").rpartition("/")[2], str(c).strip("<>").rpartition("/")[2]) for x, c in rows}


def test_rules_and_facts_are_one_version(tmp_path: Path) -> None:
    store, rules = tmp_path / "graph.store", written(tmp_path / "reach.dlog", REACH)
    edges = written(tmp_path / "edge.csv", "a,b\nb,c\n")
    done("init", store, rules, "--facts", edges)
    more = written(tmp_path / "more.dlog", "back(?y, ?x) :- reach(?x, ?y) .\nedge(c, d) .\n")
    fewer = written(tmp_path / "fewer.dlog", "reach(?a, ?c) :- edge(?b, ?c), reach(?a, ?b) .\n")
    gone = written(tmp_path / "gone" / "edge.csv", "a,b\n")
    done("update", store, "--add-rules", more, "--delete-rules", fewer, "--delete", gone)
    now, then = everlog.open(store), everlog.open(store, version=1)
    assert sorted(now.rows("reach")) == [("b", "c"), ("c", "d")]
    assert sorted(now.rows("back")) == [("c", "b"), ("d", "c")]
    assert len(then.program.rules) == len(now.program.rules) == 2
    assert sorted(then.rows("reach")) == [("a", "b"), ("a", "c"), ("b", "c")]
    then.update(add={"edge": [("c", "d")]})  # by the rules of its version
    assert ("a", "d") in then.rows("reach")
    now.update(add={"edge": [("d", "e")]})
    assert sorted(now.rows("reach")) == [("b", "c"), ("c", "d"), ("d", "e")]

    assert "+1 −1 2" in done("info", store)
    program = everlog.parse_program(done("info", store, "--version", 1, "--rules"))
    assert set(program.rules) == set(everlog.parse_program(REACH).rules)
    assert done("query", store, "back(?x, ?y)", "--format", "csv").split()[1:] == ["c,b", "d,c"]
    assert done("query", store, "reach(a, ?y)", "--version", 1, "--format", "csv").split()[1:] == ["b", "c"]
    said = done("diff", store, 1, 2)
    assert "+ rule     back(?y, ?x) :- reach(?x, ?y) ." in said
    assert "- rule     reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ." in said
    assert "1 rule added, 1 deleted; explicit: 1 fact added, 1 deleted" in said
    objects = json.loads(done("diff", store, 1, 2, "--format", "json"))
    assert {"change": "added", "section": "rule", "rule": "back(?y, ?x) :- reach(?x, ?y) ."} in objects
    assert "added,rule," in done("diff", store, 1, 2, "--format", "csv")
    done("diff", store, 1, 2, "--format", "csv", "--out", tmp_path / "diff")
    assert (tmp_path / "diff" / "added" / "rules.dlog").read_text() == "back(?y, ?x) :- reach(?x, ?y) .\n"
    found = everlog.diff(store, 1, 2)
    assert len(found.rules_added) == len(found.rules_deleted) == 1

    refused = command("update", store, "--delete-rules", fewer, "--add", edges)
    assert refused.code == 2 and "not in the program" in refused.err and "Traceback" not in refused.err
    assert everlog.open(store).stored[1].version == 2  # type: ignore[index]


def test_the_new_state_of_an_ontology(tmp_path: Path) -> None:
    store, rules = tmp_path / "animals.store", written(tmp_path / "own.dlog", "pet(?x) :- <http://ex.org/Cat>[?x] .\n")
    first = written(tmp_path / "first.ofn", ANIMALS.format(more="SubClassOf(:Animal :Thing)", dog="rex"))
    done("init", store, rules, "--ontology", first)
    assert classes(everlog.open(store)) >= {("tom", "Thing"), ("rex", "Thing")}
    second = written(tmp_path / "second.ofn", ANIMALS.format(more="SubClassOf(:Animal :Being)", dog="max"))
    done("update", store, "--ontology", second)
    kb = everlog.open(store)
    assert classes(kb) == {(one, kind) for one, kind in (("tom", "Cat"), ("max", "Dog"))} | {
        (one, kind) for one in ("tom", "max") for kind in ("Animal", "Being")
    }
    assert len(kb.rows("pet")) == 1  # the rules of files are no business of the ontology
    said = done("diff", store, 1, 2)
    assert "2 rules added, 2 deleted" in said or "1 rule added, 1 deleted" in said
    done("update", store, "--ontology", first)
    assert classes(everlog.open(store)) == classes(everlog.open(store, version=1))
    assert set(everlog.open(store).program.rules) == set(everlog.open(store, version=1).program.rules)
    broken = written(tmp_path / "broken.ofn", "Ontology(SubClassOf(")
    refused = command("update", store, "--ontology", broken)
    assert refused.code == 2 and "broken.ofn" in refused.err and "Traceback" not in refused.err
    assert everlog.open(store).stored[1].version == 3  # type: ignore[index]


_SHAPE = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://ex.org/> .
:S a sh:NodeShape ; sh:targetClass :C ; """

_BAD = {
    "an unsafe rule": ("--add-rules", "bad(?x, ?y) :- node(?x) .", "is unsafe"),
    "a cycle through negation": ("--add-rules", "edge(?x, ?x) :- node(?x), not reach(?x, ?x) .", "is not stratified"),
    "a mistake in syntax": ("--add-rules", "bad(?x :- node(?x) .", "bad:1:8: expected"),
    "another arity": ("--add-rules", "edge(?x) :- node(?x) .", "edge has 2 arguments"),
    "a rule that is not there": (
        "--delete-rules",
        "reach(?x, ?z) :- reach(?x, ?y), edge(?z, ?y) .",
        "did you mean: reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .",
    ),
    "a violated constraint": ("--add-rules", ":- edge(?x, ?y) .", "is violated by edge(a, b)"),
    "no ontology": ("--ontology", "nonsense here", "bad:1: column 1"),
    "a count that is none": (
        "--shapes",
        _SHAPE + 'sh:property [ sh:path :p ; sh:minCount "x" ] .',
        ":S :p: sh:minCount",
    ),
    "half a path": ("--shapes", _SHAPE + "sh:property [ sh:path (:p) ] .", "the shape :S property 1: sh:path"),
    "recursive shapes": ("--shapes", _SHAPE + "sh:node :S .", "refers to itself"),
}


def test_what_is_refused_leaves_a_store_as_it_was(tmp_path: Path) -> None:
    store, rules = tmp_path / "graph.store", written(tmp_path / "reach.dlog", REACH)
    done("init", store, rules, "--facts", written(tmp_path / "edge.csv", "a,b\n"))
    before, facts = done("info", store), written(tmp_path / "more" / "edge.csv", "b,c\n")
    for option, text, expected in _BAD.values():
        bad = written(tmp_path / "bad", text)
        refused = command("update", store, "--add", facts, "--constraints", "fail", option, bad)
        assert refused.code == 2 and expected in refused.err and "Traceback" not in refused.err, refused.err
        assert done("info", store) == before
    for asked in (("diff", store, 1, 7), ("restore", store, "--version", 7)):
        refused = command(*asked)
        assert refused.code == 2 and "has no version 7; it has version 1" in refused.err
    assert done("info", store) == before


def test_all_of_owl_2_rl_comes_to_no_store_with_equality(tmp_path: Path) -> None:
    store = tmp_path / "animals.store"
    ontology = written(tmp_path / "first.ofn", ANIMALS.format(more="", dog="rex"))
    done("init", store, "--ontology", ontology, "--equality", "rewrite")
    for asked, expected in (
        (("--profile", "RL", "--complete"), "make another store without --equality"),
        (("--complete",), "the profile is L: give --profile RL, too"),
    ):
        refused = command("update", store, "--ontology", ontology, *asked)
        assert refused.code == 2 and expected in refused.err and "Traceback" not in refused.err
    assert everlog.open(store).stored[1].version == 1  # type: ignore[index]


def test_a_store_on_spark(tmp_path: Path, spark: SparkSession) -> None:
    """The Spark engine changes rules by the same algorithms, and what it stored the memory engine goes on with."""
    kb = everlog.KnowledgeBase(REACH, engine="spark", spark=spark, algorithm="dredc")
    kb.add({"edge": [("a", "b"), ("b", "c"), ("c", "d")]})
    kb.materialise()
    report = kb.change_rules(
        add="far(?x, ?y) :- reach(?x, ?y), not edge(?x, ?y) .", delete="reach(?x, ?y) :- edge(?x, ?y) ."
    )
    assert report.algorithm == "dredc" and not kb.rows("reach") and not kb.rows("far")
    kb.save(tmp_path / "far.store")
    report = kb.change_rules(add="reach(?x, ?y) :- edge(?x, ?y) .")
    assert report.added == 9 and len(kb.rows("far")) == 3
    kb.save(tmp_path / "far.store")
    opened = everlog.open(tmp_path / "far.store", engine="memory")
    report = opened.update(
        delete={"edge": [("b", "c")]}, delete_rules="far(?x, ?y) :- reach(?x, ?y), not edge(?x, ?y) ."
    )
    assert report.algorithm == "dredc"
    assert sorted(opened.rows("reach")) == [("a", "b"), ("c", "d")] and not opened.rows("far")
