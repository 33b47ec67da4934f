"""Columns of tables as arguments of predicates, chosen by their names, which facts keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import everlog
from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.sources.column_mapping import Mapped, mappings, parse_mapping
from everlog.sources.read_facts import read_paths
from support.command import done, files, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("text", "table", "columns"),
    [
        ("e=a.csv", "a.csv", ()),
        ("e=a.csv:x, y", "a.csv", ("x", "y")),
        ("e=s3a://b/a=1.parquet", "s3a://b/a=1.parquet", ()),
        ("e=s3a://b/a.parquet:x", "s3a://b/a.parquet", ("x",)),
        ("e=table:db.a", "table:db.a", ()),
        ("e=table:db.a:x,y", "table:db.a", ("x", "y")),
    ],
)
def test_mappings(text: str, table: str, columns: tuple[str, ...]) -> None:
    expected = Mapped("e", table, columns)
    assert parse_mapping(text) == expected
    assert mappings({"e": text.partition("=")[2]}) == [expected]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edge", "--table edge: give PREDICATE=TABLE:COLUMN,…, such as edge=orders.parquet:customer,product"),
        ("=a.csv", "--table =a.csv: give PREDICATE=TABLE"),
        ("e=a.csv:x,", "--table e=a.csv:x,: a column has no name"),
    ],
)
def test_mappings_that_are_none(text: str, message: str) -> None:
    with pytest.raises(EverlogError) as raised:
        parse_mapping(text)
    assert str(raised.value).startswith(message)


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("orders")
    written(folder / "orders.csv", 'id,customer,product,note\n1,ann,bolt,\n2,bob,nut,"two\nlines"\n')
    written(folder / "log" / "dt=2026-01-01" / "a.csv", "who,what\nann,in\n")
    written(folder / "log" / "dt=2026-01-02" / "b.csv", "what,who\nout,ann\n")
    written(folder / "orders.jsonl", '{"id": 1, "customer": "ann", "x": [1]}\n{"id": 2}\n')
    table = {"id": [1, 2], "customer": ["ann", "bob"], "product": ["bolt", "nut"], "when": [[1], [2]]}
    pq.write_table(pa.table(table), folder / "orders.parquet")
    return folder


def test_columns_by_their_names(spark: SparkSession, orders: Path) -> None:
    spark.createDataFrame([("x", 1)], "customer string, n int").createOrReplaceTempView("some_orders")
    texts = [
        f"bought={orders}/orders.csv:product,customer",
        f"number={orders}/orders.csv:id",
        f"log={orders}/log:what,dt,who",
        f"json={orders}/orders.jsonl:customer",
        f"table={orders}/orders.parquet:product,customer",
        "known=table:some_orders:n,customer",
        "view=table:some_orders",
    ]
    read = read_paths(spark, [], tables=[parse_mapping(text) for text in texts], nulls="skip")
    kb = KnowledgeBase(parse_program(""), spark=spark)
    kb.load_read(read)
    found: dict[str, list[tuple[Any, ...]]] = {name: sorted(kb.rows(name), key=str) for name in kb.predicates()}
    dates = [log[1] for log in found.pop("log")]
    assert [date.value for date in dates] == ["2026-01-01", "2026-01-02"]
    assert found == {
        "bought": [("bolt", "ann"), ("nut", "bob")],
        "number": [(1,), (2,)],
        "json": [("ann",)],
        "table": [("bolt", "ann"), ("nut", "bob")],
        "known": [(1, "x")],
        "view": [("x", 1)],
    }
    assert kb.columns("log") == ["what", "dt", "who"]
    assert kb.columns("known") == ["n", "customer"]
    assert "json: 1 row was left out for a null" in kb.materialise().warnings


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("orders.csv:id,price", "/orders.csv: there is no column price; it has id, customer, product, note"),
        ("orders.parquet:price", "/orders.parquet: there is no column price; it has id, customer, product, when"),
        ("log:who,day", "/log/dt=2026-01-01/a.csv: there is no column day; it has who, what, dt"),
        ("orders.jsonl:customer", r"/orders.jsonl:2: customer is null, or not there, and a fact holds no nulls"),
        ("orders.parquet:when", "/orders.parquet: the column when is of type array<bigint>"),
        ("orders.csv:id", "/orders.csv: 1 column, where p has 2 arguments$"),
        ("orders.csv", "/orders.csv: 4 columns, where p has 2 arguments; --table p=PATH:COLUMN,… chooses columns"),
    ],
)
def test_columns_that_are_not_there(spark: SparkSession, orders: Path, mapping: str, message: str) -> None:
    arities = {"p": 2} if "2 arguments" in message else {}
    with pytest.raises(EverlogError, match=message):
        read_paths(spark, [], tables=[parse_mapping(f"p={orders}/{mapping}")], arities=arities)


def test_tables_that_are_not_there(spark: SparkSession, orders: Path) -> None:
    kb = KnowledgeBase(parse_program(""), spark=spark)
    with pytest.raises(EverlogError, match=r"table:no.such: Spark's catalog has no table or view of that name"):
        kb.load({"p": "table:no.such"})
    with pytest.raises(EverlogError, match="'p': 5 is no table with its columns by predicate"):
        kb.load({"p": 5})  # type: ignore[dict-item]
    written(orders / "a.nt", "")
    with pytest.raises(EverlogError, match=r"a\.nt: RDF has no columns to choose from"):
        kb.load({"p": f"{orders}/a.nt:x"})


def test_names_come_back(spark: SparkSession, orders: Path, tmp_path: Path) -> None:
    """From DataFrames, from a store, and after an update of it; rows have none, and those of the first table stay."""
    kb = KnowledgeBase(parse_program("q(?x) :- edge(?x, _) ."), spark=spark)
    frame = spark.createDataFrame([("a", "b")], "customer string, product string")
    kb.add(
        {"edge": frame, "rows": [(1, 2)], "pandas": pd.DataFrame({"x": [1]}), "arrow": pa.table({"a": [1], "A": [2]})}
    )
    kb.add({"edge": pd.DataFrame({"other": ["c"], "names": ["d"]})})
    kb.materialise()
    assert kb.facts("edge").column_names == kb.changes("edge")[0].column_names == ["customer", "product"]
    kb.create_views()
    assert spark.sql("SELECT product FROM edge WHERE customer = 'a'").head() == ("b",)
    kb.save(tmp_path / "store")
    added = f"bought={orders}/orders.parquet:customer,product"
    done("update", tmp_path / "store", "--add-table", added, "--delete-table", f"edge={orders}/orders.csv:id,product")
    again = everlog.open(tmp_path / "store", spark=spark)
    assert {name: again.columns(name) for name in again.predicates()} == {
        "arrow": ["a0", "a1"],
        "bought": ["customer", "product"],
        "edge": ["customer", "product"],
        "pandas": ["x"],
        "q": ["a0"],
        "rows": ["a0", "a1"],
    }
    assert again.dataframe("bought").columns == ["customer", "product"]
    done("export", tmp_path / "store", "--out", tmp_path / "out", "--format", "parquet")
    assert spark.read.parquet(str(tmp_path / "out" / "bought.parquet")).columns == ["customer", "product"]
    assert spark.read.parquet(str(tmp_path / "out" / "q.parquet")).columns == ["a0"]


def test_tables_of_the_command_line(orders: Path, tmp_path: Path) -> None:
    program = written(tmp_path / "p.dlog", "fan(?x) :- bought(?x, bolt) .")
    done("run", program, "--table", f"bought={orders}/orders.csv:customer,product", "--out", tmp_path / "out")
    assert files(tmp_path / "out") == {"fan.csv": "ann\n"}
