"""Names that owl:differentFrom tells apart, and equalities that say otherwise."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from everlog import EverlogError, KnowledgeBase
from everlog.cli.ontologies import Contradictions
from everlog.datalog.reader import parse_program
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS
from oracles import naive
from oracles.exchange import facts_of
from support.equalities import if_defined, r_materialisation, random_case, rewritten, rows

KEYS = "?x = ?y :- key(?x, ?k), key(?y, ?k) ."


def made(text: str, **facts: list[tuple[object, ...]]) -> KnowledgeBase:
    kb = KnowledgeBase(parse_program(text), engine="memory", equality="rewrite", workers=1)
    kb.add(facts)
    return kb


def test_different_names_stay_apart_and_are_reported() -> None:
    kb = made(KEYS, key=[("a", 1), ("b", 2)], p=[("a",)], triple=[("a", DIFFERENT_FROM, "b")])
    assert kb.materialise().warnings == []
    report = kb.update(add={"key": [("b", 1)]})
    assert report.warnings == kb.clashes()
    (message,) = report.warnings
    assert "[a, owl:differentFrom, b] and [a, owl:sameAs, b] hold, and stay apart" in message
    assert kb.rows("p") == [("a",)]
    assert sorted(kb.rows("key")) == [("a", 1), ("b", 1), ("b", 2)]
    report = kb.update(delete={"triple": [("a", DIFFERENT_FROM, "b")]})
    assert (report.warnings, sorted(kb.rows("p"))) == ([], [("a",), ("b",)])
    (message,) = kb.update(add={"triple": [("b", DIFFERENT_FROM, "a")]}).warnings
    assert "[b, owl:differentFrom, a] and [b, owl:sameAs, a] hold, and stay apart" in message
    assert kb.rows("p") == [("a",)]
    report = kb.update(delete={"key": [("b", 1)]})
    assert (report.warnings, r_materialisation(kb)[0]) == ([], {})


@pytest.mark.parametrize("way", ["key", "triple"])
def test_the_least_equalities_count_whatever_comes_first(way: str) -> None:
    """a = b = c = d, but a is not c: b goes with a, and d with c."""
    for names in permutations("abcd"):
        pairs = [(one, SAME_AS, other) for one, other in ("ba", "bc", "dc")]
        equal = {"key": [(name, 1) for name in names]} if way == "key" else {"triple": pairs}
        kb = made(KEYS, q=[(name,) for name in names], **equal)
        kb.add({"triple": [("c", DIFFERENT_FROM, "a")]})
        kb.materialise()
        assert r_materialisation(kb)[0] == {"a": {"a", "b"}, "c": {"c", "d"}}


def test_what_is_different_by_rules_stays_apart() -> None:
    """Also where the equality is found first, and where a rule above needs negation."""
    program = """
        [?x, owl:differentFrom, ?y] :- late(?x), man(?x), woman(?y), not odd(?y) .
        late(?x) :- later(?x) .  later(?x) :- man(?x) .
    """
    kb = made(program + KEYS, key=[("a", 1), ("b", 1), ("c", 1)], man=[("a",)], woman=[("b",)], p=[("a",)], odd=[])
    report = kb.materialise()
    (message,) = report.warnings
    assert "[a, owl:differentFrom, b] and [a, owl:sameAs, b] hold, and stay apart" in message
    assert r_materialisation(kb)[0] == {"b": {"b", "c"}}
    assert report.facts["total"] == report.added == len(facts_of(kb))
    report = kb.update(add={"odd": [("b",)]})
    assert (report.warnings, r_materialisation(kb)[0]) == ([], {"a": {"a", "b", "c"}})
    assert len(kb.update(delete={"odd": [("b",)]}).warnings) == 1
    assert r_materialisation(kb)[0] == {"b": {"b", "c"}}


def test_rules_for_violations_see_what_stays_apart() -> None:
    program = 'violation("different", ?x) :- [?x, owl:differentFrom, ?y], [?y, owl:sameAs, ?x] .'
    kb = made(program, triple=[("a", SAME_AS, "b"), ("b", DIFFERENT_FROM, "a"), ("a", SAME_AS, "c")])
    kb.materialise()
    assert kb.rows("violation") == [("different", "b")]
    with pytest.raises(EverlogError, match="the facts contradict the ontology") as raised:
        Contradictions(fatal=True).check(kb)
    assert "different is violated by [b, owl:differentFrom, a], [a, owl:sameAs, b]" in str(raised.value)


def test_values_that_are_equal_are_a_contradiction() -> None:
    kb = made(KEYS, key=[(1, "k"), (2, "k")])
    kb.materialise()
    with pytest.raises(EverlogError, match=r"contradict each other; nothing was written:\n  \[1, owl:sameAs, 2\]"):
        Contradictions(fatal=True).check(kb)


def test_updates_keep_different_names_apart() -> None:
    """At random: as from scratch, and nothing in a class that explicit facts tell apart."""
    contradictory = 0
    for seed in range(3000, 3020):
        random, case = Random(seed), random_case(seed, updates=3)
        names = [f"c{number}" for number in range(4)]
        different = [naive.fact("triple", *random.sample(names, 1), DIFFERENT_FROM, name) for name in names[1:]]
        explicit = case.facts | {*different[:1]}
        kb = if_defined(case, explicit)
        if kb is None:
            continue
        for add, delete in case.updates:
            add |= {one for one in different if random.random() < 0.3}
            delete = (delete | {one for one in different if random.random() < 0.3}) - add
            kb.update(add=rows(add), delete=rows(delete))
            explicit = (explicit - delete) | add
            anew = rewritten(case, explicit)
            assert r_materialisation(kb) == r_materialisation(anew), f"{seed}\n{case}"
            assert facts_of(kb) == facts_of(anew), f"{seed}\n{case}"
            assert kb.clashes() == anew.clashes()
            classes = r_materialisation(kb)[0].values()
            for _, (one, verb, other) in explicit & {*different}:
                pair = {str(naive.value_of(one)), str(naive.value_of(other))}
                assert verb and (len(pair) == 1 or not any(pair <= members for members in classes)), f"{seed}\n{case}"
            contradictory += any("stay apart" in message for message in kb.clashes())
    assert contradictory > 3
