"""`everlog explain` on a store: text, JSON, Graphviz, HTML, versions, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everlog import KnowledgeBase
from everlog.knowledge.stores import open_store
from support.command import REACH, done, everlog


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1: a → b → c. Version 2: also a → c."""
    place = tmp_path_factory.mktemp("why") / "s"
    kb = KnowledgeBase(REACH + "safe(?x) :- reach(?x, ?y), not blocked(?y) .")
    kb.add({"edge": [("a", "b"), ("b", "c")], "blocked": [("c",)]})
    kb.materialise()
    kb.save(place)
    kb.update(add={"edge": [("a", "c")]})
    kb.save(place)
    return place


def test_a_proof_of_least_height(store: Path) -> None:
    assert done("explain", store, "reach(a, c)") == (
        "reach(a, c)\n"
        "└─ reach(?x, ?y) :- edge(?x, ?y) .\n"
        "   └─ edge(a, c)  given\n"
    )  # fmt: skip


def test_an_older_version(store: Path) -> None:
    assert done("explain", store, "reach(a, c)", "--version", 1) == (
        "reach(a, c)\n"
        "└─ a path of 2 by reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .\n"
        "   ├─ reach(a, b)\n"
        "   │  └─ reach(?x, ?y) :- edge(?x, ?y) .\n"
        "   │     └─ edge(a, b)  given\n"
        "   └─ edge(b, c)  given\n"
    )
    assert done("explain", store, "reach(a, c)", "--version", 1, "--no-paths") == (
        "reach(a, c)\n"
        "└─ reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .\n"
        "   ├─ reach(a, b)\n"
        "   │  └─ reach(?x, ?y) :- edge(?x, ?y) .\n"
        "   │     └─ edge(a, b)  given\n"
        "   └─ edge(b, c)  given\n"
    )
    assert done("explain", store, "reach(a, c)", "--version", 1, "--no-paths", "--depth", 1) == (
        "reach(a, c)\n"
        "└─ reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .\n"
        "   ├─ reach(a, b)  …\n"
        "   └─ edge(b, c)  given\n"
    )


def test_all_proofs_or_some(store: Path) -> None:
    every = done("explain", store, "reach(a, c)", "--all")
    assert [line for line in every.splitlines() if line.startswith("proof")] == ["proof 1", "proof 2"]
    assert done("explain", store, "reach(a, c)", "--all", 1) == every.split("\n\n")[0] + "\n"
    assert everlog("explain", store, "reach(a, c)", 1).code == 2


def test_a_pattern_and_an_absent_fact(store: Path) -> None:
    text = done("explain", store, "safe(?who)")
    assert text.startswith("safe(a)\n")
    assert "not blocked(b)  absent" in text
    assert done("explain", store, "reach(a, ?y)").startswith("(the first of 2 facts that match)\nreach(a, b)\n")


def test_why_not(store: Path) -> None:
    assert done("explain", store, "safe(b)") == (
        "safe(b) does not hold\n"
        "└─ safe(?x) :- reach(?x, ?y), not blocked(?y) .\n"
        "   ├─ reach(b, c)  holds\n"
        "   └─ not blocked(c)  fails\n"
    )
    assert "no rule derives such a fact" in done("explain", store, "edge(c, a)")


def test_json_with_the_form_that_others_read(store: Path) -> None:
    found = json.loads(done("explain", store, "reach(a, c)", "--version", 1, "--no-paths", "--format", "json"))
    assert (found["holds"], found["complete"], len(found["proofs"])) == (True, True, 1)
    proof = found["proofs"][0]
    assert proof["height"] == 2
    assert proof["nodes"][proof["conclusion"]]["substitution"] == {"x": "a", "z": "c", "y": "b"}
    assert proof["finalConclusion"] == "reach(a, c)"
    concluded = [one["conclusion"] for one in proof["inferences"]]
    assert concluded[-1] == "reach(a, c)"
    for one in proof["inferences"]:
        assert set(one["premises"]) <= set(concluded)
    assert json.loads(done("explain", store, "safe(b)", "--format", "json"))["whyNot"][0]["failing"] == "not blocked(c)"


def test_a_graph_and_a_page(store: Path) -> None:
    graph = done("explain", store, "safe(a)", "--format", "dot")
    assert graph.startswith("digraph explanation {")
    assert 'label="not blocked(b)  absent"' in graph
    page = done("explain", store, "safe(a)", "--format", "html")
    assert page.count("<details") == page.count("</details>") == 2
    assert "http" not in page


def test_what_is_no_fact_is_refused(store: Path) -> None:
    assert everlog("explain", store, "reach(a, b), edge(a, b)").code == 2
    assert "there is no predicate reached" in everlog("explain", store, "reached(a, b)").err
    assert everlog("explain", store, "reach(a").code == 2


@pytest.mark.usefixtures("spark")
def test_given_facts_have_their_files(tmp_path: Path) -> None:
    """As far as that is known: a predicate of two files has two names, and one of many none."""
    (tmp_path / "rules.dlog").write_text(REACH + "edge(x, y) .")
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "edge.tsv").write_text("c\td\n")
    (tmp_path / "blocked.csv").write_text("e\n")
    place = tmp_path / "s"
    done("init", place, tmp_path / "rules.dlog", "--facts", tmp_path / "edge.csv", "--facts", tmp_path / "blocked.csv")
    assert "edge(a, b)  given (the program or edge.csv)" in done("explain", place, "reach(a, b)")
    assert done("explain", place, "blocked(e)") == "blocked(e)  given (blocked.csv)\n"
    done("update", place, "--add", tmp_path / "more" / "edge.tsv")
    assert "edge(c, d)  given (the program or edge.csv or edge.tsv)" in done("explain", place, "reach(c, d)")
    (node,) = json.loads(done("explain", place, "blocked(e)", "--format", "json"))["proofs"][0]["nodes"]
    assert node == {"kind": "given", "fact": "blocked(e)", "source": "blocked.csv"}
    kb = open_store(place)
    kb.update(add={"edge": [("d", "e")]})
    kb.save(place)
    assert done("explain", place, "edge(a, b)") == "edge(a, b)  given\n"
