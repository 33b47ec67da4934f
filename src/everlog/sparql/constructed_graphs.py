"""The graphs that CONSTRUCT and DESCRIBE give, as solutions with three columns (sections 16.2 and 16.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from pyoxigraph import BlankNode

from everlog import interrupts
from everlog.datalog.syntax import Constant, Term, Variable
from everlog.engine.group_numbers import distinct_numbers
from everlog.engine.memory.term_kinds import BLANK, IRI
from everlog.sparql.active_graph import ActiveGraph
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.query_tree import Basic, Triple
from everlog.sparql.solutions import UNBOUND, Ids, Solutions, stacked

SUBJECT, PREDICATE, OBJECT = PARTS = tuple(Variable(name) for name in ("subject", "predicate", "object"))
_EVERY: Final = Basic(((SUBJECT, PREDICATE, OBJECT),))
_EMPTY: Final = Solutions(0, {part: np.zeros(0, np.int64) for part in PARTS})


def constructed(template: Sequence[Triple], found: Solutions, terms: QueryTerms) -> Solutions:
    """The triples that a template makes of solutions, each once; blank nodes are new for each solution."""
    blanks: dict[Variable, Ids] = {}

    def column(term: Term) -> Ids:
        if isinstance(term, Constant):
            return np.repeat(terms.encode([term.value]), found.length)
        if term.name.startswith("_:"):
            if term not in blanks:
                blanks[term] = terms.encode([BlankNode() for _ in range(found.length)])
            return blanks[term]
        return found.column(term)

    parts = [_EMPTY]
    for triple in template:
        made = Solutions(found.length, dict(zip(PARTS, map(column, triple), strict=True)))
        parts.append(_well_formed(made, terms))
    return stacked(parts).project(PARTS).distinct()


def _well_formed(triples: Solutions, terms: QueryTerms) -> Solutions:
    """Those triples that are RDF: bound, without literals as subjects, with IRIs as predicates."""
    bound = triples.take(np.logical_and.reduce([column != UNBOUND for column in triples.columns.values()]))
    subjects, predicates = terms.kinds(bound.columns[SUBJECT]), terms.kinds(bound.columns[PREDICATE])
    return bound.take(((subjects == IRI) | (subjects == BLANK)) & (predicates == IRI))


def described(nodes: Ids, graph: ActiveGraph, terms: QueryTerms) -> Solutions:
    """The triples about some nodes and, on from there, about blank nodes that these lead to."""
    parts = [_EMPTY]
    known = new = distinct_numbers(nodes[nodes != UNBOUND])
    while len(new):
        interrupts.look()
        found = graph.matches(_EVERY, Solutions(len(new), {SUBJECT: new}))
        about = found.take(np.isin(found.columns[SUBJECT], new))
        parts.append(about)
        objects = distinct_numbers(about.columns[OBJECT])
        objects = objects[terms.kinds(objects) == BLANK]
        new = objects[~np.isin(objects, known)]
        known = np.concatenate([known, new])
    return stacked(parts).project(PARTS).distinct()
