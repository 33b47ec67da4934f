"""Facts as files: sorted lines, one plain file each, and the same values when they are read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, parse

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.values import XSD, Value, identity
from everlog.errors import EverlogError
from everlog.sources.file_names import file_stem, predicate_of
from everlog.sources.typed_columns import NTRIPLES, typed_columns
from everlog.store import publish
from everlog.store.publish import Format, OutcomeFormat, published_predicates
from support import nasty
from support.filing import filed
from support.reads import rows_of_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, *rows: tuple[Value, ...]) -> DataFrame:
    """Facts in text form."""
    names = ", ".join(f"a{number} string" for number in range(len(rows[0])))
    return spark.createDataFrame([tuple(map(write_term, row)) for row in rows], names)


def export(
    spark: SparkSession,
    facts: Mapping[str, Sequence[tuple[Value, ...]]],
    folder: Path,
    form: Format,
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> list[str]:
    with TemporaryDirectory() as scratch:
        return publish.export(spark, filed(Path(scratch), facts), folder, form, prefixes)


def publish_outcome(
    spark: SparkSession,
    predicates: Sequence[str],
    facts: Mapping[str, Sequence[tuple[Value, ...]]],
    folder: Path,
    form: OutcomeFormat = "nt",
) -> list[str]:
    with TemporaryDirectory() as scratch:
        return publish.publish_outcome(spark, predicates, filed(Path(scratch), facts), folder, form)


def keys(rows: list[tuple[Value, ...]]) -> set[tuple[object, ...]]:
    return {tuple(identity(value) for value in row) for row in rows}


def test_csv_lines_are_sorted_by_their_bytes(spark: SparkSession, tmp_path: Path) -> None:
    names = ["b", "a", "Z", "\U0001f600", "\uffee", "\u00e9", "a b", "a,b", 'a"b', "10", ""]
    export(spark, {"p": [*((name,) for name in names), (10,), (9,)]}, tmp_path, "csv")
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]
    lines = (tmp_path / "p.csv").read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert lines == sorted(lines)
    assert set(lines) >= {b"9", b"10", b'"10"', b'"a,b"', b'"a""b"', "\U0001f600".encode()}
    assert len(lines) == len(names) + 2


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_nasty_values_come_back(spark: SparkSession, tmp_path: Path, form: Format) -> None:
    from everlog.sources.read_facts import read_paths

    kinds = (nasty.STRINGS, nasty.INTEGERS, nasty.FLOATS, nasty.BOOLEANS)
    facts = {
        "mixed": [(value, number) for number, value in enumerate(nasty.ALL)],
        "typed": list(zip(*(islice(cycle(kind), len(nasty.STRINGS)) for kind in kinds), strict=True)),
        "<http://example.org/odd name/..>": [(1,)],
        "_hidden": [(2,)],
    }
    export(spark, facts, tmp_path, form)
    read = read_paths(spark, [tmp_path])
    assert set(read.arities) == set(facts)
    for predicate, rows in facts.items():
        found = set(rows_of_read(read, predicate))
        assert found == {tuple(map(write_term, row)) for row in rows}


def test_parquet_has_columns_of_their_own_types(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(1, "a\n", 0.5, True, NamedNode("u:a"), 1), (2**62, "\u00e9", -0.0, False, "b", 1.0)]
    export(spark, {"p": rows}, tmp_path, "parquet")
    table = pq.read_table(tmp_path / "p.parquet")
    assert [str(field.type) for field in table.schema] == ["int64", "string", "double", "bool", "string", "string"]
    assert [field.metadata for field in table.schema][4:] == [{b"everlog": b"ntriples"}] * 2
    again = spark.read.parquet(str(tmp_path / "p.parquet"))
    assert [field.metadata for field in again.schema.fields] == [{}] * 4 + [NTRIPLES] * 2
    kb = everlog.KnowledgeBase(everlog.parse_program(""))
    kb.add({"p": table})
    assert keys(kb.rows("p")) == keys(rows)


def test_a_literal_that_is_no_python_number_stays_a_term(spark: SparkSession) -> None:
    odd = Literal("007", datatype=NamedNode(XSD + "integer"))
    typed = typed_columns(frame(spark, (7, 7), (odd, 8)))
    assert [field.dataType.typeName() for field in typed.schema.fields] == ["string", "long"]
    assert {row.a0 for row in typed.collect()} == {write_term(7), write_term(odd)}


def test_triples_are_ntriples_and_what_is_no_rdf_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    a, p = NamedNode("http://a"), NamedNode("http://p")
    triples = [(a, p, value) for value in nasty.ALL]
    warnings = export(spark, {"triple": [*triples, ("text", p, a), (a, 5, a)], "other": [(1,)]}, tmp_path, "nt")
    assert [path.name for path in tmp_path.iterdir()] == ["triples.nt"]
    read = {str(triple.object) for triple in parse(path=str(tmp_path / "triples.nt"))}
    assert read == {write_term(value) for value in nasty.ALL}
    assert "2 facts of triple" in warnings[0]
    assert "left out: other" in warnings[1]
    with pytest.raises(EverlogError, match="no triples"):
        export(spark, {"other": [(1,)]}, tmp_path, "nt")


def test_turtle_has_the_same_triples_by_subject(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"http://ex.org/{name}" for name in ("a", "b", "c/d", "e.", "-f", "", "7", "g:h", "a%20b", "\u00e9")]
    nodes = [*map(NamedNode, names), NamedNode("http://ex.org/deep#x"), BlankNode("b")]
    p, q = NamedNode("http://ex.org/p"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    odd = [Literal(text, datatype=NamedNode(XSD + kind)) for kind, text in (
        ("integer", "007"), ("integer", "x"), ("decimal", "1.50"), ("decimal", "5."), ("boolean", "1"), ("double", "1e3"),
        ("date", "2026-01-01"))]  # fmt: skip
    rows: list[tuple[Value, ...]] = [(node, p, other) for node in nodes for other in nodes]
    rows += [(nodes[0], p, value) for value in (*nasty.ALL, *odd)]
    rows += [(node, q, nodes[1]) for node in nodes] + [(nodes[0], q, nodes[2])]
    facts = {"triple": [*rows, ("no", p, nodes[0])]}
    prefixes = {"": "http://ex.org/", "deep": "http://ex.org/deep#", "odd-one": "http://ex.org/c/"}
    forms: list[Format] = ["nt", "ttl"]
    for form in forms:
        assert "1 fact of triple" in export(spark, facts, tmp_path, form, prefixes)[0]
    nt, ttl = ({str(triple) for triple in parse(path=str(tmp_path / f"triples.{form}"))} for form in ("nt", "ttl"))
    assert ttl == nt
    text = (tmp_path / "triples.ttl").read_text()
    assert "\n:a a :b, odd-one:d ;\n    :p " in text and "@prefix odd-one: <http://ex.org/c/> .\n" in text
    assert text.count("\n:a ") == 1
    subjects = [line.split()[0] for line in text.split("\n\n", 1)[1].split("\n") if line and line[0] != " "]
    assert len(subjects) == len(set(subjects)) == len(nodes)


def test_an_outcome_has_the_predicates_of_the_program(spark: SparkSession, tmp_path: Path) -> None:
    program = everlog.parse_program("q(?x) :- p(?x) . holds() :- p(?x) . r(1) . never(?x) :- p(?x), no(?x) .")
    assert published_predicates(program) == ["q", "holds", "never", "r"]
    publish_outcome(spark, published_predicates(program), {"q": [(2,), (1,)], "holds": [()], "r": [(1,)]}, tmp_path)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {"q.csv": "1\n2\n", "holds.csv": "\n", "r.csv": "1\n", "never.csv": ""}


def test_few_facts_are_one_job(spark: SparkSession, tmp_path: Path) -> None:
    triple = (NamedNode("http://a"), NamedNode("http://p"), 1)
    facts: dict[str, list[tuple[Value, ...]]] = {"p": [(1, 2)], "q": [("a",)], "holds": [()], "triple": [triple]}
    spark.sparkContext.setJobGroup("few facts", "")
    try:
        publish_outcome(spark, [*facts, "none"], facts, tmp_path)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert len(list(tmp_path.iterdir())) == 6
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup("few facts")) == 1


def test_facts_as_souffle_has_them(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("two words", 5),
        ('say "hi"', -1.5),
        ("", True),
        ("<init>", NamedNode("http://a")),
        ("a\tb", 1),
        ("a\nb", 2),
    ]
    warnings = publish_outcome(spark, ["p", "holds", "none"], {"p": rows, "holds": [()]}, tmp_path, "facts")
    assert warnings == ["p.facts lacks 2 facts with a tab or a line break in them"]
    true = '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "p.facts": f'\t{true}\n<init>\t<http://a>\nsay "hi"\t-1.5\ntwo words\t5\n',
        "holds.facts": "()\n",
        "none.facts": "",
    }


@pytest.mark.parametrize(
    "predicate", ["p", "<http://a/b#c>", "a b", "..", ".", "_x", "%41", "50%", "~", "\u00e9/\\", "", "A*?"]
)
def test_names_of_files_are_safe_and_reversible(predicate: str) -> None:
    stem = file_stem(predicate)
    assert predicate_of(stem) == predicate
    assert stem[0] not in "._" and not set(stem) & set('/\\:*?"<>| #')


def test_a_name_that_no_file_can_have_is_a_mistake() -> None:
    with pytest.raises(EverlogError, match="too long"):
        file_stem("x" * 300)
