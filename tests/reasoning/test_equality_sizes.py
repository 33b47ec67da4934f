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


def test_a_name_that_leaves_a_class_takes_its_own_facts_along() -> None:
    program = """
        @prefix ex: <http://example.org/> .
        ?x = ?y :- [?x, ex:mbox, ?m], [?y, ex:mbox, ?m] .
        [?x, ex:knows, ?z] :- [?x, ex:likes, ?z] .
        ?x = ?y :- [?x, ex:knows, ?z], [?y, ex:knows, ?z], [?z, a, ex:Secret] .
    """
    names, things = 40, 8

    def triple(*terms: str) -> tuple[NamedNode, ...]:
        return tuple(NamedNode(f"http://example.org/{term}") for term in terms)

    mailboxes = [triple(f"p{number}", "mbox", "m") for number in range(names)]
    likes = [triple(f"p{number}", "likes", f"t{number}_{place}") for number in range(names) for place in range(things)]
    likes.append((*triple("t0_0"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), *triple("Secret")))
    gone = mailboxes[names // 2]
    kb, again = (KnowledgeBase(program, engine="memory", equality="rewrite", workers=1) for _ in range(2))
    kb.add({"triple": [*mailboxes, *likes]})
    kb.materialise()
    report = kb.update(delete={"triple": [gone]})
    again.add({"triple": [one for one in (*mailboxes, *likes) if one != gone]})
    again.materialise()
    assert facts_of(kb) == facts_of(again)
    assert report.algorithm != "remat"
    assert sum(report.derivations.values()) < names * things
