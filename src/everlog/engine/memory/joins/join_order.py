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

    def effort(self, bound: set[int]) -> tuple[float, float]:
        """What it costs to match it when some variables are bound: once, and for each binding."""


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
        return _greedy(literals, first, giving)[1]
    small = first is not None and (
        again or literals[first].size() * tuning.LASTING_INDEX_SHARE < max(literal.size() for literal in literals)
    )
    shared_by = [tuning.LASTING_INDEX_SHARE if small and start == first else uses for start in range(len(literals))]
    costs = {start: _greedy(literals, start, giving, 1 / by) for start, by in enumerate(shared_by)}
    best = min(costs, key=lambda start: costs[start][0])
    if first is not None and costs[first][0] < tuning.DELTA_FIRST_RATIO * costs[best][0]:
        best = first
    return costs[best][1]


def _greedy(
    literals: Sequence[Sized], start: int, giving: Sequence[Giving], share: float = 1.0
) -> tuple[float, list[int]]:
    """The cost, with a share of what indexes cost to make, and the order."""
    order = [start]
    bound = _known(set(literals[start].variables()), giving)
    bindings = max(literals[start].size(), 1e-3)
    cost = bindings
    left = [place for place in range(len(literals)) if place != start]
    while left:
        # A literal without a bound variable multiplies the bindings: it waits until nothing else is left.
        connected = [place for place in left if not bound.isdisjoint(literals[place].variables())] or left
        # Of equals, one that is only looked up goes first.
        fanout, _, best = min(
            (literals[place].fanout(bound), not literals[place].variables() <= bound, place) for place in connected
        )
        once, each = literals[best].effort(bound)
        order.append(best)
        left.remove(best)
        bound = _known(bound | literals[best].variables(), giving)
        cost += share * once + bindings * each
        bindings = max(bindings * fanout, 1e-3)
    return cost, order


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
