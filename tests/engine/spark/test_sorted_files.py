"""Rows in sorted blocks of files: those that have a key are found, by any columns that the order begins with."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from everlog.engine.spark.facts import sorted_blocks
from everlog.engine.spark.facts.sorted_blocks import PackedBlock, WideBlock
from everlog.engine.spark.facts.sorted_files import SortedFiles, _read, _written


def test_rows_that_have_some_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random, seen = Random(3), set[tuple[type, bool]]()
    for turn in range(60):
        monkeypatch.setattr(sorted_blocks, "_FEW", 1_000 if turn % 2 else 0)
        order = random.sample(range(3), 3)
        values = [-1, 0, 1, random.choice([2, 2**19, 2**30]), random.choice([3, 2**62])]
        rows = sorted({tuple(random.choices(values, k=3)) for _ in range(random.randrange(40))})
        random.shuffle(rows)
        parts = [rows[start : start + 5] for start in range(0, len(rows), 5)]
        batches = [pa.record_batch([*map(pa.array, zip(*part, strict=True))], ["p", "a0", "n"]) for part in parts]
        written = [one for batch in _written(str(tmp_path), order, 12, iter(batches)) for one in batch.to_pylist()]
        assert len(written) == -(-len(rows) // 15)
        columns = [[(*column.values(),) for column in one["columns"]] for one in written]
        blocks = [_read(one["path"], some) for one, some in zip(written, columns, strict=True)]
        seen.update((type(block), any(few for *_, few in some)) for block, some in zip(blocks, columns, strict=True))
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
    assert seen == {(PackedBlock, False), (PackedBlock, True), (WideBlock, False)}
