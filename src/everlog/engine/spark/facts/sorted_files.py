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
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4
from weakref import finalize

import numpy as np
import pyarrow as pa

from everlog.engine.spark import tuning
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.sorted_blocks import Block, Column, block_of, in_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SCHEMA: Final = "path string, columns array<struct<bits bigint, numbers array<bigint>, few boolean>>"
"""A file, and for each column of a block of numbers what it adds to them."""

_COLUMNS: Final = pa.field(
    "columns",
    pa.list_(pa.struct([("bits", pa.int64()), ("numbers", pa.list_(pa.int64())), ("few", pa.bool_())])),
)


class SortedFiles:
    """The rows of a run, in blocks; their columns stand in an order of places."""

    def __init__(self, order: Sequence[int], blocks: Sequence[Block]) -> None:
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
            starts, stops = block.ranges(sought)
            sizes = stops - starts
            most -= int(sizes.sum())
            if most < 0:
                return None
            offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
            found.append(block.rows(offsets + np.arange(len(offsets))))
        rows = np.concatenate(found) if found else np.empty((0, len(self._order)), np.int64)
        return rows[:, np.argsort(self._order)]


def sorted_files(frame: DataFrame, order: Sequence[int], folder: Path) -> SortedFiles | None:
    """Writes the rows of a frame of numbers, with its columns in an order, into a folder that goes when the result does.

    None if this process does not find what tasks have written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write = partial(_written, str(folder), list(order), tuning.SORTED_BLOCK_ROWS)
    written = frame.mapInArrow(write, _SCHEMA).collect()
    if not all(Path(path).is_file() for path, _ in written):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    found = SortedFiles(order, [_read(path, columns) for path, columns in written])
    finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _read(path: str, columns: Sequence[Sequence[Any]]) -> Block:
    """A block that was written; private maps are like other arrays to what is compiled, and nobody writes to them."""
    added = [Column(bits, np.array(numbers, np.int64), few) for bits, numbers, few in columns]
    return block_of(np.load(path, mmap_mode="c").view(np.ndarray), added)


def _written(
    folder: str, order: Sequence[int], most: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Writes blocks of rows, in a task; gives the names of the files, and what the columns of each add."""
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
    array, columns = in_order([table.column(place).to_numpy() for place in order])
    path = f"{folder}/{uuid4().hex}.npy"
    np.save(path, array)
    return pa.RecordBatch.from_pylist(
        [{"path": path, "columns": [one._asdict() for one in columns]}], pa.schema([("path", pa.string()), _COLUMNS])
    )
