"""Proofs where names can be equal, of derived facts of random programs, by rewriting and by axioms."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from oracles.equality_proofs import EqualWorld
from oracles.exchange import facts_of
from support.equalities import EqualityCase, random_case, rows
from support.proving import explained

_MOST = 8
"""So many facts of a program are explained."""


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
    world = EqualWorld(case.program, facts_of(kb, "explicit"))
    derived = sorted(facts_of(kb, "derived"), key=repr)
    derived = Random(len(derived)).sample(derived, min(_MOST, len(derived)))
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
    assert checked > 25
