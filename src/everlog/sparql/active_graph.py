"""The graph that patterns are matched in: the default graph, a named one, or all that have names (section 13)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from everlog.datalog.syntax import Constant, Term, Variable
from everlog.engine.group_numbers import distinct_numbers
from everlog.sparql.graph_facts import GraphFacts
from everlog.sparql.large_solutions import AnySolutions, LargeSolutions
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

    def matches(self, pattern: Basic, seeds: Solutions | None, first: int | None = None) -> Solutions:
        """The solutions of a basic graph pattern that has triples, or at least the `first` ones."""
        if self.name is None:
            return self._in_default(pattern, seeds, first)
        if isinstance(self.name, Constant):
            if not self._is_named():
                return NOTHING.project(pattern.variables)
            return self.facts.matches(pattern.quads(self.name), pattern.variables, seeds, first)
        variables = tuple(dict.fromkeys((*pattern.variables, self.name)))
        if self.dataset is None:
            return self.facts.matches(pattern.quads(self.name), variables, seeds, first)
        found = self.facts.matches(pattern.quads(self.name), variables, seeds)
        return found.take(np.isin(found.columns[self.name], self._ids()))

    def spread(self, pattern: Basic) -> AnySolutions | None:
        """The same where the facts are elsewhere; None where they are here, or a graph has nothing."""
        if isinstance(self.name, Variable):
            variables = tuple(dict.fromkeys((*pattern.variables, self.name)))
            found = self.facts.spread(pattern.quads(self.name), variables)
            return found if self.dataset is None else self._among(found, self.name, self._ids())
        if self.dataset is None:
            atoms = pattern.atoms if self.name is None else pattern.quads(self.name)
            return self.facts.spread(atoms, pattern.variables)
        if self.name is not None:
            return self.facts.spread(pattern.quads(self.name), pattern.variables) if self._is_named() else None
        if len(self.dataset.default) == 1:
            return self.facts.spread(pattern.quads(Constant(self.dataset.default[0])), pattern.variables)
        return self._spread_in_several(pattern)

    def _is_named(self) -> bool:
        assert isinstance(self.name, Constant)
        return self.dataset is None or self.name.value in self.dataset.named

    def _among(self, found: AnySolutions | None, name: Variable, wanted: Ids) -> AnySolutions | None:
        """Solutions elsewhere in which a graph is one of some."""
        if found is None or isinstance(found, Solutions) or not len(wanted):
            return None
        return found.with_partner(self.facts.moved(Solutions(len(wanted), {name: wanted})), False)

    def _spread_in_several(self, pattern: Basic) -> AnySolutions | None:
        """A triple of several graphs is one triple of their union, so that patterns are matched one by one."""
        assert self.dataset is not None
        wanted = self.facts.terms.encode(self.dataset.default)
        found: LargeSolutions | None = None
        for triple in pattern.triples:
            one = Basic((triple,))
            every = self.facts.spread(one.quads(_NAME), (*one.variables, _NAME))
            if isinstance(every, Solutions):
                every = self.facts.moved(every)
            part = self._among(every, _NAME, wanted)
            if part is None or isinstance(part, Solutions) or not one.variables:
                return None
            distinct = part.projected(one.variables).distinct()
            found = distinct if found is None else found.joined(distinct)
        return found

    def _in_default(self, pattern: Basic, seeds: Solutions | None, first: int | None) -> Solutions:
        if self.dataset is None:
            return self.facts.matches(pattern.atoms, pattern.variables, seeds, first)
        graphs = self.dataset.default
        if not graphs:
            return NOTHING.project(pattern.variables)
        if len(graphs) == 1:
            return self.facts.matches(pattern.quads(Constant(graphs[0])), pattern.variables, seeds, first)
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
        asked = _EVERYTHING.quads(_NAME), (*_EVERYTHING.variables, _NAME)
        quads = self.facts.spread(*asked)
        if quads is None:
            quads = self.facts.matches(*asked, None)
        elif not isinstance(quads, Solutions):
            quads = quads.projected((_NAME,)).distinct().fetched()
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
