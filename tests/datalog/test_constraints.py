"""Rules that must not fire: which they are, and rules without a head."""

from __future__ import annotations

import pytest

from everlog.datalog.constraints import violation_patterns
from everlog.datalog.printer import print_program, print_rule
from everlog.datalog.reader import parse_program
from everlog.errors import SyntaxMistake, UnsafeRule


@pytest.mark.parametrize(
    "text",
    [
        ":- person(?x), not name(?x, _) .",
        ":- sunny(), not warm() .",
        ":- [?x, rdf:type, owl:Nothing] .",
        ':- price(?x, ?p), FILTER(STRLEN(?x) > 5), ?p < "5"^^xsd:decimal .',
        ":- AGGREGATE(works(?p, ?d) ON ?d BIND COUNT(*) AS ?n), ?n > 3 .",
        ":- edge(?x, ?y), NOT EXISTS ?z IN (edge(?y, ?z), ?z != ?x) .",
    ],
)
def test_a_rule_without_a_head_is_printed_as_it_is_read(text: str) -> None:
    program = parse_program(text)
    (rule,) = program.rules
    assert print_rule(rule) == text
    assert parse_program(print_program(program)) == program
    assert [pattern.predicate for pattern in violation_patterns(program)] == [rule.head.predicate]


def test_the_head_has_the_variables_that_get_values() -> None:
    (rule,) = parse_program(":- edge(?x, _), n(?n), BIND(?n + 1 AS ?m), NOT EXISTS ?z IN (edge(?z, ?x)) .").rules
    assert [repr(term) for term in rule.head.terms] == ["?x", "?n", "?m"]


def test_variants_are_one_rule_and_others_are_not() -> None:
    program = parse_program(":- p(?x, ?y), q(?y) . :- p(?a, ?b), q(?b) . :- p(?x, ?y), q(?x) .")
    assert len(program.rules) == len({rule.head.predicate for rule in program.rules}) == 2
    assert (
        parse_program("@prefix ex: <http://e/> . :- ex:p(?x) .").rules == parse_program(":- <http://e/p>(?x) .").rules
    )


def test_what_is_a_constraint() -> None:
    program = parse_program(
        """violation(?x) :- p(?x) . [?x, a, rdfox:ConstraintViolation], [?x, rdfs:label, "p"] :- p(?x) .
        violations(?x) :- p(?x) . [?x, a, rdfox:Other] :- p(?x) ."""
    )
    assert [pattern.predicate for pattern in violation_patterns(program)] == ["violation", "triple"]


def test_mistakes_in_rules_without_a_head() -> None:
    with pytest.raises(UnsafeRule, match="<program>:1:1"):
        parse_program(":- person(?x), not name(?x, ?n) .")
    with pytest.raises(SyntaxMistake, match="expected an atom, a negation or a comparison"):
        parse_program(":- .")
    with pytest.raises(SyntaxMistake, match="expected a rule, a fact or '@prefix'"):
        parse_program("p(a) . ) .")
