"""Rules that compute agree with clingo, with DuckDB, and beside equality with its definition, after updates too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from random import Random

import pytest

from everlog import EverlogError, KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import TRIPLE, Program, Rule
from everlog.datalog.values import SAME_AS
from oracles import clingo_computing, computing, duckdb_computing, equality, naive
from oracles.exchange import facts_of
from oracles.naive import Fact, Facts, Key
from support.computing_programs import Computing
from support.equalities import random_case, rows
from support.integer_programs import over_integers


def agrees(one: Computing, oracle: Callable[[Sequence[Rule], Facts], Facts], algorithm: str) -> None:
    kb = KnowledgeBase(one.program, engine="memory", workers=1, algorithm=algorithm)
    kb.add(one.facts)
    kb.materialise()
    for add, delete in [({}, {}), *one.updates]:
        kb.update(add, delete)
        expected = oracle(one.program.rules, facts_of(kb, "explicit"))
        found = facts_of(kb)
        assert found == expected, (found - expected, expected - found, one.program)


@pytest.mark.parametrize("algorithm", ["auto", "dred", "counting"])
def test_clingo(algorithm: str) -> None:
    """`#count`, `#sum`, `#min`, `#max`, arithmetic, recursion and negation."""
    for seed in range(12):
        agrees(over_integers(Random(f"{algorithm} {seed}")), clingo_computing.materialise, algorithm)


@pytest.mark.parametrize("algorithm", ["auto", "bfc"])
def test_duckdb(algorithm: str) -> None:
    """Groups, expressions over integers, and texts."""
    for seed in range(6):
        one = over_integers(Random(f"{algorithm} {seed}"), recursion=False, texts=True)
        agrees(one, duckdb_computing.materialise, algorithm)


ABOVE = """
size(?x, ?n) :- AGGREGATE(q(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .
pairs(?n) :- AGGREGATE(q(?x, ?y), not r(?x, ?y) BIND COUNT(*) AS ?n) .
large(?x, ?m) :- size(?x, ?n), FILTER(?n > 1), BIND(?n * 2 AS ?m) .
most(MAX(?n)) :- size(?x, ?n) .
"""


def things(program: Program, explicit: Facts) -> Facts:
    """What follows with equality and, in all names, what rules above it say of things, each of which has one name there."""
    known = equality.materialise(program, explicit)
    same = naive.key(SAME_AS)
    names: dict[Key, set[Key]] = {}
    for predicate, arguments in known:
        if predicate == TRIPLE and arguments[1] == same:
            names.setdefault(arguments[0], {arguments[0]}).add(arguments[2])
    one = {name: min(some, key=repr) for name, some in names.items()}
    represented = frozenset((name, tuple(one.get(value, value) for value in values)) for name, values in known)
    above = computing.materialise(parse_program(ABOVE).rules, represented) - represented
    return known | {
        (name, chosen) for name, values in above for chosen in product(*(names.get(value, {value}) for value in values))
    }


def test_groups_are_of_things_where_names_are_rewritten() -> None:
    checked = 0
    for seed in range(14):
        case = random_case(seed, updates=3)
        kb = KnowledgeBase(parse_program(case.text + ABOVE), engine="memory", workers=1, equality="rewrite")
        kb.add(rows(case.facts))
        try:
            kb.materialise()
        except EverlogError:
            continue
        for add, delete in [(frozenset[Fact](), frozenset[Fact]()), *case.updates]:
            kb.update(rows(add), rows(delete))
            assert facts_of(kb) == things(case.program, facts_of(kb, "explicit")), case
            checked += 1
    assert checked > 20
