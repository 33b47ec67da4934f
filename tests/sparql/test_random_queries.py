"""Random queries about random graphs: Everlog and pyoxigraph say the same, as bags, up to the names of blank nodes."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import Store

from everlog.sparql import path_search, query_evaluation
from support.asking import knowledge_base, outcome
from support.random_queries import PROLOGUE, Queries, graph
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
    assert sum(compare(seed, 5) for seed in range(80)) > 100


def test_without_seeds_and_with_all_steps_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways of large graphs, for small ones."""
    monkeypatch.setattr(query_evaluation, "_SEEDS", 0)
    monkeypatch.setattr(path_search, "_FEW", 0)
    assert sum(compare(seed, 5) for seed in range(100, 125)) > 20


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
