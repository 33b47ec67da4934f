"""The graph that patterns are matched in: the default graph, a named one, or all that have names (section 13)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from everlog.datalog.syntax import Constant, Term, Variable
from everlog.engine.group_numbers import distinct_numbers
from everlog.sparql.graph_facts import GraphFacts
from everlog.sparql.large_solutions import AnySolutions
from everlog.sparql.query_tree import Basic, Dataset
from everlog.sparql.solution_joins import join
from everlog.sparql.solutions import NOTHING, Ids, Solutions

_SUBJECT, _VERB, _OBJECT, _NAME = (Variable(f"#{name}") for name in ("subject", "verb", "object", "name"))
_EVERYTHING: Final = Basic(((_SUBJECT, _VERB, _OBJECT),))


@dataclass(slots=True, eq=False)
class ActiveGraph:
    """A graph of the facts; `name` is None for the default graph, and a variable for every named one.

    Matches in all named graphs have that variable as a column.
    """

    facts: GraphFacts
    dataset: Dataset | None
    name: Term | None = None

    def called(self, name: Term) -> ActiveGraph:
        return replace(self, name=name)

    def matches(self, pattern: Basic, seeds: Solutions | None) -> Solutions:
        """The solutions of a basic graph pattern that has triples."""
        if self.name is None:
            return self._in_default(pattern, seeds)
        if isinstance(self.name, Constant):
            if self.dataset is not None and self.name.value not in self.dataset.named:
                return NOTHING.project(pattern.variables)
            return self.facts.matches(pattern.quads(self.name), pattern.variables, seeds)
        variables = tuple(dict.fromkeys((*pattern.variables, self.name)))
        found = self.facts.matches(pattern.quads(self.name), variables, seeds)
        return found if self.dataset is None else found.take(np.isin(found.columns[self.name], self._ids()))

    def spread(self, pattern: Basic) -> AnySolutions | None:
        """The same where the facts are elsewhere, and the graph is one that they have as it is."""
        if self.dataset is not None or isinstance(self.name, Variable):
            return None
        return self.facts.spread(pattern.atoms if self.name is None else pattern.quads(self.name), pattern.variables)

    def _in_default(self, pattern: Basic, seeds: Solutions | None) -> Solutions:
        if self.dataset is None:
            return self.facts.matches(pattern.atoms, pattern.variables, seeds)
        graphs = self.dataset.default
        if not graphs:
            return NOTHING.project(pattern.variables)
        if len(graphs) == 1:
            return self.facts.matches(pattern.quads(Constant(graphs[0])), pattern.variables, seeds)
        # A triple of several graphs is one triple of their union.
        wanted = self.facts.terms.encode(graphs)
        found: Solutions | None = None
        for triple in pattern.triples:
            one = Basic((triple,))
            in_graphs = self.facts.matches(one.quads(_NAME), (*one.variables, _NAME), found or seeds)
            part = in_graphs.take(np.isin(in_graphs.columns[_NAME], wanted)).project(one.variables).distinct()
            found = part if found is None else join(found, part)
        assert found is not None
        return found

    def _ids(self) -> Ids:
        assert self.dataset is not None
        return self.facts.terms.encode(self.dataset.named)

    def names(self) -> Ids:
        """The names of the graphs that a query may name."""
        quads = self.facts.matches(_EVERYTHING.quads(_NAME), (*_EVERYTHING.variables, _NAME), None)
        found = distinct_numbers(quads.columns[_NAME])
        return found if self.dataset is None else found[np.isin(found, self._ids())]

    def nodes(self, among: Ids | None = None) -> Ids:
        """The subjects and objects of the graph's triples, all or those among some."""
        pieces = []
        for end in (_SUBJECT, _OBJECT):
            seeds = None if among is None else Solutions(len(among), {end: among})
            pieces.append(distinct_numbers(self.matches(_EVERYTHING, seeds).columns[end]))
        found = distinct_numbers(np.concatenate(pieces))
        return found if among is None else found[np.isin(found, among)]
