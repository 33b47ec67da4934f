"""`init`, `update`, `query`, `export` and `info` on one store after another."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from support.command import REACH, done, everlog, files, written

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Path:
    """Version 1: a → b → c. Version 2: b → c is gone, b → d and d → 5 are new."""
    place = tmp_path_factory.mktemp("store")
    program = written(
        place / "reach.dlog",
        "@prefix ex: <http://example.org/> .\n" + REACH + "safe(?x) :- reach(?x, ?y), not blocked(?y) .",
    )
    written(place / "facts" / "edge.csv", "a,b\nb,c\n")
    written(place / "facts" / "blocked.csv", "c\n")
    done("init", place / "s", program, "--facts", place / "facts", "--stats", place / "init.json")
    written(place / "add" / "edge.csv", "b,d\nd,5\n")
    written(place / "delete" / "edge.csv", "b,c\nnot,there\n")
    done("update", place / "s", "--add", place / "add", "--delete", place / "delete", "--changes", place / "changes",
         "--stats", place / "update.json")  # fmt: skip
    return place / "s"


def test_an_update_says_what_it_did(store: Path) -> None:
    assert files(store.parent / "changes") == {
        "added/reach.csv": "a,5\na,d\nb,5\nb,d\nd,5\n",
        "added/safe.csv": "b\nd\n",
        "deleted/reach.csv": "a,c\nb,c\n",
        "deleted/safe.csv": "",
    }
    assert json.loads((store.parent / "init.json").read_text())["facts"] == {"explicit": 3, "total": 7}
    assert json.loads((store.parent / "update.json").read_text())["facts"] == {"explicit": 4, "total": 13}


def test_goals_have_answers_in_three_forms(store: Path) -> None:
    goal = "reach(?from, ?to), not edge(?from, ?to)"
    assert done("query", store, goal, "--format", "csv") == "from,to\na,5\na,d\nb,5\n"
    assert json.loads(done("query", store, goal, "--format", "json")) == [
        {"from": "a", "to": 5}, {"from": "a", "to": "d"}, {"from": "b", "to": 5},
    ]  # fmt: skip
    table = done("query", store, goal)
    assert next(line.split() for line in table.splitlines() if line.strip()) == ["from", "to"]
    assert ["a", "5"] in [line.split() for line in table.splitlines()]
    assert table.endswith("3 answers\n")


def test_a_limit_says_how_many_more_answers_there_are(store: Path) -> None:
    ended = everlog("query", store, "reach(?x, ?y)", "--limit", 2, "--format", "csv")
    assert (ended.out, ended.err) == ("x,y\na,5\na,b\n", "… 4 more\n")
    ended = everlog("query", store, "reach(?x, ?y)", "--limit", 6, "--format", "csv")
    assert ended.out.count("\n") == 7 and ended.err == ""
    assert everlog("query", store, "reach(?x, ?y)", "--limit", 0).code == 2


@pytest.mark.parametrize(
    ("goal", "form", "answer"),
    [
        ("reach(a, 5)", "table", "true"),
        ("reach(a, 5)", "csv", "true"),
        ("reach(a, 5)", "json", "true"),
        ('reach(a, "5")', "table", "false"),
        ("reach(_, d)", "csv", "true"),
        ("edge(unheard, of)", "json", "false"),
    ],
)
def test_a_goal_without_variables_is_true_or_false(store: Path, goal: str, form: str, answer: str) -> None:
    assert done("query", store, goal, "--format", form) == f"{answer}\n"


def test_a_wrong_goal_is_a_mistake(store: Path) -> None:
    for goal, message in (("reach(?x", "<goal>:1:"), ("nope:p[?x, ?y]", "nope"), ("not reach(?x, ?y)", "?x")):
        ended = everlog("query", store, goal)
        assert ended.code == 2 and message in ended.err, ended.err


def test_exports_choose_facts_and_versions(store: Path, tmp_path: Path) -> None:
    done("export", store, "--out", tmp_path / "all")
    assert files(tmp_path / "all")["edge.csv"] == "a,b\nb,d\nd,5\n"
    assert files(tmp_path / "all")["reach.csv"] == "a,5\na,b\na,d\nb,5\nb,d\nd,5\n"
    done("export", store, "--out", tmp_path / "explicit", "--explicit")
    assert files(tmp_path / "explicit") == {
        "blocked.csv": "c\n", "edge.csv": "a,b\nb,d\nd,5\n", "reach.csv": "", "safe.csv": "",
    }  # fmt: skip
    done("export", store, "--out", tmp_path / "old", "--derived", "--version", 1)
    assert files(tmp_path / "old") == {
        "blocked.csv": "",
        "edge.csv": "",
        "reach.csv": "a,b\na,c\nb,c\n",
        "safe.csv": "a\n",
    }
    missing = everlog("export", store, "--out", tmp_path / "none", "--version", 9)
    assert missing.code == 2 and "has no version 9" in missing.err and not (tmp_path / "none").exists()


def test_info_describes_the_store(store: Path) -> None:
    said = done("info", store)
    numbers, modules = re.split(r"\n\s*module\b", said)
    lines = {words[0]: words[1:] for line in numbers.splitlines() if (words := line.split())}
    assert "reach goes on along edge" in modules
    assert lines["version"] == ["2", "(2", "kept:", "1–2)"]
    assert lines["program"] == ["3", "rules,", "0", "facts"]
    assert lines["dictionary"] == ["7", "terms"] or int(lines["dictionary"][0]) >= 5
    assert lines["reach"] == ["2", "0", "6", "6"]
    assert lines["edge"] == ["2", "3", "0", "3"]
    assert lines["all"] == ["4", "9", "13"]
    assert "engine=auto" in said


def test_a_failed_update_changes_nothing(store: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file() and path.name != "LOCK"}
    wrong = written(tmp_path / "edge.csv", "a,b,c\n")
    ended = everlog("update", store, "--add", wrong, "--changes", tmp_path / "changes")
    assert ended.code == 2 and "edge" in ended.err
    assert not (tmp_path / "changes").exists()
    after = {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file() and path.name != "LOCK"}
    assert after == before


def test_the_gene_ontology_moves_from_release_to_release(data: Path, tmp_path: Path) -> None:
    def edges(release: str) -> set[str]:
        return set(gzip.decompress((data / "go" / f"{release}_cc_edges.tsv.gz").read_bytes()).decode().splitlines())

    old, new = edges("bullseye"), edges("bookworm")
    program = written(
        tmp_path / "go.dlog",
        "closure(?x, ?y) :- edge(?x, _, ?y) . closure(?x, ?z) :- closure(?x, ?y), edge(?y, _, ?z) .",
    )
    for name, lines in (("old", old), ("add", new - old), ("delete", old - new)):
        written(tmp_path / name / "edge.tsv", "".join(f"{line}\n" for line in sorted(lines)))
    done("init", tmp_path / "s", program, "--facts", tmp_path / "old")
    done("update", tmp_path / "s", "--add", tmp_path / "add", "--delete", tmp_path / "delete")
    done("export", tmp_path / "s", "--out", tmp_path / "out", "--derived")
    published = gzip.decompress((data / "go" / "bookworm_cc_closure.tsv.gz").read_bytes()).decode()
    expected = sorted(line.replace("\t", ",") for line in published.splitlines())
    assert (tmp_path / "out" / "closure.csv").read_text().splitlines() == expected
