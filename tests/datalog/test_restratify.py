"""Strata of programs that change by a few rules, beside those that are found anew."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from everlog.datalog import restratify
from everlog.datalog.reader import parse_program
from everlog.datalog.restratify import restratified
from everlog.datalog.stratify import Stratum, stratify
from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import Atom, Constant, Negation, Rule, Variable
from everlog.errors import NotStratifiable

x, y = Variable("x"), Variable("y")
TERMS = [(x, y), (y, x), (x, Constant("a"))]
atoms = st.builds(Atom, st.sampled_from(["p", "q", "r", "s"]), st.sampled_from(TERMS))
literals = atoms | atoms | atoms | atoms.map(lambda atom: Negation((atom,)))
bodies = st.lists(literals, min_size=1, max_size=2).map(tuple)
rule_lists = st.lists(st.builds(Rule, atoms, bodies), max_size=10, unique=True)


def said(strata: Sequence[Stratum]) -> list[object]:
    """Everything about strata but the order of their patterns, and the names of variables in these."""
    return [
        (one.index, one.rules, one.recursive, one.nonrecursive, {*map(pattern, one.patterns)}, one.choosing, one.chosen)
        for one in strata
    ]


def known(rules: tuple[Rule, ...]) -> tuple[Stratum, ...]:
    return restratified(rules, "levels", lambda rule: False)


@settings(max_examples=100, deadline=None)
@given(rule_lists, rule_lists, st.randoms(use_true_random=False))
def test_strata_after_a_change_are_those_of_the_new_program(some: list[Rule], more: list[Rule], random) -> None:  # type: ignore[no-untyped-def]
    restratify._LATELY.clear()
    rules = tuple(some)
    for rule in (*more, *random.sample(some, len(some))):
        rules = tuple(one for one in rules if one != rule) if rule in rules else (*rules, rule)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(restratify, "stratified", lambda *asked: (event("anew"), stratified(*asked))[1])
            try:
                expected = stratify(rules)
            except NotStratifiable:
                with pytest.raises(NotStratifiable):
                    known(rules)
                continue
            assert said(known(rules)) == said(expected)


stratified = restratify.stratified


def test_a_rule_that_moves_nothing_has_nothing_stratified_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    restratify._LATELY.clear()
    rules = parse_program(
        "p(?x) :- e(?x, ?y) . p(?y) :- e(?x, ?y) . q(?x) :- p(?x), not e(?x, ?x) . r(?x) :- q(?x) . "
        "q(?y) :- e(?x, ?y), p(?x) . r(?x) :- p(?x) ."
    ).rules
    known(rules)
    monkeypatch.delattr(restratify, "stratified")
    for number in (0, 1, 4, 5):
        less = (*rules[:number], *rules[number + 1 :])
        assert said(known(less)) == said(stratify(less))
        back = (*less, rules[number])
        assert said(known(back)) == said(stratify(back))
    with pytest.raises(NameError):
        known(rules[:3] + rules[4:5])  # what q needs is above all of the others, and r has nothing else
