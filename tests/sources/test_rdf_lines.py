"""The fast way through N-Triples agrees with pyoxigraph, line by line, however the lines end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, RdfFormat, parse

from everlog.rdf.blanks import renamed
from everlog.sources.line_blocks import Lines
from everlog.sources.rdf_lines import RdfLines

MARK = "f00"


def _term(term: object) -> str | None:
    if isinstance(term, DefaultGraph):
        return None
    return f"_:{renamed(term.value, MARK)}" if isinstance(term, BlankNode) else str(term)


def _by_pyoxigraph(line: str, format: RdfFormat) -> list[tuple[str | None, ...]] | None:
    """The statements of a line; None if it is malformed."""
    try:
        return [
            (_term(quad.subject), _term(quad.predicate), _term(quad.object), _term(quad.graph_name))
            for quad in parse(line, format=format)
        ]
    except SyntaxError:
        return None


def _check(lines: list[str], format: RdfFormat, end: str = "\n", last: bool = True) -> None:
    data = end.join(lines) + (end if last and lines else "")
    name = "nt" if format == RdfFormat.N_TRIPLES else "nq"
    columns, mistakes = RdfLines(name, few=0)(Lines(data.encode()), MARK)
    found = sorted(zip(*(column.to_pylist() for column in columns), strict=True), key=str)
    expected = [_by_pyoxigraph(line, format) for line in lines]
    assert found == sorted((fact for facts in expected if facts for fact in facts), key=str)
    assert sorted(row for row, _ in mistakes) == [row for row, facts in enumerate(expected) if facts is None]


_characters = "abAZ09.-_~:/?#[]@!$&'()*+,;=%{}|^`\\ é\u00a0\U0001f600<>\""
_iri = st.sampled_from(["http://a", "http://a.b/c#d", "urn:x:y", "x:", "http://a?q#f", "http:///x", "x://", "//a", "a"])
_iris = st.builds("<{}{}>".format, _iri, st.text(alphabet=_characters, max_size=4))
_labels = st.builds("_:{}".format, st.text(alphabet="ab01.-_:é", min_size=0, max_size=4)) | st.just("_:everlog12")
_strings = st.text(alphabet="ab \\\"'\t\x00\x1f\x7f\ufffe\uffffé\u0085\u2028@^<>.", max_size=6)
_types = st.sampled_from(
    [
        "",
        "@en",
        "@EN",
        "@en-us",
        "@e",
        "@abcdefghij",
        "@en--ltr",
        "^^<http://www.w3.org/2001/XMLSchema#string>",
        "^^<http://www.w3.org/2001/XMLSchema#integer>",
        "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>",
        "^^<x>",
        "^^",
        "@",
    ]
)
_literals = st.builds('"{}"{}'.format, _strings, _types)
_terms = _iris | _labels | _literals
_spaces = st.sampled_from([" ", " ", " ", "", "  ", "\t"])
_ends = st.sampled_from([" .", " .", " .", ".", "", " . # comment", " . .", " ;"])
_lines = st.builds(
    lambda terms, spaces, end: (
        "".join(a + b for a, b in zip(terms, [*spaces[: len(terms) - 1], ""], strict=True)) + end
    ),
    st.lists(_terms, min_size=1, max_size=5),
    st.lists(_spaces, min_size=4, max_size=4),
    _ends,
) | st.sampled_from(["", " ", "# comment", "<http://a> <http://b> .", "a b ."])


@pytest.mark.parametrize("format", [RdfFormat.N_TRIPLES, RdfFormat.N_QUADS])
@settings(max_examples=300, deadline=None)
@given(lines=st.lists(_lines, max_size=8), end=st.sampled_from(["\n", "\r\n", "\r"]), last=st.booleans())
def test_it_accepts_what_pyoxigraph_accepts(lines: list[str], format: RdfFormat, end: str, last: bool) -> None:
    _check(lines, format, end, last)


@settings(max_examples=1000, deadline=None)
@given(_iris)
def test_an_iri_is_judged_as_pyoxigraph_judges_it(iri: str) -> None:
    _check([f"{iri} <http://p> {iri} ."], RdfFormat.N_TRIPLES)


@pytest.mark.parametrize("format", [RdfFormat.N_TRIPLES, RdfFormat.N_QUADS])
def test_lines_have_more_terms_and_more_that_is_odd_than_there_was_room_for(format: RdfFormat) -> None:
    graph = "" if format == RdfFormat.N_TRIPLES else " <http://g{}>"
    plain = [
        f'<http://s{number % 1_700}> <http://p{number}> "{number}"{graph.format(number)} .' for number in range(3_000)
    ]
    odd = [f'<http://s{number}> <http://q> "\\u00{number % 90 + 10}" .' for number in range(40)]
    _check([line for pair in zip(plain, odd * 75, strict=True) for line in pair][:4_000], format)


def test_most_lines_take_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from everlog.sources import rdf_lines as module

    seen: list[str] = []
    sure = module.parse_lines
    monkeypatch.setattr(
        module, "parse_lines", lambda rows, given, *rest: seen.extend(given) or sure(rows, given, *rest)
    )
    plain = [
        '<http://www.Department0.University0.edu/A1> <http://x.org/onto#name> "A1" .',
        "<http://x.org/a/b-c_d.e> <http://x.org/p> _:b1 .",
        '_:b1 <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '_:b1 <urn:p> "two words"@en .',
    ]
    _check(plain, RdfFormat.N_TRIPLES)
    _check([line[:-1] + "<http://g> ." for line in plain], RdfFormat.N_QUADS)
    assert seen == []
    _check(['<http://a> <http://b> "\\u0041" .'], RdfFormat.N_TRIPLES)
    assert len(seen) == 1
