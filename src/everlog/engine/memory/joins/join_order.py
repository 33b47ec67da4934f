"""Join orders: which literal of a conjunction to match next.

An order is found greedily from every possible first literal, by the number of bindings that each prefix is expected to
have, and the one with the least effort is taken. A literal's expected matches per binding are its size over the number of
different keys that the bound columns have; its effort counts the rows that are looked at to find them, and the index that
may have to be made. Filters (literals that bind nothing, negations, comparisons) come as soon as their variables
are bound. For a delta the driving literal's size is the delta's, so that a small delta goes first and a large one need
not: a plan for a delta, or for given heads, is not the plan for the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from everlog.engine.memory import tuning


class Sized(Protocol):
    """A positive literal to be ordered."""

    def variables(self) -> set[int]: ...

    def size(self) -> float:
        """How many facts it matches when nothing is bound."""

    def fanout(self, bound: set[int]) -> float:
        """How many facts it matches for each binding of some variables."""

    def effort(self, bound: set[int], bindings: float) -> tuple[float, float]:
        """What it costs to match it when there are so many bindings of some variables: once, and for each of them."""


Giving = tuple[set[int], set[int]]
"""The variables that a test needs, and those that it gives their values: a computation has a result."""


def join_order(
    literals: Sequence[Sized],
    first: int | None = None,
    *,
    forced: bool = False,
    again: bool = False,
    uses: int = 1,
    giving: Sequence[Giving] = (),
) -> list[int]:
    """The places of literals in the order of their evaluation, preferably (or, `forced`, always) starting with `first`.

    `again` says that the same will be asked again. It was asked so many times with the `uses` that are noted, and as many
    more uses have to pay for an index. `giving` are computations, which are made as soon as they can be.
    """
    if len(literals) == 1:
        return [0]
    if forced and first is not None:
        return _greedy(literals, first, giving, ahead=True)[1]
    small = first is not None and (
        again or literals[first].size() * tuning.LASTING_INDEX_SHARE < max(literal.size() for literal in literals)
    )
    shared_by = [tuning.LASTING_INDEX_SHARE if small and start == first else uses for start in range(len(literals))]
    costs: dict[int, tuple[float, list[int]]] = {}
    if first is not None:
        costs[first] = _greedy(literals, first, giving, 1 / shared_by[first])
        if costs[first][0] <= tuning.CHEAP_ORDER:
            return costs[first][1]
    for start, by in enumerate(shared_by):
        if start != first:
            costs[start] = _greedy(literals, start, giving, 1 / by)
    best = min(costs, key=lambda start: costs[start][0])
    if first is not None and costs[first][0] < tuning.DELTA_FIRST_RATIO * costs[best][0]:
        best = first
    return costs[best][1]


def _greedy(
    literals: Sequence[Sized], start: int, giving: Sequence[Giving], share: float = 1.0, ahead: bool = False
) -> tuple[float, list[int]]:
    """The cost, with a share of what indexes cost to make, and the order; `ahead`, few facts may narrow others down."""
    order = [start]
    bound = _known(set(literals[start].variables()), giving)
    bindings = max(literals[start].size(), 1e-3)
    cost = bindings
    left = [place for place in range(len(literals)) if place != start]
    while left:
        # A literal without a bound variable multiplies the bindings: it waits until nothing else is left.
        connected = [place for place in left if not bound.isdisjoint(literals[place].variables())]
        # Of equals, one that is only looked up goes first.
        fanout, _, best = min(
            (literals[place].fanout(bound), not literals[place].variables() <= bound, place)
            for place in connected or left
        )
        if ahead and connected and fanout > tuning.FEW_FACTS:
            best = _telling(literals, best, fanout, [place for place in left if place not in connected], bound)
            fanout = literals[best].fanout(bound)
        once, each = literals[best].effort(bound, bindings)
        order.append(best)
        left.remove(best)
        bound = _known(bound | literals[best].variables(), giving)
        cost += share * once + bindings * each
        bindings = max(bindings * fanout, 1e-3)
    return cost, order


def _telling(literals: Sequence[Sized], best: int, fanout: float, apart: Sequence[int], bound: set[int]) -> int:
    """The next literal: the best of those that are connected, or one of few facts that tell most of its matches.

    Who is admired by one of a few famous people is asked person by person, and not among all whom somebody knows.
    """
    for place in apart:
        mine = literals[place].variables()
        if literals[place].size() > tuning.FEW_FACTS or mine.isdisjoint(literals[best].variables()):
            continue
        if 2 * literals[place].size() * literals[best].fanout(bound | mine) < fanout:
            return place
    return best


def _known(bound: set[int], giving: Sequence[Giving]) -> set[int]:
    """Bound variables, with those that can be computed of them."""
    more = [gives for needs, gives in giving if needs <= bound and not gives <= bound]
    return _known(bound.union(*more), giving) if more else bound


def with_filters(order: Sequence[int], parts: Sequence[Giving]) -> list[int]:
    """An order of some parts of a conjunction with all others, which match no facts, each as early as can be."""
    plan: list[int] = []
    bound: set[int] = set()
    waiting = [place for place in range(len(parts)) if place not in order]
    for place in order:
        plan.append(place)
        bound |= parts[place][0]
        while (ready := next((other for other in waiting if parts[other][0] <= bound), None)) is not None:
            plan.append(ready)
            waiting.remove(ready)
            bound |= parts[ready][1]
    return plan
