"""Join orders: a delta first, Example 37, no products where a join is possible, filters as early as they can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from everlog.datalog.reader import parse_program
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.joins.conjunction import Conjunction
from everlog.engine.memory.joins.join_order import join_order, with_filters
from oracles import naive
from support.stored import stored


@dataclass(frozen=True)
class Sized:
    """A literal over some variables; each bound one divides its matches by ten."""

    names: frozenset[int]
    facts: float

    def variables(self) -> set[int]:
        return set(self.names)

    def size(self) -> float:
        return self.facts

    def fanout(self, bound: set[int]) -> float:
        return max(self.facts / 10 ** len(self.names & bound), 0.1)

    def effort(self, bound: set[int], bindings: float) -> tuple[float, float]:
        return 0.0, self.fanout(bound)


def sized(facts: float, *names: int) -> Sized:
    return Sized(frozenset(names), facts)


def test_the_smallest_goes_first() -> None:
    assert join_order([sized(1000, 0, 1), sized(10, 1, 2), sized(1000, 2, 3)])[0] == 1


def test_a_delta_goes_first() -> None:
    chain = [sized(50, 0, 1), sized(100, 1, 2), sized(60, 2, 3)]
    assert join_order(chain, 2) == [2, 1, 0]
    assert join_order(chain, 0) == [0, 1, 2]


def test_a_delta_that_is_much_worse_does_not() -> None:
    literals = [sized(2, 0, 1), sized(1_000_000, 1, 2)]
    assert join_order(literals, 1) == [0, 1]
    assert join_order(literals, 1, forced=True) == [1, 0]


def test_few_facts_go_ahead_of_many_that_they_narrow_down_where_heads_are_asked_about() -> None:
    """Who knows one of three famous people, asked for each: not by going through all whom somebody knows."""
    head, knows, famous, many = sized(50, 0), sized(100_000, 0, 1), sized(3, 1), sized(300, 1)
    assert join_order([head, knows, famous], 0, forced=True) == [0, 2, 1]
    assert join_order([head, knows, many], 0, forced=True) == [0, 1, 2], "a product with many is no gain"
    assert join_order([head, knows, sized(3, 2)], 0, forced=True) == [0, 1, 2], "it says nothing about whom one knows"


def test_rows_that_few_bindings_meet_are_looked_for_without_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a large delta has to do with a few facts is found from these."""
    (rule,) = parse_program("admired(?x) :- related(?x, ?y), famous(?y) .").rules
    engine = MemoryEngine(workers=1)
    conjunction = Conjunction(engine, rule.positive, [], [])
    facts = [naive.fact("related", x, y) for x in range(40) for y in range(40)]
    everything = stored(engine, [*facts, naive.fact("famous", 1)])
    delta = stored(engine, facts)
    assert conjunction.plan([delta, everything], None, [0], small=0).used[0] == 0
    monkeypatch.setattr(tuning, "SOUGHT_ROWS", 1)
    monkeypatch.setattr(tuning, "CHEAP_ORDER", 0)
    again = Conjunction(engine, rule.positive, [], [])
    assert again.plan([delta, everything], None, [0], small=0).used[0] == 1


def test_how_many_rows_share_a_value_is_known_of_sorted_rows_too() -> None:
    """A table of a clique is sorted; every two of its rows at equal distances had different values."""
    engine = MemoryEngine(workers=1)
    first = np.repeat(np.arange(2_000, dtype=np.int32), 50)
    engine.append("knows", np.stack([first, np.arange(len(first), dtype=np.int32)]))
    (table,) = engine.relation("knows", 2).tables()
    assert 25 < table.crowding((0,)) < 100


def test_what_is_connected_goes_before_a_product() -> None:
    literals = [sized(10, 0), sized(20, 1), sized(1000, 0, 2), sized(1000, 2, 1)]
    order = join_order(literals, 0)
    assert order == [0, 2, 3, 1]


def test_one_literal() -> None:
    assert join_order([sized(7, 0)]) == [0]


def test_filters_come_as_soon_as_their_variables_are_bound() -> None:
    literals: list[set[int]] = [{0}, {0, 1}, {2}]
    filters: list[set[int]] = [{0, 2}, {0}, set(), {1}]
    parts = [(needs, set[int]()) for needs in (*literals, *filters)]
    assert with_filters([0, 1, 2], parts) == [0, 4, 5, 1, 6, 2, 3]
    assert with_filters([2, 0, 1], parts) == [2, 5, 0, 3, 4, 1, 6]


def test_computations_come_as_soon_as_they_can_be_made_and_what_needs_them_afterwards() -> None:
    parts: list[tuple[set[int], set[int]]] = [({0}, set()), ({3}, set()), ({2}, set()), ({1}, {2}), ({0}, {1})]
    assert with_filters([0, 1], parts) == [0, 4, 3, 2, 1]
    literals = [Sized(frozenset({0}), 10), Sized(frozenset({2, 3}), 10), Sized(frozenset({0, 3}), 10)]
    assert join_order(literals, 0, forced=True, giving=[({0}, {2})])[0] == 0


def test_example_37() -> None:
    """With all facts R, of which there is one, goes first; with T(c, d) as the delta T does, then S, then R."""
    (rule,) = parse_program("A(?x1) :- R(?x1, ?x2), S(?x2, ?x3), T(?x3, ?x4) .").rules
    engine = MemoryEngine(workers=1)
    conjunction = Conjunction(engine, rule.positive, [], [])
    facts = [naive.fact("R", "a", "b1"), naive.fact("T", "c", "d")]
    everything = stored(engine, [*facts, *(naive.fact("S", f"b{i}", "c") for i in range(1, 1001))])
    delta = stored(engine, [naive.fact("T", "c", "d")])
    order = conjunction.plan([everything] * 3, None, [0]).used
    assert order[0] in (0, 2) and order[1] == 1
    order = conjunction.plan([everything, everything, delta], None, [0], small=2).used
    assert order == (2, 1, 0)
    delta = stored(engine, [naive.fact("R", "a", "b1")])
    order = conjunction.plan([delta, everything, everything], None, [0], small=0).used
    assert order == (0, 1, 2)
