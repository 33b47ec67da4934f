"""The dictionary of a store: every term has one id, dense from 0, that never changes. Encoding and decoding are joins.

Terms are numbered where they lie: no term passes through the driver. The numbers of new terms are fixed by writing them
to Parquet, once; everything else reads that file, so that a task that Spark runs again cannot give other numbers.
The files have the columns `id`, `term`, and `label`.

A blank node has a label only within its source. The dictionary calls it `_:everlog<id>`; that name in later input means
this node. `label` keeps what the source said (null for other terms), because the facts still have to be encoded with it.

A few facts (`FEW`) are broadcast to the dictionary, which is then read but not shuffled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everlog.store.parquet_files import count_rows, reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BLANK: Final = "_:everlog"
FEW: Final = 200_000
"""Up to this many facts are few."""

NUMBER: Final = "predicate"
"""The column with the number of the predicate, where facts of several predicates are in one DataFrame."""


@dataclass(frozen=True)
class Encoded:
    """Facts in id form, all in one DataFrame (`together`) and by predicate; the terms that were new; the size with them."""

    together: DataFrame
    predicates: tuple[str, ...]
    """By the number that `together` has in its column `predicate`."""
    arities: Mapping[str, int]
    new_terms: DataFrame
    """With the columns of the dictionary's files."""
    size: int
    kept: tuple[DataFrame, ...] = ()

    def release(self) -> None:
        """Gives back what Spark keeps for the ids, once they have been read."""
        for frame in self.kept:
            frame.unpersist()

    @property
    def facts(self) -> dict[str, DataFrame]:
        return _apart(self.together, self.arities)


class StoredDictionary:
    """The terms of a store, in Parquet files."""

    def __init__(self, spark: SparkSession, files: Sequence[str], size: int) -> None:
        self._spark = spark
        self.size = size
        terms = reader(spark).schema(TERMS).parquet(*files) if files else spark.createDataFrame([], TERMS)
        self._terms = terms.select("id", "term")

    @classmethod
    def of(cls, spark: SparkSession, terms: DataFrame, size: int) -> StoredDictionary:
        """The dictionary with the terms of a DataFrame that has the columns `id` and `term`."""
        dictionary = cls(spark, [], size)
        dictionary._terms = terms
        return dictionary

    def encode(self, facts: Mapping[str, DataFrame], folder: Path, few: bool | None = None) -> Encoded:
        """Facts in text form as ids; terms that have none get the next ones, and are written to a new folder.

        Facts are read twice: persist what is costly to compute. `few` says whether the facts are few; None: count them.
        """
        from pyspark.sql.functions import coalesce

        joint, arities = together(self._spark, facts)
        few = joint.count() <= FEW if few is None else few
        terms = _terms_of(joint)
        if self.size:
            terms = terms.persist()
            known = self._known(terms, few).persist()
            new = terms.join(known, "text", "left_anti").persist()
            kept = [terms, known, new]
        else:
            known, new = None, terms.persist()
            kept = [new]
        _numbered(new, self.size).write.parquet(str(folder))
        size = self.size + count_rows(folder)
        written = self._spark.read.schema(TERMS).parquet(str(folder))
        meant = written.select(coalesce("label", "term").alias("text"), "id")
        if known is not None:
            meant = meant.unionByName(known.select("text", "id"))
        ids = _replaced(joint, meant, few).distinct()
        return Encoded(ids, tuple(facts), arities, written, size, tuple(kept))

    def find(self, facts: Mapping[str, DataFrame], few: bool | None = None) -> dict[str, DataFrame]:
        """Those facts in text form whose terms are all known, as ids."""
        joint, arities = self.find_together(facts, few)
        return _apart(joint, arities)

    def find_together(
        self, facts: Mapping[str, DataFrame], few: bool | None = None
    ) -> tuple[DataFrame, Mapping[str, int]]:
        """The same in one DataFrame with the predicates' numbers, and their arities."""
        joint, arities = together(self._spark, facts)
        few = joint.count() <= FEW if few is None else few
        return _replaced(joint, self._known(_terms_of(joint), few), few).distinct(), arities

    def decode(self, facts: DataFrame) -> DataFrame:
        """Facts in id form as text."""
        from pyspark.sql.functions import col

        for name in _arguments(facts):
            meant = self._terms.select(col("id").alias(name), col("term").alias(f"{name} text"))
            facts = facts.join(meant, name).drop(name).withColumnRenamed(f"{name} text", name)
        return facts.select(*sorted(facts.columns, key=_place))

    def _known(self, terms: DataFrame, few: bool) -> DataFrame:
        """Those of some terms that have an id, with it."""
        from pyspark.sql.functions import broadcast

        return self._terms.withColumnRenamed("term", "text").join(broadcast(terms) if few else terms, "text")


TERMS: Final = "id bigint, term string, label string"


def together(spark: SparkSession, facts: Mapping[str, DataFrame]) -> tuple[DataFrame, dict[str, int]]:
    """Facts of all predicates in one DataFrame, padded with nulls: one job instead of one per predicate."""
    arities = {predicate: len(_arguments(frame)) for predicate, frame in facts.items()}
    if not facts:
        return spark.createDataFrame([], f"{NUMBER} int"), arities
    return numbered_together(facts.values()), arities


def numbered_together(frames: Iterable[DataFrame]) -> DataFrame:
    """The arguments of all frames with the frame's number, padded with nulls where a frame has fewer of them."""
    from pyspark.sql.functions import lit

    numbered = (frame.select(lit(number).alias(NUMBER), *_arguments(frame)) for number, frame in enumerate(frames))
    return reduce(lambda before, frame: before.unionByName(frame, allowMissingColumns=True), numbered)


def _apart(together: DataFrame, arities: Mapping[str, int]) -> dict[str, DataFrame]:
    from pyspark.sql.functions import lit

    result = {}
    for number, (predicate, arity) in enumerate(arities.items()):
        facts = together.where(together[NUMBER] == number)
        names = [f"a{place}" for place in range(arity)]
        result[predicate] = facts.select(*names) if names else facts.select(lit(True).alias("present"))
    return result


def _terms_of(together: DataFrame) -> DataFrame:
    from pyspark.sql.functions import array, array_compact, explode

    names = _arguments(together)
    if not names:
        return together.sparkSession.createDataFrame([], "text string")
    return together.select(explode(array_compact(array(*names))).alias("text")).distinct()


def _numbered(terms: DataFrame, first: int) -> DataFrame:
    """Terms with ids from `first` on; blank nodes get their name."""
    from pyspark.sql.functions import col, concat, lit, when

    id = (col("place") + lit(first)).cast("bigint")
    blank = col("text").startswith("_:")
    return terms.zipWithIndex("place").select(
        id.alias("id"),
        when(blank, concat(lit(BLANK), id.cast("string"))).otherwise(col("text")).alias("term"),
        when(blank, col("text")).alias("label"),
    )


def _replaced(facts: DataFrame, meant: DataFrame, few: bool) -> DataFrame:
    """Facts with ids instead of the texts that mean them; those with a text that means nothing are gone."""
    from pyspark.sql.functions import broadcast, col

    names = _arguments(facts)
    for name in names:
        pairs = meant.select(col("text").alias(name), col("id").alias(f"{name} new"))
        joined = facts.join(broadcast(pairs) if few else pairs, name, "left")
        # A null is padding, and means nothing on purpose.
        facts = joined.where(col(name).isNull() | col(f"{name} new").isNotNull()).drop(name)
        facts = facts.withColumnRenamed(f"{name} new", name)
    return facts.select(NUMBER, *names)


def _arguments(facts: DataFrame) -> list[str]:
    return sorted((name for name in facts.columns if name[0] == "a" and name[1:].isdigit()), key=_place)


def _place(name: str) -> int:
    return int(name[1:]) if name[1:].isdigit() else -1
