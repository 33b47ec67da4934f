r"""N-Triples and N-Quads by pyoxigraph, and terms that need none.

Lines are independent of each other: the grammar lets no triple span two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, DefaultGraph, Quad, RdfFormat, Triple, parse

from everlog.rdf.blanks import renamed
from everlog.rdf.mistakes import NESTED, reason_of

# Parts of what the grammars allow, as Arrow writes patterns. An IRI: a scheme, then either an authority without user,
# brackets or escapes, or none; no percent signs, nothing outside ASCII. A label: letters and digits. A literal: no escape,
# no control character.
_SAFE = r"[A-Za-z0-9._~!$&'()*+,;=:@-]"
_PATH = rf"(?://[A-Za-z0-9.-]*(?:/(?:{_SAFE}|/)*)?|/?(?:{_SAFE}(?:{_SAFE}|/)*)?)"
_IRI = rf"<[A-Za-z][A-Za-z0-9+.-]*:{_PATH}(?:\?(?:{_SAFE}|[/?])*)?(?:#(?:{_SAFE}|[/?])*)?>"
_LABEL = r"_:[A-Za-z0-9]+"
_LITERAL = rf'"[^"\\\x00-\x1f\x7f\x{{FFFE}}\x{{FFFF}}]*"(?:@[a-z]{{2,3}}|\^\^{_IRI})?'
_PLAIN = rf"^(?:{_IRI}|{_LITERAL}|{_LABEL})$"
_OTHER_DATATYPE = r'"\^\^<http://www\.w3\.org/(?:1999/02/22-rdf-syntax-ns#|2001/XMLSchema#string>)'


Columns: TypeAlias = tuple[pa.Array, pa.Array, pa.Array, pa.Array]


def are_plain(terms: pa.Array) -> pa.Array:
    """Which terms are canonical beyond doubt. Others may be too.

    >>> are_plain(pa.array(['<a:b>', '"a"@en', '"a"^^<http://www.w3.org/2001/XMLSchema#string>', "<a b>"])).to_pylist()
    [True, True, False, False]
    """
    return pc.and_not(pc.match_substring_regex(terms, _PLAIN), pc.match_substring_regex(terms, _OTHER_DATATYPE))


def parse_lines(
    rows: Sequence[int], lines: Sequence[str], format: RdfFormat, mark: str
) -> tuple[Columns, list[tuple[int, str]]]:
    """What numbered lines say, as columns: subjects, predicates, objects, graphs (null for the default graph).

    Lines that say nothing that can be understood come with their numbers and the reasons.

    >>> columns, _ = parse_lines([0], ["<a:b> <a:c> _:x ."], RdfFormat.N_TRIPLES, "f00")
    >>> [column.to_pylist() for column in columns]
    [['<a:b>'], ['<a:c>'], ['_:f00x'], [None]]
    """
    found: list[tuple[str, str, str, str | None]] = []
    mistakes: list[tuple[int, str]] = []
    try:
        found.extend(_terms(quad, mark) for quad in parse("\n".join(lines), format=format))
    except (SyntaxError, ValueError):
        # Which line it was is not always the one that pyoxigraph names: one without a dot ends in the next.
        found.clear()
        for row, line in zip(rows, lines, strict=True):
            try:
                found.extend([_terms(quad, mark) for quad in parse(line, format=format)])
            except (SyntaxError, ValueError) as mistake:
                mistakes.append((row, reason_of(mistake)))
    columns = zip(*found, strict=True) if found else ((), (), (), ())
    a, b, c, d = (pa.array(column, type=pa.string()) for column in columns)
    return (a, b, c, d), mistakes


def _terms(quad: Quad, mark: str) -> tuple[str, str, str, str | None]:
    """The canonical texts of subject, predicate, object and graph."""
    graph = None if isinstance(quad.graph_name, DefaultGraph) else _text(quad.graph_name, mark)
    return _text(quad.subject, mark), str(quad.predicate), _text(quad.object, mark), graph


def _text(term: object, mark: str) -> str:
    if isinstance(term, BlankNode):
        return "_:" + renamed(term.value, mark)
    if isinstance(term, Triple):
        raise ValueError(NESTED)
    return str(term)
