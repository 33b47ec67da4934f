"""A literal that an object property has as value is no subject, and who has none of them pays nothing for that."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyoxigraph import BlankNode, NamedNode

import everlog
from everlog import KnowledgeBase, ontology, parse_program
from everlog.datalog.syntax import Program
from everlog.planning.literal_places import literal_flow, without_guards
from oracles import computing
from oracles.exchange import facts_of
from oracles.naive import Facts, fact
from support.literal_values import LiteralCase, Triple, literal_case
from support.on_spark import kept_counts

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SYMMETRIC = f"{PREFIXES} :p a owl:ObjectProperty, owl:SymmetricProperty, owl:TransitiveProperty ."
P = NamedNode("http://e/p")
ALGORITHMS = ("auto", "dred", "fbf", "bf", "dredc", "bfc", "counting")


def named(text: str) -> NamedNode:
    return NamedNode(f"http://e/{text}")


def truth(program: Program, triples: frozenset[Triple]) -> Facts:
    return computing.materialise(program.rules, frozenset(fact("triple", *one) for one in triples))


def check(kb: KnowledgeBase, program: Program, triples: frozenset[Triple]) -> None:
    """All that follows by the rules as they are written, in which no literal is a subject."""
    found = facts_of(kb)
    assert found == truth(program, triples)
    assert not any(terms[0][0] not in ("NamedNode", "BlankNode") for name, terms in found if name == "triple")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_ontologies_and_updates(algorithm: str, tmp_path: Path) -> None:
    random = Random(algorithm)
    for number in range(8):
        follow(literal_case(random), algorithm, random, tmp_path / str(number))


def check_counts(kb: KnowledgeBase, program: Program, triples: frozenset[Triple], **options: Any) -> None:
    """What is kept is as if everything had been so from the beginning."""
    again = KnowledgeBase(program, engine="memory", **options)
    again.add({"triple": list(triples)})
    again.materialise()
    assert kept_counts(kb) == kept_counts(again)


def follow(case: LiteralCase, algorithm: str, random: Random, store: Path) -> None:
    counted = algorithm in ("dredc", "bfc", "counting") and random.random() < 0.5
    kb = KnowledgeBase(case.program, engine="memory", algorithm=algorithm, modules="off" if counted else "auto")
    states = list(case.held())
    kb.add({"triple": list(states[0])})
    kb.materialise()
    program = case.program
    for (add, delete), now in zip(case.updates, states[1:], strict=True):
        gone = Program(tuple(random.sample(program.rules, min(len(program.rules), random.choice((0, 0, 1))))))
        come = Program(tuple(rule for rule in case.program.rules if rule not in program.rules))
        kb.update(add={"triple": list(add)}, delete={"triple": list(delete)}, add_rules=come, delete_rules=gone)
        program = Program(tuple(rule for rule in (*program.rules, *come.rules) if rule not in gone.rules))
        try:
            check(kb, program, now)
            if counted:
                check_counts(kb, program, now, algorithm=algorithm, modules="off")
        except AssertionError as wrong:
            raise AssertionError(f"{case.text}\n{now}\n{program.rules}") from wrong
        if random.random() < 0.2:
            kb.save(store, overwrite=True)
            kb = everlog.open(store)


def test_a_symmetric_relation_is_one_component_as_long_as_it_has_no_literals() -> None:
    kb = KnowledgeBase(ontology(text=SYMMETRIC), engine="memory")
    kb.add({"triple": [(named("a"), P, named("b")), (named("b"), P, named("c"))]})
    assert [module["kind"] for module in kb.materialise().modules] == ["stc"]
    report = kb.update(add={"triple": [(named("c"), P, "three")]})
    assert "stc" not in [module["kind"] for module in report.modules] and report.algorithm != "remat"
    assert any("literal" in reason for reason in report.reasons)
    assert {row[2] for row in kb.rows("triple") if row[0] == named("a")} == {*map(named, "abc"), "three"}
    kb.update(delete={"triple": [(named("c"), P, "three")]})
    assert len(kb.rows("triple")) == 9
    assert [module["kind"] for module in kb.update(algorithm="remat").modules] == ["stc"]


def test_an_update_that_fails_changes_nothing_about_literals() -> None:
    kb = KnowledgeBase(ontology(text=SYMMETRIC), engine="memory")
    kb.add({"triple": [(named("a"), P, named("b"))]})
    kb.materialise()

    def fail(*_: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        kb.update(add={"triple": [(named("b"), P, "three")]}, progress=fail)
    kb.update(add={"triple": [(named("b"), P, "three")]})
    assert not any(isinstance(row[0], str) for row in kb.rows("triple"))


def test_properties_of_data_do_not_matter() -> None:
    program = ontology(
        text=f"{PREFIXES} :p a owl:ObjectProperty ; rdfs:range :C . :n a owl:DatatypeProperty ; rdfs:domain :D ."
    )
    flow = literal_flow(program.rules)
    assert flow is not None and {place[1].value.value for place in flow.asked if place[1]} == {"http://e/p"}
    assert len(without_guards(program.rules)) == len(program.rules)


@pytest.mark.parametrize(
    ("rule", "idle"),
    [
        ("", True),
        ("[?x, <http://e/p>, ?y] :- [?x, <http://e/q>, ?y] .", True),  # what has no facts has no literals
        ("[?x, <http://e/p>, 7] :- [?x, <http://e/q>, ?y] .", False),
        ("[?x, <http://e/p>, ?n] :- [?x, <http://e/q>, ?y], BIND(STR(?y) AS ?n) .", False),
        ("[?x, ?p, ?y] :- [?x, <http://e/q>, ?y], [?y, ?p, ?x] .", True),
        ("[?x, ?p, ?y] :- [?x, ?q, ?y], [?p, <http://e/q>, ?q] .", False),
        ("[?x, <http://e/p>, ?y] :- [?x, ?p, ?y], [?y, <http://e/q>, ?x] .", True),
        ("[?x, <http://e/p>, ?n] :- AGGREGATE([?x, <http://e/q>, ?y] ON ?x BIND COUNT(?y) AS ?n) .", False),
    ],
)
def test_where_literals_come_from(rule: str, idle: bool) -> None:
    guard = "[?y, <http://e/p>, ?x] :- [?x, <http://e/p>, ?y], FILTER(!ISLITERAL(?y)) ."
    first, *_ = without_guards(parse_program(f"{guard} {rule}").rules)
    assert (len(first.body) == 1) == idle


@pytest.mark.parametrize("equality", ["rewrite", "axioms"])
def test_beside_equality(equality: str) -> None:
    from oracles import equality as oracle

    random = Random(equality)
    for _ in range(12):
        case = literal_case(random, 4, equality=True)
        kb = KnowledgeBase(case.program, engine="memory", equality=equality)
        states = list(case.held())
        kb.add({"triple": list(states[0])})
        kb.materialise()
        for (add, delete), now in zip(case.updates, states[1:], strict=True):
            kb.update(add={"triple": list(add)}, delete={"triple": list(delete)})
            given = frozenset(fact("triple", *one) for one in now)
            assert facts_of(kb) == oracle.materialise(case.program, given, computing.materialise), case.text


def test_what_is_also_a_thing_is_no_literal() -> None:
    """A name that is equal to a literal is a subject, and with it the literal: that is what equality says."""
    for thing in (named("b"), BlankNode("b")):
        kb = KnowledgeBase(ontology(text=SYMMETRIC), engine="memory", equality="rewrite")
        same = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
        kb.add({"triple": [(named("a"), P, "three"), (thing, same, "three")]})
        kb.materialise()
        assert (thing, P, named("a")) in kb.rows("triple")
        kb.update(delete={"triple": [(thing, same, "three")]})
        assert kb.rows("triple") == [(named("a"), P, "three")]


def test_literals_that_come_while_no_rule_asks_are_seen_by_the_next_one() -> None:
    rule = "[?y, <http://e/q>, ?x] :- [?x, <http://e/h>, ?y], FILTER(!ISLITERAL(?y)) ."
    kb = everlog.KnowledgeBase(rule, engine="memory", workers=1)
    kb.materialise()
    kb.change_rules(delete=rule)
    kb.update(add={"triple": [(NamedNode("http://e/a"), NamedNode("http://e/h"), 1)]})
    kb.change_rules(add=rule)
    assert kb.size("triple") == 1
