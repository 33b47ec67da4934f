"""Equality: by rules and by rewriting, against its definition."""

from __future__ import annotations

import pytest

from equalities import EqualityCase, random_case, rows
from everlog import EverlogError, KnowledgeBase
from everlog.datalog.reader import parse_program
from oracles import clingo_oracle
from oracles.equality import materialise
from oracles.exchange import facts_of

MODES = ("axioms",)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", range(2))
def test_random_programs(mode: str, block: int) -> None:
    for seed in range(8 * block, 8 * block + 8):
        check(random_case(seed), mode)


def check(case: EqualityCase, mode: str) -> None:
    """A knowledge base follows all updates of a case."""
    kb = KnowledgeBase(case.program, engine="memory", equality=mode, workers=1)
    kb.add(rows(case.facts))
    try:
        kb.materialise()
    except EverlogError as error:
        assert "not well defined" in str(error) or "not stratified" in str(error), f"{error}\n{case}"
        return
    explicit = case.facts
    for number, (add, delete) in enumerate([(frozenset(), frozenset()), *case.updates]):
        if number:
            kb.update(add=rows(add), delete=rows(delete))
            explicit = (explicit - delete) | add
        expected = materialise(case.program, explicit, clingo_oracle.materialise)
        found = facts_of(kb)
        assert found == expected, f"{mode} after {number}: {found - expected} | {expected - found}\n{case}"
        assert facts_of(kb, "explicit") == explicit, f"{mode} after {number}\n{case}"
        assert facts_of(kb, "derived") == expected - explicit, f"{mode} after {number}\n{case}"


def test_clingo_agrees_with_the_naive_evaluator() -> None:
    for seed in range(1000, 1006):
        case = random_case(seed)
        try:
            expected = materialise(case.program, case.facts)
        except AssertionError:
            continue  # not stratified
        assert materialise(case.program, case.facts, clingo_oracle.materialise) == expected


def test_an_equality_as_a_head_needs_equality() -> None:
    program = parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k) .")
    with pytest.raises(EverlogError, match="is an equality, which means nothing while equality is off"):
        KnowledgeBase(program)


@pytest.mark.parametrize("mode", MODES)
def test_a_negation_that_a_merge_could_undo_is_refused(mode: str) -> None:
    program = parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k), not other(?x, ?y) .")
    kb = KnowledgeBase(program, engine="memory", equality=mode)
    with pytest.raises(EverlogError, match=r"other\(\?x, \?y\) .` is not well defined together with equality"):
        kb.materialise()
