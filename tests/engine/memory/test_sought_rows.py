"""The rows of a few tuples in a large table are found without a table of all rows, and that of all rows comes in time.

So are the rows that a constant of an atom asks for: a few times all rows are looked at, then there is an index.
"""

from __future__ import annotations

import numpy as np
import pytest

from everlog import KnowledgeBase, parse_program
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import ComputedFacts
from everlog.engine.memory.kernels import table_kernels as kernels


def numbered(arity: int, size: int) -> np.ndarray:
    rows = np.arange(size, dtype=np.int32)
    return np.array([rows // 7, rows % 7][:arity] if arity == 2 else [rows], np.int32)


@pytest.mark.parametrize("arity", [1, 2])
def test_few_tuples_are_found_among_many(arity: int) -> None:
    engine = MemoryEngine(workers=1)
    engine.append("p", numbered(arity, 20_000))
    table = next(iter(engine.relation("p", arity).tables()))
    wanted = numbered(arity, 30_000)[:, [3, 19_999, 25_000, 3, 65_536 % 20_000]]
    for _ in range(40):
        assert table.find(wanted).tolist() == [3, 19_999, -1, 3, 65_536 % 20_000]
    assert table._row_slots is not None  # after so many searches it pays to have them all


def test_what_is_inserted_is_entered_once() -> None:
    engine = MemoryEngine(workers=1)
    held: ComputedFacts = engine.append("p", numbered(2, 20_000))
    table = next(iter(engine.relation("p", 2).tables()))
    given = numbered(2, 20_010)[:, [19_998, 20_003, 20_003, 5, 20_009]]
    first = engine.insert("p", given, excluding=held)
    assert sorted(table.cols[:, first.rows(table).array()].T.tolist()) == sorted(given[:, [1, 4]].T.tolist())
    assert table.n == 20_002
    assert table._row_slots is None
    again = engine.insert("p", given)
    assert len(again) == 4
    assert table.n == 20_002
    many = engine.insert("p", numbered(2, 20_010))
    assert len(many) == table.n == 20_010
    assert table.find(given).tolist() == [19_998, 20_000, 20_000, 5, 20_001]


@pytest.mark.parametrize("leading", [0, 1])
def test_sorted_rows_are_found_without_an_index(leading: int) -> None:
    """Between rows in no order, with tuples that are not there, and others that only differ in one column."""
    engine = MemoryEngine(workers=1)
    engine.append("p", np.array([[9, 3], [1, 50_000]], np.int32))
    table = next(iter(engine.relation("p", 2).tables()))
    pairs = np.array([np.arange(40_000) // 200 * 2, np.arange(40_000) % 200 * 3], np.int32)
    table.append_sorted(np.ascontiguousarray(pairs if leading == 0 else pairs[::-1]), leading)
    table.append(np.array([[7, 398], [7, 600]], np.int32))
    given = np.array([[0, 0], [398, 597], [398, 598], [399, 597], [400, 0], [2, 3], [3, 3]], np.int32).T
    wanted = np.concatenate([given if leading == 0 else given[::-1], [[7, 398, 9], [7, 600, 1]]], axis=1)
    expected = [2, 40_001, -1, -1, -1, 203, -1, 40_002, 40_003, 0]
    assert table.find(wanted.astype(np.int32)).tolist() == expected
    assert table._row_slots is None
    again = engine.insert("p", wanted.astype(np.int32))
    assert len(again) == wanted.shape[1]
    assert table.n == 40_004 + 4


@pytest.mark.parametrize("goal", ["r({}, ?y)", "r(?y, {})", "r({}, ?y), ?y < 5000000"])
def test_a_goal_that_is_asked_again_looks_at_its_answers_alone(goal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 5_000
    looked_at: list[int] = []
    kb = KnowledgeBase(parse_program("s(?x) :- t(?x) ."), engine="memory")
    kb.add({"r": [(n % 1000, n * 1000) if goal.startswith("r({}") else (n * 1000, n % 1000) for n in range(size)]})
    kb.materialise()
    scan = kernels.scan
    monkeypatch.setattr(kernels, "scan", lambda *given: looked_at.append(given[3] - given[2]) or scan(*given))
    for key in range(tuning.SCANS_BEFORE_INDEX - 1):
        assert len(kb.query(goal.format(key))) == 5
    assert sum(looked_at) == size * (tuning.SCANS_BEFORE_INDEX - 1)
    del looked_at[:]
    for key in range(10):
        assert len(kb.query(goal.format(key))) == 5
    assert looked_at == [5] * 10
    kb.update(add={"r": [(3, 3)]}, delete={"r": [(3, 3000), (3000, 3)]})
    del looked_at[:]
    assert (3,) in kb.query(goal.format(3)) and (3000,) not in kb.query(goal.format(3))
    assert sum(looked_at) <= 2 * 6


def test_one_question_makes_no_index() -> None:
    kb = KnowledgeBase(parse_program("s(?x) :- t(?x) ."), engine="memory")
    kb.add({"r": [(n % 1000, n) for n in range(5_000)]})
    kb.materialise()
    assert len(kb.query("r(7, ?y)")) == 5
    (table,) = kb.reasoner.engine.relation("r", 2).tables()  # type: ignore[attr-defined]
    assert not table.indexed((0,))
