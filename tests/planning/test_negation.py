"""`NOT EXISTS` becomes a negated hidden atom: what the rewriting writes, and what it refuses."""

from __future__ import annotations

import pytest

from everlog.datalog.printer import print_rule
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import HIDDEN
from everlog.errors import EverlogError
from everlog.planning.compiled_program import prepared
from everlog.planning.hidden_predicates import rewrite_negation


def rewritten(text: str) -> list[str]:
    """The rules, with `h0`, `h1`, … for the hidden predicates in the order of their definitions."""
    rules = rewrite_negation(parse_program(text).rules)
    hidden = dict.fromkeys(rule.head.predicate for rule in rules if rule.head.predicate.startswith(HIDDEN))
    texts = [print_rule(rule) for rule in rules]
    for number, name in enumerate(hidden):
        texts = [text.replace(f'"{name}"', f'"h{number}"') for text in texts]
    return texts


def test_hidden_predicates_are_named_after_their_definitions() -> None:
    """Whatever else a program has, and however often it is compiled."""
    one = "p(?x) :- q(?x), not r(?x, _) ."
    other = "p(?x) :- q(?x), NOT EXISTS ?y IN (s(?x, ?z, ?y), s(?y, ?x, ?x)), q(?z) ."
    (alone, _), (first, second, *_) = (rewrite_negation(parse_program(text).rules) for text in (one, other + one))
    assert alone == second
    assert first.head.predicate != second.head.predicate
    again = rewrite_negation(parse_program("t(?u) :- u(?u), NOT EXISTS ?v IN (r(?u, ?v)) .").rules)
    assert again[0].head.predicate == alone.head.predicate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(?x) :- q(?x), not r(?x) .", ["p(?x) :- q(?x), not r(?x) ."]),
        (
            "p(?x) :- q(?x), not r(?x, _) .",
            ['"h0"(?0) :- r(?0, ?1) .', 'p(?x) :- q(?x), not "h0"(?x) .'],
        ),
        (
            "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?x, ?y), ?y < ?x) .",
            ['"h0"(?0) :- r(?0, ?1), ?1 < ?0 .', 'p(?x) :- q(?x), not "h0"(?x) .'],
        ),
        (
            "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?x, ?y), s(?y)) .",
            ['"h0"(?0) :- q(?0), r(?0, ?1), s(?1) .', 'p(?x) :- q(?x), not "h0"(?x) .'],
        ),
        (
            "p(?x) :- q(?x, ?z), t(?w), ?z > 3, NOT EXISTS ?y IN (r(?y), ?y < ?z) .",
            [
                '"h0"(?0) :- q(?1, ?0), ?0 > 3, r(?2), ?2 < ?0 .',
                'p(?x) :- q(?x, ?z), t(?w), ?z > 3, not "h0"(?z) .',
            ],
        ),
        (
            "p() :- q(), NOT EXISTS ?y IN (r(?y)) .",
            ['"h0"() :- r(?0) .', 'p() :- q(), not "h0"() .'],
        ),
    ],
    ids=["nothing to do", "projection", "own comparison", "guarded conjunction", "guarded comparison", "nullary"],
)
def test_rewriting(text: str, expected: list[str]) -> None:
    assert rewritten(text) == expected


def test_rules_that_ask_the_same_share_a_hidden_predicate() -> None:
    rules = rewritten("p(?x) :- q(?x), not r(?x, _) .  s(?b) :- t(?b), NOT EXISTS ?c IN (r(?b, ?c)) .")
    assert rules == [
        '"h0"(?0) :- r(?0, ?1) .',
        'p(?x) :- q(?x), not "h0"(?x) .',
        's(?b) :- t(?b), not "h0"(?b) .',
    ]


def test_a_guard_comes_from_below_the_head() -> None:
    """p itself cannot guard: the hidden predicate would depend on the head that it is negated for."""
    guard, _, _ = rewritten(
        "p(?x) :- q(?x) .  p(?z) :- p(?x), e(?x, ?z), NOT EXISTS ?y IN (r(?z, ?y), s(?y), ?y != ?x) ."
    )
    assert guard == '"h0"(?0, ?1) :- e(?1, ?0), r(?0, ?2), s(?2), ?2 != ?1 .'


def test_what_cannot_be_guarded_is_refused() -> None:
    text = "p(?x) :- q(?x) .  p(?y) :- p(?x), q(?y), NOT EXISTS ?z IN (r(?z), ?z < ?x) ."
    with pytest.raises(EverlogError) as raised:
        rewrite_negation(parse_program(text).rules)
    assert str(raised.value) == (
        "NOT EXISTS ?z IN (r(?z), ?z < ?x) cannot be decided in the rule "
        "p(?y) :- p(?x), q(?y), NOT EXISTS ?z IN (r(?z), ?z < ?x) . : ?x is bound only by atoms that depend on the head; "
        "bind it by an atom that does not"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(?y) :- q(?x), ?y = ?x .", ["p(?x) :- q(?x) ."]),
        ("p(?x) :- q(?x), ?x = a .  p(a) :- q(a) .", ["p(a) :- q(a) ."]),
        ("p(?x) :- q(?x), ?x = ?y .  p(?z) :- q(?z) .", ["p(?z) :- q(?z) ."]),
        ("p(?x) :- ?x = 5 .", ["p(5) ."]),
        ("p(?x) :- q(?x), 1 = 2 .", []),
    ],
)
def test_prepared_rules_have_no_equalities_that_name_a_term_and_no_copies(text: str, expected: list[str]) -> None:
    assert [print_rule(rule) for rule in prepared(parse_program(text).rules)] == expected
