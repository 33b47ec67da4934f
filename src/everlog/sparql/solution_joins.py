"""Joins of solutions: compatible pairs, left joins, differences, and which solutions have a partner.

Two solutions are compatible if they agree on every variable that both bind. Where a shared variable may be unbound, rows
are first divided by which of them they bind; there are few such kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from everlog import interrupts
from everlog.datalog.syntax import Variable
from everlog.engine.group_numbers import numbered
from everlog.sparql.solutions import UNBOUND, Ids, Mask, Places, Solutions

Check: TypeAlias = Callable[[int], None]


def _anything(number: int) -> None:
    pass


def join(left: Solutions, right: Solutions, check: Check = _anything) -> Solutions:
    """All compatible pairs, merged. `check` is told how many there are before they are made, and may raise."""
    if not left.columns and left.length == 1:
        return right
    if not right.columns and right.length == 1:
        return left
    return merged(left, right, *pairs(left, right, check))


def merged(left: Solutions, right: Solutions, mine: Places, others: Places) -> Solutions:
    """Pairs of compatible solutions, given by their places, as solutions."""
    columns = {variable: column[mine] for variable, column in left.columns.items()}
    for variable, column in right.columns.items():
        found = columns.get(variable)
        if found is None:
            columns[variable] = column[others]
        elif (unbound := found == UNBOUND).any():
            columns[variable] = np.where(unbound, column[others], found)
    return Solutions(len(mine), columns)


def pairs(left: Solutions, right: Solutions, check: Check = _anything) -> tuple[Places, Places]:
    """The places of compatible pairs; `check` is told how many there are before they are made."""
    shared = [variable for variable in left.columns if variable in right.columns]
    mine: list[Places] = []
    others: list[Places] = []
    for rows, partners, keys in _kinds(left, right, shared):
        interrupts.look()
        one, other = _equal_pairs(
            [left.columns[key][rows] for key in keys],
            [right.columns[key][partners] for key in keys],
            rows,
            partners,
            check,
        )
        mine.append(one)
        others.append(other)
    empty = np.zeros(0, np.intp)
    return np.concatenate([empty, *mine]), np.concatenate([empty, *others])


def has_partner(left: Solutions, right: Solutions, apart: Collection[Variable] | None = None) -> Mask:
    """Which solutions have a compatible one; with `apart`, only if they share a bound variable that is not among these."""
    found = np.zeros(left.length, np.bool_)
    shared = [variable for variable in left.columns if variable in right.columns]
    for rows, partners, keys in _kinds(left, right, shared):
        interrupts.look()
        if not len(rows) or not len(partners) or (apart is not None and all(key in apart for key in keys)):
            continue
        if not keys:
            found[rows] = True
            continue
        mine, others = _one_key(
            [left.columns[key][rows] for key in keys], [right.columns[key][partners] for key in keys]
        )
        found[rows] |= contained(mine, others)
    return found


def _kinds(
    left: Solutions, right: Solutions, shared: Sequence[Variable]
) -> Iterator[tuple[Places, Places, list[Variable]]]:
    """Rows of both sides by the shared variables that they bind, with those that both do."""
    for rows, bound in _by_bound(left, shared):
        for partners, bound_there in _by_bound(right, shared):
            yield rows, partners, [key for key in shared if key in bound and key in bound_there]


def _by_bound(solutions: Solutions, shared: Sequence[Variable]) -> Iterator[tuple[Places, set[Variable]]]:
    unbound = {key: gaps for key in shared if (gaps := solutions.columns[key] == UNBOUND).any()}
    if not unbound:
        yield np.arange(solutions.length), set(shared)
        return
    numbers, some = numbered([gaps.astype(np.int64) for gaps in unbound.values()], solutions.length)
    for number, row in enumerate(some):
        gone = {key for key, gaps in unbound.items() if gaps[row]}
        yield np.flatnonzero(numbers == number), set(shared) - gone


def _equal_pairs(
    mine: Sequence[Ids], others: Sequence[Ids], rows: Places, partners: Places, check: Check
) -> tuple[Places, Places]:
    """The pairs of rows and partners whose keys are equal."""
    if not len(rows) or not len(partners):
        return rows[:0], partners[:0]
    if not mine:
        check(len(rows) * len(partners))
        return np.repeat(rows, len(partners)), np.tile(partners, len(rows))
    one, other = _one_key(mine, others)
    if len(one) < len(other):
        found, places = look_up(other, one, check)
        return rows[places], partners[found]
    found, places = look_up(one, other, check)
    return rows[found], partners[places]


def look_up(keys: Ids, among: Ids, check: Check = _anything) -> tuple[Places, Places]:
    """The places of equal pairs: of keys, and of those that they are looked up among."""
    from everlog.engine.memory.kernels.pair_kernels import count_pairs, list_pairs

    chains = _chains(keys, among)
    number = count_pairs(*chains)
    check(number)
    found, places = np.empty(number, np.intp), np.empty(number, np.intp)
    list_pairs(*chains, found, places)
    return found, places


def contained(keys: Ids, among: Ids) -> Mask:
    """Which keys are among others."""
    from everlog.engine.memory.kernels.pair_kernels import are_among

    found = np.empty(len(keys), np.bool_)
    are_among(*_chains(keys, among), found)
    return found


def _chains(keys: Ids, among: Ids) -> tuple[Ids, Ids, Ids, Ids]:
    """What `pair_kernels.py` takes: both columns, and the second one in chains."""
    from everlog.engine.memory.kernels.pair_kernels import chained

    keys, among = np.ascontiguousarray(keys), np.ascontiguousarray(among)
    first: Ids = np.full(1 << (2 * len(among)).bit_length(), -1, np.int64)
    after: Ids = np.empty(len(among), np.int64)
    chained(among, first, after)
    return keys, among, first, after


def _one_key(mine: Sequence[Ids], others: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Several columns on both sides as one, equal where they all are."""
    if len(mine) == 1:
        return mine[0], others[0]
    split = len(mine[0])
    numbers, _ = numbered([np.concatenate(two) for two in zip(mine, others, strict=True)], split + len(others[0]))
    return numbers[:split].astype(np.int64), numbers[split:].astype(np.int64)
