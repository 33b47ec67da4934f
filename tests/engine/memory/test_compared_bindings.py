"""Comparisons of bindings: whole numbers, which have a way of their own, beside all that they may meet."""

from __future__ import annotations

import pytest

from everlog import KnowledgeBase
from oracles import naive

VALUES = [0, 1, 2, -5, 2**62, -(2**63), 1.0, 1.5, -5.0, float("inf"), "1", "a", True, False]


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_values_of_all_kinds_are_compared_as_by_definition(operator: str) -> None:
    kb = KnowledgeBase(f"r(?x, ?y) :- v(?x), v(?y), ?x {operator} ?y .\nc(?x) :- v(?x), ?x {operator} 1 .")
    kb.add({"v": [(value,) for value in VALUES]})
    kb.materialise()
    given = frozenset(naive.fact("v", value) for value in VALUES)
    expected = naive.materialise(kb.program.rules, given)
    assert {naive.fact(name, *row) for name in "rcv" for row in kb.rows(name)} == expected
