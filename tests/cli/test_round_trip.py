"""What is exported from a store and loaded into a new one is the same, in every format and for every value."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, NamedNode, RdfFormat, parse

from everlog.datalog.ntriples import write_term
from everlog.sources.csv_fields import csv_field
from support import nasty
from support.command import done, files, written

pytestmark = pytest.mark.usefixtures("spark")
EMPTY = "q(?x) :- never(?x) ."
ODD = "%3Chttp%3A%2F%2Fodd%3E"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Path:
    """A store with nasty values as arguments, as objects of triples, and blank nodes; and its exports."""
    place = tmp_path_factory.mktemp("original")
    rows = "".join(f"{number},{csv_field(write_term(value))}\n" for number, value in enumerate(nasty.ALL))
    written(place / "facts" / "p.csv", rows)
    written(place / "facts" / f"{ODD}.csv", "1\n")
    a, p = NamedNode("http://a"), NamedNode("http://p")
    triples = [f"{a} {p} {write_term(value)} .\n" for value in nasty.ALL]
    written(place / "facts" / "one.nt", "".join(triples) + f"_:x {p} _:y .\n_:y {p} _:x .\n")
    written(place / "facts" / "two.nt", f"_:x {p} _:x .\n")
    program = written(place / "p.dlog", EMPTY)
    done("init", place / "s", program, "--facts", place / "facts")
    for form in ("csv", "parquet", "nt"):
        done("export", place / "s", "--out", place / form, "--format", form)
    return place


def shape(triples: str) -> object:
    """Triples, with blank nodes told apart by what is said of them."""
    parsed = list(parse(triples.encode(), RdfFormat.N_TRIPLES))
    blank = [(t.subject, t.object) for t in parsed if isinstance(t.subject, BlankNode)]
    loops = sum(s == o for s, o in blank)
    return {str(t) for t in parsed if not isinstance(t.subject, BlankNode)}, len(blank), loops


def test_exports_loaded_again_are_the_same(original: Path, tmp_path: Path) -> None:
    """All formats go into one new store: CSV and Parquet under names of their own, N-Triples as the triples."""
    again = tmp_path / "again"
    again.mkdir()
    for form in ("csv", "parquet"):
        for name in ("p", "triple"):
            shutil.copy(original / form / f"{name}.{form}", again / f"{name}%20from%20{form}.{form}")
    shutil.copy(original / "nt" / "triples.nt", again)
    done("init", tmp_path / "s", written(tmp_path / "p.dlog", EMPTY), "--facts", again)
    for form in ("csv", "nt"):
        done("export", tmp_path / "s", "--out", tmp_path / form, "--format", form)
    before, after = files(original / "csv"), files(tmp_path / "csv")
    assert len(before["p.csv"].encode()) > 100_000
    assert before[f"{ODD}.csv"] == "1\n"
    expected = {f"<http://a> <http://p> {write_term(value)}" for value in nasty.ALL}, 3, 1
    assert shape(files(original / "nt")["triples.nt"]) == expected
    assert shape(files(tmp_path / "nt")["triples.nt"]) == expected
    for form in ("csv", "parquet"):
        assert after[f"p%20from%20{form}.csv"] == before["p.csv"]
        assert _lines(after[f"triple%20from%20{form}.csv"]) == _lines(before["triple.csv"])


def _lines(triples: str) -> object:
    """The lines of a CSV file of triples, and those of blank nodes as in `shape`: fields without commas."""
    lines = triples.split("\n")
    blank = [line.split(",") for line in lines if line.startswith("_:")]
    return [line for line in lines if not line.startswith("_:")], len(blank), sum(s == o for s, _, o in blank)


def test_a_stored_blank_node_is_meant_by_its_label(original: Path, tmp_path: Path) -> None:
    triples = parse(path=str(original / "nt" / "triples.nt"))
    (loop,) = (triple.subject for triple in triples if triple.subject == triple.object)
    assert loop.value.startswith("everlog")
    program = written(tmp_path / "p.dlog", "old(?x) :- [?x, <http://p>, ?x] .")
    written(tmp_path / "first.nt", "_:x <http://p> _:x .\n_:y <http://p> <http://b> .\n")
    done("init", tmp_path / "s", program, "--facts", tmp_path / "first.nt")
    label = done("query", tmp_path / "s", "old(?x)", "--format", "csv").splitlines()[1]
    add = written(tmp_path / "add.nt", f"{label} <http://q> <http://c> .\n")
    delete = written(tmp_path / "delete.nt", f"{label} <http://p> {label} .\n")
    done("update", tmp_path / "s", "--add", add, "--delete", delete)
    assert done("query", tmp_path / "s", "[?x, <http://q>, ?y]", "--format", "csv") == f"x,y\n{label},<http://c>\n"
    assert done("query", tmp_path / "s", "old(?x)", "--format", "csv") == "x\n"
