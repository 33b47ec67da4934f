"""`match` on Spark against trying everything: each match once, every projection, and the same when it is kept."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Labelled
from everlog.engine.spark.joins.matcher import SparkMatcher
from oracles import naive
from oracles.naive import Facts as FactsOf
from oracles.naive import Substitution
from support.joint import VALUES
from support.spark_sets import Facts
from support.strategies import Writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("seed", [3, 4, 14])
def test_match(spark: SparkSession, seed: int) -> None:
    writer = Writer(Random(seed))
    facts = Facts(spark, VALUES)
    expected: list[Substitution] = []
    while not expected:  # a query without matches shows little
        rule = writer.plain_rule()
        atoms = [(atom, False) for atom in rule.positive] + [(negation.atoms[0], True) for negation in rule.negative]
        views = [naive.facts(writer.facts(0.5)) for _ in atoms]
        found = matches(atoms, views)
        expected = [one for one in found if all(naive.holds(test, one) for test in rule.comparisons)]
    literals = [Labelled(atom, facts.stored(view), no) for (atom, no), view in zip(atoms, views, strict=True)]
    bindings = SparkMatcher(facts.engine).match(literals, rule.comparisons)
    heads = {naive.instance_of(rule.head, one) for one in expected}
    excluded = frozenset(list(heads)[::2])
    hidden = Atom("¬pairs", rule.head.terms)
    assert facts.facts_in(bindings.facts(rule.head)) == heads
    assert facts.facts_in(bindings.facts(rule.head, facts.stored(excluded))) == heads - excluded
    pairs = {naive.instance_of(hidden, match) for match in expected}
    assert facts.facts_in(bindings.facts(hidden)) == pairs
    assert facts.engine.derivations == 0


def matches(atoms: list[tuple[Atom, bool]], views: list[FactsOf]) -> list[Substitution]:
    """The matches when each literal has a set of its own."""
    found: list[Substitution] = [{}]
    for (atom, negative), view in zip(atoms, views, strict=True):
        if negative:
            found = [one for one in found if naive.instance_of(atom, one) not in view]
        else:
            found = [longer for one in found for longer in naive.matches([atom], view, one)]
    return found
