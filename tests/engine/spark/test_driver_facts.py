"""Facts on the driver: hash tables of rows, by some columns and by all, against Python's dictionaries."""

from __future__ import annotations

import gc
import weakref
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

from everlog.engine.spark import tuning
from everlog.engine.spark.facts import row_kernels as kernels
from everlog.engine.spark.facts import shares
from everlog.engine.spark.facts.dense_index import DenseIndex
from everlog.engine.spark.facts.driver_facts import DriverFacts, each_once
from everlog.engine.spark.facts.row_indexes import Index, RowIndex, Slots
from everlog.engine.spark.facts.row_kinds import RowKinds
from everlog.engine.spark.facts.runs import local_run, remaining
from everlog.engine.spark.joins.seen_heads import SeenHeads

SIZES = (0, 1, 63, 64, 65, 200, 3_000)
"""Some of them are just below and just above what loops look at together."""


@pytest.fixture(params=[1, 3], ids=["alone", "shared"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many threads share long loops, which all are here."""
    monkeypatch.setattr(tuning, "SHARE_ROWS", 1)
    monkeypatch.setattr(shares, "PROCESSORS", request.param)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dense", [1, 10**9], ids=["dense", "hashed"])
@pytest.mark.parametrize("values", [2, 40, 10**12])
@pytest.mark.parametrize("size", SIZES)
def test_rows_are_found_by_any_columns(size: int, values: int, dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "DENSE_ROWS", dense)
    monkeypatch.setattr(tuning, "KIND_ROWS", dense)
    monkeypatch.setattr(tuning, "DENSE_LEADS", 1)
    random = np.random.default_rng(size)
    facts = each_once(random.integers(0, values, (size, 3)))
    others = random.integers(0, values, (150, 3))
    for places in (some for number in (1, 2, 3) for some in combinations(range(3), number)):
        known = defaultdict(set)
        for number, row in enumerate(facts.rows.tolist()):
            known[tuple(row[place] for place in places)].add(number)
        keys = np.concatenate([facts.rows, others])[:, places]
        expected = [(key, row) for key, one in enumerate(map(tuple, keys.tolist())) for row in sorted(known[one])]
        index = facts.index(places)
        found = index.all(keys, len(expected))
        assert found is not None
        assert sorted(zip(*(column.tolist() for column in found), strict=True)) == expected
        assert index.count(keys, len(expected)) == len(expected)
        assert index.has(keys).tolist() == [bool(known[one]) for one in map(tuple, keys.tolist())]
        for one, row in zip(map(tuple, keys.tolist()), index.one(keys).tolist(), strict=True):
            assert row in known[one] if known[one] else row == -1
        if expected:
            assert index.all(keys, len(expected) - 1) is None
            assert index.count(keys, len(expected) - 1) >= len(expected)


@pytest.mark.parametrize("size", SIZES)
def test_rows_with_one_key_stand_in_their_order(size: int) -> None:
    rows = np.stack([np.arange(size) % 7, np.arange(size)], axis=1)
    found = Index(rows, RowKinds(rows), [0]).all(np.arange(8).reshape(8, 1), size)
    assert found is not None
    assert found[1].tolist() == [row for key in range(7) for row in range(key, size, 7)]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("kinds", [1, 100, 256, 257, 1_000])
@pytest.mark.parametrize("spread", [1, 3, 2**31, 2**40])
def test_dense_ids_and_kinds_lead_to_rows_as_hash_tables_do(
    kinds: int, spread: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "KIND_ROWS", 1)
    random = np.random.default_rng(kinds)
    number = 5_000
    leads = -7 + random.integers(0, number, number) * spread  # up to some three rows each, and one with many
    leads[random.integers(0, number, 200)] = leads[0]
    kind = np.concatenate([random.integers(0, min(kinds, 50), number - kinds), np.arange(kinds)])
    rows = np.stack([np.full(number, 3), leads, kind, np.arange(number)], axis=1)[random.permutation(number)]
    others = np.stack([random.integers(2, 5, 900), random.choice(leads, 900) + 1, random.integers(0, 300, 900)], axis=1)
    assert (DenseIndex.of(rows, RowKinds(rows), (0, 1, 2)) is not None) == (kinds <= 256 and spread < 2**31)
    keys = np.concatenate([rows[:, :3], others])
    assert (RowKinds(rows).by((0, 2)) is not None) == (kinds <= 256)
    for places in ((0, 1, 2), (1, 2), (1,), (0, 1), (2, 1), (0,), (2,), (2, 0)):
        found = [Index(rows, RowKinds(rows), places).all(keys[:, places], 10**8)]
        with monkeypatch.context() as patch:
            patch.setattr(tuning, "DENSE_ROWS", 10**9)
            patch.setattr(tuning, "KIND_ROWS", 10**9)
            found.append(Index(rows, RowKinds(rows), places).all(keys[:, places], 10**8))
        assert found[0] is not None and found[1] is not None
        assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("size", SIZES)
def test_each_row_is_there_once_and_counted(size: int) -> None:
    rows = np.random.default_rng(size).integers(0, 12, (size, 2))
    found, counted = each_once(rows), each_once(rows, counted=True)
    expected = Counter(map(tuple, rows.tolist()))
    assert found.tuples() == list(expected)
    assert dict(zip(counted.tuples(), counted.numbers.tolist(), strict=True)) == expected
    assert np.array_equal(found.rows[DriverFacts(rows).places_in(found)], rows)
    assert DriverFacts(rows + 12).places_in(found).tolist() == [-1] * size


@pytest.mark.parametrize("mask", [2**31 - 1, 2**30 - 1, 2**12 - 1])
def test_whole_rows_are_found_however_little_slots_say_of_their_hashes(mask: int) -> None:
    rows = each_once(np.random.default_rng(5).integers(0, 60, (3_000, 3))).rows
    slots = Slots(np.full(2**12, -1, np.int32), mask)
    kernels.entered(rows, *slots)
    index, order = RowIndex(rows, slots), np.random.default_rng(6).permutation(len(rows))
    assert np.array_equal(index.one(rows[order]), order)
    assert not index.has(rows + 60).any()


def test_facts_that_nobody_has_are_freed_at_once() -> None:
    facts = each_once(np.arange(300).reshape(-1, 3))
    facts.index([1]).has(np.array([[4]]))
    freed = weakref.ref(facts)
    gc.disable()
    try:
        del facts
        assert freed() is None
    finally:
        gc.enable()


def test_many_heads_and_a_large_id_are_not_too_many_bits() -> None:
    seen = SeenHeads()
    assert seen.new([(1,)], np.zeros(1_000, np.int64), np.arange(1_000) * 60) is not None
    heads = [(number,) for number in range(2, 902)]
    assert seen.new(heads, np.arange(2_000) % 900, np.zeros(2_000, np.int64)) is None


@pytest.mark.parametrize("values", [70, 400])
def test_bits_tell_what_heads_have_seen(values: int) -> None:
    random, seen = np.random.default_rng(values), SeenHeads()
    known = set[tuple[tuple[int, ...], int]]()
    for size in (60, 300, 900):
        heads = [(number % 3, 7) for number in random.integers(0, 9, 4).tolist()]
        rules, ids = random.integers(0, 4, size), random.integers(0, values * size // 60, size)
        facts = [(heads[rule], id) for rule, id in zip(rules.tolist(), ids.tolist(), strict=True)]
        new = seen.new(heads, rules, ids)
        assert new is not None
        assert [facts[place] for place in new] == [one for one in dict.fromkeys(facts) if one not in known]
        known.update(facts)
    assert seen.new([(5, 7)], rules, ids * 10**9) is None  # their bits would be more than they are


@pytest.mark.parametrize("share", [0, 16, 10**9], ids=["noted", "noted while few", "copied"])
def test_facts_that_go_from_a_run_are_gone(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "GONE_SHARE", share)
    random = np.random.default_rng(3)
    facts = each_once(random.integers(0, 9, (400, 3)))
    runs = [local_run(facts)]
    left = set(facts.tuples())
    for _ in range(8):
        order = random.permutation(sorted(left))[:9]
        runs.append(remaining(runs[-1], DriverFacts(order), frozenset()))
        left -= set(map(tuple, order.tolist()))
        assert runs[-1].rows == len(left)
    assert runs[1].gone is None if share == 10**9 else runs[1].gone is not None
    found = runs[-1].local
    assert found is not None and runs[-1].gone is None and set(found.tuples()) == left
    assert runs[0].local is facts
