"""Triples and quads as RDF: N-Triples, N-Quads and Turtle. A fact with a literal as its subject, say, is no RDF.

Facts are sorted by their N-Triples terms, column by column, and so are the bytes of lines: where a term goes on after
another one, it does so by a sign that is greater than the space. Turtle has the triples of a subject together, `a` before
other predicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import RDF_TYPE
from everlog.rdf.turtle import TurtleTerms, turtle_header, turtle_prefixes
from everlog.store.publishing.written_form import Columns, TextForm, gathered, line_pieces, together


@dataclass(frozen=True)
class Statements(TextForm):
    """N-Triples and N-Quads."""

    def texts(self, terms: pa.Array) -> pa.Table:
        return pa.table({"term": terms})

    def keys(self, texts: pa.Table, arity: int) -> list[pa.Array]:
        return [texts.column("term").combine_chunks()] * arity

    def fit(self, columns: Columns, texts: pa.Table) -> NDArray[np.bool_] | None:
        terms = texts.column("term")
        iri, blank = (pc.starts_with(terms, start).to_numpy() for start in ("<", "_:"))
        subject, predicate, _, *graph = columns
        fits: NDArray[np.bool_] = iri[predicate]
        for column in (subject, *graph):
            fits &= (iri | blank)[column]
        return None if fits.all() else fits

    def pieces(self, columns: Columns, texts: pa.Table) -> Iterator[pa.Array]:
        yield from line_pieces(columns, texts.column("term").combine_chunks(), " ", " .\n")


@dataclass(frozen=True)
class Turtle(Statements):
    """Turtle, with prefixes: pairs of a name and a namespace."""

    prefixes: tuple[tuple[str, str], ...]

    @staticmethod
    def of(prefixes: Mapping[str, str]) -> Turtle:
        return Turtle(tuple(turtle_prefixes(prefixes).items()))

    def header(self) -> str:
        return turtle_header(dict(self.prefixes)) + "\n"

    def texts(self, terms: pa.Array) -> pa.Table:
        written = map(TurtleTerms(dict(self.prefixes)).term, terms.to_pylist())
        return pa.table({"term": terms, "turtle": pa.array(written, terms.type)})

    def keys(self, texts: pa.Table, arity: int) -> list[pa.Array]:
        terms = texts.column("term").combine_chunks()
        return [terms, pc.if_else(_is_type(terms), "", terms), terms]

    def pieces(self, columns: Columns, texts: pa.Table) -> Iterator[pa.Array]:
        """The subject where it is new, the predicate where one of them is, the object, and what stands before the next."""
        turtle = texts.column("turtle").combine_chunks()
        predicates = pc.if_else(_is_type(texts.column("term").combine_chunks()), "a", turtle)
        subject, predicate, target = columns
        new_subject = np.ones(len(subject) + 1, np.bool_)
        new_subject[1:-1] = subject[1:] != subject[:-1]
        new_pair = new_subject.copy()
        new_pair[1:-1] |= predicate[1:] != predicate[:-1]
        none, indent = len(turtle), len(turtle) + 1
        places = [
            np.where(new_subject[:-1], subject, np.where(new_pair[:-1], indent, none)),
            np.where(new_pair[:-1], predicate, none),
            target,
            new_pair[1:].astype(np.int64) + new_subject[1:],
        ]
        more = [_and(together(turtle, " "), "", "    "), _and(together(predicates, " "), "")]
        yield from gathered(places, [*more, turtle, pa.array([", ", " ;\n", " .\n"], turtle.type)])


def _is_type(terms: pa.Array) -> pa.Array:
    return pc.equal(terms, write_term(RDF_TYPE))


def _and(texts: pa.Array, *more: str) -> pa.Array:
    return pa.concat_arrays([texts, pa.array(more, texts.type)])
