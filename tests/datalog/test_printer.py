"""Printing: the expected text for each construct, and every program reads back the same."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode

from everlog.datalog.printer import print_atom, print_goal, print_literal, print_program, print_rule, print_term
from everlog.datalog.reader import parse_goal, parse_program
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Program, Rule, Term, Variable
from everlog.datalog.values import normalise

EX = "http://example.org/"
PREFIXES = {"ex": EX, "": EX + "deep/", "rdf": "http://mine/"}


@pytest.mark.parametrize(
    "text",
    [
        "p() .",
        "p(?x, ?_7) :- q(?x, ?_7) .",
        'p(a, b_1, "two words", "", "1", "true", "_", "a-b") .',
        "p(1, -1, 1.0, -0.0, 1e+16, 1e-07, true) .",
        'p("NaN"^^xsd:double, "-INF"^^xsd:double) .',
        "p(_:b, ex:a, <http://example.org/a/b>, <http://example.org/a.>, ex:) .",
        r'p("\"\\\n\r\t\u0000\u2028é") .',
        'p("x"@en, "x"@en--ltr, "x"^^ex:t, "05"^^xsd:integer) .',
        "ex:p(a) .",
        '"my edges"(a) .',
        '"not"(a) .',
        "[?x, rdf:type, ex:C] :- [?x, ex:p, _] .",
        '[ex:a, "a", a] .',
        "p(?x) :- q(?x, _, _), not r(?x, _), not s(?x) .",
        "p(?x) :- q(?x, ?_2, _), NOT EXISTS ?y IN (r(?x, ?y, _)) .",
        "p(?x) :- q(?x), NOT EXISTS ?_5 IN (r(?_5)), not (r(_), s(?x)), NOT EXISTS ?v IN (r(?v), ?v < ?x) .",
        'p(?x) :- q(?x), ?x != "not", 3 <= ?x, ?y = ?x .',
    ],
)
def test_texts_that_print_as_they_are(text: str) -> None:
    header = f"@prefix ex: <{EX}> .\n"
    program = parse_program(header + text)
    assert print_program(program) == f"{header}\n{text}\n"


def test_parts() -> None:
    x, y = Variable("x"), Variable("y")
    assert print_term(x) == "?x"
    assert print_term(Constant(NamedNode(EX + "a")), PREFIXES) == "ex:a"
    assert print_term(Constant(NamedNode("http://www.w3.org/2002/07/owl#Thing"))) == "owl:Thing"
    assert print_atom(Atom("triple", (x, x, y))) == "[?x, ?x, ?y]"
    assert print_atom(Atom("triple", (x, y))) == "triple(?x, ?y)"
    assert print_literal(Negation((Atom("p", (x, y)),), (y,))) == "NOT EXISTS ?y IN (p(?x, ?y))"
    assert print_goal((Atom("p", (x,)), Comparison("<", x, Constant("a")))) == 'p(?x), ?x < "a"'
    assert print_rule(Rule(Atom("p", (Constant(5),)), ())) == "p(5) ."


def test_the_longest_namespace_wins_and_overrides_hold() -> None:
    assert print_term(Constant(NamedNode(EX + "deep/a")), PREFIXES) == ":a"
    assert print_term(Constant(NamedNode("http://mine/a")), PREFIXES) == "rdf:a"
    full = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert print_term(Constant(NamedNode(full)), PREFIXES) == f"<{full}>"


one, two = Variable("_1"), Variable("_2")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ((Atom("q", (one, two)),), "q(_, _)"),
        ((Atom("q", (two, one)),), "q(?_2, _)"),
        ((Atom("q", (one, one)),), "q(?_1, ?_1)"),
        ((Atom("q", (one,)), Atom("r", (one, two))), "q(?_1), r(?_1, _)"),
        ((Negation((Atom("q", (one, two)),), (one, two)),), "not q(_, _)"),
        ((Negation((Atom("q", (one, two)),), (two, one)),), "NOT EXISTS ?_2, ?_1 IN (q(?_1, ?_2))"),
        ((Negation((Atom("q", (one, one)),), (one,)),), "NOT EXISTS ?_1 IN (q(?_1, ?_1))"),
        ((Atom("q", (one,)), Negation((Atom("r", (one,)),))), "q(?_1), not r(?_1)"),
        (
            (Negation((Atom("q", (one,)),), (one,)), Negation((Atom("q", (one, two)),), (two, one))),
            "NOT EXISTS ?_1 IN (q(?_1)), NOT EXISTS ?_2, ?_1 IN (q(?_1, ?_2))",
        ),
    ],
)
def test_an_underscore_stands_only_for_what_the_reader_would_name_so(body: tuple[BodyLiteral, ...], text: str) -> None:
    assert print_goal(body) == text
    assert parse_goal(text) == body


# Strings that look like something else in the language.
NASTY = [
    *("", "a", "_", "_1", "__", "?x", "true", "false", "not", "NOT", "EXISTS", "IN", "FILTER", "BIND", "AGGREGATE"),
    *("prefix", "triple", "1", "1.5", "-1", "x.y", "x-y", "ex:a", "<http://x/a>", "<a>", "<a b>", "_:b", "#", ":-"),
    *('"', "'", '"""', "\\", "\\u0041", "\n", "\r\n", "\x00", "\x85", "\u2028", "²", "é", "e\u0301", "😀", " ", "."),
]
strings = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
locals_ = st.sampled_from(
    ["", "a", "a.b", "a.", "-a", "1", "%41", "a/b", "é", "a(b)", "a,b", "a:b", "_", "#x", "deep/a"]
)
iris = st.builds(
    lambda namespace, local: NamedNode(namespace + local),
    st.sampled_from([EX, "http://mine/", "urn:x:", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"]),
    locals_.filter(lambda local: local.count("#") == 0),
)
literals = st.one_of(
    st.builds(lambda text, tag: Literal(text, language=tag), strings, st.sampled_from(["en", "en-gb", "x-1"])),
    st.builds(lambda text: Literal(text, language="ar", direction=BaseDirection.RTL), strings),
    st.builds(lambda text, datatype: Literal(text, datatype=datatype), strings, iris),
)
values = st.one_of(
    strings,
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.booleans(),
    iris,
    st.sampled_from(["b", "0", "b.c", "é-1"]).map(BlankNode),
    literals,
).map(normalise)
constants = values.map(Constant)
names = st.sampled_from(["x", "y", "_1", "_2", "_3", "_01", "_", "__1", "1", "é"])
predicates = strings | iris.map(lambda iri: f"<{iri.value}>")


@st.composite
def rules(draw: st.DrawFn, arities: dict[str, int]) -> Rule:
    def atom(terms: st.SearchStrategy[Term]) -> Atom:
        predicate = draw(st.sampled_from(sorted(arities)))
        return Atom(predicate, tuple(draw(terms) for _ in range(arities[predicate])))

    def comparison(terms: st.SearchStrategy[Term]) -> Comparison:
        return Comparison(draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), draw(terms), draw(terms))

    positive = [atom(names.map(Variable) | constants) for _ in range(draw(st.integers(1, 3)))]
    bound = [variable for part in positive for variable in part.variables()]
    shared = st.sampled_from(bound) | constants if bound else constants
    body: list[Atom | Comparison | Negation] = [*positive]
    for _ in range(draw(st.integers(0, 2))):
        body.append(comparison(shared))
    for _ in range(draw(st.integers(0, 2))):
        inner = names.map(Variable).filter(lambda name: name not in bound) | shared
        atoms = [atom(inner) for _ in range(draw(st.integers(1, 2)))]
        local = sorted({v for part in atoms for v in part.variables() if v not in bound}, key=lambda v: v.name)
        usable = shared | st.sampled_from(local) if local else shared
        comparisons = [comparison(usable) for _ in range(draw(st.integers(0, 1)))]
        body.append(Negation(tuple(dict.fromkeys(atoms)), tuple(draw(st.permutations(local))), tuple(comparisons)))
    return Rule(atom(shared), tuple(dict.fromkeys(draw(st.permutations(body)))))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    arities = draw(st.dictionaries(predicates, st.integers(0, 3), min_size=1, max_size=3))
    if "triple" in arities:
        arities["triple"] = 3
    some = draw(st.lists(rules(arities), max_size=3))
    distinct = {canonical_rule(rule): rule for rule in some}
    facts = [
        Atom(predicate, tuple(draw(constants) for _ in range(arity)))
        for predicate, arity in arities.items()
        for _ in range(draw(st.integers(0, 1)))
    ]
    chosen = draw(st.sets(st.sampled_from(sorted(PREFIXES))))
    return Program(
        tuple(distinct.values()), tuple(facts), MappingProxyType({name: PREFIXES[name] for name in sorted(chosen)})
    )


@settings(max_examples=200, deadline=None)
@given(programs())
def test_a_program_reads_back_the_same(program: Program) -> None:
    assert parse_program(print_program(program)) == program


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(strings, st.integers(1, 3), min_size=1, max_size=2).flatmap(rules))
def test_a_body_reads_back_as_a_goal(rule: Rule) -> None:
    assert parse_goal(print_goal(rule.body)) == rule.body
