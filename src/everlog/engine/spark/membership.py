"""Which rows name a fact of a set, and which do not: semijoins and anti-joins that leave the larger side where it is.

A small set is broadcast. A large one is partitioned by its columns already: the rows that ask are moved to it, kept in a
hash table, and the set streams past them. Spark builds such a table for an outer or inner join on either side, for semi-
and anti-joins on the right alone; so an outer join it is, with the rows that found nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from everlog.engine.spark import naming

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FEW: Final = 20_000
"""Up to this many facts are broadcast to rows that are looked up among them."""

MANY: Final = 4_000_000
"""Of more rows no hash table is made."""

_KNOWN: Final = "known"


def present(frame: DataFrame, keys: Sequence[str], sought: DataFrame, size: int, rows: int | None) -> DataFrame:
    """The rows whose keys are among some facts, at most `size`; there are at most `rows` (None: nobody knows)."""
    from pyspark.sql.functions import broadcast

    right = _renamed(sought, len(keys))
    if size <= FEW:
        return frame.join(broadcast(right), _conditions(keys), "left_semi")
    if rows is not None and rows > MANY:
        return frame.join(right, _conditions(keys), "left_semi")
    return frame.hint("shuffle_hash").join(right, _conditions(keys), "inner").select(*frame.columns)


def absent(frame: DataFrame, keys: Sequence[str], sought: DataFrame, size: int, rows: int | None) -> DataFrame:
    """The rows whose keys are not among some facts."""
    from pyspark.sql.functions import broadcast, col, lit

    right = _renamed(sought, len(keys))
    if size <= FEW:
        return frame.join(broadcast(right), _conditions(keys), "left_anti")
    if rows is not None and rows > MANY:
        return frame.join(right, _conditions(keys), "left_anti")
    found = frame.hint("shuffle_hash").join(right.withColumn(_KNOWN, lit(True)), _conditions(keys), "left")
    return found.where(col(_KNOWN).isNull()).select(*frame.columns)


def flagged(frame: DataFrame, keys: Sequence[str], sought: DataFrame, size: int, name: str) -> DataFrame:
    """All rows, with a column that is true where the keys are among some facts and null elsewhere."""
    from pyspark.sql.functions import broadcast, lit

    right = _renamed(sought, len(keys)).withColumn(name, lit(True))
    if size <= FEW:
        right = broadcast(right)
    return frame.join(right, _conditions(keys), "left").select(*frame.columns, name)


def _renamed(sought: DataFrame, size: int) -> DataFrame:
    from pyspark.sql.functions import col

    return sought.select(*(col(name).alias(f"sought {name}") for name in naming.columns(size - 1)))


def _conditions(keys: Sequence[str]) -> list[Column]:
    from pyspark.sql.functions import col

    names = naming.columns(len(keys) - 1)
    return [col(key) == col(f"sought {name}") for key, name in zip(keys, names, strict=True)]
