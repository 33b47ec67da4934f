"""`everlog run`: files in, files out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.command import REACH, done, everlog, files, written

pytestmark = pytest.mark.usefixtures("spark")


def test_results_are_plain_sorted_files(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH + "start(a) . never(?x) :- reach(?x, ?x) .")
    written(tmp_path / "facts" / "edge.csv", 'b,c\na,b\n"x,y",1\n1,2.5\n')
    said = done(
        "run", program, "--facts", tmp_path / "facts", "--out", tmp_path / "out", "--stats", tmp_path / "s.json"
    )
    assert files(tmp_path / "out") == {
        "never.csv": "",
        "reach.csv": '"x,y",1\n"x,y",2.5\n1,2.5\na,b\na,c\nb,c\n',
        "start.csv": "a\n",
    }
    assert said.startswith("materialised: 11 facts (5 explicit, 6 derived) in ")
    stats = json.loads((tmp_path / "s.json").read_text())
    assert stats["facts"] == {"explicit": 5, "total": 11}
    assert {"total", "reasoning"} <= set(stats["seconds"])
    assert set(stats) >= {
        "facts", "derivations", "seconds", "rounds", "engine", "algorithm", "modules", "peak_rss_bytes", "warnings",
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts", "out", "reach.dlog", "s.json"]


def test_several_programs_are_their_union_and_triples_are_ntriples(tmp_path: Path) -> None:
    one = written(tmp_path / "one.dlog", "@prefix : <http://x/> . :B[?x] :- :A[?x] . holds() :- :B[?x] .")
    two = written(tmp_path / "two.dlog", "@prefix : <http://y/> . [?y, :q, ?x] :- [?x, :p, ?y], ?x != ?y . odd(7) .")
    written(tmp_path / "data.ttl", "@prefix x: <http://x/> . @prefix y: <http://y/> . x:a a x:A ; y:p x:b .")
    out = tmp_path / "out"
    out.mkdir()  # empty will do
    done("run", one, two, "--facts", tmp_path / "data.ttl", "--out", out)
    a, b, rdf_type = "<http://x/a>", "<http://x/b>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    triples = [
        (a, "<http://y/p>", b),
        (a, rdf_type, "<http://x/A>"),
        (a, rdf_type, "<http://x/B>"),
        (b, "<http://y/q>", a),
    ]
    assert files(out) == {
        "holds.csv": "\n",
        "odd.csv": "7\n",
        "triple.csv": "".join(f"{','.join(triple)}\n" for triple in sorted(triples)),
        "triples.nt": "".join(f"{' '.join(triple)} .\n" for triple in sorted(triples)),
    }


def test_malformed_input_fails_whole_or_is_skipped_and_kept(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH)
    written(tmp_path / "facts" / "edge.csv", "a,b\nb\nb,c\n")
    out = tmp_path / "out"
    failed = everlog("run", program, "--facts", tmp_path / "facts", "--out", out)
    assert failed.code == 2
    assert "edge.csv" in failed.err and ":2" in failed.err and "Traceback" not in failed.err
    assert not out.exists() and not failed.out
    skipped = everlog("run", program, "--facts", tmp_path / "facts", "--out", out, "--on-error", "skip")
    assert skipped.code == 0, skipped.err
    assert files(out) == {"reach.csv": "a,b\na,c\nb,c\n"}
    assert "warning" in skipped.err
    assert "b" in "".join(files(tmp_path / "out.quarantine").values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts", "out", "out.quarantine", "reach.dlog"]


def test_rows_with_nulls_are_left_out_and_empty_strings_are_quoted(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH)
    facts = written(tmp_path / "edge.csv", 'a,""\n"",c\nb,\n')
    ended = everlog("run", program, "--facts", facts, "--out", tmp_path / "out", "--nulls", "skip")
    assert ended.code == 0, ended.err
    assert "edge: 1 row was left out for a null" in ended.err
    assert files(tmp_path / "out") == {"reach.csv": '"",c\na,""\na,c\n'}


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("everlog.store.publish.publish_outcome", interrupt)
    program = written(tmp_path / "reach.dlog", REACH + "edge(a, b) .")
    ended = everlog("run", program, "--out", tmp_path / "out")
    assert ended.code == 130
    assert ended.err == "everlog: interrupted; nothing was changed\n"
    assert [path.name for path in tmp_path.iterdir()] == ["reach.dlog"]


def test_the_gene_ontology_has_its_published_closure(data: Path, tmp_path: Path, spark: SparkSession) -> None:
    program = written(
        tmp_path / "go.dlog",
        "closure(?x, ?y) :- trixie_cc_edges(?x, _, ?y) . closure(?x, ?z) :- closure(?x, ?y), trixie_cc_edges(?y, _, ?z) .",
    )
    done("run", program, "--facts", data / "go" / "trixie_cc_edges.tsv.gz", "--out", tmp_path / "out")
    published = gzip.decompress((data / "go" / "trixie_cc_closure.tsv.gz").read_bytes()).decode()
    expected = sorted(line.replace("\t", ",") for line in published.splitlines())
    assert (tmp_path / "out" / "closure.csv").read_text().splitlines() == expected


def test_without_a_folder_the_first_facts_are_printed(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH + "some() :- edge(?x, ?y) . never(?x) :- reach(?x, ?x) .")
    facts = written(tmp_path / "edge.csv", "".join(f"n{i},n{i + 1}\n" for i in range(5)) + 'n5,"two words, or 3"\n')
    summary, _, shown = done("run", program, "--facts", facts).partition("\n")
    assert summary.startswith("materialised: 28 facts (6 explicit, 22 derived) in ")
    assert shown.splitlines() == [
        "",
        "reach: 21 facts",
        *(f"  n0  n{i}" for i in range(1, 6)),
        '  n0  "two words, or 3"',
        *(f"  n1  n{i}" for i in range(2, 6)),
        "  … and 11 more",
        "",
        "some: 1 fact",
        "  ()",
        "",
        "never: 0 facts",
        "",
        "--out DIR writes all facts to files",
    ]


def test_output_chooses_the_predicates_that_are_printed_or_written(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH + "node(?x) :- edge(?x, _) . [?x, edge, ?y] :- edge(?x, ?y) .")
    facts = written(tmp_path / "edge.csv", "a,b\n")
    chosen = done("run", program, "--facts", facts, "--output", "node,edge", "--output", "reach").partition("\n")[2]
    assert chosen == "\nnode: 1 fact\n  a\n\nedge: 1 fact\n  a  b\n\nreach: 1 fact\n  a  b\n"
    done("run", program, "--facts", facts, "--output", "node,edge", "--out", tmp_path / "out")
    assert files(tmp_path / "out") == {"edge.csv": "a,b\n", "node.csv": "a\n"}
    refused = everlog("run", program, "--facts", facts, "--output", "raech")
    assert refused.code == 2
    assert refused.err == "everlog: there is no predicate raech; did you mean reach?\n"


def test_rules_are_profiled_on_the_screen_on_a_page_and_in_the_numbers(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH)
    store, page = tmp_path / "s", tmp_path / "rules.html"
    first = written(tmp_path / "one" / "edge.csv", "a,b\n")
    said = done("init", store, program, "--facts", first, "--profile-rules")
    assert "reach(?x, ?y) :- edge(?x, ?y) ." in said and "seconds by stratum: " in said
    more = written(tmp_path / "two" / "edge.csv", "b,c\n")
    done("update", store, "--add", more, "--profile-page", page, "--stats", tmp_path / "s.json")
    assert "reach(?x, ?y) :- edge(?x, ?y) ." in page.read_text()
    stats = json.loads((tmp_path / "s.json").read_text())
    assert sum(row["derivations"] for row in stats["profile"]["rules"]) == sum(stats["derivations"].values())
    refused = everlog("run", program, "--profile-page", tmp_path)
    assert refused.err == f"everlog: --profile-page {tmp_path}: this is a folder; give a file\n"


def test_equalities_are_printed_as_the_triples_that_they_are(tmp_path: Path) -> None:
    program = written(tmp_path / "same.dlog", "?x = ?y :- key(?x, ?k), key(?y, ?k) . key(a, 1) . key(b, 1) .")
    said = done("run", program, "--equality", "rewrite")
    assert "\ntriple: 2 facts\n  a  <http://www.w3.org/2002/07/owl#sameAs>  b\n" in said
