"""Comparisons of bindings. `=` and `!=` compare ids; the others need values, which the dictionary's texts give.

Numbers are ordered by value, an int and a float exactly; strings by code point, which is the order of their UTF-8 bytes;
everything else is in no order. Only the variables that are compared are looked up, and only numbers and strings are found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from everlog.datalog.values import XSD
from everlog.engine.spark.patterns import Compared, Term
from everlog.errors import EverlogError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from everlog.engine.spark.engine import SparkEngine

SMALL: Final = 200_000
"""Bindings that come from so many facts are broadcast to the dictionary."""

_INTEGER: Final = f'"^^<{XSD}integer>'
_DOUBLE: Final = f'"^^<{XSD}double>'
_BOUND: Final = float(2**63)


def compared(
    engine: SparkEngine, frame: DataFrame, test: Compared, column: Callable[[Term], Column], rows: int | None
) -> DataFrame:
    """The bindings for which a comparison holds; they come from at most so many facts (None: nobody knows)."""
    from pyspark.sql.functions import broadcast

    operator, left, right = test
    if operator in ("=", "!="):
        same = column(left) == column(right)
        return frame.where(same if operator == "=" else ~same)
    if engine.terms is None:
        raise EverlogError(f"{operator} compares values, and this engine was given no dictionary to find them in")
    if operator in (">", ">="):
        left, right = right, left
    found = frame
    for side, term in (("left", left), ("right", right)):
        asking = found.withColumn(f"{side} id", column(term).cast("bigint"))
        values = _values(engine.terms_here(), side)
        small = rows is not None and rows <= SMALL
        found = values.join(broadcast(asking) if small else asking, f"{side} id")
    return found.where(_is_less(or_equal=operator in ("<=", ">="))).select(*frame.columns)


def _values(terms: DataFrame, side: str) -> DataFrame:
    """The numbers and strings among some terms, each in the column of its kind, under names for one side."""
    from pyspark.sql.functions import col, concat, from_json, length, lit, substring, when

    text = col("term")
    plain = text.startswith('"') & text.endswith('"')
    integer, double = text.endswith(_INTEGER), text.endswith(_DOUBLE)

    def number(suffix: str) -> Column:
        return text.substr(lit(2), length(text) - lit(len(suffix) + 1))

    lexical = number(_DOUBLE)
    value = (
        when(lexical == "INF", lit(float("inf")))
        .when(lexical == "-INF", lit(float("-inf")))
        .when(lexical != "NaN", lexical.try_cast("double"))
    )
    # An N-Triples string without a datatype is a JSON string, but for eight-digit escapes, which no writer here makes.
    unescaped = from_json(
        concat(lit('{"s":'), text, lit("}")), "s string", {"allowUnquotedControlChars": "true"}
    ).getField("s")
    escaped = text.contains("\\")
    bare = substring(text, lit(2), length(text) - lit(2))
    return terms.where(plain | integer | double).select(
        col("id").cast("bigint").alias(f"{side} id"),
        when(integer, number(_INTEGER).try_cast("bigint")).alias(f"{side} integer"),
        when(double, value).alias(f"{side} double"),
        when(plain & escaped, unescaped).when(plain, bare).alias(f"{side} string"),
    )


def _is_less(or_equal: bool) -> Column:
    """Whether the left value is less than the right one, or equal to it; null is no."""
    from pyspark.sql.functions import ceil, col, floor, lit, when

    def less(a: Column, b: Column) -> Column:
        return a <= b if or_equal else a < b

    integers, doubles, strings = (
        (col(f"left {kind}"), col(f"right {kind}")) for kind in ("integer", "double", "string")
    )
    # An integer i and a double d: i < d exactly if i < ⌈d⌉, i ≤ d if i ≤ ⌊d⌋, d < i if ⌊d⌋ < i, d ≤ i if ⌈d⌉ ≤ i.
    i, d = integers[0], doubles[1]
    bound = (floor(d) if or_equal else ceil(d)).cast("bigint")
    integer_first = when(d >= lit(_BOUND), lit(True)).when(d < lit(-_BOUND), lit(False)).otherwise(less(i, bound))
    d, i = doubles[0], integers[1]
    bound = (ceil(d) if or_equal else floor(d)).cast("bigint")
    double_first = when(d >= lit(_BOUND), lit(False)).when(d < lit(-_BOUND), lit(True)).otherwise(less(bound, i))
    return (
        when(integers[0].isNotNull() & integers[1].isNotNull(), less(*integers))
        .when(doubles[0].isNotNull() & doubles[1].isNotNull(), less(*doubles))
        .when(integers[0].isNotNull() & doubles[1].isNotNull(), integer_first)
        .when(doubles[0].isNotNull() & integers[1].isNotNull(), double_first)
        .when(strings[0].isNotNull() & strings[1].isNotNull(), less(*strings))
    )
