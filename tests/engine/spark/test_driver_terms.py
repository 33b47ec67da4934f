"""Values of ids on the driver: each is looked up once, however often it is asked for, and wherever ids lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from everlog.engine.group_numbers import distinct_numbers
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.driver_terms import DriverTerms


class Terms:
    """Has the integer of the same value for each id, and notes what was looked up."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def texts_of(self, ids: NDArray[np.int64]) -> pa.Table:
        self.asked += ids.tolist()
        texts = [f'"{one}"^^<http://www.w3.org/2001/XMLSchema#integer>' for one in ids.tolist()]
        return pa.table({"id": pa.array(ids), "term": pa.array(texts, pa.string())})


@pytest.mark.parametrize("times", [0, tuning.MANY_TIMES])
@pytest.mark.parametrize("spread", [1, 10**12], ids=["close together", "far apart"])
def test_each_id_is_looked_up_once(spread: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MANY_TIMES", times)
    engine: Any = Terms()
    terms = DriverTerms(engine)
    ids = np.random.default_rng(1).integers(0, 50, 2_000) * spread
    for some in (ids[:1_000], ids, ids[::-1]):
        assert terms.column(some).values() == some.tolist()
    assert sorted(engine.asked) == sorted(set(ids.tolist()))


@pytest.mark.parametrize("numbers", [[], [3], [2, 0, 2, 1], [10**12, 5, 10**12], [-1, 4, -1]])
def test_distinct_numbers_are_in_order(numbers: list[int]) -> None:
    found = distinct_numbers(np.array(numbers, np.int64))
    assert found.tolist() == sorted(set(numbers)) and found.dtype == np.int64
