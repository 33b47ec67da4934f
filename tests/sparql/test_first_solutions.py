"""LIMIT, OFFSET and ASK: as many solutions as asked for, all of them solutions, and found without all others."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

import everlog
from everlog.engine.memory import tuning
from everlog.sparql import query_evaluation
from everlog.sparql.query_limits import QueryTooLarge

EX = "http://example.org/"
PATTERNS = [
    "?x :p ?y",
    "?x :p ?y . ?y :p ?z",
    "?x ?p ?y OPTIONAL { ?y :q ?z }",
    "{ ?x :p ?y } UNION { ?y :p ?x }",
    "?x :p ?y BIND(STR(?y) AS ?z)",
    "?x :p ?y FILTER(STRENDS(STR(?x), '7'))",
    "?x :p ?y FILTER NOT EXISTS { ?y :q ?x }",
    "?x :p ?y MINUS { ?y :q ?x }",
    "?x :p ?y FILTER(?x = :nobody)",
    "{ SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } ?x :q ?y",
]


@pytest.fixture(scope="module")
def kb() -> everlog.KnowledgeBase:
    node = [NamedNode(f"{EX}n{number}") for number in range(300)]
    pairs = [(node[a], NamedNode(f"{EX}p"), node[(7 * a + b) % 300]) for a in range(300) for b in range(4)]
    made = everlog.KnowledgeBase("")
    made.add({"triple": [*pairs, *((one, NamedNode(f"{EX}q"), other) for other, _, one in pairs[::3])]})
    made.materialise()
    return made


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joins go on in small blocks, and few solutions are tried first."""
    monkeypatch.setattr(tuning, "BINDINGS_PER_BLOCK", 16)
    monkeypatch.setattr(query_evaluation, "_TRIED", 32)
    monkeypatch.setattr(query_evaluation, "_TRIED_TIMES", 4)


@pytest.mark.parametrize("distinct", ["", "DISTINCT "])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_as_many_as_asked_for(kb: everlog.KnowledgeBase, pattern: str, distinct: str) -> None:
    query = f"PREFIX : <{EX}> SELECT {distinct}?x ?y {{ {pattern} }}"
    every = [*map(str, kb.sparql(query))]
    for offset, limit in ((0, 0), (0, 1), (0, 50), (7, 40), (len(every) - 3, 9), (0, len(every) + 1)):
        found = [*map(str, kb.sparql(f"{query} OFFSET {max(0, offset)} LIMIT {limit}"))]
        assert len(found) == max(0, min(limit, len(every) - max(0, offset)))
        assert all(found.count(one) <= every.count(one) for one in set(found))
    assert bool(kb.sparql(f"PREFIX : <{EX}> ASK {{ {pattern} }}")) == bool(every)


@pytest.mark.parametrize("pattern", [one for one in PATTERNS[:7] if "EXISTS" not in one])
def test_others_are_not_looked_for(kb: everlog.KnowledgeBase, pattern: str) -> None:
    query = f"PREFIX : <{EX}> SELECT * {{ {pattern} }}"
    with pytest.raises(QueryTooLarge):
        kb.sparql(query, rows=600)
    assert len(kb.sparql(f"{query} LIMIT 2", rows=600)) == 2
