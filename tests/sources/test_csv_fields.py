"""The rules for fields of CSV and TSV."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import XSD
from everlog.sources.csv_fields import MalformedField, csv_field, field_term, split_line
from support.nasty import BOOLEANS, FLOATS, INTEGERS, IRIS, LITERALS, STRINGS


def _integer(text: str) -> str:
    return f'"{text}"^^<{XSD}integer>'


def _double(text: str) -> str:
    return f'"{text}"^^<{XSD}double>'


@pytest.mark.parametrize(
    ("field", "quoted", "term"),
    [
        ("5", False, _integer("5")),
        ("5", True, '"5"'),
        ("-0", False, _integer("0")),
        ("-12", False, _integer("-12")),
        ("005", False, '"005"'),
        ("+5", False, '"+5"'),
        (" 5", False, '" 5"'),
        ("9" * 30, False, _integer("9" * 30)),
        ("1.0", False, _double("1.0E0")),
        ("-0.0", False, _double("-0.0E0")),
        ("00.50e+1", False, _double("5.0E0")),
        ("1e5", False, '"1e5"'),
        (".5", False, '".5"'),
        ("1.", False, '"1."'),
        ("٣", False, '"٣"'),
        ("", False, '""'),
        ("", True, '""'),
        ("true", False, '"true"'),
        ("<http://a/b>", False, "<http://a/b>"),
        (r"<http://a/\u002C>", False, "<http://a/,>"),
        ("<http://a/b>", True, '"<http://a/b>"'),
        ("<", False, '"<"'),
        ("_:x", False, "_:x"),
        ("_x", False, '"_x"'),
        ('"x"@EN', False, '"x"@en'),
        (f'"5"^^<{XSD}integer>', False, _integer("5")),
        (f'"x"^^<{XSD}string>', False, '"x"'),
        ("a\\tb", False, r'"a\\tb"'),
    ],
)
def test_a_field_is_a_term(field: str, quoted: bool, term: str) -> None:
    assert field_term(field, quoted) == term


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("<no scheme>", "not an N-Triples term"),
        ("_:", "not an N-Triples term"),
        ("1.0e999", "too large for a float"),
    ],
)
def test_a_field_that_only_looks_like_a_term_is_a_mistake(field: str, reason: str) -> None:
    with pytest.raises(MalformedField, match=f"{reason}.*quote"):
        field_term(field, quoted=False)
    assert field_term(field, quoted=True) == f'"{field}"'


@pytest.mark.parametrize(
    ("term", "field"),
    [
        ('"plain"', "plain"),
        ('""', '""'),
        ('"007"', "007"),
        ('"7"', '"7"'),
        ('"-0"', '"-0"'),
        ('"7.5"', '"7.5"'),
        ('"a;b"', "a;b"),
        ('"a,b"', '"a,b"'),
        (r'"a\tb"', "a\tb"),
        (r'"say \"hi\""', '"say ""hi"""'),
        (r'"a\nb"', '"a\nb"'),
        ('"<x>"', '"<x>"'),
        ('"<x"', "<x"),
        ('"_:x"', '"_:x"'),
        (_integer("7"), "7"),
        (_integer("007"), _integer("007")),
        (_integer("9" * 30), "9" * 30),
        (_double("1.0E0"), "1.0"),
        (_double("1.0E22"), "1.0E22"),
        (_double("INF"), _double("INF")),
        (f'"true"^^<{XSD}boolean>', f'"true"^^<{XSD}boolean>'),
        ("<http://a/,b>", r"<http://a/\u002Cb>"),
        (r'"a,\"b\\"@en', r'"a,\u0022b\\"@en'),
    ],
)
def test_a_field_is_quoted_exactly_when_needed(term: str, field: str) -> None:
    assert csv_field(term) == field


_text = st.text(alphabet=st.characters(exclude_categories=["Cs"])) | st.text(
    alphabet='",\t\n\r\\@^<>_:0159.eE-+ \ufeffx'
)
_iris = st.sampled_from([*IRIS, NamedNode("http://a/,"), NamedNode("x:")])
_values = (
    st.sampled_from([*STRINGS, *INTEGERS, *FLOATS, *BOOLEANS, *LITERALS])
    | _text
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.booleans()
    | _iris
    | st.sampled_from([BlankNode("x"), BlankNode("everlog7")])
    | st.builds(lambda text: Literal(text, language="en"), _text)
    | st.builds(lambda text, iri: Literal(text, datatype=iri), _text, _iris)
)


@given(st.lists(_values, min_size=1, max_size=4), st.sampled_from(",\t"))
def test_what_is_written_reads_back(values: list[object], delimiter: str) -> None:
    terms = [write_term(value) for value in values]  # type: ignore[arg-type]
    line = delimiter.join(csv_field(term, delimiter) for term in terms)
    fields = split_line(line, delimiter)
    assert fields is not None
    assert [field_term(*field) for field in fields] == terms


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", [("", False)]),
        (",", [("", False), ("", False)]),
        ('"a""b",c', [('a"b', True), ("c", False)]),
        ('"",""', [("", True), ("", True)]),
        ('""""', [('"', True)]),
        (r'"a\","@en,x"', [("a\\", True), ("@en,x", True)]),
        (r'"say \"hi\""@en,1', [(r'"say \"hi\""@en', False), ("1", False)]),
        ('"a,b"@en', [('"a,b"@en', False)]),
        ('"a', None),
        ('x,"a\n', None),
    ],
)
def test_a_line_is_split(line: str, fields: list[tuple[str, bool]] | None) -> None:
    assert split_line(line) == fields


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('"a"b', "field 1: 'b' follows the closing quote"),
        ('1,a"b', "field 2: a quote inside the unquoted field 'a\"b'"),
    ],
)
def test_a_stray_quote_is_a_mistake(line: str, reason: str) -> None:
    with pytest.raises(MalformedField) as caught:
        split_line(line)
    assert str(caught.value).startswith(reason)
