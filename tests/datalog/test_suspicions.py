"""What can never match is a warning, with the nearest name, said once."""

from __future__ import annotations

import pytest

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.datalog.suspicions import nearest, suspicions

REACH = "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."


def said(text: str, *given: str) -> list[str]:
    return suspicions(parse_program(text), given)


def test_nothing_is_said_about_a_program_that_fits_its_facts() -> None:
    assert said(REACH, "edge") == []
    assert said("p(?x, 1) :- [?x, rdf:type, ?y], ?y != ?x .") == []
    assert said("p(?x) :- q(?x, ?v), r(?x, ?w), ?v = ?w .  s(?y) :- t(?x), ?y = ?x .", "q", "r", "t") == []
    assert said("", "edge") == [], "facts alone are no mistake"
    assert said('gold(?x, "Gold") :- member(?x, "Gold") .', "member") == []
    assert said('flag("ok") :- status("ok") .', "status") == []
    assert said(REACH) == [], "facts may come later"
    assert said(REACH, "edge", "quad", "violation") == [], "Everlog makes these by itself"


def test_one_warning_stands_for_many_rules() -> None:
    rules = " ".join(f"p(X, {n}) :- q(X, {n}) ." for n in range(20))
    assert len(said(rules, "q")) == 5


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (REACH, ["egde"], "no rule derives and no fact has edge (did you mean egde?), which rules ask for"),
        (REACH, ["Edge", "edge"], "no rule mentions Edge, of which there are facts"),
        (REACH, ["edges"], "no rule mentions edges (did you mean edge?), of which there are facts"),
        ("p(?x) :- q(?x), not blocked(?x) .", ["q"], "no rule derives and no fact has blocked, which rules ask for"),
        (
            "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?x, ?y)) .",
            ["q"],
            "no rule derives and no fact has r, which rules ask for",
        ),
        ("path(X, Y) :- edge(X, Y) .", ["edge"], "X and Y are constants, since variables begin with a question mark"),
        ("path(x, y) :- edge(x, y) .", ["edge"], "x and y are constants"),
        ("path(?x, Y) :- edge(?x, Y) .", ["edge"], "Y is a constant"),
        ("p(?x) :- q(?x, ?v), r(?w), ?v = ?w .", ["q", "r"], "compares each ?v with each ?w by value"),
        ("p(?x) :- q(?x), 1 < 2 .", ["q"], "compares two constants, whatever the facts are"),
        (
            "p(?x) :- " + ", ".join(f"q{n}(?x)" for n in range(9)) + " .",
            ["p"],
            "q0, q1, q2, q3, q4 and 4 more predicates",
        ),
    ],
)
def test_what_can_never_match_is_said(text: str, given: list[str], message: str) -> None:
    assert any(message in warning for warning in said(text, *given)), said(text, *given)


def test_names_are_near_whatever_their_case() -> None:
    assert nearest("Edge", ["edge"]) == "edge"
    assert nearest("edge", ["node"]) is None
    assert nearest("<http://e/onto#Car>", ["<http://e/onto#Person>", "<http://e/onto#Cars>"]) == "<http://e/onto#Cars>"
    assert nearest("<http://e/onto#Car>", ["<http://e/onto#Person>"]) is None


def test_a_materialisation_says_so_once() -> None:
    kb = KnowledgeBase(parse_program(REACH))
    kb.add({"egde": [(1, 2)]})
    assert ["did you mean" in warning for warning in kb.materialise().warnings] == [True, True]
    assert kb.update(add={"edge": [(1, 2)]}).warnings == []


def test_predicates_that_do_not_exist_are_refused() -> None:
    kb = KnowledgeBase(parse_program(REACH))
    kb.add({"edge": [(1, 2)]})
    with pytest.raises(EverlogError, match="no materialisation to query yet"):
        kb.query("reach(1, ?y)")
    kb.materialise()
    for asked in (kb.rows, kb.facts, kb.changes, kb.arity, kb.dataframe, kb.text):
        with pytest.raises(EverlogError, match=r"there is no predicate raech; did you mean reach\?"):
            asked("raech")
    with pytest.raises(EverlogError, match=r"there is no predicate egde; did you mean edge\?"):
        kb.query("reach(?x, ?y), not egde(?x, ?y)")
    with pytest.raises(EverlogError, match="reach has 2 arguments elsewhere and 1 here"):
        kb.query("reach(?x)")
    assert kb.rows("triple") == []
    assert kb.query("[?x, ?y, ?z]") == []


def test_facts_to_delete_of_predicates_that_do_not_exist_are_a_warning() -> None:
    kb = KnowledgeBase(parse_program(REACH))
    kb.add({"edge": [(1, 2)]})
    kb.materialise()
    assert kb.update(delete={"edgs": [(1, 2)]}).warnings == [
        "there are no facts of edgs (did you mean edge?) to delete"
    ]
    assert kb.predicates() == ["edge", "reach"]
