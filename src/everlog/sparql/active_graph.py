"""The graph that patterns are matched in: the default graph, a named one, or all that have names (section 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import QUAD, TRIPLE, Atom, Constant, Term, Variable
from everlog.sparql.graph_facts import GraphFacts
from everlog.sparql.query_tree import Dataset, Triple
from everlog.sparql.solution_joins import join
from everlog.sparql.solutions import NOTHING, Ids, Solutions

_SUBJECT, _VERB, _OBJECT, _NAME = (Variable(f"#{name}") for name in ("subject", "verb", "object", "name"))


@dataclass(frozen=True)
class ActiveGraph:
    """A graph of the facts; `name` is None for the default graph, and a variable for every named one.

    Matches in all named graphs have that variable as a column.
    """

    facts: GraphFacts
    dataset: Dataset | None
    name: Term | None = None

    def called(self, name: Term) -> ActiveGraph:
        return replace(self, name=name)

    def matches(self, triples: Sequence[Triple], seeds: Solutions | None) -> Solutions:
        """The solutions of a basic graph pattern that has triples."""
        variables = dict.fromkeys(term for triple in triples for term in triple if isinstance(term, Variable))
        if self.name is None:
            return self._in_default(triples, list(variables), seeds)
        atoms = [Atom(QUAD, (*triple, self.name)) for triple in triples]
        if isinstance(self.name, Constant):
            if self.dataset is not None and self.name.value not in self.dataset.named:
                return NOTHING.project(variables)
            return self.facts.matches(atoms, list(variables), seeds)
        found = self.facts.matches(atoms, [*variables, self.name], seeds)
        return found if self.dataset is None else found.take(np.isin(found.columns[self.name], self._ids()))

    def counted(
        self, triples: Sequence[Triple], keys: Sequence[Variable]
    ) -> tuple[Solutions, NDArray[np.int64]] | None:
        """How many solutions a pattern has for each value of some variables, if that is found where the facts are."""
        if self.dataset is not None or isinstance(self.name, Variable):
            return None
        if self.name is None:
            return self.facts.counted([Atom(TRIPLE, triple) for triple in triples], keys)
        return self.facts.counted([Atom(QUAD, (*triple, self.name)) for triple in triples], keys)

    def _in_default(self, triples: Sequence[Triple], variables: list[Variable], seeds: Solutions | None) -> Solutions:
        if self.dataset is None:
            return self.facts.matches([Atom(TRIPLE, triple) for triple in triples], variables, seeds)
        graphs = self.dataset.default
        if not graphs:
            return NOTHING.project(variables)
        if len(graphs) == 1:
            return self.facts.matches([Atom(QUAD, (*one, Constant(graphs[0]))) for one in triples], variables, seeds)
        # A triple of several graphs is one triple of their union.
        wanted = self.facts.terms.encode(graphs)
        found: Solutions | None = None
        for triple in triples:
            own = list(dict.fromkeys(term for term in triple if isinstance(term, Variable)))
            in_graphs = self.facts.matches([Atom(QUAD, (*triple, _NAME))], [*own, _NAME], found or seeds)
            part = in_graphs.take(np.isin(in_graphs.columns[_NAME], wanted)).project(own).distinct()
            found = part if found is None else join(found, part)
        assert found is not None
        return found

    def _ids(self) -> Ids:
        assert self.dataset is not None
        return self.facts.terms.encode(self.dataset.named)

    def names(self) -> Ids:
        """The names of the graphs that a query may name."""
        quads = self.facts.matches([Atom(QUAD, (_SUBJECT, _VERB, _OBJECT, _NAME))], [_NAME], None)
        found = np.unique(quads.columns[_NAME])
        return found if self.dataset is None else found[np.isin(found, self._ids())]

    def nodes(self, among: Ids | None = None) -> Ids:
        """The subjects and objects of the graph's triples, all or those among some."""
        pieces = []
        for end in (_SUBJECT, _OBJECT):
            seeds = None if among is None else Solutions(len(among), {end: among})
            pieces.append(np.unique(self.matches([(_SUBJECT, _VERB, _OBJECT)], seeds).columns[end]))
        found = np.unique(np.concatenate(pieces))
        return found if among is None else found[np.isin(found, among)]
