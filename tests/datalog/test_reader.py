"""Reading programs and goals: each construct of the language, and each mistake with its message."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode

from everlog.datalog import reader, syntax_mistakes
from everlog.datalog.reader import parse_goal, parse_program
from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Program, Rule, Term, Variable
from everlog.datalog.values import RDF_TYPE
from everlog.errors import ArityMistake, EverlogError, SyntaxMistake, UnsafeRule

EX = "http://example.org/"
x, y, z = Variable("x"), Variable("y"), Variable("z")


def atom(predicate: str, *terms: object) -> Atom:
    return Atom(predicate, tuple(term if isinstance(term, Variable) else Constant(term) for term in terms))


def triple(*terms: object) -> Atom:
    return atom("triple", *terms)


def ex(local: str) -> NamedNode:
    return NamedNode(EX + local)


def read(text: str) -> Program:
    return parse_program(f"@prefix ex: <{EX}> .\n@prefix : <{EX}> .\n{text}", "t.dlog")


def value_of(text: str) -> Term:
    (fact,) = read(f"p({text}) .").facts
    return fact.terms[0]


def body_of(text: str) -> tuple[object, ...]:
    (rule,) = read(f"h() :- {text} .").rules
    return rule.body


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", "a"),
        ("'a'", "a"),
        ("Élan_2", "Élan_2"),
        ("_x", "_x"),
        ("not", "not"),
        ("NOT", "NOT"),
        ("exists", "exists"),
        ("IN", "IN"),
        ("FILTER", "FILTER"),
        ("prefix", "prefix"),
        ("truely", "truely"),
        ('"true"', "true"),
        ('""', ""),
        ("''", ""),
        ('"it\'s"', "it's"),
        (r'"\t\b\n\r\f\"\'\\"', "\t\b\n\r\f\"'\\"),
        (r'"caf\u00E9 \U0001F600"', "café 😀"),
        ('"""two\nlines "quoted" ""twice"" """', 'two\nlines "quoted" ""twice"" '),
        ("'''it's\n'''", "it's\n"),
        ('""""""', ""),
        ('"# no comment"', "# no comment"),
        ("3", 3),
        ("-3", -3),
        ("+3", 3),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("3.0", 3.0),
        (".5", 0.5),
        ("-2.5e-3", -0.0025),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        ("<http://example.org/a>", ex("a")),
        (r"<http://example.org/\u00e9>", ex("é")),
        ("<int$false>", NamedNode("everlog:int$false")),
        ("ex:a", ex("a")),
        ("ex:", ex("")),
        (":a", ex("a")),
        (":", ex("")),
        ("ex:a.b", ex("a.b")),
        ("ex:a:b", ex("a:b")),
        ("ex:1a-b", ex("1a-b")),
        ("ex:%41", ex("%41")),
        (r"ex:a\,b\(c\)", ex("a,b(c)")),
        ("rdf:type", RDF_TYPE),
        ("_:b", BlankNode("b")),
        ("_:b.c-1", BlankNode("b.c-1")),
        ('"x"@en', Literal("x", language="en")),
        ('"x"@en-GB', Literal("x", language="en-gb")),
        ('"x"@en--rtl', Literal("x", language="en", direction=BaseDirection.RTL)),
        ('"5"^^xsd:integer', 5),
        ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', 5),
        ('"05"^^xsd:integer', Literal("05", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer"))),
        ('"x"^^xsd:string', "x"),
        ('"true"^^xsd:boolean', True),
        ('"-INF"^^xsd:double', float("-inf")),
        ('"x" ^^ ex:t', Literal("x", datatype=ex("t"))),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == Constant(value)


def test_one_and_one_point_zero_and_true_are_three_values() -> None:
    assert len({value_of("1"), value_of("1.0"), value_of("true")}) == 3


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("p() .", atom("p")),
        ("edge(a, b).", atom("edge", "a", "b")),
        ("edge(a,3).", atom("edge", "a", 3)),
        ("p(a) :- .", atom("p", "a")),
        ("p(a) <- .", atom("p", "a")),
        ("ex:p(a) .", atom(f"<{EX}p>", "a")),
        ("<p>(a) .", atom("<everlog:p>", "a")),
        ('"my edges"(a) .', atom("my edges", "a")),
        ("true(a) .", atom("true", "a")),
        ("prefix(ex:a) .", atom("prefix", ex("a"))),
        ("a(a) .", atom("a", "a")),
        ("bind(a) .", atom("bind", "a")),
        ('[ex:a, ex:p, "x"@en] .', triple(ex("a"), ex("p"), Literal("x", language="en"))),
        ("[ex:a, a, ex:C] .", triple(ex("a"), RDF_TYPE, ex("C"))),
        ('[ex:a, "a", a] .', triple(ex("a"), "a", "a")),
        ("ex:p[ex:a, ex:b] .", triple(ex("a"), ex("p"), ex("b"))),
        ("ex:C[ex:a] .", triple(ex("a"), RDF_TYPE, ex("C"))),
        ("a[ex:a, ex:C] .", triple(ex("a"), RDF_TYPE, ex("C"))),
        ("<http://example.org/p>[1, 2].", triple(1, ex("p"), 2)),
    ],
)
def test_facts(text: str, fact: Atom) -> None:
    program = read(text)
    assert program.facts == (fact,)
    assert program.rules == ()


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("p(?x), q(?x)", (atom("p", x), atom("q", x))),
        ("p(?x), p(?x)", (atom("p", x),)),
        ("?p[?x, ?y]", (triple(x, Variable("p"), y),)),
        ("[?x, a, ?y]", (triple(x, RDF_TYPE, y),)),
        ("p(?x), not q(?x)", (atom("p", x), Negation((atom("q", x),)))),
        ("p(?x), NOT q(?x)", (atom("p", x), Negation((atom("q", x),)))),
        ("p(?x), !q(?x)", (atom("p", x), Negation((atom("q", x),)))),
        ("p(?x), not ex:C[?x]", (atom("p", x), Negation((triple(x, RDF_TYPE, ex("C")),)))),
        ("p(?x), not exists(?x)", (atom("p", x), Negation((atom("exists", x),)))),
        (
            "p(?x), not (q(?x), r(?x))",
            (atom("p", x), Negation((atom("q", x), atom("r", x)))),
        ),
        (
            "p(?x), NOT EXISTS ?y, ?z IN (q(?x, ?y), r(?z), ?y < ?z, FILTER(?y != 3))",
            (
                atom("p", x),
                Negation(
                    (atom("q", x, y), atom("r", z)),
                    (y, z),
                    (Comparison("<", y, z), Comparison("!=", y, Constant(3))),
                ),
            ),
        ),
        ("p(?x), not exists ?y in q(?x, ?y)", (atom("p", x), Negation((atom("q", x, y),), (y,)))),
        ("p(?x), NOT EXISTS # why\n ?y IN q(?x, ?y)", (atom("p", x), Negation((atom("q", x, y),), (y,)))),
        ("p(_, _)", (atom("p", Variable("_1"), Variable("_2")),)),
        ("p(_, ?_1)", (atom("p", Variable("_2"), Variable("_1")),)),
        (
            "p(?x, _), not q(?x, _)",
            (atom("p", x, Variable("_1")), Negation((atom("q", x, Variable("_2")),), (Variable("_2"),))),
        ),
        (
            "p(?x), NOT EXISTS ?y IN (q(_, ?y))",
            (atom("p", x), Negation((atom("q", Variable("_1"), y),), (y, Variable("_1")))),
        ),
        ("p(?x), ?x = a", (atom("p", x), Comparison("=", x, Constant("a")))),
        ("p(?x), FILTER(?x >= 3)", (atom("p", x), Comparison(">=", x, Constant(3)))),
        ("p(?x), ?x<-5", (atom("p", x), Comparison("<", x, Constant(-5)))),
        ("p(?x,?y), ?x<?y,?y>?x", (atom("p", x, y), Comparison("<", x, y), Comparison(">", y, x))),
        ("p(?x), 3 <= ?x", (atom("p", x), Comparison("<=", Constant(3), x))),
        ("p(?x), ex:a != ?x", (atom("p", x), Comparison("!=", Constant(ex("a")), x))),
        ("p(?x), ?x = <a>", (atom("p", x), Comparison("=", x, Constant(NamedNode("everlog:a"))))),
        ("p(?x), ?x > 3.5", (atom("p", x), Comparison(">", x, Constant(3.5)))),
    ],
)
def test_bodies(text: str, literals: tuple[object, ...]) -> None:
    assert body_of(text) == literals
    assert parse_goal(text, {"ex": EX}) == literals


def test_several_heads_are_one_rule_each() -> None:
    body = (atom("r", x, Variable("_1")),)
    assert read("p(?x), q(?x) :- r(?x, _) .").rules == (Rule(atom("p", x), body), Rule(atom("q", x), body))
    assert read("p(a), q(b) .").facts == (atom("p", "a"), atom("q", "b"))


def test_rules_are_distinct_up_to_renaming() -> None:
    program = read(
        """p(?x) :- e(?x, ?y) .
           p(?u) :- e(?u, ?v) .
           p(?u) :- e(?u, ?u) .
           p(?u) :- e(?u, _), NOT EXISTS ?a, ?b IN (f(?a, ?b)) .
           p(?y) :- e(?y, ?x), NOT EXISTS ?c, ?a IN (f(?a, ?c)) .
           p(?y) :- e(?y, ?x), not f(?y, ?x) .
           q(a) . q("a") . q(b) ."""
    )
    assert [rule.head.terms[0] for rule in program.rules] == [x, Variable("u"), Variable("u"), y]
    assert program.facts == (atom("q", "a"), atom("q", "b"))


def test_local_variables_of_sibling_negations_are_different_variables() -> None:
    program = read(
        """p(?x) :- e(?x), NOT EXISTS ?y IN (f(?x, ?y)), NOT EXISTS ?y IN (f(?y, ?x)) .
           p(?x) :- e(?x), NOT EXISTS ?y IN (f(?x, ?y)), NOT EXISTS ?z IN (f(?z, ?x)) ."""
    )
    assert len(program.rules) == 1


def test_prefixes() -> None:
    program = parse_program(
        """PREFIX ex: <http://one/>
           p(ex:a) .
           @prefix ex: <http://two/> .
           @prefix rdf: <http://mine/> .
           prefix : <#>
           p(ex:a) . p(rdf:type) . p(:a) . p(owl:Thing) ."""
    )
    names = ["http://one/a", "http://two/a", "http://mine/type", "everlog:#a", "http://www.w3.org/2002/07/owl#Thing"]
    assert program.facts == tuple(atom("p", NamedNode(name)) for name in names)
    assert program.prefixes == {"ex": "http://two/", "rdf": "http://mine/", "": "everlog:#"}


def test_empty_program_and_comments() -> None:
    assert parse_program("\ufeff # nothing\n\n#at all// \n// nothing # either") == Program()
    assert parse_program("p(<http://x/#y>) . // q(a) .").facts == (atom("p", NamedNode("http://x/#y")),)


def test_goal_takes_prefixes_and_an_optional_dot() -> None:
    assert parse_goal("ex:p[?x, b] .", {"ex": EX}) == (triple(x, ex("p"), "b"),)
    for declared in (f"@prefix ex: <{EX}> .", f"PREFIX ex: <{EX}>", f"PREFIX ex: <http://other/> PREFIX ex: <{EX}>"):
        assert parse_goal(f"{declared} ex:p[?x, b]", {"ex": "http://overruled/"}) == (triple(x, ex("p"), "b"),)


PREFIX_HINT = "write '@prefix {}: <…> .' before it"
TERM_OR_CLOSE = "expected a term or ')'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(?x) :- q(?x)", "1:15: expected '.', found the end of the text"),
        ("p(a)\n\n", "1:5: expected ',', '.' or ':-', found the end of the text"),
        ("p(a)\nq(b) .", "2:1: expected ',', '.' or ':-', found 'q'"),
        ("p(a b) .", "1:5: expected ')' or ',', found 'b'"),
        ("p(a, ) .", "1:6: expected a term, found ')'"),
        ("p(?) .", f"1:3: {TERM_OR_CLOSE}, found '?'"),
        ("p(_:) .", f"1:3: {TERM_OR_CLOSE}, found '_:'"),
        ("p .", "1:3: expected '(', '[' or a comparison such as '=', found '.'"),
        ("p :- q .", "1:3: expected '(', '[' or a comparison such as '=', found ':-'"),
        ("p(a) :- q(a), .", "1:15: expected an atom, a negation or a comparison, found '.'"),
        ("p(a) :- q(a), not .", "1:19: expected an atom, found '.'"),
        ("p(a), .", "1:7: expected an atom, found '.'"),
        (".", "1:1: expected a rule, a fact or '@prefix', found '.'"),
        ("@base <http://x/> .", "1:1: expected a rule, a fact or '@prefix', found '@'"),
        ("[a, b] .", "1:6: expected ',', found ']'"),
        ("[a, b, c, d] .", "1:9: expected ']', found ','"),
        ("p(?x) :- q(?x), ?x < .", "1:22: expected a term, found '.'"),
        ("p(?x) :- q(?x), ?x < 3 < 4 .", "1:24: expected ',' or '.', found '<'"),
        ("p(?x) :- q(?x), FILTER(?x .", "1:27: expected an operator such as '+' or ')', found '.'"),
        ("p(?x) :- q(?x), FILTER() .", "1:24: expected an expression, found ')'"),
        ("p(?x) :- q(?x), FILTER(?x = 1 = 2) .", "1:31: expected '&&', ')', '+', '-' or '||', found '='"),
        ("p(?x) :- q(?x) and r(?x) .", "1:16: expected ',' or '.', found 'and'"),
        ("p(?x) :- q(?x), NOT EXISTS y IN (r(y)) .", "1:28: expected a variable such as '?x', found 'y'"),
        ("p(?x) :- q(?x), NOT EXISTS ?y (r(?y)) .", "1:31: expected ',' or 'IN', found '('"),
        ("p(?x) :- q(?x), NOT EXISTS ?y IN () .", "1:35: expected an atom or a comparison, found ')'"),
        ('p(a,\n  "abc) .\n', '2:3: the string that starts here is not closed; write " on the same line'),
        ("p('abc\n') .\n", "1:3: the string that starts here is not closed; write ' on the same line"),
        ("p('''abc') .\n", "1:3: the string that starts here is not closed; write ''' after it"),
        (r'p("a\qb") .', r"1:5: '\q' is not an escape; the escapes here are \t"),
        ('p("""\n a\\u12""") .', r"2:3: '\u' is not an escape"),
        (r'p("\uD800") .', r"1:4: '\uD800' is no Unicode character"),
        (r"p(<http://x/\n>) .", r"1:13: '\n' is not an escape; the escapes here are \uXXXX \UXXXXXXXX"),
        ("p(<http://x/a b>) .", "1:3: '<http://x/a b>' cannot be used: Invalid IRI"),
        ("p(<http://x/{}>) .", "1:3: '<http://x/{}>' cannot be used: Invalid IRI"),
        ("p(<http://x/) .", "1:3: the IRI that starts here is not closed"),
        ("q(b) .\n  ex:p(a) .", f"2:3: the prefix 'ex:' is not declared; {PREFIX_HINT.format('ex')}"),
        ("p(:a) .", f"1:3: the prefix ':' is not declared; {PREFIX_HINT.format('')}"),
        ('p("5"^^ex:t) .', f"1:8: the prefix 'ex:' is not declared; {PREFIX_HINT.format('ex')}"),
        ("@prefix ex <http://x/> .", "1:9: expected a prefix such as 'ex:', found 'ex'"),
        ("@prefix ex:a <http://x/> .", "1:9: expected a prefix such as 'ex:', found 'ex:a'"),
        ("@prefix ex: 'x' .", "1:13: expected an IRI in '<' and '>', found '''"),
        ("@prefix ex: <http://x/> p(a) .", "1:25: expected '.', found 'p'"),
        ('p("x"^^5) .', "1:8: expected an IRI, found '5'"),
        ('p("x"@waytoolongtag) .', "1:6: '@waytoolongtag' cannot be used"),
        ('p("x"@en--up) .', "1:6: expected the base direction 'ltr' or 'rtl', found 'up'"),
        ("p(9223372036854775808) .", "1:3: '9223372036854775808' cannot be used: the integer"),
        ("edge[?x, ?y] :- e(?x, ?y) .", "1:1: expected an IRI or a variable before '[', found 'edge'"),
        ("p(?x) :- q(?x), not (?x = 3) .", "1:17: expected an atom inside the negation, found comparisons only"),
        ("p(?x) :- q(?x), BIND(?x + 1) .", "1:28: expected 'AS', found ')'"),
        (
            'p(?a) :- AGGREGATE(q(?x) BIND GROUP_CONCAT(?x SEPARATOR = ",") AS ?a) .',
            "1:47: expected an operator such as '+', ')', ',' or '; SEPARATOR =', found 'SEPARATOR'",
        ),
        ("p(?x) :- q(?x), BIND(STRLENN(?x) AS ?y) .", "1:22: there is no function STRLENN; did you mean STRLEN?"),
        ("p(?x) :- q(?x), BIND(ABS(?x, 1) AS ?y) .", "1:22: ABS takes 1 argument, not 2"),
        ("p(?x) :- q(?x), SKOLEM(a, ?x + 1) .", "1:24: the last argument of SKOLEM is a variable"),
        ("p(?x) :- AGGREGATE(q(?x, ?y) ON ?x) .", "1:35: expected ',', 'BIND' or a variable such as '?x', found ')'"),
        ("p(?x) :- AGGREGATE(q(?x) BIND COUT(?x) AS ?n) .", "1:31: there is no aggregate COUT; did you mean COUNT?"),
        ("p(?n) :- AGGREGATE(q(?x) BIND AVRG(?x) AS ?n) .", "1:31: there is no aggregate AVRG; did you mean AVG?"),
        ("p(?n) :- AGGREGATE(q(?x, ?y) BIND AVG(?x, ?y) AS ?n) .", "1:35: AVG takes 1 argument, not 2"),
        ("p(?n) :- AGGREGATE(q(?x) BIND SUM(*) AS ?n) .", "1:31: SUM takes 1 argument, not 0"),
        ("p(?n) :- AGGREGATE(q(?x, ?y) BIND MIN_ARGMAX(?x) AS ?n) .", "1:35: MIN_ARGMAX takes 2 arguments, not 1"),
        ("p(?n) :- AGGREGATE(q(?x) BIND SUM(?x + NOW()) AS ?n) .", "1:31: NOW is not the same whenever it is asked"),
        (
            'p(?n) :- AGGREGATE(q(?x) BIND SUM(?x; SEPARATOR = ",") AS ?n) .',
            "1:31: only GROUP_CONCAT has a SEPARATOR, not SUM",
        ),
        (
            "p(?n) :- AGGREGATE(AGGREGATE(q(?x) BIND SUM(?x) AS ?s) BIND COUNT(?s) AS ?n) .",
            "1:20: an AGGREGATE cannot stand inside another one; write a rule for what is inside",
        ),
        ("p(?x) :- q(?x), NOT EXISTS ?y IN (AGGREGATE(r(?y) BIND COUNT(*) AS ?n)) .", "1:46: expected ')' or ','"),
        ("p(?x) :- q(?x), FILTER(COUNT(?x) > 1) .", "1:24: there is no function COUNT; did you mean CONCAT?"),
        ("p(MIN(MAX(?x))) :- q(?x) .", "1:3: there is no function MAX"),
        ("p(MIN(RAND())) :- q(?x) .", "1:3: RAND is not the same whenever it is asked"),
        ('p(?x) :- q(?x), SKOLEM("a") .', "1:24: SKOLEM takes at least 1 argument, not 0"),
        ("p(?y) :- q(?x), SKOLEM(?x, ?y) .", "1:24: the first argument of SKOLEM is a name, a string in quotes"),
        ("p(?x) :- q(?x), BIND(?x + 1 AS 5) .", "1:32: expected a variable such as '?x', found '5'"),
        ("p(?x) :- [?x, rdf:value, ?y] 5 .", "1:30: expected an IRI, ',', '.' or a variable such as '?x', found '5'"),
        ("[?x, rdf:value, ?y] MIN(?g) :- q(?x, ?g, ?y) .", "1:21: expected an IRI, ',', '.', ':-' or a variable"),
        ("?x < ?y :- key(?x, ?y) .", "1:1: expected an atom or an equality as the head"),
    ],
)
def test_syntax_mistakes(text: str, message: str) -> None:
    with pytest.raises(SyntaxMistake) as caught:
        parse_program(text, "t.dlog")
    assert str(caught.value).startswith(f"t.dlog:{message}")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "",
            SyntaxMistake,
            "<goal>:1:1: expected an atom, a negation, a comparison or '@prefix', found the end of the text",
        ),
        ("p(?x) :- q(?x)", SyntaxMistake, "<goal>:1:7: expected ',', '.' or the end of the text, found ':-'"),
        ("p(?x), ?y < 3", UnsafeRule, "<goal>:1:1: the goal `p(?x), ?y < 3` is unsafe: the variable ?y is compared"),
        ("ex:p(?x)", SyntaxMistake, "<goal>:1:1: the prefix 'ex:' is not declared"),
    ],
)
def test_mistakes_in_goals(text: str, error: type[EverlogError], message: str) -> None:
    with pytest.raises(error) as caught:
        parse_goal(text)
    assert str(caught.value).startswith(message)


def test_unsafe_rules_and_arities_name_the_place() -> None:
    with pytest.raises(UnsafeRule, match=r"^t\.dlog:4:2: the rule `h\(\?z\) :- ex:p\(\?x\) \.` is unsafe: .* \?z "):
        read("ex:p(a) .\n h(?z) :- ex:p(?x) .")
    with pytest.raises(ArityMistake) as caught:
        read("p(a, b) .\nq(?x) :- r(?x), not p(?x) .")
    assert str(caught.value) == (
        "the predicate 'p' has two numbers of arguments: 2 in `p(a, b) .` at t.dlog:3:1, and 1 in "
        "`q(?x) :- r(?x), not p(?x) .` at t.dlog:4:1; give it one, or use two names"
    )


@pytest.mark.parametrize("name", ["LUBM_L", "LUBM_LE", "LUBM_U", "Claros_L", "Claros_LE", "DBpedia_L", "UOBM_L"])
def test_programs_of_the_papers(data: Path, name: str) -> None:
    text = (data / "programs" / f"{name}.dlog").read_text(encoding="utf-8")
    stated = int(text.split(":", 1)[1].split()[0])
    assert len(parse_program(text).rules) == stated


def test_importing_the_reader_does_not_import_lark() -> None:
    check = "import sys, everlog.datalog.reader; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_every_token_has_a_name_for_users() -> None:
    tokens = {sign.name for rule in reader._grammar().rules for sign in rule.expansion if sign.is_term}
    assert tokens <= syntax_mistakes._NAMES.keys() | syntax_mistakes._SILENT
