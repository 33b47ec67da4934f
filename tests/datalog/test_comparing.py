"""What comparisons mean: by their definition, as SPARQL has it, and alike in both engines."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Store

from everlog import KnowledgeBase, parse_program
from everlog.datalog.comparing import holds
from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import XSD, Value, identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIGNS = ["=", "!=", "<", "<=", ">", ">="]
CONTRARY = {"<": ">", "<=": ">=", "=": "=", "!=": "!="}


def typed(name: str, texts: str) -> list[Value]:
    """Literals of a type of XML Schema."""
    return [read_term(f'"{text}"^^<{XSD}{name}>') for text in texts.split()]


# What SPARQL and Everlog take alike; dates with zones and those without are apart.
NUMBERS = [
    *typed("integer", "-3 0 1 7 007 +1 1000000"),
    *typed("decimal", "-3.0 0.0 .5 0.5 0.25 1 1. +7.00 -0.1"),
    *typed("double", "-3.0E0 0.0E0 -0.0E0 5.0E-1 0.5 1.0E0 7 1e6 -0.1 INF -INF"),
    *typed("byte", "1 -3 07"),
    *typed("unsignedLong", "0 1 1000000"),
]
OTHERS = [
    *typed("boolean", "true false 1 0"),
    *typed("string", "a b 1 2024-01-01 true ä"),
    *typed("anyURI", "a b"),
    Literal("a", language="en"),
    NamedNode("http://example.org/a"),
    NamedNode("http://example.org/b"),
]
ZONED = [
    *typed(
        "dateTime", "2024-01-01T00:00:00Z 2024-01-01T05:00:00+05:00 2023-12-31T23:59:59.5-00:00 2023-12-31T24:00:00Z"
    ),
    *typed(
        "dateTime", "2024-01-01T00:00:00.000001Z 0001-01-01T00:00:00Z -0044-03-15T12:00:00Z 2024-02-29T12:00:00-14:00"
    ),
    *typed("date", "2024-01-01Z 2024-01-01+05:00 2023-12-31-14:00 2000-02-29Z -0044-03-15Z"),
    *typed("time", "12:00:00Z 13:00:00+01:00 11:59:59.999Z 00:00:00-10:00"),
]
ZONELESS = [
    *typed("dateTime", "2024-01-01T00:00:00 2024-01-01T00:00:00.0 2023-12-31T24:00:00 1969-12-31T23:59:59.75"),
    *typed("date", "2024-01-01 2024-02-29 1970-01-01 1600-03-01 -0004-02-29 0000-01-01 10000-01-01"),
    *typed("time", "12:00:00 12:00:00.00 23:59:59 24:00:00 00:00:00"),
]
ODD = [
    *typed("integer", "abc 1.5"),
    *typed("integer", "9223372036854775807 9223372036854775808 9007199254740993 99999999999999999999999"),
    *typed("decimal", "9223372036854775807.0 9007199254740993.0 0.1 1e5 . 123456789012345678901.5 -.0"),
    *typed("double", "NaN 9.007199254740992E15 9.223372036854775807E18 1e400 0.1 0x10 1_0"),
    *typed("float", "0.1 NaN +INF 3.5"),
    *typed("boolean", "TRUE"),
    *typed("date", "2023-02-29 2024-13-01 2024-1-1 123456-01-01 1234567-01-01"),
    *typed(
        "dateTime", "2024-01-01T24:00:01 2024-01-01T12:00:60 2024-01-01T12:00:00+15:00 2024-01-01 2024-01-01T1:00:00"
    ),
    *typed("dateTimeStamp", "2024-01-01T00:00:00Z"),
    *typed("gYear", "2024 2023"),
    *typed("time", "25:00:00 12:00"),
]
UNLIKE = {identity(value) for value in OTHERS if not isinstance(value, str)}
"""What pyoxigraph orders otherwise: it has no order for booleans, one for texts of a language, and `a <= a` for IRIs."""
EVERY = [*NUMBERS, *OTHERS, *ZONED, *ZONELESS, *ODD]


@cache
def store() -> Store:
    return Store()


def in_sparql(sign: str, left: Value, right: Value) -> bool:
    return bool(store().query(f"ASK {{ FILTER({write_term(left)} {sign} {write_term(right)}) }}"))


@pytest.mark.parametrize("values", [[*NUMBERS, *OTHERS], [*ZONED, *OTHERS], [*ZONELESS, *OTHERS]])
def test_comparisons_are_those_of_sparql(values: list[Value]) -> None:
    for left, right in product(values, repeat=2):
        for sign in SIGNS:
            said = in_sparql(sign, left, right)
            if sign == "!=" and not said:
                said = not in_sparql("=", left, right)  # SPARQL has errors where it does not know a type
            if sign in ("=", "!=") or not {identity(left), identity(right)} & UNLIKE:
                assert holds(sign, left, right) == said, (left, sign, right)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(), st.decimals(-1000, 1000, places=3).map(str)),
    st.one_of(st.integers(-10, 10), st.floats(-10, 10, width=16), st.decimals(-10, 10, places=1).map(str)),
)
def test_numbers_of_any_type_are_those_of_sparql(left: object, right: object) -> None:
    one, other = (
        read_term(f'"{value}"^^<{XSD}decimal>') if isinstance(value, str) else value for value in (left, right)
    )
    for sign in SIGNS:
        assert holds(sign, one, other) == in_sparql(sign, one, other) or identity(one) == identity(other), (
            one,
            sign,
            other,
        )


def test_less_and_equal_belong_together() -> None:
    for left, right in product(EVERY, repeat=2):
        less, equal, greater = (holds(sign, left, right) for sign in ("<", "=", ">"))
        assert less + equal + greater <= 1
        ordered = less or greater or (equal and holds("<=", left, left))
        assert (holds("<=", left, right), holds(">=", left, right)) == (
            (less or (equal and ordered)),
            (greater or (equal and ordered)),
        )
        assert holds("!=", left, right) == (not equal)
        for sign, turned in CONTRARY.items():
            assert holds(sign, left, right) == holds(turned, right, left)


def test_equal_values_are_classes() -> None:
    for one in EVERY:
        assert holds("=", one, one)
        equal = [other for other in EVERY if holds("=", one, other)]
        for other in equal:
            assert [each for each in EVERY if holds("=", other, each)] == equal


@pytest.mark.parametrize(
    ("left", "sign", "right"),
    [
        ('"0.1"^^xsd:decimal', "=", "0.1"),
        ('"0.1"^^xsd:float', "=", "0.1"),
        ("9007199254740993", ">", "9007199254740992.0"),
        ('"9223372036854775808"^^xsd:integer', ">", "9223372036854775807"),
        ('"2024-01-01"^^xsd:date', "=", '"2024-01-01Z"^^xsd:date'),
        ('"2024-01-01T00:00:00"^^xsd:dateTime', "<", '"2024-01-01T00:00:00-01:00"^^xsd:dateTime'),
        ('"2024-01-01T00:00:00Z"^^xsd:dateTimeStamp', "=", '"2024-01-01T00:00:00Z"^^xsd:dateTime'),
        ('"NaN"^^xsd:double', "=", '"NaN"^^xsd:double'),
        ('"2024-01-01"^^xsd:date', "!=", '"2024-01-01T00:00:00"^^xsd:dateTime'),
    ],
)
def test_where_everlog_decides(left: str, sign: str, right: str) -> None:
    kb = KnowledgeBase(
        parse_program(f"v({left}) . w({right}) . yes() :- v(?x), w(?y), ?x {sign} ?y ."), engine="memory"
    )
    kb.materialise()
    assert kb.rows("yes") == [()]


PROGRAM = "".join(f"c{number}(?x, ?y) :- v(?x), v(?y), ?x {sign} ?y .\n" for number, sign in enumerate(SIGNS)) + (
    "next(?x, ?y) :- v(?x), v(?y), ?x < ?y, NOT EXISTS ?z IN (v(?z), ?x < ?z, ?z < ?y) .\n"
)


def expected() -> dict[str, set[tuple[object, ...]]]:
    pairs = list(product({identity(value): value for value in EVERY}.values(), repeat=2))
    found = {
        f"c{number}": {(identity(x), identity(y)) for x, y in pairs if holds(sign, x, y)}
        for number, sign in enumerate(SIGNS)
    }
    less = found["c2"]
    between = {(x, y) for x, z in less for other, y in less if z == other}
    return {**found, "next": less - between}


def answers(kb: KnowledgeBase) -> dict[str, set[tuple[object, ...]]]:
    kb.add({"v": [(value,) for value in EVERY]})
    kb.materialise()
    return {name: {tuple(map(identity, row)) for row in kb.rows(name)} for name in kb.predicates() if name != "v"}


@pytest.mark.parametrize("modules", ["off", "seq"])
def test_memory_compares_so(modules: str) -> None:
    assert answers(KnowledgeBase(parse_program(PROGRAM), engine="memory", modules=modules)) == expected()


def test_spark_compares_so(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """By joins, not on the driver."""
    from everlog.engine.spark import tuning

    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    some = {f"c{SIGNS.index(sign)}" for sign in ("=", "<", ">=")} | {"next"}
    rules = "".join(line for line in PROGRAM.splitlines(keepends=True) if line.partition("(")[0] in some)
    found = answers(KnowledgeBase(parse_program(rules), engine="spark", spark=spark, modules="seq"))
    assert found == {name: rows for name, rows in expected().items() if name in some}
