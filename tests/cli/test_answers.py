"""Answers as text: every value, every format."""

from __future__ import annotations

import json

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.cli.answers import Names, answers_text, field, print_table
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import XSD, identity
from everlog.sources.csv_fields import field_term, split_line
from support import nasty

DAY = NamedNode(f"{XSD}date")


def test_csv_holds_every_value() -> None:
    rows = [(value,) for value in nasty.ALL]
    for (value,) in rows:
        text = answers_text(["x"], [(value,)], "csv")
        header, _, record = text.partition("\n")
        assert header == "x"
        fields = split_line(record)
        assert fields is not None
        assert field_term(*fields[0]) == write_term(value), identity(value)


def test_json_has_numbers_strings_and_terms() -> None:
    infinity = {"type": "literal", "value": "INF", "datatype": f"{XSD}double"}
    rows = [(1, 1.5, True, "a", NamedNode("u:a")), (2, float("inf"), False, '"', BlankNode("b"))]
    assert json.loads(answers_text(list("abcde"), rows, "json")) == [
        {"a": 1, "b": 1.5, "c": True, "d": "a", "e": {"type": "uri", "value": "u:a"}},
        {"a": 2, "b": infinity, "c": False, "d": '"', "e": {"type": "bnode", "value": "b"}},
    ]


def test_json_tells_terms_from_strings_that_look_like_them() -> None:
    rows = [(NamedNode("u:a"), "<u:a>", BlankNode("b"), "_:b", Literal("x", language="en"), Literal("x", datatype=DAY))]
    (found,) = json.loads(answers_text(list("abcdef"), rows, "json"))
    assert (found["b"], found["d"]) == ("<u:a>", "_:b")
    assert found["e"] == {"type": "literal", "value": "x", "xml:lang": "en"}
    assert found["f"] == {"type": "literal", "value": "x", "datatype": DAY.value}


def test_a_table_in_a_pipe_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 500
    print_table(["[bold]", "y"], [(long, "[red]")])
    text = capsys.readouterr().out
    assert long in text and "[red]" in text and "[bold]" in text
    assert text.endswith("1 answer\n")


def test_names_are_short_where_a_prefix_fits() -> None:
    names = Names({"ub": "http://ub.org/", "": "http://ex.org/"})
    shown = {
        "ub:Student": NamedNode("http://ub.org/Student"),
        ":a": NamedNode("http://ex.org/a"),
        "rdf:type": NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
        "<http://ub.org/a/b>": NamedNode("http://ub.org/a/b"),
        '"ub:Student"': "ub:Student",
        "no:Student": "no:Student",
        '"2026-01-01"^^xsd:date': Literal("2026-01-01", datatype=DAY),
        '"x"@en': Literal("x", language="en"),
        "5": 5,
    }
    assert {field(value, names): value for value in shown.values()} == shown
    row = [(NamedNode("http://ub.org/Student"),)]
    assert json.loads(answers_text(["x"], row, "json", names)) == [{"x": {"type": "uri", "value": "ub:Student"}}]
    assert answers_text(["x"], row, "csv") == "x\n<http://ub.org/Student>"


def test_a_table_says_of_how_many_answers_it_has_some(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["x"], [(1,)], None, 12_345)
    assert capsys.readouterr().out.endswith("1 of 12,345 answers\n")
