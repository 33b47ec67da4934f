"""Aggregates: against pyoxigraph, against their definitions on lists of values, in any order of rows, and after changes."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import Value, identity
from everlog.errors import EverlogError
from everlog.expressions.aggregation import FUNCTIONS, Members, aggregated, check_aggregate, continued
from everlog.expressions.columns import Column, column_of, terms_of
from everlog.expressions.numbers import number, number_value, to_double, to_float
from everlog.expressions.orders import order
from everlog.expressions.term_functions import string
from everlog.expressions.total_order import place_in_order
from oracles.sparql_oracle import pyoxigraph_aggregates
from support.expression_values import (
    BOOLEANS,
    DECIMALS,
    DOUBLES,
    DURATIONS,
    FLOATS,
    INTEGERS,
    LARGE_DECIMALS,
    MOMENTS,
    NAMES,
    OTHERS,
    STRINGS,
    TAGGED,
    VALUES,
    xsd,
)

Row = tuple[int, Value | None, Value | None]

OTHER_TYPES: list[Value] = [xsd("byte", "7"), xsd("byte", "-7"), xsd("integer", "01")]
POOLS: dict[str, list[Value]] = {
    "integers": [*INTEGERS, 3, -(2**62), 2**62],
    "small integers": list(range(-5, 5)),
    "integers of other types": [*INTEGERS, *OTHER_TYPES],
    "doubles": [*DOUBLES, 1e308, -1e308, 5e-324, 0.3, -0.7, 1 / 3, 1e16],
    "finite doubles": [0.1, 0.2, 0.3, -0.7, 1 / 3, 1e16, -1e16, 1e308, -1e308, 5e-324, -0.0],
    "decimals": [*DECIMALS, *LARGE_DECIMALS, xsd("decimal", "-170141183460469231731.687303715884105727"), 1, -3],
    "decimals and integers": [*DECIMALS, 1, 2, -3, 2**63 - 1],
    "floats": [*FLOATS, xsd("decimal", "0.1"), 3, 2**24 + 1, xsd("float", "3.4028234663852886E38")],
    "all numbers": [*INTEGERS, *DOUBLES, *DECIMALS, *FLOATS, *OTHER_TYPES],
    "booleans": BOOLEANS,
    "strings": STRINGS,
    "names": NAMES,
    "moments and durations": MOMENTS + DURATIONS,
    "all": VALUES,
}


def keys(values: Sequence[Value | None]) -> list[object]:
    return [None if value is None else identity(value) for value in values]


def rows_of(rows: Sequence[Row], make: Callable[[Sequence[Value | None]], Column], function: str) -> Members:
    columns = [make([row[place] for row in rows]) for place in (1, 2)]
    return Members(np.array([row[0] for row in rows], dtype=np.intp), columns[: FUNCTIONS[function].most])


def computed(
    function: str, rows: Sequence[Row], count: int, make: Callable[[Sequence[Value | None]], Column] = column_of
) -> list[object]:
    return keys(aggregated(function, *_spread(rows_of(rows, make, function), count), separator="; ").values())


def _spread(members: Members, count: int) -> tuple[np.ndarray, int, Sequence[Column]]:
    return members.groups, count, members.arguments


def random_rows(chance: random.Random, count: int, *pools: Sequence[Value]) -> list[Row]:
    """Rows of groups with very different numbers of rows; some values are missing."""
    first, second = pools if len(pools) == 2 else (*pools, VALUES)
    return [
        (
            min(int(chance.expovariate(0.7)), count - 1),
            None if chance.random() < 0.05 else chance.choice(first),
            None if chance.random() < 0.05 else chance.choice(second),
        )
        for _ in range(chance.choice([0, 1, 5, 20, 60]))
    ]


# The definitions, on the arguments of one group.


def sum_of(values: list[Value]) -> Value | None:
    numbers = [number(value) for value in values]
    if None in numbers:
        return None
    if any(isinstance(one, float) for one in numbers):
        return rounded([to_double(one) for one in numbers])
    if any(isinstance(one, np.float32) for one in numbers):
        with np.errstate(over="ignore"):
            return number_value(np.float32(rounded([float(to_float(one)) for one in numbers])))
    exact = sum((Fraction(one) for one in numbers), Fraction(0))
    if all(isinstance(one, int) for one in numbers):
        return number_value(int(exact))
    return number_value(Decimal(f"{int(exact * 10**18)}E-18"))


def rounded(doubles: list[float]) -> float:
    """The double next to the exact sum."""
    if not all(map(math.isfinite, doubles)):
        return sum(one for one in doubles if not math.isfinite(one))
    exact = sum(map(Fraction, doubles), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def sorted_values(values: list[Value]) -> list[Value]:
    return sorted(values, key=place_in_order)


def extreme(values: list[Value], place: int) -> Value | None:
    return sorted_values(values)[place] if values else None


def times_of_extreme(values: list[Value], place: int) -> int:
    return keys(values).count(identity(sorted_values(values)[place])) if values else 0


def extreme_at(firsts: list[Value], seconds: list[Value], place: int, where: int) -> Value | None:
    found = keys([extreme(seconds, where)])[0]
    return extreme([one for one, other in zip(firsts, seconds, strict=True) if identity(other) == found], place)


def text_of(values: list[Value]) -> str | None:
    texts = [string(value) for value in sorted_values(values)]
    return None if None in texts else "; ".join(texts)


DEFINITIONS: dict[str, Callable[..., Value | None]] = {
    "COUNT": len,
    "SUM": sum_of,
    **{name: partial(extreme, place=place) for name, place in (("MIN", 0), ("MAX", -1), ("SAMPLE", 0))},
    **{name: partial(times_of_extreme, place=place) for name, place in (("COUNT_MIN", 0), ("COUNT_MAX", -1))},
    **{
        f"{name}_ARG{at}": partial(extreme_at, place=place, where=where)
        for name, place in (("MIN", 0), ("MAX", -1))
        for at, where in (("MIN", 0), ("MAX", -1))
    },
    "GROUP_CONCAT": text_of,
}


def defined(function: str, rows: Sequence[Row], count: int) -> list[object]:
    width = FUNCTIONS[function].most
    members: list[list[tuple[Value, ...]]] = [[] for _ in range(count)]
    for group, *arguments in rows:
        if None not in arguments[:width]:
            members[group].append(tuple(arguments[:width]))
    return keys([DEFINITIONS[function](*([row[place] for row in one] for place in range(width))) for one in members])


@pytest.mark.parametrize("pool", POOLS)
def test_aggregates_are_what_they_are_defined_to_be(pool: str) -> None:
    chance = random.Random(pool)
    for _ in range(12):
        rows = random_rows(chance, 6, POOLS[pool], POOLS[chance.choice(list(POOLS))])
        for function in FUNCTIONS:
            expected = defined(function, rows, 6)
            assert computed(function, rows, 6) == expected, function
            assert computed(function, rows, 6, terms_of) == expected, function
            chance.shuffle(rows)
            assert computed(function, rows, 6) == expected, function


@pytest.mark.parametrize("pool", POOLS)
def test_values_after_a_change_are_those_of_starting_again_or_not_told(pool: str) -> None:
    chance = random.Random(pool)
    for _ in range(25):
        rows = random_rows(chance, 8, POOLS[pool])
        come = random_rows(chance, 8, POOLS[chance.choice([pool, pool, "all"])])[:6]
        chance.shuffle(rows)
        cut = chance.choice([0, 1, len(rows) // 4])
        gone, stay = rows[:cut], rows[cut:]
        for function in FUNCTIONS:
            old = aggregated(function, *_spread(rows_of(rows, column_of, function), 8), separator="; ")
            found = continued(function, old, *(rows_of(one, column_of, function) for one in (come, gone)))
            expected = computed(function, stay + come, 8)
            told = keys(found.values())
            assert all(one in (None, other) for one, other in zip(told, expected, strict=True)), function
            touched = {row[0] for row in come + gone}
            assert all(told[group] == expected[group] for group in range(8) if group not in touched)
            if function == "COUNT":
                assert told == expected


TOLD: list[tuple[str, list[Value | None], list[tuple[int, Value]], list[tuple[int, Value]], list[Value | None]]] = [
    ("SUM", [3, 5], [(0, 4)], [(0, 1), (1, 5)], [6, 0]),
    ("SUM", [3], [(0, xsd("decimal", "0.5"))], [], [xsd("decimal", "3.5")]),
    ("SUM", [xsd("decimal", "3.5")], [(0, 1)], [(0, 2)], [xsd("decimal", "2.5")]),
    ("SUM", [xsd("decimal", "3.5")], [], [(0, xsd("decimal", "0.5"))], [None]),
    ("SUM", [xsd("decimal", "3.5")], [(0, xsd("decimal", "1"))], [(0, xsd("decimal", "0.5"))], [xsd("decimal", "4")]),
    ("SUM", [3, 1.5, 2.5], [(0, 1.5), (1, 1)], [], [None, None, 2.5]),
    ("SUM", [2**63 - 1, 2**63 - 1], [(0, 1), (1, 1)], [(1, 1)], [None, 2**63 - 1]),
    ("SUM", [-1], [], [(0, -(2**63))], [2**63 - 1]),
    ("MIN", [3, 3, 3, 3], [(0, 1), (1, 4), (2, 2), (3, 3)], [(1, 5), (2, 3), (3, 3)], [1, 3, 2, 3]),
    ("MIN", [3, 3, None], [(1, 4), (2, 4)], [(0, 3), (1, 3)], [None, None, 4]),
    ("MIN", [2**63 - 1], [], [(0, 2**63 - 1)], [None]),
    ("MAX", [-(2**63)], [], [(0, -(2**63))], [None]),
    ("MAX", ["b", "b"], [(0, True), (1, 7)], [], [True, "b"]),
    ("SAMPLE", ["b"], [(0, NamedNode("a:b"))], [], [NamedNode("a:b")]),
]


@pytest.mark.parametrize(("function", "old", "come", "gone", "expected"), TOLD)
def test_what_is_told_after_a_change(
    function: str,
    old: list[Value | None],
    come: list[tuple[int, Value]],
    gone: list[tuple[int, Value]],
    expected: list[Value | None],
) -> None:
    members = (rows_of([(*row, None) for row in rows], column_of, function) for rows in (come, gone))
    assert keys(continued(function, column_of(old), *members).values()) == keys(expected)


SUMS: list[tuple[list[Value], Value | None]] = [
    ([], 0),
    ([2**63 - 1, 1, -1], 2**63 - 1),
    ([2**63 - 1, 1], None),
    ([-(2**63), -1, 1], -(2**63)),
    ([1, xsd("decimal", "0.5")], xsd("decimal", "1.5")),
    ([xsd("decimal", "1.5"), xsd("decimal", "1.5")], xsd("decimal", "3")),
    ([xsd("decimal", "170141183460469231731"), 10, -10], xsd("decimal", "170141183460469231731")),
    ([xsd("decimal", "170141183460469231731"), 10], None),
    ([xsd("byte", "7"), 1], 8),
    ([xsd("float", "1.5"), xsd("decimal", "0.5"), 1], xsd("float", "3.0E0")),
    ([xsd("float", "1.5"), 0.5], 2.0),
    ([1, "a"], None),
    ([True], None),
    ([0.1] * 10, 1.0),
    ([1e16, 1.0, -1e16], 1.0),
    ([1e308, 1e308, -1e308], 1e308),
    ([1e308, 1e308], math.inf),
    ([1e308, 1e308, -math.inf], -math.inf),
    ([math.inf, -math.inf], math.nan),
    ([math.inf, 1], math.inf),
    ([math.nan, 1.0], math.nan),
    ([5e-324, 5e-324], 1e-323),
    ([-0.0, -0.0], 0.0),
]


@pytest.mark.parametrize(("values", "expected"), SUMS)
def test_sums(values: list[Value], expected: Value | None) -> None:
    rows: list[Row] = [(0, value, None) for value in values]
    assert computed("SUM", rows, 1) == keys([expected])


def test_a_group_without_rows() -> None:
    expected = {"COUNT": 0, "SUM": 0, "COUNT_MIN": 0, "COUNT_MAX": 0, "GROUP_CONCAT": ""}
    for pool in POOLS.values():
        for rows in ([], [(0, pool[0], pool[0])]):
            for function in FUNCTIONS:
                assert computed(function, rows, 2)[1] == keys([expected.get(function)])[0]


def test_rows_are_counted_without_an_argument_and_constants_stand_for_all_rows() -> None:
    groups = np.array([0, 1, 1, 2, 2, 2])
    assert aggregated("COUNT", groups, 4, []).values() == [1, 2, 3, 0]
    assert aggregated("SUM", groups, 4, [column_of([5])]).values() == [5, 10, 15, 0]
    assert continued("COUNT", column_of([1, 2]), Members(groups[:3], []), Members(groups[:1], [])).values() == [1, 4]


def test_the_order_of_all_values_is_total_and_agrees_with_comparisons() -> None:
    values = sorted_values(VALUES)
    assert len({place_in_order(value) for value in values}) == len(values)
    less = order("<")
    for place, value in enumerate(values):
        for smaller in values[:place]:
            assert less(value, smaller) is not True, f"{write_term(smaller)} is not less than {write_term(value)}"


def test_the_order_of_kinds_and_of_equal_values() -> None:
    expected = [
        *(BlankNode("x"), NamedNode("a:b"), -math.inf, -1, 0, -0.0, 0.0),
        *(
            1,
            xsd("decimal", "1"),
            xsd("float", "1.0E0"),
            1.0,
            15,
            15.0,
            xsd("integer", "99999999999999999999"),
            math.inf,
            math.nan,
        ),
        *("", "a", "é", *TAGGED[1:2], False, True, xsd("dateTime", "2020-01-01T00:00:00"), xsd("date", "2019-01-01")),
        *(xsd("time", "10:00:00+10:00"), xsd("time", "00:00:00.0000001"), xsd("time", "00:00:00.00000011")),
        *(
            xsd("duration", "P1D"),
            xsd("dayTimeDuration", "P29D"),
            xsd("yearMonthDuration", "P1M"),
            xsd("duration", "P31D"),
        ),
        *OTHERS[1::-1],
    ]
    shuffled = random.Random(1).sample(expected, len(expected))
    assert keys(sorted_values(shuffled)) == keys(expected)


ALIKE: list[list[Value]] = [
    [*range(-9, 9), *OTHER_TYPES],
    [*DECIMALS, 3, -2],
    [0.5, 0.25, -4.0, 1024.0, -0.0, 0.0, math.inf, 7, xsd("decimal", "0.75"), xsd("float", "2.5E0")],
    [0.5, math.nan, math.inf, -math.inf, 3],
    [xsd("float", "2.5E0"), xsd("float", "0.5E0"), 3, xsd("decimal", "0.25")],
    STRINGS,
    [NamedNode("a:b"), NamedNode("a:c"), NamedNode("a:é")],
    [*NAMES[:2], "a", "b"],
    [1, 2, "a"],
]


def test_pyoxigraph_computes_the_same() -> None:
    """As far as SPARQL says what the result is: sums that are exact in any order, and values that have an order."""
    chance = random.Random(5)
    rows = [
        (group, chance.choice(ALIKE[group % len(ALIKE)])) for group in range(90) for _ in range(chance.randint(1, 9))
    ]
    groups, column = np.array([group for group, _ in rows]), column_of([value for _, value in rows])
    for function in ("COUNT", "SUM", "MIN", "MAX"):
        ours = aggregated(function, groups, 90, [column]).values()
        theirs = pyoxigraph_aggregates(function, rows, 90)
        assert [same(function, *pair) for pair in zip(ours, theirs, strict=True)] == [True] * 90, function


def same(function: str, ours: Value | None, theirs: Value | None) -> bool:
    """Whether two results are one; of several least or greatest values that are equal, pyoxigraph has any."""
    if keys([ours]) == keys([theirs]):
        return True
    if function == "SUM" or ours is None or theirs is None:
        return False
    one, other = number(ours), number(theirs)
    return one is not None and one == other


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("SUMM", 1, "there is no aggregate SUMM; did you mean SUM?"),
        ("XYZZY", 1, "there is no aggregate XYZZY"),
        ("SUM", 0, "SUM takes 1 argument, not 0"),
        ("COUNT", 2, "COUNT takes 0 or 1 argument, not 2"),
        ("MIN_ARGMAX", 1, "MIN_ARGMAX takes 2 arguments, not 1"),
    ],
)
def test_an_aggregate_is_refused_with_the_reason(function: str, arguments: int, message: str) -> None:
    with pytest.raises(EverlogError, match=f"^{re.escape(message)}$"):
        check_aggregate(function, arguments)
