"""Safety, arities, and rules without equalities."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everlog.datalog.arities import check_arities
from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.printer import print_rule
from everlog.datalog.reader import parse_program
from everlog.datalog.safety import bound_variables, check_safety
from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Program, Rule, Term, Variable
from everlog.errors import ArityMistake, UnsafeRule
from oracles import naive

x, y, z, v, w = (Variable(name) for name in "xyzvw")


@pytest.mark.parametrize(
    "text",
    [
        "p(?x) :- q(?x) .",
        "p(?y) :- q(?x), ?y = ?x .",
        "p(?y) :- q(?x), ?x = ?y .",
        "p(?y) :- ?y = 5 .",
        "p(?z) :- ?y = ?z, ?x = ?y, 5 = ?x .",
        "p() :- 1 < 2 .",
        "p(?x) :- q(?x), not r(?x, _) .",
        "p(?y) :- q(?x), not r(?y), ?y = ?x .",
        "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?y), ?y < ?x) .",
        "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?y)), NOT EXISTS ?y IN (s(?y)) .",
        "p(?x) :- q(?x), ?x = _ .",
    ],
)
def test_safe(text: str) -> None:
    assert len(parse_program(text).rules) == 1


HEAD = "is in the head, but no positive atom of the body binds it"
COMPARED = "is compared, but no positive atom of the body binds it"
COMPUTED = "is in an expression, but nothing else in the body binds it"
NEGATED = "is in a negation, but no positive atom of the body binds it; for `no value at all` write `_`"


@pytest.mark.parametrize(
    ("text", "variable", "reason"),
    [
        ("p(?x) .", "?x", "is in a fact, which has constants only"),
        ("p(_) .", "_", "is in a fact, which has constants only"),
        ("p(?y) :- q(?x) .", "?y", HEAD),
        ("p(_) :- q(?x) .", "_", HEAD),
        ("p(?y) :- not q(?y) .", "?y", HEAD),
        ("p(?y) :- q(?x), ?y != ?x .", "?y", HEAD),
        ("p(?y) :- q(?x), ?y = ?z .", "?y", HEAD),
        ("p(?y) :- ?y = ?y .", "?y", HEAD),
        ("p(?y) :- q(?x), NOT EXISTS ?z IN (r(?z), ?y = ?z) .", "?y", HEAD),
        ("p(?x) :- q(?x), ?x < ?y .", "?y", COMPARED),
        ("p(?x) :- q(?x), ?x < _ .", "_", COMPARED),
        ("p(?x) :- q(?x), ?y = ?z .", "?y", COMPARED),
        ("p(?x) :- q(?x), not r(?y) .", "?y", NEGATED),
        ("p(?x) :- q(?x), NOT EXISTS ?z IN (r(?z), ?z < ?y) .", "?y", NEGATED),
        (
            "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?x)) .",
            "?y",
            "is local to a NOT EXISTS, but occurs in no atom inside it",
        ),
        ("p(?x) :- q(?x), not (r(?x), ?x < _) .", "_", "is local to a NOT EXISTS, but occurs in no atom inside it"),
        ("p(?x) :- q(?x, ?y), NOT EXISTS ?y IN (r(?y)) .", "?y", "is local to a NOT EXISTS and occurs outside it too"),
        ("p(?x) :- q(?x), NOT EXISTS ?x IN (r(?x)) .", "?x", "is local to a NOT EXISTS and occurs outside it too"),
        ("p(?x) :- q(?x), FILTER(?x + ?y > 1) .", "?y", COMPUTED),
        ("p(?x, MIN(?y + 1)) :- q(?x) .", "?y", COMPUTED),
        ("p(?x, MIN(?y)) :- q(?x) .", "?y", HEAD),
        ('p(?z) :- q(?x), SKOLEM("a", ?y, ?z) .', "?y", COMPUTED),
        ("[?x, rdf:value, ?x] ?g :- q(?x) .", "?g", HEAD),
        ("p(?x) :- q(?x), not [?x, rdf:value, _] ?g .", "?g", NEGATED),
        ("p(?y) :- q(?x), BIND(?z + 1 AS ?y) .", "?z", COMPUTED),
        ("p(?y) :- q(?x), BIND(?y + 1 AS ?y) .", "?y", COMPUTED),
        (
            "p(?x, ?n) :- q(?x, ?y), AGGREGATE(r(?y, ?z) BIND COUNT(?z) AS ?n) .",
            "?y",
            "is inside an AGGREGATE and outside it too; name it after ON",
        ),
        (
            "p(?x, ?n) :- AGGREGATE(q(?y) ON ?x BIND COUNT(?y) AS ?n) .",
            "?x",
            "is named after ON, but nothing inside the AGGREGATE binds it",
        ),
        (
            "p(?n) :- AGGREGATE(q(?y) BIND SUM(?z + 1) AS ?n) .",
            "?z",
            "is an argument of SUM, but nothing inside the AGGREGATE binds it",
        ),
        (
            "p(?y) :- AGGREGATE(q(?x, ?y) ON ?x BIND COUNT(*) AS ?y) .",
            "?y",
            "is a result of an AGGREGATE and occurs inside it, too; give one of them another name",
        ),
    ],
)
def test_unsafe(text: str, variable: str, reason: str) -> None:
    with pytest.raises(UnsafeRule) as caught:
        parse_program(text, "t.dlog")
    kind = "rule" if ":-" in text else "fact"
    assert str(caught.value).startswith(f"t.dlog:1:1: the {kind} `")
    assert f"is unsafe: the variable {variable} {reason}" in str(caught.value)


def test_a_rule_without_a_place_is_named_by_its_text() -> None:
    with pytest.raises(UnsafeRule, match=r"^the rule `p\(\?y\) :- q\(\?x\) \.` is unsafe: the variable \?y "):
        check_safety(Rule(Atom("p", (y,)), (Atom("q", (x,)),)))


def test_bound_variables() -> None:
    body = parse_program("p() :- q(?x), ?y = ?x, 5 = ?z, ?v = ?z, not r(?x) .").rules[0].body
    assert bound_variables(body) == {x, y, z, v}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            Program(facts=(Atom("p", ()), Atom("p", (Constant(1),)))),
            "the predicate 'p' has two numbers of arguments: 0 in `p() .`, and 1 in `p(1) .`",
        ),
        (
            Program(rules=(Rule(Atom("p", (x,)), (Atom("q", (x,)), Negation((Atom("r", ()), Atom("q", ()))))),)),
            "the predicate 'q' has two numbers of arguments: 1 in `p(?x) :- q(?x), not (r(), q()) .`, and 0 in `p(?x)",
        ),
        (
            Program(facts=(Atom("triple", (Constant(1),)),)),
            "the predicate 'triple' is for RDF and has 3 arguments, but 1 in `triple(1) .`",
        ),
    ],
)
def test_arities(program: Program, message: str) -> None:
    with pytest.raises(ArityMistake) as caught:
        check_arities(program)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(?y) :- q(?x), ?y = ?x .", "p(?x) :- q(?x) ."),
        ("p(?y) :- q(?x), ?y = ?x, ?x = a .", "p(a) :- q(a) ."),
        ("p(?x) :- ?x = 5 .", "p(5) ."),
        ("p(?x, ?y) :- q(?x), q(?y), ?x = ?y, ?x = a, not r(?x) .", "p(a, a) :- q(a), not r(a) ."),
        ("p(?x, ?y) :- q(?x), q(?y), ?x = ?y .", "p(?x, ?y) :- q(?x), q(?y), ?x = ?y ."),
        ("p(?x) :- q(?x), ?x = 5 .", "p(?x) :- q(?x), ?x = 5 ."),
        ("p(?x) :- q(?x), <a:b> = ?x .", "p(<a:b>) :- q(<a:b>) ."),
        ("p(?x, ?y) :- q(?x), ?y = 5, ?x = ?y .", "p(?x, 5) :- q(?x), ?x = 5 ."),
        ("p(?y) :- ?y = 2.0, ?y = 2 .", "p(2.0) ."),
        ("p(?y, ?z) :- ?y = ?z, ?z = 2, ?y = 2.0 .", "p(2.0, 2) ."),
        ("p(?y) :- ?y = 2, ?y = 3 .", None),
        ("p(?x) :- q(?x), ?x = ?x, 1 = 1 .", "p(?x) :- q(?x) ."),
        ("p(?x) :- q(?x), 1 = 2 .", None),
        ("p(?x) :- q(?x), 1 = 1.0 .", "p(?x) :- q(?x) ."),
        ('p(?x) :- q(?x), 1 = "1" .', None),
        ("p(?x) :- q(?x), ?x = a, ?x = b .", None),
        ("p(?x) :- q(?x), ?x = ?y, ?y = a, ?z = ?x, ?z = b .", None),
        ("p(?x) :- q(?x), ?x != 1, ?x = a .", 'p(a) :- q(a), "a" != 1 .'),
        (
            "p(?x) :- q(?x), NOT EXISTS ?v IN (r(?v), ?v = ?x) .",
            "p(?x) :- q(?x), NOT EXISTS ?v IN (r(?v), ?v = ?x) .",
        ),
        ("p(?x) :- q(?x), NOT EXISTS ?v IN (r(?v), ?v = a, ?v = b) .", "p(?x) :- q(?x) ."),
        ("p(?x) :- q(?x), NOT EXISTS ?v IN (r(?v), ?v = a, ?v = ?x) .", 'p(?x) :- q(?x), not (r(a), "a" = ?x) .'),
        ("p(?x) :- q(?x), not (r(?x), 1 = 1.0) .", "p(?x) :- q(?x), not r(?x) ."),
        ("p(?x) :- q(?x), not (r(?x), ?x = 1) .", "p(?x) :- q(?x), not (r(?x), ?x = 1) ."),
        ("p(?x) :- q(?x), ?x = a, not (r(?x), ?x = a) .", "p(a) :- q(a), not r(a) ."),
        ("p(?x) :- q(?x), ?x = a, not (r(?x), ?x = b) .", "p(a) :- q(a) ."),
        (
            "p(?x) :- q(?x), NOT EXISTS ?v, ?w IN (s(?v, ?w), ?v = a, ?w = a, ?v != ?w) .",
            'p(?x) :- q(?x), not (s(a, a), "a" != "a") .',
        ),
    ],
)
def test_equalities_that_say_which_term_is_meant_are_substituted(text: str, expected: str | None) -> None:
    (rule,) = parse_program(text).rules
    result = eliminate_equalities(rule)
    assert (None if result is None else print_rule(result)) == expected


DOMAIN = [Constant(value) for value in ("a", "b", 1, 1.0)]
terms = st.sampled_from([x, y, z, *DOMAIN])
inner_terms = st.sampled_from([x, y, v, w, *DOMAIN])


def comparisons(among: st.SearchStrategy[Term]) -> st.SearchStrategy[Comparison]:
    return st.builds(Comparison, st.sampled_from(["=", "=", "!="]), among, among)


def atoms(among: st.SearchStrategy[Term]) -> st.SearchStrategy[Atom]:
    return st.builds(Atom, st.sampled_from(["q", "r"]), st.tuples(among, among))


negations = st.builds(
    Negation,
    st.lists(atoms(inner_terms), max_size=1).map(lambda some: (Atom("q", (v, w)), *some)),
    st.just((v, w)),
    st.lists(comparisons(inner_terms), max_size=3).map(tuple),
)
bodies = st.tuples(
    st.lists(atoms(terms), min_size=1, max_size=2),
    st.lists(comparisons(terms), max_size=3),
    st.lists(negations, max_size=1),
)
facts = st.sets(st.builds(Atom, st.sampled_from(["q", "r"]), st.tuples(*[st.sampled_from(DOMAIN)] * 2)))


def derived(rule: Rule, known: naive.Facts) -> set[naive.Fact]:
    """The heads of all instances, by definition."""
    return {naive.instance_of(rule.head, one) for one in naive.instances(rule, known, known)}


@settings(max_examples=400, deadline=None)
@given(bodies, facts)
def test_without_equalities_a_rule_derives_the_same(
    body: tuple[list[Atom], list[Comparison], list[Negation]], known: set[Atom]
) -> None:
    rule = Rule(Atom("p", (x, y)), tuple(literal for kind in body for literal in kind))
    try:
        check_safety(rule)
    except UnsafeRule:
        return
    result = eliminate_equalities(rule)
    facts = naive.facts(known)
    assert (set() if result is None else derived(result, facts)) == derived(rule, facts)
    if result is not None:
        bound = {variable for atom in result.positive for variable in atom.variables()}
        assert all(bound.issuperset(comparison.variables()) for comparison in result.comparisons)
        check_safety(Rule(result.head, result.body))
