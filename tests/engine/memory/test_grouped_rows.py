"""Many rows by groups: what threads and kernels find is what is found by looking at one row after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest

from everlog import KnowledgeBase
from everlog.datalog.values import Value
from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.grouped_rows import GroupedRows

FAR = 1 << 20


def one_by_one(jobs: Sequence[Callable[[], None]]) -> None:
    for job in jobs:
        job()


def columns_of(random: Random, rows: int, ranges: Sequence[range]) -> list[Ids]:
    return [np.array([random.choice(ids) for _ in range(rows)], np.int32) for ids in ranges]


SHAPES = {
    "ids that lie close together": [range(40, 60)],
    "ids that lie far apart": [range(0, FAR, 9_973)],
    "two columns, together close": [range(5), range(100, 104)],
    "two columns": [range(0, FAR, 99_991), range(7)],
    "three columns": [range(6), range(0, FAR, 200_003), range(3, 9)],
    "nearly as many groups as rows": [range(FAR), range(FAR)],
    "one group": [range(8, 9)],
}


@pytest.mark.parametrize("piece", [7, 4_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_groups_are_counted_and_added_up(shape: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "GROUPED_ROWS", piece)
    monkeypatch.setattr(tuning, "GROUP_PLACES", 30)
    random, dictionary = Random(f"{shape} {piece}"), Dictionary()
    values = [-(2**50), *range(-3, 40), 2**50]
    ids = dictionary.encode_values(values)
    rows = 3_000
    columns, added = columns_of(random, rows, SHAPES[shape]), columns_of(random, rows, [range(len(values))])[0]
    expected: dict[tuple[int, ...], list[int]] = {}
    for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        expected.setdefault(key, []).append(row)
    for workers in (1, 3):
        found = GroupedRows(columns, workers, one_by_one)
        keys = list(zip(*found.keys().tolist(), strict=True))
        assert sorted(keys) == sorted(expected)
        assert len(found) == len(keys)
        assert dict(zip(keys, found.counts().tolist(), strict=True)) == {
            key: len(mine) for key, mine in expected.items()
        }
        sums = found.sums(dictionary, ids[added])
        assert sums is not None
        assert dict(zip(keys, sums.tolist(), strict=True)) == {
            key: sum(values[added[row]] for row in mine) for key, mine in expected.items()
        }
        numbers = found.numbers()
        assert all({keys[numbers[row]] for row in mine} == {key} for key, mine in expected.items())


@pytest.mark.parametrize("values", [[1, 2**62, 2**62], [1, "a", 2], [1, 2.5, 2], [-(2**63), -1, 0]])
def test_sums_that_may_be_too_large_or_are_of_others_are_left_to_others(values: list[Value]) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_values(values)
    assert GroupedRows([np.zeros(3, np.int32)], 2, one_by_one).sums(dictionary, ids) is None


TELLING = """
told(?g, ?n, ?s, ?least, ?all) :- AGGREGATE(sale(?i, ?g, ?v) ON ?g BIND COUNT(*) AS ?n BIND SUM(?v) AS ?s
    BIND MIN(?v) AS ?least BIND COUNT(DISTINCT ?v) AS ?all) .
pairs(?g, ?v, ?n) :- AGGREGATE(sale(?i, ?g, ?v) ON ?g ?v BIND COUNT(*) AS ?n) .
all(?s) :- AGGREGATE(sale(?i, ?g, ?v) BIND SUM(?v) AS ?s) .
of_one(?g, ?n) :- AGGREGATE(sale(?i, ?g, 3) ON ?g BIND COUNT(?i) AS ?n) .
"""


@pytest.mark.parametrize("values", [list(range(9)), [2**62, -(2**62), 5, 3], [0.1, 0.7, 3, 4], ["x", 3, 7]])
def test_many_members_have_what_few_have(values: list[Value], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that do not fit into 64 bits, of doubles, or of what is no number, are the same whoever finds them."""
    random = Random(repr(values))
    rows = [(number, random.choice("abcdefg"), random.choice(values)) for number in range(300)]
    found = []
    for many in (1, 1_000):
        monkeypatch.setattr(tuning, "MANY_MEMBERS", many)
        kb = KnowledgeBase(TELLING, engine="memory")
        kb.add({"sale": rows})
        kb.materialise()
        state = [{name: sorted(kb.rows(name), key=repr) for name in ("told", "pairs", "all", "of_one")}]
        kb.update(delete={"sale": [row for row in rows if row[1] == "a" or row[0] % 3 == 0]})
        state.append({name: sorted(kb.rows(name), key=repr) for name in ("told", "pairs", "all", "of_one")})
        found.append(state)
    assert found[0] == found[1]
    assert found[0][0]["told"] or "x" in values
    assert not any(row[0] == "a" for row in found[0][1]["pairs"])
