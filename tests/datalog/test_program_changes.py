"""Rules are found by their texts, whatever their variables are called and in whatever order their conditions stand."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

import everlog
from everlog import EverlogError, parse_program
from everlog.datalog.constants import replaced
from everlog.datalog.printer import print_rule
from everlog.datalog.program_changes import changed_program, is_same, ontology_change, rules_between, shapes_change
from everlog.datalog.program_union import union
from everlog.datalog.syntax import Constant, Program, Rule
from long_sequences.scenarios import Interests, life


def disguised(rule: Rule, random: Random) -> Rule:
    """The same rule with other names for its variables, and its conditions in another order."""
    body = random.sample(rule.body, len(rule.body))
    text = print_rule(replace(rule, body=tuple(body)))
    return parse_program(text.replace("?", "?other_")).rules[0]


def test_rules_in_disguise_are_the_same_and_others_are_not() -> None:
    random, tried = Random(1), 0
    for number in range(12):
        rules = life(number, Interests(updates=0)).program.rules
        for rule in rules:
            if rule.extreme is None:
                other = disguised(rule, random)
                assert is_same(rule, other) and is_same(other, rule)
                assert sum(is_same(one, other) for one in rules) == 1
                changed = replaced(other, lambda constant: Constant(f"other {constant.value}"))
                assert changed == other or not is_same(rule, changed)
                tried += 1
    assert tried > 50


def test_one_variable_more_is_another_rule() -> None:
    one, other = parse_program("p(?x) :- q(?x, ?y), q(?y, ?x) . p(?x) :- q(?x, ?y), q(?z, ?x) .").rules
    assert not is_same(one, other) and not is_same(other, one)


def test_what_comes_and_what_goes() -> None:
    before = parse_program("p(?x) :- q(?x) . q(1) . q(2) .")
    after = changed_program(before, parse_program("r(?x) :- p(?x) . q(3) ."), parse_program("p(?y) :- q(?y) . q(2) ."))
    assert [print_rule(rule) for rule in after.rules] == ["r(?x) :- p(?x) ."]
    assert [fact.terms[0] for fact in after.facts] == [Constant(1), Constant(3)]
    came, went = rules_between(before, after)
    assert (len(came), len(went)) == (1, 1)
    both = parse_program("p(?x) :- q(?x) .")
    assert changed_program(before, both, both).rules == before.rules
    with pytest.raises(EverlogError, match="2 rules to be deleted are not in the program"):
        changed_program(before, Program(), parse_program("p(?x) :- r(?x) . s(?x) :- q(?x) ."))


def test_an_ontology_changes_what_is_its_own() -> None:
    text = "#@ SubClassOf(:A :B)\nb(?x) :- a(?x) .\n#@ SubClassOf(:B :C)\nc(?x) :- b(?x) .\n#@ asserted\na(1) .\n"
    files = parse_program("d(?x) :- c(?x) .\na(2) .", "rules.dlog")
    ontology = parse_program(text)
    program = changed_program(files, ontology, Program())
    now = parse_program(text.replace("c(?x) :- b(?x)", "e(?x) :- b(?x)").replace("a(1)", "a(3)"))
    add, delete = ontology_change(program, now)
    assert [print_rule(rule) for rule in add.rules] == ["e(?x) :- b(?x) ."]
    assert [print_rule(rule) for rule in delete.rules] == ["c(?x) :- b(?x) ."]
    assert [fact.terms[0].value for fact in (*add.facts, *delete.facts)] == [3, 1]
    back, forth = ontology_change(changed_program(program, add, delete), ontology)
    assert [print_rule(rule) for rule in (*back.rules, *forth.rules)] == ["c(?x) :- b(?x) .", "e(?x) :- b(?x) ."]


def test_shapes_and_an_ontology_do_not_change_each_other() -> None:
    shapes, fewer = (
        everlog.shapes(
            text="@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix e: <http://e/> . "
            f"e:S sh:targetClass e:P ; sh:property [ sh:path e:n ; {demands} ] ."
        )
        for demands in ("sh:minCount 1 ; sh:maxCount 2", "sh:minCount 1")
    )
    rules = parse_program("p(?x) :- q(?x) .", "p.dlog")
    program = union(rules, shapes)
    assert ontology_change(program, Program()) == (Program(), Program())
    assert shapes_change(program, shapes) == (
        replace(Program(), prefixes=shapes.prefixes, origins=shapes.origins),
        Program(),
    )
    after = changed_program(program, *shapes_change(program, fewer))
    assert set(after.rules) == set(rules.rules) | set(fewer.rules)
    assert set(after.facts) == set(fewer.facts)
