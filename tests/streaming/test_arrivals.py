"""What rows and files say, and the last word about each fact; no Spark is needed for any of it."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everlog import EverlogError, Source
from everlog.streaming.arrived_files import heard_file, heard_files
from everlog.streaming.arrived_rows import heard_rows
from everlog.streaming.settling import Heard, settled

A, B, C = '"a"', '"b"', '"c"'


def said(heard: Heard, predicate: str = "edge") -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """What is there in the end, and what is gone."""
    found = settled(heard.words).get(predicate)
    if found is None:
        return set(), set()
    return _rows(found.added), _rows(found.deleted)


def _rows(facts: Any) -> set[tuple[str, ...]]:
    if isinstance(facts, list):
        return set(facts)
    return set(zip(*(column.to_pylist() for column in facts.columns), strict=True))


def rows(**columns: Any) -> pa.Table:
    return pa.table(columns)


def test_the_last_word_counts() -> None:
    table = rows(x=["a", "a", "b", "a"], y=["b", "b", "c", "b"], op=["insert", "delete", "insert", "insert"])
    assert said(heard_rows(Source("edge", "folder"), table)) == ({(A, B), (B, C)}, set())
    ordered = table.append_column("at", pa.array([4, 3, 2, 1]))
    assert said(heard_rows(Source("edge", "folder", order="at"), ordered)) == ({(A, B), (B, C)}, set())
    late = table.append_column("at", pa.array([1, 9, 2, 3]))
    assert said(heard_rows(Source("edge", "folder", order="at"), late)) == ({(B, C)}, {(A, B)})


def test_operations_have_many_names_and_others_are_malformed() -> None:
    table = rows(x=["a", "b", "c", "d", "e"], op=["+I", "D", "gone", "what", None])
    heard = heard_rows(Source("p", "folder", ops={"Gone": "delete"}), table)
    assert said(heard, "p") == ({(A,)}, {(B,), (C,)})
    assert [problem.reason for problem in heard.problems] == [
        "nobody knows the operation 'what' in the column op",
        "nobody knows the operation None in the column op",
    ]
    assert heard.rows == 5 and heard.problems[0].text == "{'x': 'd', 'op': 'what'}"
    with pytest.raises(EverlogError, match="'perhaps'; choose one of: insert, delete"):
        _ = Source("p", "folder", ops={"x": "perhaps"}).operations


def test_nulls_and_terms_that_are_none_are_malformed() -> None:
    table = rows(x=["<http://a>", None, "<no iri", "_:b"], y=[1, 2, 3, 4])
    heard = heard_rows(Source("p", "folder"), table, ["x"])
    assert {row[0] for row in said(heard, "p")[0]} == {"<http://a>", "_:b"}
    assert len(heard.problems) == 2 and "the column x is null" in heard.problems[0].reason
    assert heard_rows(Source("p", "folder", nulls="skip"), table, ["x"]).left_out == 1
    assert len(said(heard_rows(Source("p", "folder", nulls="empty"), table, ["x"]), "p")[0]) == 3


def test_debezium_says_what_was_and_what_is() -> None:
    image = pa.struct([("x", pa.string()), ("y", pa.int64())])
    one, two = {"x": "a", "y": 1}, {"x": "a", "y": 2}
    table = pa.table(
        {
            "before": pa.array([None, one, two, None, one], image),
            "after": pa.array([one, two, None, two, None], image),
            "op": ["c", "u", "d", "u", "x"],
            "ts_ms": [1, 2, 3, 4, 5],
        }
    )
    heard = heard_rows(Source("p", "folder", feed="plain"), table.select(["op", "ts_ms"]))  # other columns, plainly
    assert heard.rows == 5
    source = Source("p", pa.table({}), feed="debezium", order="ts_ms")  # type: ignore[arg-type]
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    heard = heard_rows(source, table)
    assert said(heard, "p") == (set(), {(A, number.format(1)), (A, number.format(2))})
    assert heard.rows == 5 and len(heard.problems) == 2
    assert "REPLICA IDENTITY FULL" in heard.problems[0].reason and "'x'" in heard.problems[1].reason
    # An update that changes nothing leaves the row there.
    same = pa.table({"before": pa.array([one], image), "after": pa.array([one], image), "op": ["u"], "ts_ms": [1]})
    assert said(heard_rows(source, same), "p") == ({(A, number.format(1))}, set())


def test_deltas_change_feed_is_known_by_its_names() -> None:
    table = rows(
        x=["a", "a", "b", "c"],
        _change_type=["update_postimage", "update_preimage", "delete", "insert"],
        _commit_version=[2, 2, 1, 1],
        _commit_timestamp=[datetime(2026, 1, 1, tzinfo=UTC)] * 4,
    )
    assert said(heard_rows(Source("p", "folder", feed="delta"), table), "p") == ({(A,), (C,)}, {(B,)})


def test_facts_without_arguments_come_and_go() -> None:
    assert said(heard_rows(Source("on", "folder"), rows(present=[True])), "on") == ({()}, set())
    assert said(heard_rows(Source("on", "folder"), rows(present=[True, False])), "on") == (set(), {()})


def test_files_are_read_by_their_names() -> None:
    edge = Source("edge", "in")
    assert said(heard_file(edge, "/in/1.csv", b"a,b\nb,c\n", 2)) == ({(A, B), (B, C)}, set())
    assert said(heard_file(edge, "/in/1.tsv.gz", gzip.compress(b"a\tb\n"), 2)) == ({(A, B)}, set())
    assert said(heard_file(edge, "/in/1.jsonl", b'["a", "b"]\n', None)) == ({(A, B)}, set())
    objects = b'{"op": "delete", "x": "a", "y": "b"}\n{"x": "b", "y": "c", "op": "insert"}\n'
    assert said(heard_file(edge, "/in/1.jsonl", objects, 2)) == ({(B, C)}, {(A, B)})
    named = Source("edge", "in", columns=["to", "from"], header=True)
    lines = b'from,to,op,at\na,b,insert,1\na,b,delete,2\n"b\nc",d,insert,3\n'
    assert said(heard_file(named, "/in/1.csv", lines, 2)) == ({('"d"', r'"b\nc"')}, {(B, A)})
    assert said(heard_file(Source("edge", "in", order="at"), "/in/1.csv", lines, 2))[1] == {(A, B)}
    sink = io.BytesIO()
    pq.write_table(rows(x=["a", "b"], y=["b", "c"], op=["insert", "delete"]), sink)
    assert said(heard_file(edge, "/in/1.parquet", sink.getvalue(), 2)) == ({(A, B)}, {(B, C)})
    triples = Source("triple", "in", deletes=True)
    heard = heard_file(triples, "/in/1.nt", b"<http://a> <http://p> <http://b> .\nno triple\n", 3)
    assert said(heard, "triple")[1] == {("<http://a>", "<http://p>", "<http://b>")}
    assert [(problem.file, problem.line) for problem in heard.problems] == [("/in/1.nt", 2)]
    turtle = heard_file(triples, "/in/1.ttl", b"<http://a> <http://p> 1, 2 .", 3)
    assert len(said(turtle, "triple")[1]) == 2


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("1.txt", b"a", "is no file of facts"),
        ("1.parquet", b"PAR1", "cannot be read"),
        ("1.csv.gz", b"no gzip", "cannot be read"),
        ("1.nt", b"<http://a> <http://p> <http://b> .", "RDF has facts of triple"),
        ("1.jsonl", b'{"x": 1, "y": 2, "z": 3}', "3 columns, where edge has 2 arguments"),
        ("1.csv", b"a,b,c\n", "3 fields, where 2 fields are expected"),
    ],
)
def test_a_malformed_file_stops_nothing(name: str, content: bytes, reason: str) -> None:
    heard = heard_file(Source("edge", "in"), f"/in/{name}", content, 2)
    assert not any(map(len, heard.words)) and reason in heard.problems[0].reason


def test_files_count_in_the_order_in_which_they_were_written() -> None:
    files = pa.table(
        {
            "path": ["file:/in/b.jsonl", "file:/in/a.jsonl"],
            "modificationTime": pa.array([1, 2], pa.timestamp("us", "UTC")),
            "content": [b'{"x": "a", "op": "insert"}', b'{"x": "a", "op": "delete"}'],
        }
    )
    assert said(heard_files(Source("p", "in"), files, 1), "p") == (set(), {(A,)})


def test_what_orders_nothing_is_malformed() -> None:
    lines = b"x,op,at\na,insert,1\nb,insert,soon\na,delete,2\n"
    heard = heard_file(Source("p", "in", order="at"), "/in/1.csv", lines, 1)
    assert said(heard, "p") == (set(), {(A,)})
    assert heard.problems[0].reason == 'the column at, by which rows are in order, holds "soon"'


def test_mistakes_of_sources_are_said() -> None:
    with pytest.raises(EverlogError, match="there is no column when; it has x, y"):
        heard_rows(Source("p", "in", order="when"), rows(x=[1], y=[2]))
    with pytest.raises(EverlogError, match="all rows are deleted, or a column says which"):
        Source("p", "in", op="op", deletes=True)
    with pytest.raises(EverlogError, match="feed='kafka' is not supported"):
        Source("p", "in", feed="kafka")  # type: ignore[arg-type]
    with pytest.raises(EverlogError, match="Debezium's records come as a DataFrame"):
        Source("p", "in", feed="debezium")
