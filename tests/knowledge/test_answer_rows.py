"""Answers as tables: named after the goal's variables, with the types that pandas, Arrow and Spark have for them."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

import everlog
from everlog import Answers
from everlog.datalog.values import XSD, Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def typed(name: str, *texts: str) -> list[Value]:
    return [Literal(text, datatype=NamedNode(XSD + name)) for text in texts]


def materialised(text: str) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(everlog.parse_program(text), engine="memory")
    kb.materialise()
    return kb


KB = """
    born(ann, "1990-05-01"^^xsd:date) .  born(bea, "1991-06-02"^^xsd:date) .
    height(ann, 170) .  height(bea, 165) .
    tall(?x, ?h) :- height(?x, ?h), ?h > 160 .
    sunny() .
"""


@pytest.mark.parametrize(
    ("goal", "variables"),
    [
        ("height(?y, ?x), tall(?y, ?z)", ("y", "x", "z")),
        ("height(ann, _), tall(_, 170)", ()),
        ("height(?x, _), NOT EXISTS ?y IN (tall(?x, ?y))", ("x",)),
        ("height(?x, ?_n), ?x != ?z, tall(?z, _)", ("x", "_n", "z")),
    ],
)
def test_columns_are_the_goals_variables(goal: str, variables: tuple[str, ...]) -> None:
    found = materialised(KB).query(goal)
    assert found.variables == variables
    assert all(len(row) == len(variables) for row in found)


def test_answers_are_a_list_as_ever() -> None:
    found = materialised(KB).query("height(?who, ?cm)")
    assert found == [("ann", 170), ("bea", 165)] and len(found) == 2 and list(found) == found
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.variables == ("who", "cm")


def test_pandas_has_the_names_and_the_types() -> None:
    kb = materialised(KB)
    frame = kb.query("height(?who, ?cm), born(?who, ?day)").to_pandas()
    assert list(frame.columns) == ["who", "cm", "day"]
    assert [str(kind) for kind in frame.dtypes[1:]] == ["int64", "datetime64[ms]"]
    assert frame["cm"].sum() == 335 and frame["day"].dt.year.tolist() == [1990, 1991]
    assert sorted(kb.rows("tall").to_pandas()["a1"]) == [165, 170]
    assert kb.query("sunny()").to_pandas()["present"].tolist() == [True]
    assert kb.query("height(?x, 1)").to_pandas().columns.tolist() == ["x"]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, -2], pa.int64(), [1, -2]),
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([True, False], pa.bool_(), [True, False]),
        (["a", "<b>"], pa.string(), ["a", "<b>"]),
        ([NamedNode("http://x/a"), NamedNode("http://x/b")], pa.string(), ["http://x/a", "http://x/b"]),
        ([NamedNode("http://x/a"), "b"], pa.string(), ["<http://x/a>", '"b"']),
        ([BlankNode("b")], pa.string(), ["_:b"]),
        ([1, "1"], pa.string(), [f'"1"^^<{XSD}integer>', '"1"']),
        (typed("decimal", "1.5", "-2"), pa.decimal128(38, 18), [Decimal("1.5"), Decimal("-2")]),
        (typed("integer", str(2**70)), pa.string(), [f'"{2**70}"^^<{XSD}integer>']),
        (typed("date", "2024-02-29", "1970-01-01"), pa.date32(), [date(2024, 2, 29), date(1970, 1, 1)]),
        (typed("date", "2024-02-30"), pa.string(), [f'"2024-02-30"^^<{XSD}date>']),
        (typed("dateTime", "2024-02-29T12:00:00.25"), pa.timestamp("us"), [datetime(2024, 2, 29, 12, 0, 0, 250_000)]),
        (typed("dateTime", "2024-02-29T12:00:00Z"), pa.timestamp("us", "UTC"), [datetime(2024, 2, 29, 12, tzinfo=UTC)]),
        (
            typed("dateTime", "2024-02-29T12:00:00", "2024-02-29T12:00:00Z"),
            pa.string(),
            [f'"2024-02-29T12:00:00"^^<{XSD}dateTime>', f'"2024-02-29T12:00:00Z"^^<{XSD}dateTime>'],
        ),
        ([Literal("a", language="en")], pa.string(), ['"a"@en']),
    ],
)
def test_a_column_of_one_kind_has_its_type(values: list[Value], kind: pa.DataType, expected: list[Any]) -> None:
    table = Answers([(value,) for value in values], ["x"]).to_arrow()
    assert table.schema.field("x").type == kind
    assert table.column("x").to_pylist() == expected


def test_text_that_stands_for_terms_is_marked() -> None:
    table = Answers(
        [("a", NamedNode("http://x/a"), 1), ("b", NamedNode("http://x/a"), "c")], ["s", "i", "m"]
    ).to_arrow()
    assert [field.metadata for field in table.schema] == [None, {b"everlog": b"iri"}, {b"everlog": b"ntriples"}]


def test_a_notebook_shows_the_first_rows() -> None:
    shown = Answers([(f"<{number}>", number) for number in range(30)], ["a<b", "n"])._repr_html_()
    assert "<th>a&lt;b</th>" in shown and "<td>&lt;0&gt;</td><td>0</td>" in shown and "30 rows" in shown
    assert "<td>19</td>" in shown and "<td>20</td>" not in shown


def test_spark_has_the_names_and_the_types(spark: SparkSession) -> None:
    moment, day = typed("dateTime", "2024-02-29T12:00:00"), typed("date", "2024-02-29")
    rows = [("a", 1, *moment, *day, NamedNode("http://x/a"), *typed("decimal", "1.5"))]
    frame = Answers(rows, ["s", "größe", "t", "d", "i", "c"]).dataframe(spark)
    kinds = dict(frame.dtypes)
    assert kinds == {
        "s": "string",
        "größe": "bigint",
        "t": "timestamp_ntz",
        "d": "date",
        "i": "string",
        "c": "decimal(38,18)",
    }
    assert tuple(frame.collect()[0]) == (
        "a",
        1,
        datetime(2024, 2, 29, 12),
        date(2024, 2, 29),
        "http://x/a",
        Decimal("1.5"),
    )
    assert Answers([], ["1"]).dataframe(spark).columns == ["1"]
