"""Soufflé's plain Datalog becomes rules that say the same; what else there is, is named with its place."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from everlog import KnowledgeBase, parse_program
from everlog.errors import SyntaxMistake
from everlog.souffle.conversion import convert_souffle
from everlog.souffle.running import advice
from oracles import naive


def rows(text: str, predicate: str) -> list[tuple[object, ...]]:
    """The facts of a predicate of a converted program."""
    kb = KnowledgeBase(parse_program(convert_souffle(text).text))
    kb.materialise()
    return sorted(kb.rows(predicate))


def test_a_program_keeps_its_order_its_comments_and_its_blank_lines() -> None:
    converted = convert_souffle(
        """/* Paths
   in a graph */
.type Node <: symbol
.decl edge(x: Node, y: Node) brie
.input edge(IO=file, filename="e.tsv")

.decl path(x: Node, y: Node)   // the result
.output path
edge("a", "two words"). edge("a", "B\\t"). path(x, y) :- edge(x, y).

path(x, z) :- path(x, y),  // a step
  edge(y, z), x != "a".
.plan 1:(2,1)
"""
    )
    assert (
        converted.text
        == """// Paths
//    in a graph
// .type Node <: symbol
// .decl edge(x: Node, y: Node) brie
// .input edge(IO=file, filename="e.tsv")

// .decl path(x: Node, y: Node)
// the result
// .output path
edge(a, "two words") .
edge(a, "B\\t") .
path(?x, ?y) :- edge(?x, ?y) .

path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), ?x != "a" .
// a step
// .plan 1:(2,1)
"""
    )
    assert converted.left_out == []
    assert advice("my rules.dlog", converted.inputs, converted.outputs) == [
        "everlog run 'my rules.dlog' --facts FACTS --output path --out RESULTS",
        "edge: copy e.tsv to FACTS/edge.facts",
    ]


@pytest.mark.parametrize(
    ("clause", "rules"),
    [
        ("p(x), q(x) :- r(x).", ["p(?x) :- r(?x) .", "q(?x) :- r(?x) ."]),
        ("p(x) :- r(x), !s(x, _).", ["p(?x) :- r(?x), not s(?x, _) ."]),
        ("p(x) :- s(x, _), !s(_, x), s(_, _).", ["p(?x) :- s(?x, _), not s(_, ?x), s(_, _) ."]),
        ("p(x) :- r(x), (x < 3 ; x >= 7).", ["p(?x) :- r(?x), ?x < 3 .", "p(?x) :- r(?x), ?x >= 7 ."]),
        ("p(x) :- r(x), !(x = 1 ; t(x)).", ["p(?x) :- r(?x), ?x != 1, not t(?x) ."]),
        ("p(x) :- r(x), !(x > 1, !t(x)).", ["p(?x) :- r(?x), ?x <= 1 .", "p(?x) :- r(?x), t(?x) ."]),
        ("p(x) :- x = -3 ; x = 0xff ; x = 7u.", ["p(?x) :- ?x = -3 .", "p(?x) :- ?x = 255 .", "p(?x) :- ?x = 7 ."]),
        ("p(?x) :- s(?x, x), s(_x, x).", ["p(?x) :- s(?x, ?x_), s(?_x, ?x_) ."]),
        ("p(_1) :- s(_1, _).", ["p(?_1) :- s(?_1, _) ."]),
        ("p() :- true. p() :- r(_), false. q().", ["p() .", "", "q() ."]),
        ("p(1, 2). p(x, y) :- p(y, x).", ["p(1.0, 2) .", "p(?x, ?y) :- p(?y, ?x) ."]),
        ("p(count) :- r(count), min = count, r(min).", ["p(?count) :- r(?count), ?min = ?count, r(?min) ."]),
    ],
)
def test_clauses(clause: str, rules: list[str]) -> None:
    declared = ".type F = G .type G <: float .decl p(a: F, b: number) " if clause.startswith("p(1") else ""
    converted = convert_souffle(declared + clause)
    assert converted.left_out == []
    assert [line for line in converted.text.splitlines() if not line.startswith("//")] == rules


def test_bodies_are_true_where_they_were() -> None:
    random = Random(7)

    def formula(depth: int) -> str:
        kind = random.randrange(5) if depth else 0
        if kind == 0:
            return f"{random.choice('abc')}()"
        if kind == 1:
            return f"!({formula(depth - 1)})"
        return f"({formula(depth - 1)} {random.choice([',', ';'])} {formula(depth - 1)})"

    for _ in range(40):
        written = formula(4)
        rules = parse_program(convert_souffle(f"true_(). h() :- true_(), {written}.").text)
        condition = written.replace("()", "").replace("!", " not ").replace(",", " and ").replace(";", " or ")
        for holding in product([False, True], repeat=3):
            facts = [naive.fact(name) for name, holds in zip("abc", holding, strict=True) if holds]
            found = naive.materialise(rules.rules, frozenset([*facts, naive.fact("true_")]))
            assert (naive.fact("h") in found) == eval(condition, dict(zip("abc", holding, strict=True))), written


def test_an_equivalence_relation_is_two_rules() -> None:
    program = ".decl e(x: number, y: number) eqrel\ne(1, 2). e(3, 2). e(5, 5)."
    assert rows(program, "e") == [*product([1, 2, 3], repeat=2), (5, 5)]


@pytest.mark.parametrize(
    ("statement", "what", "column"),
    [
        ("p(x + 1) :- q(x).", "arithmetic", 5),
        ("p(-x) :- q(x).", "arithmetic", 3),
        ("p(x band 1) :- q(x).", "arithmetic", 5),
        ("p(n) :- n = count : { q(_) }.", "the aggregate count", 13),
        ("p(n) :- n = sum x : { q(x), !r(x). }.", "the aggregate sum", 13),
        ("p(strlen(x)) :- q(x).", "the functor strlen", 3),
        ("p(x) :- q(x), strlen(x) > 3.", "the functor strlen", 15),
        ("p(x) :- q(x), match(\"a.*\", x).", "the constraint match", 15),
        ("p(@f(x)) :- q(x).", "a user-defined functor", 3),
        ("p([x, 1]) :- q(x).", "a record", 3),
        ("p(nil).", "a record", 3),
        ("p($A(x)) :- q(x).", "a branch of an algebraic data type, or a counter", 3),
        ("p(x) :- c.q(x).", "a relation of a component", 9),
        ("p(x) <= p(y) :- x < y.", "subsumption", 6),
        ("p(_).", "`_` in a head", 1),
        (".decl s(x: number) choice-domain x", "a choice: without it there are all facts to choose from", 20),
        (".decl s(x: number, y: I<>)", "a relation with a lattice", 24),
        (".lattice I<> { Lub -> @lub(_, _) }", "a lattice", 1),
        (".type L = [head: number, tail: L]", "a type of records", 11),
        (".type T = A { x: number } | B {}", "an algebraic data type", 11),
        (".comp C<T> : D { .decl x(a: T) x(1). }", "a component", 1),
        (".init c = C<number>", "an instance of a component", 1),
        (".functor f(x: number): number stateful", "a user-defined functor", 1),
        (".output c.q, p", "a relation of a component", 9),
        (".limitsize p(n=3)", "a limit for the size of a relation", 1),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_named_and_the_rest_is_converted(statement: str, what: str, column: int) -> None:
    converted = convert_souffle(f"q(1).\n{statement}\nr(2).\n")
    assert converted.text == f"q(1) .\n// not converted: {what}\n// {statement}\nr(2) .\n"
    assert [(one.line, one.column, one.what) for one in converted.left_out] == [(2, column, what)]


def test_comments_in_what_is_left_out_are_there_once() -> None:
    converted = convert_souffle(".comp C {\n  x(1). // one\n}\np(1 /* one */).\n")
    assert converted.text == "// not converted: a component\n// .comp C {\n//   x(1). // one\n// }\np(1) .\n// one\n"


def test_lines_for_the_preprocessor_and_unsafe_clauses_are_left_out() -> None:
    converted = convert_souffle('#define N 3 \\\n  + 1\np(x, y) :- q(x).\n.include "other.dl"\np(1, 2).')
    whats = [(one.line, one.what) for one in converted.left_out]
    assert [line for line, _ in whats] == [1, 3, 4]
    assert "`cpp -P`" in whats[0][1] and "?y is in the head" in whats[1][1] and "convert it, too" in whats[2][1]
    assert [line for line in converted.text.splitlines() if not line.startswith("//")] == ["p(1, 2) ."]


def test_outputs_of_which_nothing_was_converted_are_not_asked_for() -> None:
    converted = convert_souffle(
        ".decl q(x: number) .input q .decl n(c: number) .output n n(count : { q(_) }). .output q, p p(1)."
    )
    assert converted.outputs == ["q", "p"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(1)\nq(2).", "x.dl:2:1: expected '.', found 'q'"),
        ("p(1", "x.dl:1:2: the bracket '(' is never closed"),
        ("p(1) :- q(2)", "x.dl:1:13: expected '.' at the end of the clause, found the end"),
        ('p(1).\n  p("a).', "x.dl:2:5: a string that does not end in its line"),
        ("/* oh", "x.dl:1:1: a comment that does not end; it needs */"),
        ("p(1) :- `q`.", "x.dl:1:9: '`' is no part of Soufflé's language"),
        ("p(x) :- q(x), x.", "x.dl:1:16: expected a comparison, found '.'"),
        ("p(x) :- q(,).", "x.dl:1:11: expected a variable or a constant, found ','"),
        (".decl p(x)", "x.dl:1:10: expected ':', found ')'"),
        (".decl p(x: number) fast p(1).", "x.dl:1:20: expected a qualifier of the relation, or the next statement"),
        (".decl p(x: number) eqrel", "x.dl:1:20: an equivalence relation has 2 attributes, not 1"),
        (".decl p(x: number)\np(1, 2).", "x.dl:2:1: p is declared with 1 attributes, and has 2 here"),
        ('p("\\q").', "x.dl:1:3: "),
    ],
)
def test_mistakes_have_a_place(text: str, message: str) -> None:
    with pytest.raises(SyntaxMistake) as mistake:
        convert_souffle(text, "x.dl")
    assert str(mistake.value).startswith(message)


def test_where_inputs_are_expected() -> None:
    inputs = {
        "a": {},
        "b": {"filename": "b.facts", "delimiter": "\t"},
        "c": {"delimiter": ","},
        "d": {"delimiter": "|"},
        "e": {"io": "sqlite", "dbname": "x.db"},
        "f": {"io": "stdin"},
    }
    assert advice("x.dlog", inputs, [])[1:] == [
        "c: copy c.facts to FACTS/c.csv",
        "d: its fields are parted by '|'; write them to FACTS/d.facts, with tabs",
        "e: it is read by IO=sqlite; write its facts to FACTS/e.facts",
        "f: copy standard input to FACTS/f.facts",
    ]
