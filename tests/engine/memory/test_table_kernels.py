"""The loops over tables, called by themselves: sizes beside those at which they look ahead, and how they are compiled."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import TableView
from everlog.engine.memory.facts.table import MAX_ROWS
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


@pytest.mark.parametrize("columns", [(0,), (1,), (0, 1), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("values", [4, 60])
@pytest.mark.parametrize("spread", [1, 10_000_000])
@pytest.mark.parametrize("room", [1, 7, 33, 4_000])
def test_bindings_are_extended_wherever_there_is_too_little_room(
    columns: tuple[int, ...], values: int, spread: int, room: int
) -> None:
    """By what is left of the columns, of all rows and of those of a view, and by the rows in which two columns agree."""
    random, engine = np.random.default_rng(values + len(columns)), MemoryEngine(workers=1)
    facts = np.unique(random.integers(1, values, (4, 900)), axis=1).astype(np.int32) * np.int32(spread)
    engine.append("p", np.ascontiguousarray(facts))
    (table,) = engine.relation("p", 4).tables()
    (run,) = table.index(columns).runs(table.n)
    key_cols, rest = np.array(columns), np.array([column for column in range(4) if column not in columns])
    twins = np.array([[rest[0], rest[-1]]]) if len(rest) > 1 else np.empty((0, 2), np.int64)
    by_key = defaultdict[tuple[int, ...], list[int]](list)
    for row in range(table.n):
        by_key[tuple(facts[list(columns), row].tolist())].append(row)
    for size in (0, 1, 31, 32, 33, 70):
        block = random.integers(1, values + 1, (len(columns) + 1, size)).astype(np.int32) * np.int32(spread)
        block[0] = np.arange(size)
        # The last part of the key is a constant in half of the cases.
        sources, consts = np.arange(1, len(columns) + 1), np.array([spread], np.int32)
        if size % 2:
            sources[-1] = -1
        for plain, lo, hi, some in ((True, 0, MAX_ROWS, False), (False, 100, 700, False), (False, 0, MAX_ROWS, True)):
            covered = plain and len(rest) == 1
            if plain and not covered:
                continue
            same = twins if some else twins[:0]
            carry, fresh = np.array([0]), rest
            test = TableView(lo, hi).test(table)
            found, i, at = [], 0, -1
            while i < size:
                out = np.empty((1 + len(rest), room), np.int32)
                i, at, k = kernels.expand(
                    block, i, at, size, sources, consts, *run[2:], table.cols, key_cols, same, covered, plain, *test,
                    carry, fresh, out,
                )  # fmt: skip
                assert k <= room
                found += out[:, :k].T.tolist()
            wanted = []
            for binding in range(size):
                key = tuple(block[source, binding] if source > 0 else spread for source in sources)
                for row in by_key[tuple(map(int, key))]:
                    if lo <= row < hi and all(facts[a, row] == facts[b, row] for a, b in same):
                        wanted.append([binding, *facts[rest, row].tolist()])
            assert found == wanted


@pytest.mark.parametrize("arity", [0, 1, 2, 3])
def test_bindings_are_kept_by_what_is_there(arity: int) -> None:
    """In place, while keys of bindings further on are known already."""
    random, engine = np.random.default_rng(arity), MemoryEngine(workers=2)
    facts = (
        np.unique(random.integers(1, 12, (arity, 60)), axis=1).astype(np.int32) if arity else np.empty((0, 1), np.int32)
    )
    engine.insert("q", np.ascontiguousarray(facts))
    (table,) = engine.relation("q", arity).tables()
    there = set(map(tuple, facts.T.tolist()))
    sources, consts = np.arange(1, arity + 1), np.empty(0, np.int32)
    for size in (0, 1, 31, 32, 33, 700):
        for negative in (False, True):
            given = random.integers(1, 12, (arity + 1, size)).astype(np.int32)
            given[0] = np.arange(size)
            wanted = [one for one in given.T.tolist() if (tuple(one[1:]) in there) != negative]
            block = given.copy()
            view = TableView(0, MAX_ROWS).test(table)
            kept = kernels.probe(block, size, sources, consts, table.row_slots(0), table.cols, *view, negative)
            assert block[:, :kept].T.tolist() == wanted
            if table.has_groups:
                block = given.copy()
                kept = kernels.probe_presence(block, size, sources, consts, table.groups, table.shards, negative)
                assert block[:, :kept].T.tolist() == wanted


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
