"""What all generators share: numbered units of data, each made in a Spark task from its number and a seed alone.

A generator is a function of a number and a seed that yields triples of N-Triples terms. Since a unit depends on nothing
else, the data is the same whatever the number of tasks, and the first ten of fifty units are ten units.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from everlog.errors import EverlogError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Range: TypeAlias = tuple[int, int]
"""Both ends belong to it."""

Triple: TypeAlias = tuple[str, str, str]

TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_TASKS: Final = 256


class Generator(Protocol):
    """A function of a module: Spark tasks find it by its name."""

    def __call__(self, number: int, seed: int, /) -> Iterator[Triple]: ...


def generated(spark: SparkSession, generator: Generator, units: str, count: int, seed: int = 0) -> DataFrame:
    """The triples of `count` units, which are called `units`: string columns `a0`, `a1`, `a2` of N-Triples terms."""
    if count < 1:
        raise EverlogError(f"there is no data of {count} {units}; ask for one or more")
    numbers = spark.range(0, count, 1, numPartitions=min(count, _TASKS))
    return numbers.mapInArrow(_Task(generator, seed), "a0 string, a1 string, a2 string")


def as_terms(triples: DataFrame) -> DataFrame:
    """Columns of N-Triples terms marked as such, so that facts are made of them and not of their texts."""
    from everlog.sources.typed_columns import NTRIPLES

    for name in triples.columns:
        triples = triples.withMetadata(name, NTRIPLES)
    return triples


def write_ntriples(triples: DataFrame, folder: Path, name: str) -> None:
    """Triples as files `NAME-00000.nt`, … in a folder that does not exist yet, one for each task."""
    from pyspark.sql.functions import concat_ws, lit

    line = concat_ws(" ", "a0", "a1", "a2", lit("."))
    triples.select(line.alias("line")).write.text(str(folder))
    for part in sorted(folder.iterdir()):
        # Spark's own notes are no data, and a folder of facts holds nothing else.
        if part.name.startswith("part-"):
            part.rename(folder / f"{name}-{part.name.split('-')[1]}.nt")
        else:
            part.unlink()


class _Task:
    """Runs in Spark: numbers of units in, their triples out."""

    def __init__(self, generator: Generator, seed: int) -> None:
        self._generator = generator
        self._seed = seed

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                columns = zip(*self._generator(number, self._seed), strict=True)
                yield pa.record_batch([pa.array(column, pa.string()) for column in columns], names=["a0", "a1", "a2"])
