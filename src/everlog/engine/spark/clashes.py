"""Equalities that contradict what is known, found by Spark where equality is a matter of rules.

As in memory (`engine/memory/clashes.py`): equal values that are no names, different names that are equal all the same, and
names that differ from themselves. Only these come to the driver, not all that is equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import TRIPLE, Constant
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS
from everlog.engine.algebra import FactSet
from everlog.engine.contradictions import SHOWN, Pairs, messages
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.sets import computed
from everlog.engine.spark.terms import SparkTerms


def clashes(engine: SparkEngine, terms: SparkTerms, I: FactSet) -> list[str]:
    """Messages about the facts of a materialisation, in which equal names have the same facts."""
    table = computed(I).table()
    if table is None or TRIPLE not in engine.relations():
        return []
    verbs = [Constant(SAME_AS), Constant(DIFFERENT_FROM)]
    same_as, different_from = map(engine.ids(verbs).__getitem__, verbs)
    number, _ = engine.relations()[TRIPLE]
    same, different = (
        f"(SELECT a0, a2 FROM {table} WHERE {RELATION} = {number} AND a1 = {verb})"
        for verb in (same_as, different_from)
    )
    names = engine.names()

    def pairs(query: str) -> list[tuple[int, int]]:
        return sorted((row[0], row[1]) for row in engine.spark.sql(query).collect())

    values = pairs(
        f"SELECT l.a0, l.a2 FROM {same} l LEFT JOIN {names} x ON x.id = l.a0 LEFT JOIN {names} y ON y.id = l.a2 "
        f"WHERE l.a0 <> l.a2 AND (x.id IS NULL OR y.id IS NULL OR l.a0 = {same_as} OR l.a2 = {same_as})"
    )
    both = pairs(
        f"SELECT DISTINCT l.a0, l.a2 FROM {different} l JOIN {same} s ON least(l.a0, l.a2) = least(s.a0, s.a2) "
        "AND greatest(l.a0, l.a2) = greatest(s.a0, s.a2) WHERE l.a0 <> l.a2"
    )
    excluded = [*{frozenset(pair): pair for pair in reversed(both)}.values()][::-1]
    known = {one for pair in excluded for one in pair}
    alone = [left for left, _ in pairs(f"SELECT * FROM {different} WHERE a0 = a2") if left not in known]
    return described(terms, values, excluded, alone, kept_apart=False)


def described(terms: SparkTerms, values: Pairs, excluded: Pairs, alone: Sequence[int], kept_apart: bool) -> list[str]:
    """Messages about clashes, with the values of the constants that they show."""
    shown = {one for some in (values, excluded) for pair in some[:SHOWN] for one in pair}
    value_of = terms.values_of([*shown, *alone[:SHOWN]])
    return messages(values, excluded, alone, value_of.__getitem__, kept_apart)
