"""Proofs where names can be equal, of every derived fact of random programs, by rewriting and by axioms."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from everlog.datalog.printer import print_program
from everlog.datalog.values import SAME_AS
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from oracles.equality_proofs import EqualWorld
from oracles.exchange import facts_of
from support.equalities import EqualityCase, random_case, rows
from support.proving import explained

_MANY = 40
"""Of larger results some facts are explained."""


def known(case: EqualityCase, equality: Any) -> KnowledgeBase | None:
    """A knowledge base with a case's facts; None if the program is refused."""
    try:
        kb = KnowledgeBase(case.program, engine="memory", equality=equality, workers=1)
        kb.add(rows(case.facts))
        kb.materialise()
    except EverlogError:
        return None
    return kb


def check(kb: KnowledgeBase, case: EqualityCase) -> int:
    """Explains every derived fact, in all names, or some if there are many; gives their number."""
    world = EqualWorld(case.program, facts_of(kb, "explicit"))
    derived = sorted(facts_of(kb, "derived"), key=repr)
    derived = derived if len(derived) <= _MANY else Random(len(derived)).sample(derived, 8)
    for fact in derived:
        proof = explained(kb, fact).proof
        assert proof is not None
        assert world.check(proof) == fact
    return len(derived)


@pytest.mark.parametrize("equality", ["rewrite", "axioms"])
def test_random_programs(equality: str) -> None:
    checked = 0
    for seed in range(8):
        case = random_case(seed, updates=1, typed=seed % 3 == 0)
        kb = known(case, equality)
        if kb is None:
            continue
        checked += check(kb, case)
        for add, delete in case.updates:
            kb.update(rows(add), rows(delete))
            checked += check(kb, case)
    assert checked > 40


def test_chains_of_equalities_are_named_link_by_link() -> None:
    """Names of one thing by given equalities, by a rule, and by a rule whose facts are of other names of the same thing."""
    kb = KnowledgeBase("?x = ?y :- key(?x, ?k), key(?y, ?k) . seen(?x) :- p(?x) .", engine="memory", equality="rewrite")
    same = [("a", SAME_AS, "b"), ("c", SAME_AS, "b"), ("k1", SAME_AS, "k2")]
    kb.add({"triple": same, "key": [("c", "k1"), ("d", "k2"), ("d", "k3"), ("e", "k3")], "p": [("e",)]})
    kb.materialise()
    case = EqualityCase(print_program(kb.program), facts_of(kb, "explicit"), ())
    assert check(kb, case) > 20
    assert "given" in str(kb.explain("seen(a)"))
