"""Facts of a hidden predicate that are forgotten: their memory is given back, and others can be entered and found."""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.table import Ids


def pairs(first: int, count: int) -> Ids:
    return np.array([np.arange(first, first + count), np.arange(count)], np.int32)


def test_what_is_forgotten_takes_no_memory_and_others_take_its_place() -> None:
    engine = MemoryEngine(workers=1)
    facts = engine.insert("h", pairs(0, 50_000))
    [table] = engine.relation("h", 2).tables()
    table.index((0,)).runs(table.n)
    table.row_slots(0)
    before = engine.bytes_of("h")
    del facts
    engine.forget("h")
    assert table.n == 0
    assert engine.bytes_of("h") < before / 100
    others = engine.insert("h", pairs(100, 3))
    assert np.array_equal(engine.columns(others, "h"), pairs(100, 3))
    assert len(engine.present("h", pairs(100, 5))) == 3
    assert len(engine.present("h", pairs(0, 5))) == 0
    assert len(table.index((0,)).rows_with(np.array([101], np.int32), table.n)) == 1


def test_nothing_is_forgotten_while_a_set_is_marked() -> None:
    engine = MemoryEngine(workers=1)
    engine.insert("h", pairs(0, 9))
    some = engine.insert("h", pairs(2, 4))
    [table] = engine.relation("h", 2).tables()
    mark = some.rows(table).pinned()
    engine.forget("h")
    assert len(engine.columns(some, "h").T) == 4
    assert table.n > 0
    del mark, some
    engine.forget("h")
    assert table.n == 0
    engine.forget("nothing")
