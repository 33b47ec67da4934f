"""Sorted copies of runs in Spark, in files that the driver looks into: what it asks of them takes no job.

Tasks write a run in blocks, each sorted by all columns in some order, and the driver maps the blocks into its memory: to
look for a key is a search in each block, and touches a few pages of a file. That needs a folder which tasks and the
driver share. A driver that does not find the files asks by jobs.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4
from weakref import finalize

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts.driver_facts import Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PATH: Final = "path"
_BITS: Final = 63
"""So many bits a number has that is not negative."""


class SortedFiles:
    """The rows of a run, in blocks; their columns stand in an order of places."""

    def __init__(self, order: Sequence[int], blocks: Sequence[Rows]) -> None:
        self._order, self._blocks = tuple(order), blocks
        self.width = len(self._order) - 2
        """The most arguments that a fact has in them; a column of numbers is the last one."""

    def serves(self, places: Sequence[int]) -> bool:
        """Whether rows are found by keys at some places: those that the order begins with."""
        return set(self._order[: len(places)]) == set(places)

    def having(self, places: Sequence[int], keys: Rows, most: int) -> Rows | None:
        """The rows that have some distinct keys at some places; None if they are more than so many."""
        first = [places.index(place) for place in self._order[: len(places)]]
        sought = keys[:, first]
        sought = np.ascontiguousarray(sought[np.lexsort(sought.T[::-1])])
        found = []
        for block in self._blocks:
            starts, stops = np.empty(len(sought), np.int64), np.empty(len(sought), np.int64)
            kernels.ranges(block, sought, starts, stops)
            sizes = stops - starts
            most -= int(sizes.sum())
            if most < 0:
                return None
            offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
            found.append(block.take(offsets + np.arange(len(offsets)), axis=0))
        rows = np.concatenate(found) if found else np.empty((0, len(self._order)), np.int64)
        return rows[:, np.argsort(self._order)]


def sorted_files(frame: DataFrame, order: Sequence[int], folder: Path) -> SortedFiles | None:
    """Writes the rows of a frame of numbers, with its columns in an order, into a folder that goes when the result does.

    None if this process does not find what tasks have written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write = partial(_written, str(folder), list(order), tuning.SORTED_BLOCK_ROWS)
    paths = [Path(path) for (path,) in frame.mapInArrow(write, f"{_PATH} string").collect()]
    if not all(path.is_file() for path in paths):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    # Private maps are like other arrays to what is compiled; nobody writes.
    found = SortedFiles(order, [np.load(path, mmap_mode="c").view(np.ndarray) for path in paths])
    finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _written(
    folder: str, order: Sequence[int], most: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Writes blocks of rows, in a task; gives the names of the files."""
    block, rows = list[pa.RecordBatch](), 0
    for batch in batches:
        block.append(batch)
        rows += batch.num_rows
        if rows >= most:
            yield _block(folder, order, block)
            block, rows = [], 0
    if rows:
        yield _block(folder, order, block)


def _block(folder: str, order: Sequence[int], batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    table = pa.Table.from_batches(batches)
    columns = [table.column(place).to_numpy() for place in order]
    path = f"{folder}/{uuid4().hex}.npy"
    np.save(path, _sorted(columns))
    return pa.RecordBatch.from_pydict({_PATH: [path]})


def _sorted(columns: Sequence[NDArray[np.int64]]) -> Rows:
    """Some columns as rows in order; numbers that fit into one are sorted as one, which takes a fifth of the time."""
    rows = np.empty((len(columns[0]), len(columns)), np.int64)
    least = [int(column.min()) for column in columns]
    bits = [(int(column.max()) - low).bit_length() for column, low in zip(columns, least, strict=True)]
    if sum(bits) > _BITS:
        places = np.lexsort(columns[::-1])
        for number, column in enumerate(columns):
            rows[:, number] = column[places]
        return rows
    packed = np.zeros(len(rows), np.int64)
    for column, low, room in zip(columns, least, bits, strict=True):
        packed <<= room
        packed |= column - low
    packed.sort()
    for number in reversed(range(len(columns))):
        rows[:, number] = (packed & ((1 << bits[number]) - 1)) + least[number]
        packed >>= bits[number]
    return rows
