"""Arrow tables of this process as Spark DataFrames, and back.

A small table goes by Arrow as it is. Of a large one Spark would make hundreds of tasks, so it goes through a Parquet file
in a folder that Spark's executors see too; the other way round, a file is many times faster than `toArrow`.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everlog.store.parquet_files import files_in, read_files

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SMALL: Final = 50_000
"""Up to this many rows a table is small."""


def to_spark(spark: SparkSession, table: pa.Table, folder: Callable[[], Path] | None = None) -> DataFrame:
    """A DataFrame with the rows of a table. A large one is read from `folder()`, which must stay as long as it is used."""
    if not table.num_rows:
        return spark.createDataFrame([], _schema(table))
    if table.num_rows <= SMALL:
        # In one piece: of columns in several chunks, not alike, Spark took the first only. And with types where it would
        # take timestamps for those of its own zone.
        given = table.combine_chunks()
        return spark.createDataFrame(given, _schema(table)) if _has_local_time(table) else spark.createDataFrame(given)
    import pyarrow.parquet as pq

    place = (folder or temporary_folder)()
    place.mkdir(parents=True, exist_ok=True)
    # Several row groups, so that all cores read.
    pq.write_table(table, place / "table.parquet", row_group_size=1 << 20)
    return spark.read.schema(_schema(table)).parquet(str(place))


def to_arrow(frame: DataFrame, schema: pa.Schema, few: bool, folder: Callable[[], Path] | None = None) -> pa.Table:
    """The rows of a DataFrame as a table."""
    if few:
        return frame.toArrow().cast(schema)
    place = (folder or temporary_folder)()
    frame.write.mode("overwrite").parquet(str(place))
    return read_files(files_in(place), schema.names, schema)


def temporary_folder() -> Path:
    """A folder that goes away with this process."""
    folder = Path(tempfile.mkdtemp(prefix="everlog-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _has_local_time(table: pa.Table) -> bool:
    from everlog.engine.literal_columns import LOCAL

    return LOCAL.type in table.schema.types


def _schema(table: pa.Table) -> str:
    import pyarrow as pa

    from everlog.engine.literal_columns import LITERAL_KINDS

    kinds = {pa.int32(): "int", pa.int64(): "bigint", pa.float64(): "double", pa.bool_(): "boolean"}
    kinds |= {kind.type: kind.name for kind in LITERAL_KINDS}
    return ", ".join(f"`{field.name}` {kinds.get(field.type, 'string')}" for field in table.schema)
