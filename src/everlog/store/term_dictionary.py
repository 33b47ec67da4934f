"""The dictionary of a store: every term has one id, dense from 0, that never changes. Encoding and decoding are joins.

Terms are numbered where they lie: no term passes through the driver. The numbers of new terms are fixed by writing them
to Parquet, once; everything else reads that file, so that a task that Spark runs again cannot give other numbers.
The files have the columns `id`, `term`, and `label`.

A blank node has a label only within its source. The dictionary calls it `_:everlog<id>`; that name in later input means
this node. `label` keeps what the source said (null for other terms), because the facts still have to be encoded with it.

Facts come in blocks (`everlog.sources.blocks`), each with its distinct terms. These alone are moved, and the ids of the
terms of a block come to the block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everlog.spark.parallelism import tasks_at_once
from everlog.store.parquet_files import count_rows, reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.sources.read_facts import Read

BLANK: Final = "_:everlog"
FEW: Final = 200_000
"""Up to this many facts are few."""

_BROADCAST: Final = 20_000_000
"""Up to this many terms of blocks, their ids are sent to all tasks."""

TERMS_PER_PARTITION: Final = 1_000_000
"""So many terms of blocks, of some 100 bytes, a task holds in a hash table, or sorts. With ten times as many, in a heap of
two gigabytes, one of two tasks took all memory, and the other one failed."""

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

    def encode(self, read: Read, folder: Path) -> Encoded:
        """What was read as ids; terms that have none get the next ones, and are written to a new folder."""
        from pyspark import StorageLevel

        from everlog.sources.blocks import terms_of_blocks

        blocks = read.numbered_blocks()
        partitions = -(-read.terms[0] // TERMS_PER_PARTITION)
        are_many = partitions > tasks_at_once(self._spark)
        # Memory that is taken by what is kept is not there for the job which computes it.
        level = StorageLevel.DISK_ONLY if are_many else StorageLevel.MEMORY_AND_DISK_DESER
        pieces = terms_of_blocks(blocks).persist(level)
        terms = pieces.select("text")
        terms = terms.repartition(partitions, "text").distinct() if are_many else terms.distinct()
        known = self._known(terms).select("text", "id").persist(level)
        written = self._write_new(terms, known, folder)
        ids = _facts(read, blocks, pieces, self._meant(written, known))
        return Encoded(ids, tuple(read.arities), read.arities, written, self.size + count_rows(folder), (pieces, known))

    def encode_texts(self, texts: DataFrame, folder: Path) -> DataFrame:
        """Distinct terms in a column `text`, with their ids; new ones as in `encode`."""
        known = self._known(texts).select("text", "id")
        return self._meant(self._write_new(texts, known, folder), known)

    def _write_new(self, terms: DataFrame, known: DataFrame, folder: Path) -> DataFrame:
        """Gives ids to those of some terms that are not known, by writing them; gives what was written."""
        new = terms.join(known, "text", "left_anti") if self.size else terms
        _numbered(new, self.size).write.parquet(str(folder))
        return self._spark.read.schema(TERMS).parquet(str(folder))

    def _meant(self, written: DataFrame, known: DataFrame) -> DataFrame:
        """Terms as their source has them, with ids: those that were written, and those that were known."""
        from pyspark.sql.functions import coalesce

        meant = written.select(coalesce("label", "term").alias("text"), "id")
        return meant.unionByName(known) if self.size else meant

    def find(self, read: Read) -> dict[str, DataFrame]:
        """Those facts that were read whose terms are all known, as ids."""
        from everlog.sources.blocks import terms_of_blocks

        blocks = read.numbered_blocks()
        pieces = terms_of_blocks(blocks)
        known = self._known(pieces.select("text").distinct())
        return _apart(_facts(read, blocks, pieces, known), read.arities)

    def id_of(self, text: str) -> int:
        """The id of a term in text form, or -1."""
        found = self._terms.where(self._terms["term"] == text).collect()
        return found[0]["id"] if found else -1

    def decode(self, facts: DataFrame) -> DataFrame:
        """Facts in id form as text."""
        from pyspark.sql.functions import col

        for name in _arguments(facts):
            meant = self._terms.select(col("id").alias(name), col("term").alias(f"{name} text"))
            facts = facts.join(meant, name).drop(name).withColumnRenamed(f"{name} text", name)
        return facts.select(*sorted(facts.columns, key=_place))

    def _known(self, terms: DataFrame) -> DataFrame:
        """Those of some terms that have an id, with it."""
        return self._terms.withColumnRenamed("term", "text").join(terms, "text")


TERMS: Final = "id bigint, term string, label string"


def numbered_together(frames: Iterable[DataFrame]) -> DataFrame:
    """The arguments of all frames with the frame's number, padded with nulls where a frame has fewer of them."""
    from pyspark.sql.functions import lit

    numbered = (frame.select(lit(number).alias(NUMBER), *_arguments(frame)) for number, frame in enumerate(frames))
    return reduce(lambda before, frame: before.unionByName(frame, allowMissingColumns=True), numbered)


def _facts(read: Read, blocks: DataFrame, pieces: DataFrame, meant: DataFrame) -> DataFrame:
    """The facts of blocks in id form, without duplicates, given the terms of blocks and what texts mean."""
    from pyspark.sql.functions import array_sort, broadcast, collect_list, struct, transform

    from everlog.sources.blocks import BLOCK, facts_of_blocks

    pairs = pieces.join(meant.select("text", "id"), "text", "left").select(BLOCK, struct("place", "id").alias("pair"))
    ordered = pairs.groupBy(BLOCK).agg(array_sort(collect_list("pair")).alias("pairs"))
    ids = ordered.select(BLOCK, transform("pairs", lambda pair: pair["id"]).alias("ids"))
    # A block is much larger than its terms' ids.
    found = blocks.join(broadcast(ids) if read.terms[0] <= _BROADCAST else ids, BLOCK, "left")
    return facts_of_blocks(found, read.parts, NUMBER).distinct()


def _apart(together: DataFrame, arities: Mapping[str, int]) -> dict[str, DataFrame]:
    from pyspark.sql.functions import lit

    result = {}
    for number, (predicate, arity) in enumerate(arities.items()):
        facts = together.where(together[NUMBER] == number)
        names = [f"a{place}" for place in range(arity)]
        result[predicate] = facts.select(*names) if names else facts.select(lit(True).alias("present"))
    return result


def _numbered(terms: DataFrame, first: int) -> DataFrame:
    """Terms with ids from `first` on; blank nodes get their name.

    The terms come out of a shuffle, which has them in whatever order they arrive in: they are sorted, so that tasks
    that are run again give the same ids.
    """
    from pyspark.sql.functions import col, concat, lit, when

    id = (col("place") + lit(first)).cast("bigint")
    blank = col("text").startswith("_:")
    return (
        terms.sortWithinPartitions("text")
        .zipWithIndex("place")
        .select(
            id.alias("id"),
            when(blank, concat(lit(BLANK), id.cast("string"))).otherwise(col("text")).alias("term"),
            when(blank, col("text")).alias("label"),
        )
    )


def _arguments(facts: DataFrame) -> list[str]:
    return sorted((name for name in facts.columns if name[0] == "a" and name[1:].isdigit()), key=_place)


def _place(name: str) -> int:
    return int(name[1:]) if name[1:].isdigit() else -1
