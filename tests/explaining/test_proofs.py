"""Proofs of every derived fact of random programs, before and after updates, checked by definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from random import Random

import pytest

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.knowledge.base import KnowledgeBase
from everlog.planning.modules.module_rules import KINDS
from oracles.exchange import facts_of, rows_of
from oracles.proofs import Tree, World, height
from support.chain_programs import CHAINS
from support.computing_programs import Computing, computing
from support.minimum_programs import with_minima
from support.module_programs import PROGRAMS, some_facts
from support.proving import check_all, explained
from support.sequences import made

_MOST_TREES = 200
"""Of facts with more proofs, these are compared."""


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_with_negation_and_updates(seed: int) -> None:
    random = Random(f"why {seed}")
    sequence = made(random, updates=1)
    program = sequence.case.program
    kb = KnowledgeBase(program, engine="memory", workers=1, modules=list(KINDS), hypertree="all", algorithm="fbf")
    kb.add(rows_of(sequence.case.facts))
    kb.materialise()
    check_all(kb, program)
    for update in sequence.updates:
        kb.update(rows_of(update.add), rows_of(update.delete))
        check_all(kb, program)


@pytest.mark.parametrize("text", [*PROGRAMS.values(), *CHAINS.values()], ids=[*PROGRAMS, *CHAINS])
def test_modules(text: str) -> None:
    program, random = parse_program(text), Random(text)
    kb = KnowledgeBase(program, engine="memory", workers=1, modules=list(KINDS), algorithm="dredc")
    kb.add(some_facts(random, 9, 4))
    kb.materialise()
    check_all(kb, program)
    kb.update(some_facts(random, 4, 4), some_facts(random, 6, 4))
    check_all(kb, program)


@pytest.mark.parametrize("make", [computing, with_minima])
@pytest.mark.parametrize("seed", range(4))
def test_rules_that_compute(make: Callable[..., Computing], seed: int) -> None:
    case = make(Random(f"why {seed}"), updates=1)
    kb = KnowledgeBase(case.program, engine="memory", workers=1)
    kb.add(case.facts)
    kb.materialise()
    check_all(kb, case.program)
    for add, delete in case.updates:
        kb.update(add, delete)
        check_all(kb, case.program)


@pytest.mark.parametrize("seed", range(6))
def test_all_proofs_are_those_there_are_least_first(seed: int) -> None:
    sequence = made(Random(f"all {seed}"), updates=0)
    program = sequence.case.program
    kb = KnowledgeBase(program, engine="memory", workers=1)
    kb.add(rows_of(sequence.case.facts))
    kb.materialise()
    world = World(program.rules, facts_of(kb, "explicit"))
    compared = 0
    for fact in Random(seed).sample(sorted(world.facts, key=repr), min(12, len(world.facts))):
        expected: list[Tree] = list(islice(world.trees(fact), _MOST_TREES + 1))
        every = len(expected) <= _MOST_TREES
        found = [world.check(one) for one in explained(kb, fact, all=True if every else 20).proofs]
        assert len(set(found)) == len(found)
        assert [height(one) for one in found] == sorted(height(one) for one in found)
        if every:
            assert set(found) == set(expected)
            compared += 1
    assert compared


def check_why_not(kb: KnowledgeBase, program: Program, random: Random) -> int:
    """Random facts that do not hold, some of which differ from others that do in one value; gives how many reasons."""
    world = World(program.rules, facts_of(kb, "explicit"))
    values = sorted({value for _, values in world.facts for value in values}, key=repr)
    checked = 0
    for rule in program.rules:
        name = rule.head.predicate
        like = random.choice([one for one in sorted(world.facts, key=repr) if one[0] == name] or [(name, ())])[1]
        place = random.randrange(len(rule.head.terms) + 1)
        close = tuple(random.choice(values) if number == place else value for number, value in enumerate(like))
        for some in (close, tuple(random.choice(values) for _ in rule.head.terms)):
            if len(some) == len(rule.head.terms) and (name, some) not in world.facts:
                found = explained(kb, (name, some))
                assert not found.holds
                for one in found.why_not:
                    world.check_failed(one, (name, some))
                    checked += 1
    return checked


@pytest.mark.parametrize("seed", range(6))
def test_why_not_names_a_condition_that_fails(seed: int) -> None:
    random = Random(f"not {seed}")
    sequence = made(random, updates=0)
    program = sequence.case.program
    kb = KnowledgeBase(program, engine="memory", workers=1)
    kb.add(rows_of(sequence.case.facts))
    kb.materialise()
    check_why_not(kb, program, random)


@pytest.mark.parametrize("make", [computing, with_minima])
def test_why_not_of_rules_that_compute(make: Callable[..., Computing]) -> None:
    checked = 0
    for seed in range(10):
        random = Random(f"not {seed}")
        case = make(random, updates=1)
        kb = KnowledgeBase(case.program, engine="memory", workers=1)
        kb.add(case.facts)
        kb.materialise()
        kb.update(*case.updates[0])
        checked += check_why_not(kb, case.program, random)
    assert checked > 30


def test_best_facts_are_explained_and_others_by_what_is_better() -> None:
    program = "dist(?x, 0) :- source(?x) . dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) ."
    kb = KnowledgeBase(program, engine="memory", workers=1)
    kb.add({"source": [("a",)], "edge": [("a", "b", 1), ("b", "c", 2), ("a", "c", 5), ("c", "a", 0)]})
    kb.materialise()
    assert [line.strip("─│├└ ") for line in str(kb.explain("dist(c, ?d)")).splitlines()][:3] == [
        "dist(c, 3)",
        "dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) .",
        "dist(b, 1)",
    ]
    assert "5 <= 3" in str(kb.explain("dist(c, 5)"))
    kb.update(delete={"edge": [("b", "c", 2)]})
    assert "edge(a, c, 5)" in str(kb.explain("dist(c, 5)"))
