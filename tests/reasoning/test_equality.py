"""Equality: by rules and by rewriting, against its definition."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from everlog import EverlogError, KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.values import SAME_AS
from oracles import clingo_oracle
from oracles.equality import materialise
from oracles.exchange import facts_of
from oracles.naive import Fact
from support.equalities import EqualityCase, r_materialisation, random_case, rows

MODES = ("axioms", "rewrite")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", range(2))
def test_random_programs(mode: str, block: int) -> None:
    for seed in range(8 * block, 8 * block + 8):
        check(random_case(seed), mode)


@pytest.mark.parametrize("mode", MODES)
def test_random_programs_about_classes(mode: str) -> None:
    for seed in range(100, 112):
        check(random_case(seed, typed=True), mode)


def check(case: EqualityCase, mode: str) -> None:
    """A knowledge base follows all updates of a case."""
    kb = KnowledgeBase(case.program, engine="memory", equality=mode, workers=1)
    kb.add(rows(case.facts))
    try:
        kb.materialise()
    except EverlogError as error:
        assert "not well defined" in str(error) or "not stratified" in str(error), f"{error}\n{case}"
        return
    explicit, before = case.facts, frozenset[Fact]()
    for number, (add, delete) in enumerate([(frozenset(), frozenset()), *case.updates]):
        report = None
        if number:
            report = kb.update(add=rows(add), delete=rows(delete))
            explicit = (explicit - delete) | add
        expected = materialise(case.program, explicit, clingo_oracle.materialise)
        found = facts_of(kb)
        assert found == expected, f"{mode} after {number}: {found - expected} | {expected - found}\n{case}"
        assert facts_of(kb, "explicit") == explicit, f"{mode} after {number}\n{case}"
        assert facts_of(kb, "derived") == expected - explicit, f"{mode} after {number}\n{case}"
        assert sum(kb.size(name) for name in kb.predicates()) == len(expected), f"{mode} after {number}\n{case}"
        if report is not None:
            changed = len(expected - before), len(before - expected)
            assert (report.added, report.deleted) == changed, f"{mode} after {number}\n{case}"
        before = expected
    if mode == "rewrite":
        anew = KnowledgeBase(case.program, engine="memory", equality=mode, workers=1)
        anew.add(rows(explicit))
        anew.materialise()
        assert r_materialisation(kb) == r_materialisation(anew), f"the r-materialisation in the end\n{case}"


def test_a_class_may_lose_its_reason_with_a_fact_about_others() -> None:
    kb = KnowledgeBase(parse_program("?y = ?x :- p(?z), r(?x, ?y) ."), engine="memory", equality="rewrite")
    kb.add({"p": [("c",)], "r": [("a", "b")]})
    kb.materialise()
    assert sorted(kb.rows("r")) == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    kb.update(delete={"p": [("c",)]})
    assert kb.rows("r") == [("a", "b")]
    assert kb.size("triple") == 0


@pytest.mark.parametrize("rule", ["?p = ?q :- [?x, ?p, ?y], [?x, ?q, ?y] .", "?p = ?q :- [?p, ?v, ?y], [?q, ?v, ?y] ."])
def test_keys_of_triples_with_any_property(rule: str) -> None:
    a, b, c, p, q = (NamedNode(f"http://example.org/{name}") for name in "abcpq")
    sides = []
    for mode in MODES:
        kb = KnowledgeBase(parse_program(rule), engine="memory", equality=mode, workers=1)
        kb.add({"triple": [(a, p, b), (a, q, b), (c, q, b), (c, p, a)]})
        kb.materialise()
        sides.append(facts_of(kb))
    assert sides[0] == sides[1]
    assert len(sides[0]) > 4


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


@pytest.mark.parametrize("mode", MODES)
def test_questions_are_answered_in_all_names(mode: str) -> None:
    kb = KnowledgeBase(parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k) ."), engine="memory", equality=mode)
    kb.add({"key": [("a", 1), ("b", 1), ("c", 2)], "p": [("b", "u"), ("c", "u")]})
    kb.materialise()
    assert kb.query("p(?x, u)") == [("a",), ("b",), ("c",)]
    assert kb.query("p(a, ?y)") == [("u",)]
    assert kb.query("p(?x, u), p(?y, u), ?x != ?y") == [("a", "c"), ("b", "c"), ("c", "a"), ("c", "b")]
    assert kb.query("[?x, owl:sameAs, ?y]") == [("a", "b"), ("b", "a")]
    assert kb.query("[?x, owl:sameAs, b]") == [("a",)]
    assert kb.query("[?x, ?p, ?y], p(?x, _)") == [("a", SAME_AS, "b"), ("b", SAME_AS, "a")]
    assert kb.facts("p").num_rows == kb.size("p") == 3


def test_the_example_of_section_3_1() -> None:
    """*Equality* §3.1: R is a bijection; a deletion splits both classes and brings facts back."""
    program = parse_program(
        """
        @prefix ex: <http://example.org/> .
        [?y1, owl:sameAs, ?y2] :- [?y1, ex:R, ?x], [?y2, ex:R, ?x] .
        [?y1, owl:sameAs, ?y2] :- [?x, ex:R, ?y1], [?x, ex:R, ?y2] .
        """
    )
    a, b, c, d, R = (NamedNode(f"http://example.org/{name}") for name in "abcdR")
    kb = KnowledgeBase(program, engine="memory", equality="rewrite", workers=1)
    kb.add({"triple": [(a, R, b), (c, R, d), (a, R, d)]})
    kb.materialise()
    named, stored = r_materialisation(kb)
    assert named == {str(a): {str(a), str(c)}, str(b): {str(b), str(d)}}
    assert stored == {("triple", *map(str, row)) for row in [(a, R, b), (a, SAME_AS, a), (b, SAME_AS, b)]}
    report = kb.update(delete={"triple": [(a, R, d)]})
    assert r_materialisation(kb) == ({}, {("triple", *map(str, row)) for row in [(a, R, b), (c, R, d)]})
    assert (report.added, report.deleted) == (0, 6)
    assert sorted(kb.rows("triple"), key=str) == [(a, R, b), (c, R, d)]


def test_the_representative_is_the_least_term() -> None:
    """Whatever comes first."""
    for names in (["a", "c", "b"], ["c", "b", "a"]):
        kb = KnowledgeBase(parse_program("?x = ?y :- p(?x), p(?y) ."), engine="memory", equality="rewrite")
        kb.add({"p": [(name,) for name in names]})
        kb.materialise()
        assert r_materialisation(kb)[0] == {"a": {"a", "b", "c"}}


@pytest.mark.parametrize("mode", MODES)
def test_values_that_are_no_names_stay_apart(mode: str) -> None:
    kb = KnowledgeBase(parse_program("?x = ?y :- q(?k, ?x), q(?k, ?y) ."), engine="memory", equality=mode)
    kb.add({"q": [("k", 1), ("k", 2), ("k", "a"), ("k", "b")], "p": [(1,), ("a",)]})
    report = kb.materialise()
    assert sorted(kb.rows("p"), key=str) == [("a",), ("b",), (1,)]
    assert any("[1, owl:sameAs, 2] merges nothing: only names can be equal" in message for message in report.warnings)


def test_rules_merge_what_is_different_and_report_it() -> None:
    program = parse_program("[a, owl:differentFrom, b] .  ?x = ?y :- key(?x, ?k), key(?y, ?k) .")
    kb = KnowledgeBase(program, engine="memory", equality="axioms")
    kb.add({"key": [("a", 1), ("b", 2)]})
    assert kb.materialise().warnings == []
    (warning,) = kb.update(add={"key": [("b", 1)]}).warnings[:1]
    assert "[a, owl:differentFrom, b] and [a, owl:sameAs, b] hold" in warning
    assert kb.update(delete={"key": [("b", 1)]}).warnings == []


def test_a_large_class_is_merged_without_its_pairs() -> None:
    """A class of 2,000 names: a few thousand rule instances, not four million, and as many facts as were given."""
    program = parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k), kind(?k) .  q(?x) :- p(?x, 1), not r(?x) .")
    names = [f"c{number:04}" for number in range(2000)]
    kb = KnowledgeBase(program, engine="memory", equality="rewrite")
    kb.add({"kind": [("k",)], "key": [(name, "k") for name in names]})
    kb.add({"p": [(name, number) for number, name in enumerate(names)], "on": [()]})
    report = kb.materialise()
    assert report.derivations["materialise"] < 10_000
    assert report.facts == {"explicit": 4002, "total": 4_002_000 + 2000 * 1999 + 2000 + 2, "representatives": 2005}
    assert kb.query("p(c1999, 5)") == [()]
    assert kb.rows("on") == [()]
    report = kb.update(delete={"key": [("c0000", "k")]})
    # Equalities of c0000, its key, its values but for its own, the others' value that was its own, and q.
    assert (report.added, report.deleted) == (0, 2 * 1999 + 1 + 1999 + 1999 + 1)


def test_a_fact_that_stays_may_have_held_a_class_together() -> None:
    """r(k, a) loses its derivation; r(k, b) stays, and would stand for both if they were one."""
    program = parse_program(
        "?y = ?z :- r(?x, ?y), r(?x, ?z) .  r(?x, ?y) :- m(?x), n(?x, ?y) .  r(?x, ?y) :- o(?x, ?y) ."
    )
    kb = KnowledgeBase(program, engine="memory", equality="rewrite")
    kb.add({"m": [("k",)], "n": [("k", "a")], "o": [("k", "b")]})
    kb.materialise()
    assert r_materialisation(kb)[0] == {"a": {"a", "b"}}
    kb.update(delete={"m": [("k",)]})
    assert kb.rows("r") == [("k", "b")]
    assert r_materialisation(kb)[0] == {}


@pytest.mark.parametrize("algorithm", ["auto", "dred", "bf", "fbf:budget:0"])
def test_a_proof_may_run_through_facts_of_a_class(algorithm: str) -> None:
    """`kind(e)` loses a derivation by a fact about things that are alone; what proves it was given in another name."""
    program = parse_program(
        "?x = ?y :- same(?x, ?y) .  [?y, a, kind] :- [?x, q, ?y] .  [?y, ?p, ?x] :- [?x, ?p, ?y], turned(?p) ."
    )
    kb = KnowledgeBase(program, engine="memory", equality="rewrite", algorithm=algorithm)
    kb.add({"same": [("b", "a")], "triple": [("b", "q", "e"), ("e", "q", "e")]})
    kb.materialise()
    kb.update(delete={"triple": [("e", "q", "e")]})
    assert kb.query("[?x, a, kind]") == [("e",)]
    kb.update(delete={"triple": [("b", "q", "e")]})
    assert kb.query("[?x, a, kind]") == []
