"""ISVALID: whether a literal is one of its datatype."""

from __future__ import annotations

import pytest

import everlog


@pytest.mark.parametrize(
    ("term", "valid"),
    [
        ("5", True),
        ('"x"', True),
        ('"x"@en', True),
        ('"x"^^xsd:integer', False),
        ('"01"^^xsd:integer', True),
        ('" 1"^^xsd:integer', False),
        ('"127"^^xsd:byte', True),
        ('"128"^^xsd:byte', False),
        ('"-1"^^xsd:unsignedInt', False),
        ('"0"^^xsd:positiveInteger', False),
        ('"1.5"^^xsd:decimal', True),
        ('"1e3"^^xsd:decimal', False),
        ('"maybe"^^xsd:boolean', False),
        ('"2023-02-29"^^xsd:date', False),
        ('"2024-02-29Z"^^xsd:date', True),
        ('"2024-02-29T25:00:00"^^xsd:dateTime', False),
        ('"anything"^^<http://ex.org/own>', True),
    ],
)
def test_literals_and_their_datatypes(term: str, valid: bool) -> None:
    kb = everlog.KnowledgeBase(f"found(?v) :- x(?t), BIND(ISVALID(?t) AS ?v) . x({term}) .", engine="memory")
    kb.materialise()
    assert kb.rows("found") == [(valid,)]


def test_what_is_no_literal_has_no_answer() -> None:
    kb = everlog.KnowledgeBase("found(?v) :- x(?t), BIND(ISVALID(?t) AS ?v) . x(<http://ex.org/a>) .", engine="memory")
    kb.materialise()
    assert kb.rows("found") == []
