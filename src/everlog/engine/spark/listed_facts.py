"""The facts of one predicate on Spark, as ids: rows on the driver, if it has them, and a DataFrame, if somebody needs one.

What the driver has is counted, cut and decoded there, without a job.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from pyspark.sql import DataFrame

from everlog.engine.spark.facts.row_indexes import Rows


class SparkListed:
    """Facts with the columns `a0`, `a1`, …; a nullary fact that holds is a row, whose only column is `present`.

    `rows` has the arguments of each fact, and is None if the facts are not on the driver.
    """

    def __init__(self, make: Callable[[], DataFrame], rows: Rows | None = None) -> None:
        self._make, self.rows = make, rows

    @classmethod
    def of(cls, frame: DataFrame) -> SparkListed:
        """The facts that a DataFrame has."""
        return cls(lambda: frame)

    @cached_property
    def frame(self) -> DataFrame:
        return self._make()

    @cached_property
    def size(self) -> int:
        """How many facts there are."""
        return self.frame.count() if self.rows is None else len(self.rows)

    def first(self, number: int, after: int | None) -> SparkListed:
        """At most so many facts; any, or the next ones in the order of ids `after` so many others."""

        def make() -> DataFrame:
            if after is None:
                return self.frame.limit(number)
            return self.frame.orderBy(*self.frame.columns).offset(after).limit(number)

        rows = self.rows
        if rows is not None and after is not None:
            order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
            rows = rows[order[after:]]
        return SparkListed(make, None if rows is None else rows[:number])
