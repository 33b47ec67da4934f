"""Rows in sorted blocks of files: those that have a key are found, by any columns that the order begins with."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa

from everlog.engine.spark.facts.sorted_blocks import Column, PackedBlock, WideBlock
from everlog.engine.spark.facts.sorted_files import SortedFiles, _read, _written


def test_rows_that_have_some_keys(tmp_path: Path) -> None:
    random, seen = Random(3), set[type]()
    for _ in range(30):
        order = random.sample(range(3), 3)
        values = [-1, 0, 1, random.choice([2, 2**19, 2**30]), random.choice([3, 2**62])]
        rows = sorted({tuple(random.choices(values, k=3)) for _ in range(random.randrange(40))})
        random.shuffle(rows)
        parts = [rows[start : start + 5] for start in range(0, len(rows), 5)]
        batches = [pa.record_batch([*map(pa.array, zip(*part, strict=True))], ["p", "a0", "n"]) for part in parts]
        written = [one for batch in _written(str(tmp_path), order, 12, iter(batches)) for one in batch.to_pylist()]
        assert len(written) == -(-len(rows) // 15)
        blocks = [_read(one["path"], list(map(Column, one["least"], one["bits"]))) for one in written]
        seen.update(map(type, blocks))
        files = SortedFiles(order, blocks)
        for number in (1, 2, 3):
            places = random.sample(order[:number], number)
            assert files.serves(places) and not files.serves([*places[:-1], 7])
            keys = {tuple(random.choices([*values, -2, 5], k=number)) for _ in range(random.randrange(9))}
            wanted = {row for row in rows if tuple(row[place] for place in places) in keys}
            asked = np.array(sorted(keys, key=str), np.int64).reshape(len(keys), number)
            found = files.having(places, asked, len(wanted))
            assert found is not None and sorted(map(tuple, found.tolist())) == sorted(wanted)
            assert not wanted or files.having(places, asked, len(wanted) - 1) is None
    assert seen == {PackedBlock, WideBlock}
