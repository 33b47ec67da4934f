"""The loops over tables, called by themselves: sizes beside those at which they look ahead, and how they are compiled."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.kernels import table_kernels as kernels

SIZES = [0, 1, 31, 32, 33, 700, 5_000]


@pytest.mark.parametrize("columns", [(), (0,), (2,), (0, 1), (2, 0), (1, 0, 2)])
@pytest.mark.parametrize("values", [3, 40, 2_000_000_000])
def test_a_run_has_the_rows_of_each_key_in_order(columns: tuple[int, ...], values: int) -> None:
    random = np.random.default_rng(len(columns) * 100 + values % 7)
    for size in SIZES:
        cols = random.integers(1, values, (3, size + 5)).astype(np.int32)
        wanted = defaultdict[tuple[int, ...], list[int]](list)
        for row in range(5, size + 5):
            wanted[tuple(cols[column, row] for column in columns)].append(row)
        rest = [column for column in range(3) if column not in columns]
        covered = rest[0] if len(rest) == 1 else -1
        for expected in (0, len(wanted), 3 * size):
            run = kernels.build_run(cols, np.array(columns, np.int64), 5, size + 5, covered, expected)
            _, _, _, starts, rows, payload = run
            groups = [rows[begin:end].tolist() for begin, end in pairwise(starts)]
            assert [group for group in groups if group] == list(wanted.values())
            assert payload.tolist() == (cols[covered, rows].tolist() if covered >= 0 else [])


@pytest.mark.parametrize("values", [6, 30, 2_000_000_000])
def test_wide_tuples_have_one_row_each(values: int) -> None:
    """Those that come again, in one call or in the next, have the row that they have."""
    random, engine = np.random.default_rng(values % 11), MemoryEngine(workers=1)
    known: dict[tuple[int, ...], int] = {}
    for size in [*SIZES, 33, 64]:
        given = random.integers(1, values, (4, size)).astype(np.int32)
        engine.insert("wide", np.concatenate([given, given[:, : size // 2]], axis=1))
        tuples = list(map(tuple, given.T.tolist()))
        for one in tuples:
            known.setdefault(one, len(known))
        (table,) = engine.relation("wide", 4).tables() or [None]
        if table is not None:
            assert table.find(given).tolist() == [known[one] for one in tuples]
            assert table.find(given[::-1]).tolist() == [known.get(one[::-1], -1) for one in tuples]
            assert table.n == len(known)


def test_to_look_a_key_up_counts_no_references() -> None:
    """Counting who has an array is twenty times as much work as the rest, and threads that do it wait for each other."""
    source_key, seek, group = kernels._source_key, kernels._seek, kernels._group

    @njit
    def looked_up(block, sources, consts, base, keys, groups, starts, rows, cols, key_cols):  # type: ignore[no-untyped-def]
        found = 0
        for i in range(block.shape[1]):
            key = source_key(block, i, sources, consts)
            place = seek(key, base, keys, groups)
            found += group(key, place, block, i, sources, consts, keys, groups, starts, rows, cols, key_cols) >= 0
        return found

    cols, both = np.arange(1, 201, dtype=np.int32).reshape(2, 100), np.array([0, 1])
    base, keys, groups, starts, rows, _ = kernels.build_run(cols, both, 0, 100, -1, 0)
    block = np.ascontiguousarray(cols[:, 40:60])
    assert looked_up(block, both, np.empty(0, np.int32), base, keys, groups, starts, rows, cols, both) == 20
    (code,) = looked_up.inspect_llvm().values()
    (name,) = {overload.fndesc.llvm_func_name for overload in looked_up.overloads.values()}
    (body,) = re.findall(r"^define [^\n]*@\"?" + re.escape(name) + r"\W.*?^}", code, re.MULTILINE | re.DOTALL)
    assert "NRT_incref" not in body
    assert "atomicrmw" not in body
