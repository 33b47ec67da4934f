"""What is computed for groups of rows: `COUNT`, `SUM`, `MIN` and their kin over columns.

Rows in which an argument is missing do not count. Which value is least and which is greatest says `total_order.py`, so that
no result depends on the order of rows; of rows with values that are equal and not the same, such as `1` and `1.0`, only
those with the least or greatest term have the least or greatest value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from everlog.datalog.suspicions import did_you_mean
from everlog.datalog.values import Value
from everlog.errors import EverlogError
from everlog.expressions.argument_counts import check_count
from everlog.expressions.columns import Column, Integers, Mask, Places, column_of, either, joined, terms_of
from everlog.expressions.group_sums import continued_sums, sums
from everlog.expressions.term_functions import string
from everlog.expressions.total_order import Ranked, Ranks, ranked


class Members(NamedTuple):
    """Rows of groups: for each row the number of its group, and the columns of the arguments."""

    groups: Places
    arguments: Sequence[Column]


_OfGroups: TypeAlias = Callable[[Members, int, str], Column]
_OfChange: TypeAlias = Callable[[Column, Members, Members], Column]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What may be computed for groups: how many arguments it takes, its values, and its values after a change."""

    least: int
    most: int
    of_groups: _OfGroups
    of_change: _OfChange


def check_aggregate(function: str, arguments: int) -> None:
    """Refuse an aggregate that there is not, or that does not take so many arguments."""
    known = {**FUNCTIONS, "AVG": FUNCTIONS["SUM"]}  # a quotient of a sum and a count (`planning/aggregates.py`)
    found = known.get(function)
    if found is None:
        raise EverlogError(f"there is no aggregate {function}{did_you_mean(function, known)}")
    check_count(function, arguments, found.least, found.most)


def aggregated(function: str, groups: Places, count: int, arguments: Sequence[Column], separator: str = " ") -> Column:
    """The values of an aggregate for so many groups, given the number of the group of each row.

    A group without rows has the count and the sum 0 and the empty text, and is missing otherwise. The separator is between
    the texts of `GROUP_CONCAT`.

    >>> aggregated("SUM", np.array([0, 1, 0]), 2, [column_of([1, 2, 3])]).values()
    [4, 2]
    """
    with np.errstate(all="ignore"):
        return FUNCTIONS[function].of_groups(_present(Members(groups, arguments)), count, separator)


def continued(function: str, old: Column, come: Members, gone: Members) -> Column:
    """The values of an aggregate after rows came and went, given those before.

    A value is missing where it cannot be told from these alone: the group must then be looked at again as a whole.

    >>> nothing = Members(np.zeros(0, dtype=np.intp), [column_of([])])
    >>> continued("MIN", column_of([3, 5]), Members(np.array([0]), [column_of([1])]), nothing).values()
    [1, 5]
    """
    come, gone = _present(come), _present(gone)
    touched = _occupied(come.groups, old.length) | _occupied(gone.groups, old.length)
    return either(touched, FUNCTIONS[function].of_change(old, come, gone), old) if touched.any() else old


def _present(members: Members) -> Members:
    """The rows in which no argument is missing; an argument that stands for all rows has one for each."""
    groups, arguments = members
    whole = [argument.widened(len(groups)) for argument in arguments]
    gaps = joined([argument.missing for argument in whole])
    if gaps is None:
        return Members(groups, whole)
    rows = np.flatnonzero(~gaps)
    return Members(groups[rows], [argument.take(rows) for argument in whole])


def _occupied(groups: Places, count: int) -> Mask:
    """Which groups have rows."""
    found = np.zeros(count, dtype=np.bool_)
    found[groups] = True
    return found


def _look_again(old: Column, come: Members, gone: Members) -> Column:
    return terms_of([None]).widened(old.length)


def _count(members: Members, count: int, separator: str) -> Column:
    return Integers(np.bincount(members.groups, minlength=count).astype(np.int64, copy=False))


def _continued_count(old: Column, come: Members, gone: Members) -> Column:
    return continued_sums(
        old, *((one.groups, Integers(np.ones(len(one.groups), dtype=np.int64))) for one in (come, gone))
    )


def _sum(members: Members, count: int, separator: str) -> Column:
    return sums(members.groups, count, members.arguments[0])


def _continued_sum(old: Column, come: Members, gone: Members) -> Column:
    return continued_sums(old, (come.groups, come.arguments[0]), (gone.groups, gone.arguments[0]))


def _text(members: Members, count: int, separator: str) -> Column:
    """The texts of all values in their order; missing if one is a blank node, which has no text."""
    found = ranked(members.arguments[0])
    order = np.lexsort((found.ranks, members.groups))
    values, places = found.values(found.ranks[order]).distinct()
    texts = [None if value is None else string(value) for value in values]
    ends = np.cumsum(np.bincount(members.groups, minlength=count)).tolist()
    rows = [texts[place] for place in places.tolist()]
    joint: list[Value | None] = []
    for start, end in zip([0, *ends], ends, strict=False):
        parts = [text for text in rows[start:end] if text is not None]
        joint.append(separator.join(parts) if len(parts) == end - start else None)
    return column_of(joint)


def _in_direction(column: Column, greatest: bool) -> Ranked:
    """The values of a column by ranks, of which the least one is looked for."""
    return ranked(column).reversed() if greatest else ranked(column)


def _least(groups: Places, count: int, ranks: Ranks) -> Ranks:
    """The least rank of each group, and the greatest that there can be where it has no rows."""
    found = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(found, groups, ranks)
    return found


def _values(found: Ranked, ranks: Ranks, occupied: Mask) -> Column:
    """The values of ranks, missing where there are no rows."""
    if occupied.all():
        return found.values(ranks)
    if not occupied.any():
        return terms_of([None]).widened(len(ranks))
    return found.values(np.where(occupied, ranks, found.ranks[0])).blanked(~occupied)


def _extreme(greatest: bool) -> Aggregate:
    """The least or the greatest value."""

    def of_groups(members: Members, count: int, separator: str) -> Column:
        found = _in_direction(members.arguments[0], greatest)
        return _values(found, _least(members.groups, count, found.ranks), _occupied(members.groups, count))

    def of_change(old: Column, come: Members, gone: Members) -> Column:
        """A value that went may have been the only one; it does not matter if one that came is no greater."""
        count = old.length
        before = _present(Members(np.arange(count), [old]))
        found = _in_direction(_stacked([one.arguments[0] for one in (before, come, gone)]), greatest)
        ends = np.cumsum([len(one.groups) for one in (before, come)])
        least, came, went = (
            _least(one.groups, count, ranks)
            for one, ranks in zip((before, come, gone), np.split(found.ranks, ends), strict=True)
        )
        best = np.minimum(least, came)
        unsure = _occupied(gone.groups, count) & (went <= best) & ~(_occupied(come.groups, count) & (came == best))
        there = _occupied(before.groups, count) | _occupied(come.groups, count)
        return _values(found, best, there & ~unsure)

    return Aggregate(1, 1, of_groups, of_change)


def _stacked(columns: Sequence[Column]) -> Column:
    """The rows of several columns, one after the other."""
    found = [column.distinct() for column in columns]
    starts = np.cumsum([0, *(len(one.values) for one in found)])
    return column_of([value for one in found for value in one.values]).take(
        np.concatenate([one.places + start for one, start in zip(found, starts, strict=False)])
    )


def _rows_with_extreme(groups: Places, count: int, column: Column, greatest: bool) -> Mask:
    """Which rows have the least or the greatest value of their group."""
    ranks = _in_direction(column, greatest).ranks
    chosen: Mask = ranks == _least(groups, count, ranks)[groups]
    return chosen


def _count_of_extreme(greatest: bool) -> Aggregate:
    """How many rows have the least or the greatest value."""

    def of_groups(members: Members, count: int, separator: str) -> Column:
        chosen = _rows_with_extreme(members.groups, count, members.arguments[0], greatest)
        return _count(Members(members.groups[chosen], []), count, separator)

    return Aggregate(1, 1, of_groups, _look_again)


def _extreme_at(greatest: bool, where_greatest: bool) -> Aggregate:
    """The least or the greatest value of the first argument in rows with the least or the greatest one of the second."""

    def of_groups(members: Members, count: int, separator: str) -> Column:
        first, second = members.arguments
        rows = np.flatnonzero(_rows_with_extreme(members.groups, count, second, where_greatest))
        chosen = Members(members.groups[rows], [first.take(rows)])
        return _extreme(greatest).of_groups(chosen, count, separator)

    return Aggregate(2, 2, of_groups, _look_again)


FUNCTIONS: Final[Mapping[str, Aggregate]] = {
    "COUNT": Aggregate(0, 1, _count, _continued_count),
    "SUM": Aggregate(1, 1, _sum, _continued_sum),
    "MIN": _extreme(greatest=False),
    "MAX": _extreme(greatest=True),
    "SAMPLE": _extreme(greatest=False),
    "COUNT_MIN": _count_of_extreme(greatest=False),
    "COUNT_MAX": _count_of_extreme(greatest=True),
    "MIN_ARGMIN": _extreme_at(greatest=False, where_greatest=False),
    "MIN_ARGMAX": _extreme_at(greatest=False, where_greatest=True),
    "MAX_ARGMIN": _extreme_at(greatest=True, where_greatest=False),
    "MAX_ARGMAX": _extreme_at(greatest=True, where_greatest=True),
    "GROUP_CONCAT": Aggregate(1, 1, _text, _look_again),
}
