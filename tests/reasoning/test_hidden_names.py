"""Programs that are compiled more than once in an engine: a hidden predicate keeps its meaning, or gets another name."""

from __future__ import annotations

import pytest

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.values import SAME_AS
from oracles import clingo_oracle, naive
from oracles.equality import materialise
from oracles.exchange import facts_of

NEGATIONS = """
    v(?x) :- q(?x, a), NOT EXISTS ?y IN (r(?x, ?y), s(?y)) .
    v(?x) :- q(?x, b), NOT EXISTS ?y IN (r(?x, ?y), s(?y)) .
    w(?x, ?z) :- q(?x, ?z), NOT EXISTS ?y IN (r(?x, ?y), q(?y, ?z)) .
    u(?x) :- q(?x, ?z), NOT EXISTS ?y IN (r(?y, ?x), q(?y, b)) .
"""
CYCLES = """
    v(?x) :- q(?x, a), r(?x, ?y), r(?y, ?z), r(?z, ?x) .
    v(?x) :- q(?x, b), r(?x, ?y), r(?y, ?z), r(?z, ?x) .
    w(?x, ?z) :- q(?x, ?y), q(?y, ?z), q(?z, ?u), q(?u, ?x), r(?x, ?z) .
    u(?x) :- r(?x, ?y), q(?y, ?z), r(?z, b), q(?x, ?z) .
"""
FACTS = {
    "q": [("c", "a"), ("d", "b"), ("e", "a"), ("e", "c"), ("c", "d"), ("d", "e")],
    "r": [("c", "d"), ("d", "e"), ("e", "c"), ("a", "b"), ("e", "a")],
    "s": [("d",), ("a",)],
}
EQUAL = {"triple": [("a", SAME_AS, "b")]}


@pytest.mark.parametrize("text", [NEGATIONS, CYCLES], ids=["negations", "decompositions"])
def test_rules_that_become_one_and_two_again(text: str) -> None:
    """Where `a` and `b` are one, the first two rules are one rule, and the others used to get each other's names."""
    program = parse_program(text)
    kb = KnowledgeBase(program, engine="memory", equality="rewrite", hypertree="all", algorithm="dred", workers=1)
    kb.add(FACTS)
    kb.materialise()
    explicit = frozenset(naive.fact(name, *row) for name, rows in FACTS.items() for row in rows)
    equal = frozenset(naive.fact(name, *row) for name, rows in EQUAL.items() for row in rows)
    more = {"q": [("b", "e"), ("c", "b")], "r": [("b", "c"), ("b", "d")]}
    for add, delete, now in [(EQUAL, {}, explicit | equal), ({}, EQUAL, explicit), (EQUAL, {}, explicit | equal)]:
        kb.update(add=add, delete=delete)
        assert facts_of(kb) == materialise(program, now, clingo_oracle.materialise)
        kb.update(add=more)
        added = frozenset(naive.fact(name, *row) for name, rows in more.items() for row in rows)
        assert facts_of(kb) == materialise(program, now | added, clingo_oracle.materialise)
        kb.update(delete=more)
        assert facts_of(kb) == materialise(program, now, clingo_oracle.materialise)
