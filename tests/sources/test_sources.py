"""Facts from files: every format, and what malformed input gets."""

from __future__ import annotations

import bz2
import gzip
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import XSD
from everlog.sources.read_facts import Read, SourceMistake, read_frames, read_paths
from support.nasty import BOOLEANS, FLOATS, INTEGERS, STRINGS
from support.reads import rows_of_read as rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NTRIPLES = {"everlog": "ntriples"}


def integer(number: int) -> str:
    return f'"{number}"^^<{XSD}integer>'


# Formats


@pytest.fixture(scope="module")
def read(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Read:
    """One folder with a file of every kind, read once."""
    folder = tmp_path_factory.mktemp("facts")
    (folder / "edge.csv").write_text('a,1\n"5",<http://x>\n_:b,"x"@en\n', encoding="utf-8")
    (folder / "spanning.csv").write_bytes(b'"two\r\nlines",1\r\nplain,2\r\n"a ""b""\n",3')
    (folder / "we[ir]d {x}*%41.tsv").write_text('a,b\t""\n007\t-0\n', encoding="utf-8")
    (folder / "Method.facts").write_text('<A: void <init>()>\t"q"\t\t-1\t2.5\n_:x\ta"b\t \t007\t5\n', encoding="utf-8")
    (folder / "holds.facts").write_text("()\n", encoding="utf-8")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(b"1\n2\n"))
    (folder / "squeezed.tsv.bz2").write_bytes(bz2.compress(b"1\t2\n"))
    (folder / "arrays.jsonl").write_text(f'["a",1]\n["{"é" * 3}\\n",1.0]\n[true,{"9" * 30}]\n', encoding="utf-8")
    (folder / "objects.jsonl").write_text('{"to":1,"from":2}\n{"from":4,"to":3}\n', encoding="utf-8")
    (folder / "numbered.jsonl").write_text('{"a1":1,"a0":2}\n', encoding="utf-8")
    pq.write_table(pa.table({"s": STRINGS}), folder / "strings.parquet")
    pq.write_table(pa.table({"i": INTEGERS}), folder / "integers.parquet")
    pq.write_table(pa.table({"f": FLOATS, "n": range(len(FLOATS))}), folder / "floats.parquet")
    pq.write_table(pa.table({"b": BOOLEANS, "small": pa.array([1, 2], pa.int8())}), folder / "mixed.parquet")
    terms = pa.table(
        {"x.y": ["_:a", "_:everlog9", '"007"^^<http://a>', f'"a"^^<{XSD}string>']},
        schema=pa.schema([pa.field("x.y", pa.string(), metadata=NTRIPLES)]),
    )
    pq.write_table(terms, folder / "terms.parquet")
    spark.range(3).repartition(2).write.parquet(str(folder / "parts.parquet"))
    spark.range(3).write.orc(str(folder / "table.orc"))
    (folder / "there.csv").write_text("\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "unknown.csv").write_text("", encoding="utf-8")
    (folder / "blank.csv").write_text('""\nx\n', encoding="utf-8")
    (folder / "_SUCCESS").write_text("", encoding="utf-8")
    (folder / ".hidden").write_text("", encoding="utf-8")
    arities = {"there": 0, "empty": 2, "holds": 0}
    return read_paths(spark, [folder], arities=arities)


def test_csv_and_tsv(read: Read) -> None:
    (blank,) = [row[0] for row in rows(read, "edge") if str(row[0]).startswith("_:")]
    assert rows(read, "edge") == sorted([('"a"', integer(1)), ('"5"', "<http://x>"), (blank, '"x"@en')])
    assert rows(read, "we[ir]d {x}*A") == [('"007"', integer(0)), ('"a,b"', '""')]
    assert rows(read, "packed") == [(integer(1),), (integer(2),)]
    assert rows(read, "squeezed") == [(integer(1), integer(2))]


def test_fields_of_souffle_are_what_stands_between_tabs(read: Read) -> None:
    assert rows(read, "Method") == sorted(
        [
            ('"<A: void <init>()>"', r'"\"q\""', '""', integer(-1), f'"2.5E0"^^<{XSD}double>'),
            ('"_:x"', r'"a\"b"', '" "', '"007"', integer(5)),
        ]
    )
    assert rows(read, "holds") == [(True,)]


def test_a_quoted_field_may_span_lines(read: Read) -> None:
    assert rows(read, "spanning") == sorted(
        [(r'"two\r\nlines"', integer(1)), ('"plain"', integer(2)), (r'"a \"b\"\n"', integer(3))]
    )


def test_headers_are_no_facts(spark: SparkSession, tmp_path: Path) -> None:
    """Not in files that are read whole, nor in those of a table, nor where files with headers were joined."""
    for name, text in {
        "edge.csv": "from,to\n1,2\nfrom,to\n3,4\n",
        "note.tsv": '\ufeffid\ttext\r\n1\t"two\nlines"\r\nid\ttext\r\n',
        "many.csv/1.csv": "x\n5\n6\n",
        "many.csv/2.csv": "y\nx\n",
        "none.csv": "a,b\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    found = read_paths(spark, [tmp_path], header=True)
    assert found.warnings == []
    assert rows(found, "edge") == [(integer(1), integer(2)), (integer(3), integer(4))]
    assert rows(found, "note") == [(integer(1), '"two\\nlines"')]
    assert rows(found, "many") == [(integer(5),), (integer(6),), ('"x"',)]
    assert rows(found, "none") == []
    warnings = read_paths(spark, [tmp_path]).warnings
    assert [warning.partition(": ")[0] for warning in warnings] == [str(tmp_path / "many.csv" / "1.csv")]
    (tmp_path / "edge.csv").write_text("from,to\n1,2,3\n", encoding="utf-8")
    with pytest.raises(SourceMistake, match=r"edge.csv:2: 3 fields, where 2 fields are expected"):
        read_paths(spark, [tmp_path / "edge.csv"], header=True)
    (tmp_path / "edge.csv").write_bytes(b"n\xe4me,to\n1,2\n")
    with pytest.raises(SourceMistake, match=r"edge.csv:1: byte 2 of the line \(0xe4\) is not UTF-8"):
        read_paths(spark, [tmp_path / "edge.csv"], header=True)


def test_blank_lines_are_read_by_the_arity(read: Read) -> None:
    assert read.arities["there"] == 0
    assert rows(read, "there") == [(True,)]
    assert rows(read, "blank") == [('""',), ('"x"',)]


def test_empty_files(read: Read) -> None:
    assert read.arities["empty"] == 2
    assert rows(read, "empty") == []
    assert "unknown" not in read.arities


def test_json_lines(read: Read) -> None:
    true = f'"true"^^<{XSD}boolean>'
    expected = [('"a"', integer(1)), (r'"ééé\n"', f'"1.0E0"^^<{XSD}double>'), (true, integer(int("9" * 30)))]
    assert rows(read, "arrays") == sorted(expected)
    assert rows(read, "objects") == [(integer(1), integer(2)), (integer(3), integer(4))]
    assert rows(read, "numbered") == [(integer(2), integer(1))]


def test_parquet_and_orc(read: Read) -> None:
    assert rows(read, "strings") == sorted((write_term(value),) for value in STRINGS)
    assert rows(read, "integers") == sorted((write_term(value),) for value in INTEGERS)
    assert rows(read, "floats") == sorted((write_term(x), integer(n)) for n, x in enumerate(FLOATS))
    assert rows(read, "mixed") == sorted((write_term(x), integer(n + 1)) for n, x in enumerate(BOOLEANS))
    three = [(integer(number),) for number in range(3)]
    assert rows(read, "parts") == rows(read, "table") == three


def test_parquet_columns_of_terms(read: Read) -> None:
    found = [row[0] for row in rows(read, "terms")]
    assert set(found) >= {"_:everlog9", '"007"^^<http://a>', '"a"'}
    assert len(found) == 4
    assert "_:a" not in found


def test_a_clean_folder_has_nothing_to_report(read: Read) -> None:
    assert (read.warnings, read.skipped) == ([], 0)


def test_rdf(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(
        '<http://a> <http://p> _:x .\n# comment\n\n_:everlog7 <http://p> "\\u0041" .', encoding="utf-8"
    )
    (tmp_path / "b.nt.gz").write_bytes(gzip.compress(b"<http://b> <http://p> _:x .\r\n"))
    (tmp_path / "c.nq").write_text(
        "<http://c> <http://p> <http://o> <http://g> .\n<http://c> <http://p> <http://d> .\n", encoding="utf-8"
    )
    (tmp_path / "d.ttl").write_text("<http://d> <http://p> [ <http://q> 1 ], <rel> .", encoding="utf-8")
    (tmp_path / "e.trig.gz").write_bytes(gzip.compress(b"<http://g> { <http://e> <http://p> _:x }"))
    (tmp_path / "f.rdf").write_text(
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
        '<r:Description r:about="http://f"><x:p xml:lang="en">t</x:p></r:Description></r:RDF>',
        encoding="utf-8",
    )
    read = read_paths(spark, [tmp_path, tmp_path / "a.nt"])
    triples, quads = rows(read, "triple"), rows(read, "quad")
    named = {row[:2]: row[2] for row in triples if str(row[2]).startswith("_:")}
    nodes = {
        named["<http://a>", "<http://p>"],
        named["<http://b>", "<http://p>"],
        named["<http://d>", "<http://p>"],
        quads[1][2],
    }
    assert len(nodes) == 4, "blank nodes of different files are different"
    assert [row for row in triples if row[2] not in nodes] == sorted(
        [
            ("_:everlog7", "<http://p>", '"A"'),
            ("<http://c>", "<http://p>", "<http://d>"),
            ("<http://d>", "<http://p>", f"<file://{tmp_path}/rel>"),
            (named["<http://d>", "<http://p>"], "<http://q>", integer(1)),
            ("<http://f>", "<http://x/p>", '"t"@en'),
        ],
        key=lambda row: [str(term) for term in row],
    )
    assert [(row[0], row[3]) for row in quads] == [("<http://c>", "<http://g>"), ("<http://e>", "<http://g>")]
    (warning,) = read.warnings
    assert warning.startswith(
        "2 statements are in named graphs: they are kept as the predicate quad; rules over triple"
    )
    again = read_paths(spark, [tmp_path])
    assert rows(again, "triple") == triples, "a file's blank nodes are named alike each time"
    for done in (read, again):
        done.release()


def test_blocks_and_problems_are_in_files_until_they_are_released(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, facts = tmp_path / "scratch", tmp_path / "facts"
    for folder in (scratch, facts):
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    (facts / "p.csv").write_text("a,b\nc\n", encoding="utf-8")
    read = read_paths(spark, [facts], on_error="skip")
    assert (read.skipped, read.sizes) == (1, {"p": 1})
    assert rows(read, "p") == [('"a"', '"b"')]
    (folder,) = scratch.iterdir()
    assert {file.suffix for file in folder.iterdir()} == {".numbers", ".texts", ".problems"}
    read.release()
    assert not list(scratch.iterdir())


def test_a_dataframe(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS `a.b`, 'x\\ny' AS y, '_:b' AS z, true AS t, 1.5D AS d")
    frame = frame.withMetadata("z", NTRIPLES)
    read = read_frames(spark, {"p": frame})
    assert read.warnings == []
    assert rows(read, "p") == [(integer(1), r'"x\ny"', "_:b", f'"true"^^<{XSD}boolean>', f'"1.5E0"^^<{XSD}double>')]
    joined = spark.sql("SELECT 1 AS x, 2 AS x")
    assert rows(read_frames(spark, {"p": joined}), "p") == [(integer(1), integer(2))]
    with pytest.raises(SourceMistake, match="the DataFrame for p: the column x is of type binary, and facts hold"):
        read_frames(spark, {"p": spark.sql("SELECT X'00' AS x")})
    with pytest.raises(SourceMistake, match="the DataFrame for p: the column x is null, and a fact holds no nulls"):
        read_frames(spark, {"p": spark.sql("SELECT CAST(NULL AS INT) AS x")})
    terms = spark.sql("SELECT '<http://a' AS x").withMetadata("x", NTRIPLES)
    with pytest.raises(SourceMistake, match="the DataFrame for p: the column x: '<http://a' is not an N-Triples term"):
        everlog.KnowledgeBase(everlog.parse_program("")).add({"p": terms})


# Malformed input, many kinds in one reading: (line, what is said about it). None: a sound line.

BAD_CSV = [
    (b"a,b", None),
    (b"a", "1 field, where 2 fields are expected"),
    (b"a,b,c", "3 fields, where 2 fields are expected"),
    (b"", "an empty line, where 2 fields are expected"),
    (b'"a"b,c', "field 1: 'b' follows the closing quote, where a delimiter or the end of the line is expected"),
    (b'a,b"c', "field 2: a quote inside the unquoted field 'b\"c'; quote the field and double the quotes in it"),
    (b"<no iri>,b", "field 1: '<no iri>' is not an N-Triples term: Invalid IRI code point ' '"),
    (b"a,_:", "field 2: '_:' is not an N-Triples term"),
    (b"a,1.0e999", "field 2: '1.0e999' is too large for a float"),
    (b"a,\xff", "byte 3 of the line (0xff) is not UTF-8"),
    (b"c,d", None),
]
BAD_NT = [
    (b"<http://a> <http://p> <http://b> .", None),
    (b"<http://a> <http://p> <http://b>", "column 33: Triples must be followed by a dot"),
    (b"<http://a> <http://p> .", "column 23: The object of a triple must be"),
    (b"<a> <http://p> <http://b> .", "column 1: No scheme found in an absolute IRI"),
    (b"<http://a b> <http://p> <http://b> .", "column 1: Invalid IRI code point ' '"),
    (b'"a" <http://p> <http://b> .', "column 1: The subject of a triple must be an IRI or a blank node"),
    (b"<http://a> _:p <http://b> .", "column 12: The predicate of a triple must be an IRI"),
    (b'<http://a> <http://p> "b .', "column 23: Unexpected end"),
    (b'<http://a> <http://p> "\\x" .', "column 24: Unexpected escape character"),
    (b'<http://a> <http://p> "b"@ .', "column 27: A language code"),
    (b"<http://a> <http://p> <http://b> <http://g> .", "column 34: Quads must be followed by a dot"),
    (b"<http://a> <http://p> <http://b> . <http://a>", "column 36: Only a single triple or quad"),
    (b"<http://a> <http://p> <<( <http://a> <http://p> <http://b> )>> .", "a triple inside a triple is not supported"),
    (b'<http://a> <http://p> "\xc3" .', "byte 24 of the line (0xc3) is not UTF-8"),
    (b"<http://a> <http://p> <http://c> .", None),
]
BAD_JSON = [
    (b'["a", 1]', None),
    (b'["a", 1', "column 8: not JSON: "),
    (b"5", "a fact is an array or an object, not a number"),
    (b'["a"]', "1 value, where 2 are expected"),
    (b'["a", null]', "value 2 is null, and a fact holds no nulls; fill it in"),
    (b'["a", [1]]', "value 2 is an array; a fact holds strings, numbers and booleans"),
    (b'["a", NaN]', "NaN is not JSON"),
    (b'["a", 1e999]', "value 2 is too large for a float"),
    (b'["a", "\\ud800"]', "value 2 holds a lone surrogate, which is no character"),
    (b'{"a0": 1, "b": 2}', "the keys a0, b, where a0, a1 are expected"),
]
BAD_LINES = {"lines.csv": BAD_CSV, "lines.nt": BAD_NT, "lines.jsonl": BAD_JSON}
BAD_FILES = {
    "broken.ttl": (
        b"<http://a> <http://p>\n<http://b> ;\n<http://q> oops .",
        3,
        "column 12: oops is not a valid RDF object",
    ),
    "broken.rdf": (b"<rdf:RDF>", None, "Unknown prefix rdf:"),
    "undecodable.ttl": (b'<http://a> <http://p>\n "\xff" .', 2, "column 3: Invalid UTF-8"),
    "damaged.ttl.gz": (b"not packed", None, "cannot be read: Not a gzipped file"),
    "cut.trig.gz": (
        gzip.compress(b"<http://a> <http://p> <http://b> ." * 100)[:-9],
        None,
        "cannot be read: Compressed file ended",
    ),
    "unclosed.csv": (b'a\n"b\nc\n', 2, "a quoted field does not end"),
}


def test_malformed_lines_and_files_are_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    folder, quarantine = tmp_path / "facts", tmp_path / "quarantine"
    folder.mkdir()
    for name, lines in BAD_LINES.items():
        (folder / name).write_bytes(b"\n".join(line for line, _ in lines) + b"\n")
    for name, (content, _, _) in BAD_FILES.items():
        (folder / name).write_bytes(content)
    terms = pa.schema([pa.field("t", pa.string(), metadata=NTRIPLES), pa.field("n", pa.int64())])
    pq.write_table(pa.table({"t": ["_:x", "oops", "_:y"], "n": [1, 2, None]}, schema=terms), folder / "rows.parquet")
    read = read_paths(spark, [folder], on_error="skip", quarantine=quarantine)

    (file,) = quarantine.iterdir()
    problems = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    said = {(Path(problem["file"]).name, problem["line"]): problem for problem in problems}
    expected = {
        (name, number): (reason, line.decode("utf-8", "replace"))
        for name, lines in BAD_LINES.items()
        for number, (line, reason) in enumerate(lines, start=1)
        if reason is not None
    } | {(name, line): (reason, None) for name, (_, line, reason) in BAD_FILES.items()}
    in_tables = {key for key in said if key[0] == "rows.parquet"}
    assert said.keys() - in_tables == expected.keys()
    wrong = {
        key: said[key]
        for key, (reason, text) in expected.items()
        if not said[key]["reason"].startswith(reason) or text not in (None, said[key]["text"])
    }
    assert wrong == {}
    in_rows = sorted(problem["reason"] for problem in problems if problem["file"].endswith("rows.parquet"))
    assert in_rows[0].startswith("the column n is null, and a fact holds no nulls")
    assert in_rows[1].startswith("the column t: 'oops' is not an N-Triples term")

    kinds = sum(reason is not None for lines in BAD_LINES.values() for _, reason in lines) + len(BAD_FILES) + 2
    assert kinds >= 25
    assert read.skipped == len(problems) == kinds
    assert read.warnings[0].startswith(f"skipped {kinds} malformed pieces of input, the first being {folder}/")
    assert read.warnings[0].endswith(f"; all are in {file}")
    assert rows(read, "lines") == sorted([('"a"', '"b"'), ('"c"', '"d"'), ('"a"', integer(1))])
    assert rows(read, "triple") == [
        ("<http://a>", "<http://p>", "<http://b>"),
        ("<http://a>", "<http://p>", "<http://c>"),
    ]
    assert rows(read, "unclosed") == [('"a"',)]
    assert [row[1] for row in rows(read, "rows")] == [integer(1)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", b"1,2\n3\n4\n", "/e.csv:2: 1 field, where 2 fields are expected: '3' (and 1 more)"),
        ("e.nt.gz", gzip.compress(b"# c\n\n<http://a> .\n"), "/e.nt.gz:3: column 12: "),
        ("e.ttl", b"\n<http://a> oops .", "/e.ttl:2: column "),
    ],
    ids=["csv", "nt.gz", "ttl"],
)
def test_a_malformed_line_fails_with_its_place(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceMistake) as caught:
        read_paths(spark, [tmp_path / name])
    assert str(caught.value).startswith(f"{tmp_path}{message}")


def test_the_line_is_right_in_a_file_of_many_tasks(spark: SparkSession, tmp_path: Path) -> None:
    lines = [f"<http://a> <http://p> <http://b{number}> ." for number in range(5000)]
    lines[4321] = "oops"
    (tmp_path / "a.nt").write_text("\n".join(lines), encoding="utf-8")
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "20000")
    try:
        with pytest.raises(SourceMistake, match=r"a\.nt:4322: column 1: "):
            read_paths(spark, [tmp_path / "a.nt"])
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


def test_files_that_spark_cannot_read(spark: SparkSession, tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d\n" % (number * 7919) for number in range(50_000)))
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "fine.csv").write_text("1\n", encoding="utf-8")
    with pytest.raises(SourceMistake, match=r"/cut\.csv\.gz: cannot be read: Compressed file ended"):
        read_paths(spark, [tmp_path])
    read = read_paths(spark, [tmp_path], on_error="skip")
    assert read.skipped == 1
    assert "/cut.csv.gz: cannot be read: " in read.warnings[0]
    assert sorted(read.arities) == ["fine"]


# Tables as a whole, and paths: nothing is read before these are found.


def _parquet(**columns: pa.Array) -> dict[str, pa.Table]:
    return {"p.parquet": pa.table(columns)}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (_parquet(d=pa.array([[1]])), "/p.parquet: the column d is of type array<bigint>, and facts hold"),
        (_parquet(d=pa.array([{"a": 1}])), "/p.parquet: the column d is of type struct<a:bigint>, and facts hold"),
        (_parquet(d=pa.array([b"x"])), "/p.parquet: the column d is of type binary, and facts hold"),
        (_parquet(a=pa.array([1]), b=pa.array([1])), "/p.parquet: 2 columns, where p has 3 arguments"),
        ({"p.parquet": b"PAR1 oops"}, "/p.parquet: not a Parquet file, or a damaged one: "),
        ({"p.parquet": b""}, "/p.parquet: not a Parquet file, or a damaged one: "),
        ({"p.orc": b"oops"}, "/p.orc: cannot be read: "),
        ({"p.parquet/1.parquet": pa.table({"a": [1]}), "p.parquet/2.parquet": pa.table({"a": ["x"]})},
         "/p.parquet/2.parquet: its columns (a string) are not those of "),
        ({"p.parquet/_delta_log/0.json": b"", "p.parquet/x.parquet": b""}, "/p.parquet: a table of Delta Lake"),
        ({"t/metadata/v1.metadata.json": b""}, "/t: a table of Iceberg"),
        ({"t.parquet/metadata/v1.metadata.json": b""}, "/t.parquet: a table of Iceberg"),
        ({"p.parquet/sub/x.parquet": b""}, "/p.parquet/sub: a folder inside of the table p.parquet that is no partition"),
        ({"p/a=1/x.csv": b"", "p/x.csv": b""}, "/p/x.csv: partitioned by nothing, where "),
        ({"p/x.csv": b"", "p/y.parquet": b""}, "/p/y.parquet: not of the same format as "),
        ({"p/x.csv": b"", "p/y.nt": b""}, "/p/y.nt: not a part of the table p; expected"),
        ({"p/a=1/b=2/c=3/d=4/x.csv": b"1\n"}, "/p: 4 partition columns, where p has 3 arguments; --no-partition-columns"),
        ({"p.facts": b"a\tb\n\"a\n"}, "/p.facts:2: 1 field, where 2 fields are expected"),
        ({"p.xlsx": b""}, "/p.xlsx: not a format that Everlog reads; expected <predicate>.csv, "),
        ({"readme": b""}, "/readme: not a format that Everlog reads"),
        ({"p.parquet.gz": b""}, "/p.parquet.gz: not a format that Everlog reads"),
        ({"p.ttl.bz2": b""}, "/p.ttl.bz2: not a format that Everlog reads"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table(
    spark: SparkSession, tmp_path: Path, files: dict[str, pa.Table | bytes], message: str
) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            pq.write_table(content, path)
    with pytest.raises(SourceMistake) as caught:
        read_paths(spark, [tmp_path], arities={"p": 3} if "3 arguments" in message else {})
    assert str(caught.value).startswith(f"{tmp_path}{message}")


def test_what_is_wrong_with_a_path(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SourceMistake, match=r"/none: no such file or folder$"):
        read_paths(spark, [tmp_path / "none"])
    with pytest.raises(SourceMistake, match=r"/dev/null: neither a file nor a folder$"):
        read_paths(spark, ["/dev/null"])
    (tmp_path / "a.nt").write_text("", encoding="utf-8")
    with pytest.raises(
        SourceMistake, match="RDF is read into triple, which has 3 arguments, but the program gives it 2"
    ):
        read_paths(spark, [tmp_path], arities={"triple": 2})
    empty = tmp_path / "empty"
    empty.mkdir()
    assert read_paths(spark, [empty]).warnings == [f"{empty}: the folder holds no facts"]


def test_an_unreadable_file(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("1\n", encoding="utf-8")
    # Not by its mode: the superuser reads any file.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(SourceMistake, match=r"/a\.csv: cannot be read: permission denied$"):
        read_paths(spark, [tmp_path])
