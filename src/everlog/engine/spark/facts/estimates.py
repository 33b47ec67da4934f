"""Spark's estimates of sizes, which must not grow without bound.

Spark takes the size of a join to be the product of the sizes of its inputs, and a checkpoint keeps that estimate instead
of its real size. Over rounds that build on rounds such products get millions of digits, and planning a query comes to
nothing but multiplying them. So we keep account of how many digits an estimate can have; where these may be many, Spark is
asked, and a run whose estimate has grown is *settled*: Spark looks how large it is.
"""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import SparkSession

from everlog.engine.spark import tuning
from everlog.engine.spark.facts.sql_text import Table

_REAL: Final = 20
"""So many digits a real size has at most, and the one that Spark takes where it knows nothing."""


class Estimates:
    """The digits of the estimates of the views whose names start with a prefix."""

    def __init__(self, spark: SparkSession, prefix: str) -> None:
        self._spark = spark
        self._names = re.compile(rf"{prefix}_\d+")
        self._digits: dict[Table, int] = {}

    def has_grown(self, name: Table, query: str) -> bool:
        """Whether the estimate of a view is too large, given the query that it was made by."""
        # No estimate is larger than the product of those of all that a query names.
        digits = sum(self._digits.get(one, _REAL) for one in self._names.findall(query))
        if digits > tuning.ASKED_DIGITS:
            digits = self._asked(name)
        grown = digits > tuning.SETTLED_DIGITS
        self._digits[name] = _REAL if grown else max(digits, _REAL)
        return grown

    def forget(self, name: Table) -> None:
        self._digits.pop(name, None)

    def _asked(self, name: Table) -> int:
        ((text,),) = self._spark.sql(f"EXPLAIN COST SELECT * FROM {name}").collect()
        return max((int(power) for power in re.findall(r"sizeInBytes=[\d.]+E\+(\d+)", text)), default=_REAL)
