"""Best facts that follow by steps from one group to another, settled in the order of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from everlog.datalog.syntax import Extreme
from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.double_values import double_values
from everlog.engine.memory.kernels import settling_kernels as kernels
from everlog.engine.memory.scaled_values import scaled_values
from everlog.engine.memory.step_lists import MOST_STEPS, Ends, Numbers, StepLists, listed, span_of
from everlog.engine.memory.value_ranks import NumberValues, RankedValues, Values
from everlog.interrupts import aside


class Settled(NamedTuple):
    """Steps, and for each id a value in the order of what is best, and its parent (`settling_kernels.py`)."""

    steps: StepLists
    kind: Values
    values: Numbers
    parents: Ids


def settled(dictionary: Dictionary, extreme: Extreme, groups: Ids, given: Ids, steps: Sequence[Ends]) -> Settled | None:
    """The best values of all groups that steps lead to from some with given ones; None if that is no matter of an order."""
    if sum(len(one.sources) for one in steps) >= MOST_STEPS:
        return None
    if not extreme.numbers:
        order = RankedValues(dictionary, given, extreme)
        lists, ranks = listed(dictionary, steps), order.numbers(given)
        assert ranks is not None, "which are those that were ranked"
        return Settled(lists, order, *_spread(lists, groups, ranks))
    sign = 1 if extreme.function == "MIN" else -1
    asked = dictionary, sign, given, steps
    values, kind = _alike(*asked) or _doubles(*asked) or _scaled(*asked) or (None, None)
    numbers = None if values is None else values.numbers(given)
    if values is None or numbers is None:
        return None
    values.offered(groups[:0], groups, given)
    lists = listed(dictionary, steps, kind, values.added_by_id())
    found = Settled(lists, values, *aside(lists.used, _settled, lists, groups, numbers))
    return found if values.are_certain(found.values, lists.used) else None


def _alike(dictionary: Dictionary, sign: int, given: Ids, steps: Sequence[Ends]) -> tuple[Values, np.dtype[Any]] | None:
    """Given values and what steps add, and what holds the latter, if they are all integers, or all doubles."""
    weights = _kind_of_weights(dictionary, steps, sign)
    if weights is None:
        return None
    kind = np.dtype(np.float64 if weights.kind == "f" else np.int64)
    if len(given):
        span = span_of(dictionary, given)
        if span is None or (span.kind != kind and any(len(one.added) for one in steps)):
            return None
        kind = span.kind
    return NumberValues(dictionary, sign, kind), kind if kind.kind == "f" else weights


def _doubles(
    dictionary: Dictionary, sign: int, given: Ids, steps: Sequence[Ends]
) -> tuple[Values, np.dtype[Any]] | None:
    """The same for integers beside doubles, where all sums are doubles."""
    added = [one.added for one in steps if len(one.added)]
    copies = any(len(one.sources) > len(one.added) for one in steps)
    values = double_values(dictionary, sign, given, added, copies)
    return None if values is None else (values, np.dtype(np.float64))


def _scaled(
    dictionary: Dictionary, sign: int, given: Ids, steps: Sequence[Ends]
) -> tuple[Values, np.dtype[Any]] | None:
    """The same for integers beside decimals, or beside doubles, where all sums are exact."""
    added = [one.added for one in steps if len(one.added)]
    values = scaled_values(dictionary, sign, given, added)
    if values is None or any(values.added(ids) is None for ids in added):
        return None
    return values, np.dtype(np.int64)


def _kind_of_weights(dictionary: Dictionary, steps: Sequence[Ends], sign: int) -> np.dtype[Any] | None:
    """What holds all weights, if they are of one kind, and none improves a value."""
    spans = [span_of(dictionary, one.added) for one in steps if len(one.added)]
    known = [span for span in spans if span is not None]
    if len(known) < len(spans) or len({span.kind for span in known}) > 1:
        return None
    if any((span.least if sign > 0 else -span.greatest) < 0 for span in known):
        return None
    if known and known[0].kind.kind == "f":
        return known[0].kind
    farthest = max((int(span.greatest if sign > 0 else -span.least) for span in known), default=0)
    return np.dtype(np.int16 if farthest < tuning.NEAR_WEIGHTS else np.int64)


def _settled(lists: StepLists, groups: Ids, values: Numbers) -> tuple[Numbers, Ids]:
    """The value of each node, and its parent."""
    if not len(groups):
        return np.zeros(len(lists.begins), values.dtype), np.full(len(lists.begins), kernels.NONE, np.int32)
    if lists.weights.dtype.kind == "f":
        return kernels.settle(*lists.lists, groups, values, np.inf)  # type: ignore[no-any-return]
    least = values.min()
    if lists.weights.dtype == np.int16 and int(values.max()) - int(least) < kernels.FAR:
        order = np.argsort(values, kind="stable")
        width = max(64, 1 << int(lists.weights[: lists.used].max(initial=0)).bit_length())
        near, found, parents = kernels.settle_near(*lists.lists, groups[order], values[order] - least, width)
        if near and int(least) + 2**31 < 2**63:
            return found + least, parents
    return kernels.settle(*lists.lists, groups, values, np.iinfo(np.int64).max)  # type: ignore[no-any-return]


def _spread(lists: StepLists, groups: Ids, ranks: Numbers) -> tuple[Numbers, Ids]:
    """Values that are passed on as they are: the best one first, to all that it leads to."""
    order = np.argsort(ranks, kind="stable")
    owners, parents = aside(lists.used, kernels.spread, *lists.lists[:3], groups[order])
    if not len(groups):
        return np.zeros(len(parents), np.int64), parents
    return ranks[order][owners], parents
