"""Random queries about random graphs: Everlog and pyoxigraph say the same, as bags, up to the names of blank nodes."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryResultsFormat, Store

from everlog.datalog.values import SAME_AS
from everlog.engine.memory import tuning as memory_tuning
from everlog.engine.spark import tuning
from everlog.errors import EverlogError
from everlog.sparql import path_search, query_evaluation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from support.asking import knowledge_base, outcome
from support.elsewhere import FAR, far_away
from support.random_queries import EX, PROLOGUE, Queries, graph
from support.w3c_queries import outcome_of

_MANY = 300
"""Larger answers are not compared: telling which blank node is which takes long."""


def compare(seed: int, number: int, **options: object) -> int:
    """Compares some queries about one graph; gives how many had an answer that was not empty."""
    chance = random.Random(seed)
    named = chance.random() < 0.5
    quads, queries = graph(chance, named), Queries(chance, named)
    store, kb = Store(), knowledge_base(quads, **options)
    store.extend(quads)
    answered = 0
    for _ in range(number):
        text = queries.query()
        expected = outcome_of(store.query(text))
        found = outcome(kb.sparql(text))
        if len(expected.solutions or ()) <= _MANY:
            assert found.key() == expected.key(), f"seed {seed}: {text}\n{[*map(str, quads)]}\n{expected}\n{found}"
        answered += bool(expected.solutions or expected.graph or expected.truth)
    return answered


def test_random_queries_agree_with_pyoxigraph() -> None:
    assert sum(compare(seed, 5) for seed in range(40)) > 50


def test_without_seeds_and_with_all_steps_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways of large graphs, for small ones."""
    monkeypatch.setattr(query_evaluation, "_SEEDS", 0)
    monkeypatch.setattr(path_search, "_FEW", 0)
    assert sum(compare(seed, 5) for seed in range(100, 115)) > 10


def test_as_if_all_matches_were_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The algebra of large solutions, which is that of DataFrames, tried without any."""
    far_away(monkeypatch)
    assert sum(compare(seed, 5) for seed in range(200, 240)) > 50
    assert set(FAR) >= {"joined", "left joined", "without", "with", "marked", "closed", "grouped", "renamed", "copied"}


@pytest.mark.parametrize("crowded", [0, 1 << 20], ids="crowded={}".format)
def test_cycles_in_graphs_with_hubs(monkeypatch: pytest.MonkeyPatch, crowded: int) -> None:
    """Triples that bind the same variable meet, or are followed one after the other."""
    monkeypatch.setattr(memory_tuning, "CROWDED_KEY", crowded)
    monkeypatch.setattr(memory_tuning, "INDEX_ROW_COST", 0.0)
    answered = 0
    for seed in range(8):
        chance = random.Random(seed)
        ends = [(chance.choice([0, chance.randrange(12)]), chance.choice([1, chance.randrange(12)])) for _ in range(60)]
        quads = {
            Quad(NamedNode(f"{EX}{a}"), NamedNode(EX + chance.choice("pq")), NamedNode(f"{EX}{b}")) for a, b in ends
        }
        store, kb = Store(), knowledge_base([*quads])
        store.extend(quads)
        for size in (3, 3, 4, 4, 5):
            names = [f"?v{place}" for place in range(size)]
            pairs = [*pairwise([*names, names[0]]), *([tuple(chance.sample(names, 2))] if size > 3 else [])]
            triples = (f"{a} :{chance.choice('pq')} {b}" for a, b in (chance.sample(pair, 2) for pair in pairs))
            text = f"{PROLOGUE}SELECT {' '.join(names)} {{ {' . '.join(triples)} }}"
            expected = sorted(store.query(text).serialize(format=QueryResultsFormat.CSV).decode().split())
            assert sorted(kb.sparql(text).serialize("csv").split()) == expected, (seed, text)
            answered += len(expected) > 1
    assert answered > 30


@pytest.mark.parametrize("path", ["(:p|:q)+", "^(:p/:q)*", "(:p?/(:q|^:r))+"])
def test_paths_agree_with_the_same_reachability_as_rules(path: str) -> None:
    steps = {
        "(:p|:q)+": "step(?x, ?y) :- :p[?x, ?y] .  step(?x, ?y) :- :q[?x, ?y] .",
        "^(:p/:q)*": "step(?y, ?x) :- :p[?x, ?m], :q[?m, ?y] .  reach(?x, ?x) :- node(?x) .",
        "(:p?/(:q|^:r))+": "on(?x, ?y) :- :q[?x, ?y] .  on(?x, ?y) :- :r[?y, ?x] .  "
        "step(?x, ?y) :- on(?x, ?y) .  step(?x, ?y) :- :p[?x, ?m], on(?m, ?y) .",
    }
    program = f"""
        @prefix : <http://example.org/> .
        node(?x) :- [?x, ?p, ?y] .  node(?y) :- [?x, ?p, ?y] .
        reach(?x, ?y) :- step(?x, ?y) .  reach(?x, ?z) :- reach(?x, ?y), step(?y, ?z) .
        {steps[path]}
    """
    for seed in range(10):
        kb = knowledge_base(graph(random.Random(seed), False), program)
        found = list(kb.sparql(f"{PROLOGUE}SELECT ?x ?y {{ ?x {path} ?y }}"))
        assert len(found) == len(set(map(str, found)))
        assert sorted(map(str, found)) == sorted(map(str, kb.rows("reach")))


def test_under_equality_answers_are_those_of_all_names() -> None:
    """As often as all facts have them, once they are written out in all names."""
    answered = 0
    for seed in range(12):
        chance = random.Random(seed)
        names = chance.sample("abcd", chance.randint(2, 4))
        same = [Quad(NamedNode(EX + one), SAME_AS, NamedNode(EX + other)) for one, other in pairwise(names)]
        kb = knowledge_base([*graph(chance, False), *same], "", equality="rewrite")
        store = Store()
        store.extend(Quad(*row) for row in (map(as_term, row) for row in kb.rows("triple")))
        queries = Queries(chance, False)
        for _ in range(4):
            text = queries.query()
            expected = outcome_of(store.query(text))
            if len(expected.solutions or ()) <= _MANY:
                assert outcome(kb.sparql(text)).key() == expected.key(), f"seed {seed}: {text}"
            answered += bool(expected.solutions or expected.graph)
    assert answered > 8


def as_term(value: object) -> object:
    return value if isinstance(value, NamedNode | BlankNode | Literal) else Literal(value)  # type: ignore[arg-type]


def test_spark_answers_the_same(spark: SparkSession) -> None:
    """The driver computes what is above patterns: there are few matches."""
    quads = graph(random.Random(12), True)
    store, kb = Store(), knowledge_base(quads, engine="spark", spark=spark)
    store.extend(quads)
    for query in (
        "SELECT ?x ?y ?z { ?x :p ?y OPTIONAL { ?y (:q|:r)+ ?z } FILTER(?x != :missing) }",
        "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?x ?p ?y } } GROUP BY ?g",
        "SELECT (COUNT(*) AS ?n) { ?x :nothing ?y }",
    ):
        expected = outcome_of(store.query(PROLOGUE + query))
        assert expected.solutions
        assert outcome(kb.sparql(PROLOGUE + query)).key() == expected.key()
    with pytest.raises(EverlogError, match="more than 5 solutions"):
        kb.sparql("SELECT * { ?x ?p ?y }", rows=5)
    number = len(store.query("SELECT * { ?x ?p ?y }").serialize(format=QueryResultsFormat.CSV).split(b"\n")) - 2
    counted = kb.sparql("SELECT (COUNT(*) AS ?n) { ?x ?p ?y }", rows=5)
    assert kb.sparql("ASK { ?x ?p ?y }", rows=5)
    assert list(counted) == [(number,)] and number > 5, "what is counted by Spark is not fetched"


SPREAD = (
    "SELECT ?p ?z (COUNT(*) AS ?n) (COUNT(?x) AS ?m) (COUNT(DISTINCT ?x) AS ?d) { ?x ?p ?y . ?y ?q ?z } GROUP BY ?p ?z",
    "SELECT ?x ?z ?w { { ?x :p ?y OPTIONAL { ?y :q ?z } } { ?x ?r ?w OPTIONAL { ?w :q ?z } } }",
    "SELECT ?x ?y ?n { ?x :p ?y OPTIONAL { ?y ?q ?n FILTER(isLiteral(?n) || EXISTS { ?n :q ?x FILTER(?x != ?y) }) } }",
    "SELECT DISTINCT ?x ?t { { ?x :p ?y BIND(STR(?y) AS ?t) } UNION { ?x :q ?t } UNION { VALUES ?x { :a UNDEF } } }",
    "SELECT ?x ?y { ?x ?p ?y OPTIONAL { ?y :q ?z } MINUS { ?y :r ?x OPTIONAL { ?x :p ?z } } "
    "FILTER(EXISTS { ?x ?q ?w } && !EXISTS { ?x :r ?y } && ?x != ?y) }",
    "SELECT ?p (SUM(?y) AS ?s) (MAX(?y) AS ?m) (GROUP_CONCAT(DISTINCT STR(?p)) AS ?c) (COUNT(DISTINCT *) AS ?d) "
    "{ ?x ?p ?y FILTER(isNumeric(?y)) } GROUP BY ?p",
    "SELECT (SUM(?y * 2) AS ?s) (COUNT(?none) AS ?n) { ?x ?p ?y FILTER(isNumeric(?y)) }",
    "SELECT ?y { ?x ?p ?y BIND(?y AS ?z) } ORDER BY DESC(?z) ?y LIMIT 5",
    "SELECT ?x ?z { ?x (:p|^:q)+ ?x . :b :p*/!(:q|^:r) ?z }",
    "SELECT ?g ?x (COUNT(?y) AS ?n) { GRAPH ?g { ?x ?p ?y OPTIONAL { ?y :q ?x } MINUS { ?x :p :a } } } GROUP BY ?g ?x",
    "SELECT * FROM :g FROM :h FROM NAMED :h { ?x ?p ?y . ?x ?q ?z OPTIONAL { GRAPH ?p2 { ?x :q|:p ?w } } }",
)


def test_many_matches_stay_on_spark(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pattern has many: operators are DataFrames, and tasks compute what Spark has no operator for."""
    monkeypatch.setattr(tuning, "FETCHED_MATCHES", 0)
    quads = graph(random.Random(213), True)
    store, kb = Store(), knowledge_base(quads, engine="spark", spark=spark)
    store.extend(quads)
    answered = 0
    for query in SPREAD:
        expected = outcome_of(store.query(PROLOGUE + query))
        assert outcome(kb.sparql(PROLOGUE + query)).key() == expected.key(), query
        answered += bool(expected.solutions)
    assert answered == len(SPREAD)


def test_many_matches_in_all_names_stay_on_spark(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "FETCHED_MATCHES", 0)
    same = [Quad(NamedNode(EX + one), SAME_AS, NamedNode(EX + other)) for one, other in ("ab", "bc")]
    quads = [*graph(random.Random(7), False), *same]
    near = knowledge_base(quads, equality="rewrite")
    far = knowledge_base(quads, equality="rewrite", engine="spark", spark=spark)
    for query in (
        "SELECT * { ?x ?p ?y }",
        "SELECT ?p (COUNT(*) AS ?n) { ?x ?p ?y . ?y ?q ?z FILTER(?x != ?y) } GROUP BY ?p",
    ):
        expected = outcome(near.sparql(PROLOGUE + query))
        assert outcome(far.sparql(PROLOGUE + query)).key() == expected.key()
