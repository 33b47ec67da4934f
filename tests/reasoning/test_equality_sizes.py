"""Classes of several sizes in data like UOBM's: functional properties and keys merge people, whose facts meet."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import NamedNode

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from oracles.exchange import facts_of

PROGRAM = parse_program("""
    @prefix ex: <http://example.org/> .
    ?x = ?y :- [?d, ex:isHeadOf, ?x], [?d, ex:isHeadOf, ?y] .
    ?x = ?y :- [?x, ex:mbox, ?m], [?y, ex:mbox, ?m] .
    [?y, ex:friendOf, ?x] :- [?x, ex:friendOf, ?y] .
    ex:Chair[?x] :- [?d, ex:isHeadOf, ?x] .
    lonely(?x) :- ex:Person[?x], NOT EXISTS ?y IN ([?x, ex:friendOf, ?y]) .
""")


def people(size: int) -> list[tuple[str, str, str]]:
    """Half of a class of a size are heads of one department, half share a mailbox with the next; some others are alone."""
    random = Random(size)
    names = [f"p{number}" for number in range(size + 10)]
    found = [("d", "isHeadOf", name) for name in names[: size // 2 + 1]]
    for number in range(size // 2, size - 1):
        found += [(names[number], "mbox", f"m{number}"), (names[number + 1], "mbox", f"m{number}")]
    found += [(name, "a", "Person") for name in names[size // 2 :]]
    found += [(random.choice(names), "friendOf", random.choice(names)) for _ in range(6)]
    return found


@pytest.mark.parametrize("size", [2, 20, 100])
def test_rewriting_and_rules_agree(size: int) -> None:
    prefix, words = "http://example.org/", {"a": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"}
    triples = [tuple(NamedNode(words.get(term, prefix + term)) for term in row) for row in people(size)]
    rewrite, axioms = (
        KnowledgeBase(PROGRAM, engine="memory", equality=way, workers=1) for way in ("rewrite", "axioms")
    )
    for kb in (rewrite, axioms):
        kb.add({"triple": triples})
        kb.materialise()
    assert [len(members) for members in rewrite.reasoner.classes.members.values()] == [size]  # type: ignore[attr-defined]
    assert facts_of(rewrite) == facts_of(axioms)
    middle = [row for row in triples if row[1].value == f"{prefix}mbox"][:1] or triples[:1]
    for kb in (rewrite, axioms):
        kb.update(delete={"triple": middle})
    assert facts_of(rewrite) == facts_of(axioms)
