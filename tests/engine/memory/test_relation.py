"""Facts told apart by a column, whether its values stand together or not."""

from __future__ import annotations

import numpy as np

from everlog.engine.memory.facts.relation import Triples, grouped


def test_places_by_value_are_in_order_whatever_stands_together() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        runs = random.integers(0, 12)
        column = np.repeat(random.integers(0, 5, runs), random.integers(1, 60, runs)).astype(np.int32)
        if random.random() < 0.5:
            random.shuffle(column)
        expected = [(int(value), np.flatnonzero(column == value).tolist()) for value in np.unique(column)]
        assert [(value, places.tolist()) for value, places in grouped(column)] == expected


def test_triples_go_to_the_tables_of_their_properties_and_classes() -> None:
    facts = np.random.default_rng(0).integers(0, 4, (3, 500)).astype(np.int32)
    seen = []
    for table, tuples, places in Triples("triple", 2, 1).split(facts):
        fixed = dict(table.fixed)
        for place, tuple_ in zip(places.tolist(), tuples.T.tolist(), strict=True):
            whole = [fixed.get(position, -1) for position in range(3)]
            for position, value in zip(table.positions, tuple_, strict=True):
                whole[position] = value
            assert whole == facts[:, place].tolist()
        seen += places.tolist()
    assert sorted(seen) == list(range(500))
