"""Queries that are asked again after updates: plans that were kept, and indexes, are of no other version."""

from __future__ import annotations

import random

from pyoxigraph import NamedNode, Quad, QueryResultsFormat, Store

import everlog

EX = "http://example.org/"
RULES = f"""
    @prefix ex: <{EX}> .
    ex:near[?x, ?z] :- ex:p0[?x, ?y], ex:p1[?y, ?z] .
    ex:Thing[?x] :- ex:p0[?x, ?y] .
"""
QUERIES = [
    f"SELECT * {{ <{EX}n1> <{EX}p0> ?y . ?y <{EX}p1> ?z }}",
    f"SELECT ?x {{ ?x <{EX}near> <{EX}n2> . ?x a <{EX}Thing> }}",
    f"SELECT ?y {{ <{EX}n3> <{EX}p0>+ ?y }}",
    f"SELECT ?x ?y {{ ?x <{EX}p2>* ?y . ?y <{EX}p1> <{EX}n1> }}",
    f"SELECT ?x ?p {{ ?x ?p <{EX}n4> }}",
    f"SELECT ?x ?y {{ ?x <{EX}p3> ?y OPTIONAL {{ ?y <{EX}p0> ?z }} }}",
]


def rows_of(text: str) -> list[str]:
    return sorted(text.replace("\r", "").split("\n")[1:])


def node(name: str) -> NamedNode:
    return NamedNode(EX + name)


def test_answers_are_those_of_the_version() -> None:
    """`p3` comes late, and all of it goes again; every query is asked often enough for its plan to stay."""
    chance = random.Random(4)
    kb = everlog.KnowledgeBase(RULES)
    kb.materialise()
    known: set[tuple[NamedNode, NamedNode, NamedNode]] = set()
    for number in range(24):
        properties = ["p0", "p1", "p2", *(["p3"] if 8 <= number < 16 else [])]
        more = {
            (node(f"n{chance.randrange(6)}"), node(chance.choice(properties)), node(f"n{chance.randrange(6)}"))
            for _ in range(5)
        }
        fewer = set(chance.sample(sorted(known, key=str), len(known) // 3))
        fewer |= {triple for triple in known if triple[1] == node("p3") and number == 16}
        kb.update(add={"triple": sorted(more, key=str)}, delete={"triple": sorted(fewer, key=str)})
        known = (known - fewer) | more
        store = Store()
        store.extend(Quad(*triple) for triple in kb.rows("triple"))
        for query in QUERIES:
            expected = store.query(query).serialize(format=QueryResultsFormat.CSV).decode()
            for _ in range(3):
                assert rows_of(kb.sparql(query).serialize("csv")) == rows_of(expected), (number, query)
