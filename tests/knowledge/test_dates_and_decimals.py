"""Dates, timestamps and decimals: equal values are one value, whatever they come from, and columns of them come back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import Literal, NamedNode

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.datalog.values import XSD
from everlog.sources.read_facts import read_paths
from everlog.sources.typed_columns import typed_columns
from everlog.store.publish import export
from support.reads import rows_of_read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = date(2026, 1, 31)
LOCAL = datetime(2026, 1, 31, 10, 30, 0, 120_000)
INSTANT = LOCAL.replace(tzinfo=UTC)
NUMBER = Decimal("1.5")
TYPES = pa.schema(
    [("d", pa.date32()), ("l", pa.timestamp("us")), ("i", pa.timestamp("us", "UTC")), ("n", pa.decimal128(38, 18))]
)
TERMS = tuple(
    Literal(text, datatype=NamedNode(XSD + kind))
    for text, kind in {
        "2026-01-31": "date",
        "2026-01-31T10:30:00.12": "dateTime",
        "2026-01-31T10:30:00.12Z": "dateTime",
        "1.5": "decimal",
    }.items()
)


@pytest.mark.parametrize(
    "given",
    [
        [(DAY, LOCAL, INSTANT, NUMBER)],
        [(DAY, LOCAL, INSTANT.astimezone(timezone(timedelta(hours=9))), Decimal("1.500"))],
        [(DAY, pd.Timestamp(LOCAL), pd.Timestamp(INSTANT), NUMBER)],
        pa.table([[DAY], [LOCAL], [INSTANT], [NUMBER]], schema=TYPES),
        pa.table(
            [[DAY], [LOCAL], [INSTANT], [Decimal("1.50")]],
            schema=pa.schema(
                [
                    ("d", pa.date64()),
                    ("l", pa.timestamp("ms")),
                    ("i", pa.timestamp("ns", "Asia/Tokyo")),
                    ("n", pa.decimal256(50, 3)),
                ]
            ),
        ),
        pd.DataFrame({"d": [DAY], "l": [LOCAL], "i": [INSTANT], "n": [NUMBER]}),
    ],
    ids=["rows", "other zone and scale", "pandas in rows", "arrow", "other types", "pandas"],
)
def test_equal_values_are_one(given: Any) -> None:
    kb = KnowledgeBase(parse_program("same(?d) :- p(?d, ?l, ?i, ?n), q(?d, ?l, ?i, ?n) ."))
    kb.add({"q": [TERMS], "p": given})
    kb.materialise()
    assert kb.rows("same") == [TERMS[:1]]
    table = kb.facts("p")
    assert table.schema.types == TYPES.types
    assert [column.to_pylist() for column in table.columns] == [[DAY], [LOCAL], [INSTANT], [NUMBER]]
    again = KnowledgeBase(parse_program(""))
    again.add({"p": table})
    assert again.rows("p") == [TERMS]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["2026-1-31"], "date"),
        (["2026-02-30"], "date"),
        (["2026-01-31", "2026-01-31Z"], "date"),
        (["2026-01-31T00:00:00", "2026-01-31T00:00:00Z"], "dateTime"),
        (["2026-01-31T00:00:00.0"], "dateTime"),
        (["2026-01-31T00:00:00+01:00"], "dateTime"),
        (["2026-01-31T00:00:00.1234567"], "dateTime"),
        (["1.50"], "decimal"),
        (["9" * 30], "decimal"),
        (["0." + "0" * 18 + "1"], "decimal"),
    ],
)
def test_what_no_column_holds_stays_text(texts: list[str], kind: str) -> None:
    literals = [(Literal(text, datatype=NamedNode(XSD + kind)),) for text in texts]
    kb = KnowledgeBase(parse_program(""))
    kb.add({"p": literals})
    assert kb.facts("p").schema.field("a0").metadata == {b"everlog": b"ntriples"}
    assert sorted(kb.rows("p"), key=str) == sorted(literals, key=str)


def test_a_decimal_that_is_no_number() -> None:
    with pytest.raises(EverlogError, match="p, argument 1: the decimal NaN is no number"):
        KnowledgeBase(parse_program("")).add({"p": [(Decimal("NaN"),)]})


@pytest.mark.parametrize("engine", ["memory", "spark"])
def test_through_spark(spark: SparkSession, tmp_path: Path, engine: Any) -> None:
    """From a DataFrame, whatever its scale, and a file, and back as Spark's types; from there again."""
    pq.write_table(pa.table([[DAY], [LOCAL], [INSTANT], [NUMBER]], schema=TYPES), tmp_path / "p.parquet")
    frame = spark.sql(
        "SELECT DATE'2026-01-31' AS d, TIMESTAMP_NTZ'2026-01-31 10:30:00.12' AS l, "
        "TIMESTAMP'2026-01-31 19:30:00.12 Asia/Tokyo' AS i, CAST(1.5 AS decimal(10, 4)) AS n"
    )
    kb = KnowledgeBase(
        parse_program("mixed(?x) :- p(?x, _, _, _) . mixed(?x) :- p(_, _, _, ?x) ."), spark=spark, engine=engine
    )
    kb.load(tmp_path / "p.parquet")
    kb.add({"p": frame})
    kb.materialise()
    assert kb.rows("p") == [TERMS]
    back = kb.dataframe("p")
    assert back.schema.simpleString() == "struct<d:date,l:timestamp_ntz,i:timestamp,n:decimal(38,18)>"
    (row,) = back.selectExpr("d", "l", "unix_micros(i)", "n").collect()
    assert tuple(row) == (DAY, LOCAL, int(INSTANT.timestamp() * 1e6), NUMBER)
    assert kb.update(add={"p": back}).facts["total"] == 3
    assert kb.dataframe("mixed").schema["a0"].metadata == {"everlog": "ntriples"}


def test_through_exported_files(spark: SparkSession, tmp_path: Path) -> None:
    far = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    kb = KnowledgeBase(parse_program(""), spark=spark)
    kb.add({"p": [(DAY, LOCAL, INSTANT, NUMBER), (DAY, LOCAL, far, NUMBER)]})
    kb.materialise()
    export(spark, kb.filed(["p"], tmp_path / "ids"), tmp_path, "parquet")
    assert pq.read_schema(tmp_path / "p.parquet").types == TYPES.types
    read = rows_of_read(read_paths(spark, [tmp_path / "p.parquet"]), "p")
    assert read == sorted(map(tuple, kb.text("p").collect()))
    texts = spark.createDataFrame(read, "a0 string, a1 string, a2 string, a3 string")
    assert typed_columns(texts).schema.simpleString().endswith("a2:timestamp,a3:decimal(38,18)>")
