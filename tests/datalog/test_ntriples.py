"""One value as one N-Triples term, and back."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import XSD, Value, identity
from everlog.errors import UnsupportedValue

DATE = Literal("2024-01-01", datatype=NamedNode(XSD + "date"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<http://example.org/a>", NamedNode("http://example.org/a")),
        (r"<http://example.org/\u00e9>", NamedNode("http://example.org/é")),
        ("_:b", BlankNode("b")),
        ('""', ""),
        (r'"\t\b\n\r\f\"\'\\"', "\t\b\n\r\f\"'\\"),
        (r'"\u00e9\U0001F600"', "é😀"),
        (f'"a"^^<{XSD}string>', "a"),
        (f'"5"^^<{XSD}integer>', 5),
        (f'"05"^^<{XSD}integer>', Literal("05", datatype=NamedNode(XSD + "integer"))),
        (f'"1.0E0"^^<{XSD}double>', 1.0),
        (f'"NaN"^^<{XSD}double>', float("nan")),
        (f'"true"^^<{XSD}boolean>', True),
        (f'"2024-01-01"^^<{XSD}date>', DATE),
        ('"chat"@FR', Literal("chat", language="fr")),
    ],
)
def test_a_term_reads_as_its_value(text: str, value: Value) -> None:
    assert identity(read_term(text)) == identity(value)
    assert identity(read_term(write_term(value))) == identity(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "<relative>",
        "<http://example.org/a b>",
        "<http://example.org/a",
        r"<http://example.org/\n>",
        "_:",
        "_:a.",
        '"open',
        '"a"b"',
        '"a\nb"',
        r'"\q"',
        r'"\uD800"',
        r'"\U00110000"',
        '"a"@',
        '"a"@not_a_tag',
        '"a"^^<relative>',
        '"a"^^xsd:string',
        ' "a"',
        '"a" .',
        "<<( <a:b> <a:b> <a:b> )>>",
    ],
)
def test_malformed_text_is_named(text: str) -> None:
    with pytest.raises(UnsupportedValue, match="is not an N-Triples term") as caught:
        read_term(text)
    assert repr(text) in str(caught.value)
