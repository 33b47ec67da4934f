r"""N-Triples and N-Quads, a block of lines at a time: Arrow text in, columns of canonical terms out.

Most lines of most files are already canonical: terms apart by one space, no escapes. Such a line is cut at its spaces,
and each *distinct* piece is checked once against a pattern that accepts a part of what pyoxigraph accepts, and only
terms whose canonical text is the piece itself. Every other line is pyoxigraph's. So the fast way never decides that a
line is wrong; it may only decide that a line is right, which `tests/rdf/test_lines.py` holds it to.

Lines are independent of each other: the grammar lets no triple span two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, DefaultGraph, Quad, RdfFormat, Triple, parse

from everlog.rdf.blanks import renamed
from everlog.rdf.mistakes import NESTED, reason_of

# Parts of what the grammars allow. An IRI: a scheme, then either an authority without user, brackets or escapes, or none;
# no percent signs, nothing outside ASCII. A label: letters and digits. A literal: no escape, no control character.
_SAFE = r"[A-Za-z0-9._~!$&'()*+,;=:@-]"
_IRI = rf"<[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9.-]*(?=[/?#>])|(?!//))(?:{_SAFE}|/)*(?:\?(?:{_SAFE}|[/?])*)?(?:#(?:{_SAFE}|[/?])*)?>"
_LABEL = r"_:[A-Za-z0-9]+"
_OTHER_DATATYPES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#|http://www.w3.org/2001/XMLSchema#string>"
_LITERAL = rf'"[^"\\\x00-\x1f\x7f\ufffe\uffff]*"(?:@[a-z]{{2,3}}|\^\^(?!<(?:{_OTHER_DATATYPES})){_IRI})?'

_PREDICATE = re.compile(_IRI)
_NODE = re.compile(rf"{_IRI}|{_LABEL}")
_OBJECT = re.compile(rf"{_IRI}|{_LITERAL}|{_LABEL}")


Columns: TypeAlias = tuple[pa.Array, pa.Array, pa.Array, pa.Array]


@dataclass(frozen=True)
class Block:
    """What a block of lines says, as columns: subjects, predicates, objects, graphs (null for the default graph).

    `mistakes` has the lines that are no triples: the place in the block, from 0, and the reason.
    """

    columns: Columns
    mistakes: list[tuple[int, str]]


def parse_block(lines: pa.Array, format: RdfFormat, mark: str) -> Block:
    """The triples or quads of an Arrow array of lines, without their line ends.

    >>> block = parse_block(pa.array(["<a:b> <a:c> _:x ."]), RdfFormat.N_TRIPLES, "f00")
    >>> [column.to_pylist() for column in block.columns]
    [['<a:b>'], ['<a:c>'], ['_:f00x'], [None]]
    """
    plain, columns = _quick(lines, format, mark)
    others = pc.indices_nonzero(pc.invert(plain))
    if not len(others):
        return Block(columns, [])
    read, mistakes = _by_pyoxigraph(others.to_pylist(), lines.take(others).to_pylist(), format, mark)
    a, b, c, d = (pa.concat_arrays(pieces) for pieces in zip(columns, read, strict=True))
    return Block((a, b, c, d), mistakes)


def is_plain(term: str) -> bool:
    """Whether a term is canonical beyond doubt. Others may be too."""
    return _OBJECT.fullmatch(term) is not None


# The fast way


def _quick(lines: pa.Array, format: RdfFormat, mark: str) -> tuple[pa.Array, Columns]:
    """Which lines are plain, and the columns of those."""
    shaped = pc.and_(pc.match_like(lines, "% % %"), pc.ends_with(lines, " ."))
    plain = lines.filter(shaped)
    pieces = pc.split_pattern(pc.utf8_slice_codeunits(plain, 0, -2), " ", max_splits=2)
    good = pc.equal(pc.list_value_length(pieces), 3)
    if not pc.all(good).as_py():
        # "a b ." has its two spaces, and one of them is the last.
        shaped = _narrowed(shaped, good)
        pieces = pieces.filter(good)
    subject, predicate, rest = (pc.list_element(pieces, number) for number in range(3))
    subject, predicate = _checked(subject, _NODE, mark), _checked(predicate, _PREDICATE, mark)
    if format == RdfFormat.N_QUADS:
        target, graph = _with_graph(rest, mark)
    else:
        target, graph = _checked(rest, _OBJECT, mark), pa.nulls(len(rest), pa.string())
    columns = (subject, predicate, target, graph)
    if subject.null_count or predicate.null_count or target.null_count:
        good = pc.and_(pc.and_(subject.is_valid(), predicate.is_valid()), target.is_valid())
        shaped = _narrowed(shaped, good)
        columns = (subject.filter(good), predicate.filter(good), target.filter(good), graph.filter(good))
    return shaped, columns


def _with_graph(rest: pa.Array, mark: str) -> tuple[pa.Array, pa.Array]:
    """Objects and graphs out of what follows the predicate. A literal may hold spaces; a graph never does."""
    pieces = pc.split_pattern(rest, " ", max_splits=1, reverse=True)
    two = pc.equal(pc.list_value_length(pieces), 2)
    last = pc.list_element(pieces.filter(two), 1)
    candidate = pc.replace_with_mask(pa.nulls(len(rest), pa.string()), two, last)
    graph = _checked(candidate, _NODE, mark)
    # A valid graph after a space cannot be the end of a valid literal: that ends in a quote, a language or ^^<datatype>.
    target = pc.if_else(graph.is_valid(), pc.list_element(pieces, 0), rest)
    return _checked(target, _OBJECT, mark), graph


def _checked(pieces: pa.Array, pattern: re.Pattern[str], mark: str) -> pa.Array:
    """The canonical texts of pieces that match the pattern, null for others."""
    encoded = pieces.dictionary_encode()
    match = pattern.fullmatch
    texts = encoded.dictionary.to_numpy(zero_copy_only=False).tolist()
    changed = False
    for number, text in enumerate(texts):
        if text is None or match(text) is None:
            texts[number], changed = None, True
        elif text[0] == "_":
            texts[number], changed = "_:" + renamed(text[2:], mark), True
    return pa.array(texts, type=pa.string()).take(encoded.indices) if changed else pieces


def _narrowed(mask: pa.Array, good: pa.Array) -> pa.Array:
    """A mask with those of its true rows that are good."""
    return pc.replace_with_mask(mask, mask, good)


# The sure way


def _by_pyoxigraph(
    rows: list[int], lines: list[str], format: RdfFormat, mark: str
) -> tuple[Columns, list[tuple[int, str]]]:
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
