"""Where rules come from, limits, and paths, by examples."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.datalog.printer import print_program
from everlog.datalog.reader import parse_program
from everlog.errors import EverlogError
from everlog.explaining.proof import Derived, Unexplored, height
from everlog.explaining.proof import Path as PathNode
from everlog.knowledge.base import KnowledgeBase

ONTOLOGY = """Prefix(:=<http://ex.org/>) Ontology(
    SubObjectPropertyOf(:headOf :worksFor) SubObjectPropertyOf(:worksFor :memberOf) DisjointClasses(:Man :Woman)
    ClassAssertion(:Man :ada) ClassAssertion(:Woman :ada) ObjectPropertyAssertion(:headOf :ada :physics))"""


@pytest.mark.parametrize("stored", [False, True])
def test_rules_of_an_ontology_have_its_axioms(stored: bool, tmp_path: Path) -> None:
    kb = KnowledgeBase(everlog.ontology(text=ONTOLOGY))
    kb.materialise()
    if stored:
        kb.save(tmp_path / "s")
        kb = everlog.open(tmp_path / "s")
    proof = kb.explain("[?who, <http://ex.org/memberOf>, ?where]").proof
    assert isinstance(proof, Derived)
    assert proof.origin is not None
    assert proof.origin.startswith("SubObjectPropertyOf(")
    (below,) = proof.conditions
    assert isinstance(below, Derived)
    assert below.origin != proof.origin
    assert "DisjointClasses(" in str(kb.explain("violation(?axiom, ?x)"))


def test_rules_of_a_file_have_its_lines() -> None:
    program = parse_program("# rules\n\np(?x) :-\n  q(?x) .\nr(?x) :- p(?x) .\n", "rules.dlog")
    again = parse_program(print_program(program))
    assert list(program.origins.values()) == list(again.origins.values()) == ["rules.dlog:3", "rules.dlog:5"]
    assert again == program
    both = everlog.union(program, parse_program("r(?y) :- p(?y) . s(?x) :- r(?x) .", "more.dlog"))
    assert [both.origins[rule] for rule in both.rules] == ["rules.dlog:3", "rules.dlog:5", "more.dlog:1"]


def chain(length: int) -> KnowledgeBase:
    kb = KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
    kb.add({"edge": [(number, number + 1) for number in range(length)]})
    kb.materialise()
    return kb


def test_a_long_path_is_one_node() -> None:
    proof = chain(200).explain("reach", (0, 200)).proof
    assert isinstance(proof, PathNode)
    assert len(proof.conditions) == 200


def test_proofs_may_be_higher_than_python_is_deep() -> None:
    found = chain(700).explain("reach", (0, 700), paths=False)
    assert str(found).count("given") == 700
    assert found.to_json()["proofs"][0]["height"] == 700
    assert found.to_dot()
    assert found.to_html()


def test_a_limit_ends_the_search_and_says_so() -> None:
    found = chain(100).explain("reach", (0, 100), paths=False, facts=50)
    assert not found.is_least()
    assert isinstance(found.proof, Derived)
    assert any(isinstance(one, Unexplored) for one in found.proof.conditions)
    assert "a limit has ended the search" in str(found)
    assert found.to_json()["complete"] is False


def test_proofs_are_of_one_state_of_the_facts() -> None:
    kb = KnowledgeBase("p(?x) :- q(?x) . p(?x) :- r(?x) . q(1) . r(1) .")
    kb.materialise()
    proofs = iter(kb.explain("p(1)", all=True).proofs)
    next(proofs)
    kb.update(delete={"r": [(1,)]})
    with pytest.raises(EverlogError, match="has changed since"):
        next(proofs)


def test_a_notebook_shows_a_tree() -> None:
    html = chain(3).explain("reach", (0, 3))._repr_html_()
    assert html.count("<details") == html.count("</details>") == 2


def test_a_proof_that_is_seen_first_need_not_be_the_lowest() -> None:
    """The first three facts are all premises of the goal, so that a proof through them is known before that by `y`."""
    kb = KnowledgeBase("""
        g(?x) :- x1(?x), x2(?x), x3(?x), w(?x) .  g(?x) :- x1(?x) .  g(?x) :- y(?x) .
        x1(?x) :- x2(?x) .  x2(?x) :- x3(?x) .  x3(?x) :- e(?x) .  y(?x) :- z(?x) .  z(?x) :- e(?x) .
        w(?x) :- w1(?x) .  w1(?x) :- w2(?x) .  w2(?x) :- w3(?x) .  w3(?x) :- e(?x) .  e(1) .
    """)
    kb.materialise()
    proof = kb.explain("g(1)").proof
    assert proof is not None
    assert height(proof) == 3


def test_of_two_proofs_that_are_known_at_once_the_lower_one_counts() -> None:
    """When `f` is looked at, both of its reasons have a height already: 0 and 2."""
    kb = KnowledgeBase("""
        g(?x) :- y(?x), w(?x) .  g(?x) :- c1(?x) .  c1(?x) :- c2(?x) .  c2(?x) :- c3(?x) .  c3(?x) :- f(?x) .
        f(?x) :- e(?x) .  f(?x) :- y(?x) .  y(?x) :- z(?x) .  z(?x) :- e(?x) .  e(1) .
        w(?x) :- w1(?x) .  w1(?x) :- w2(?x) .  w2(?x) :- w3(?x) .  w3(?x) :- w4(?x) .  w4(?x) :- w5(?x) .
        w5(?x) :- w6(?x) .  w6(?x) :- w7(?x) .  w7(?x) :- e(?x) .
    """)
    kb.materialise()
    proof = kb.explain("g(1)").proof
    assert proof is not None
    assert height(proof) == 5
