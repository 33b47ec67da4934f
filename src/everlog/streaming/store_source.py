"""`format("everlog")`: a store as a data source of Spark, read as it is or followed as it changes.

    spark.read.format("everlog").option("predicate", "reach").load("graph.store")
    spark.readStream.format("everlog").option("predicate", "reach").option("changes", "true").load("graph.store")

The first is a table of the facts of a predicate in a version (`fact_reader.py`), the second has a row for each change of
each version (`change_reader.py`). Spark asks a source in Python for its columns before it says what they are for, so that
`changes` has to be said; nor does it say which columns a query needs, so that the schema one gives does. Spark runs all
this in processes of its own, and everything is found in the store's files.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Final, cast, get_args

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from everlog.errors import EverlogError
from everlog.store.local_place import local_place
from everlog.streaming.change_reader import ARGUMENTS, OP, PREDICATE, VERSION, ChangeReader
from everlog.streaming.fact_reader import FactReader, Wanted, fields_of
from everlog.streaming.stored_facts import Which

FORMAT: Final = "everlog"
_OPTIONS: Final = (
    "path",
    "predicate",
    "version",
    "which",
    "terms",
    "changes",
    "fromversion",
    "maxversions",
    "onforgotten",
)


def register(spark: SparkSession) -> None:
    """Has a session know `format("everlog")`, and hand conditions to sources in Python, which this one asks for."""
    from everlog.spark.workers import prepare_workers

    prepare_workers(spark)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.dataSource.register(StoreSource)


class StoreSource(DataSource):
    """A store, for `spark.read` and `spark.readStream`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        given = {name.lower(): value for name, value in options.items()}
        if unknown := sorted(set(given) - set(_OPTIONS)):
            raise EverlogError(f'format("everlog") has no option {unknown[0]}; it has {", ".join(_OPTIONS)}')
        if not given.get("path"):
            raise EverlogError('which store? Give its folder: spark.read.format("everlog").load("graph.store")')
        self._given = given
        self._store = local_place(given["path"], "the store")
        self._changes = self._one_of("changes", ("false", "true")) == "true" or "fromversion" in given

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        if not self._changes:
            return StructType(fields_of(self._wanted()))
        if "predicate" not in self._given:  # all of them
            first = [StructField(PREDICATE, StringType()), StructField(ARGUMENTS, ArrayType(StringType()))]
        else:
            first = fields_of(self._wanted())
            if taken := {field.name for field in first} & {OP, VERSION}:
                name = self._given["predicate"]
                raise EverlogError(f"{name} has a column {min(taken)}, which changes have, too; give a schema")
        return StructType([*first, StructField(OP, StringType()), StructField(VERSION, LongType())])

    def reader(self, schema: StructType) -> DataSourceReader:
        if self._changes:
            raise EverlogError("changes are a stream: use spark.readStream, or everlog.diff for two versions")
        return FactReader(self._wanted(), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        if not {OP, VERSION} <= set(schema.names):
            raise EverlogError(
                f'a stream of changes has the columns {OP} and {VERSION}: say .option("changes", "true"), or make it by '
                "everlog.changes(spark, store, predicate)"
            )
        return ChangeReader(
            self._store,
            self._given.get("predicate"),
            schema,
            self._number("fromversion", 1),
            self._number("maxversions", 1),
            self._one_of("onforgotten", ("fail", "snapshot")) == "snapshot",
        )

    def _wanted(self) -> Wanted:
        """What the options ask for."""
        predicate, which = self._given.get("predicate"), self._one_of("which", get_args(Which))
        if not predicate:
            raise EverlogError('of which predicate? .option("predicate", "reach")')
        as_terms = self._one_of("terms", ("typed", "ntriples")) == "ntriples"
        return Wanted(self._store, predicate, self._number("version", 1), cast(Which, which), as_terms)

    def _number(self, name: str, least: int) -> int | None:
        text = self._given.get(name)
        if text is None:
            return None
        if not text.isdigit() or int(text) < least:
            raise EverlogError(f"the option {name} is a whole number from {least} on, not {text!r}")
        return int(text)

    def _one_of(self, name: str, choice: Sequence[str]) -> str:
        text = self._given.get(name, choice[0]).lower()
        if text not in choice:
            raise EverlogError(f"the option {name} is one of {', '.join(choice)}, not {text!r}")
        return text
