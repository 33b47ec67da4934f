"""An interrupt ends a query wherever somebody looks, and leaves the knowledge base as it was."""

from __future__ import annotations

import pytest

import everlog
from support.asking import knowledge_base
from support.interrupting import asked_at, signalled, state_of

PROGRAM = """
    @prefix : <http://example.org/> .
    [?x, :on, ?z] :- [?x, :on, ?y], [?y, :next, ?z] .  [?x, :on, ?y] :- [?x, :next, ?y] .
    :next[:a, :b] .  :next[:b, :c] .  :next[:c, :d] .  :size[:a, 1] .  :size[:d, 2] .
"""
QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?x (COUNT(?y) AS ?n) { ?x :next+ ?y OPTIONAL { ?y :size ?s FILTER(?s > 1) } FILTER NOT EXISTS { ?y :size ?x } }
    GROUP BY ?x ORDER BY ?n
"""


@pytest.mark.usefixtures("python_handles_interrupts")
def test_a_query_can_be_ended_at_every_look() -> None:
    kb = knowledge_base([], PROGRAM)
    before, expected, look = state_of(kb), list(kb.sparql(QUERY)), 1
    while True:
        with asked_at(look):
            try:
                found = list(kb.sparql(QUERY))
            except KeyboardInterrupt:
                look += 1
                continue
        break
    assert look > 10
    assert found == expected == list(kb.sparql(QUERY))
    assert state_of(kb) == before


@pytest.mark.usefixtures("python_handles_interrupts")
def test_a_signal_ends_a_long_query() -> None:
    kb = everlog.KnowledgeBase("")
    kb.add({"triple": [(f"s{n}", "p", f"o{n}") for n in range(3_000)]})
    kb.materialise()
    ask = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    with signalled(0.3), pytest.raises(KeyboardInterrupt):
        kb.sparql(ask)
    assert len(kb.sparql("SELECT * { ?a ?b ?c }")) == 3_000
