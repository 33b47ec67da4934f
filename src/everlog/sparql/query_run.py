"""One query from its text to its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from warnings import warn

import numpy as np

from everlog.datalog.syntax import Constant, Variable
from everlog.datalog.values import Value
from everlog.sparql.active_graph import ActiveGraph
from everlog.sparql.constructed_graphs import PARTS, constructed, described
from everlog.sparql.graph_facts import GraphFacts
from everlog.sparql.query_evaluation import Evaluation, Setting
from everlog.sparql.query_limits import Limits
from everlog.sparql.query_reader import read_query
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.query_tree import Dataset, Query, Slice
from everlog.sparql.solutions import Solutions


@dataclass(slots=True, eq=False)
class QueryResult:
    """What a query gives: solutions in their order; of ASK, one without columns if it holds; else triples."""

    form: Literal["select", "ask", "construct", "describe"]
    variables: tuple[Variable, ...]
    solutions: Solutions
    terms: QueryTerms
    prefixes: Mapping[str, str]

    def columns(self) -> list[list[Value | None]]:
        """The values of each variable."""
        return [self.terms.values(self.solutions.column(variable)) for variable in self.variables]


def run_query(
    text: str, base: str | None, facts: GraphFacts, limits: Limits, graphs: Dataset | None = None
) -> QueryResult:
    """The result of a query about some facts; `graphs` count instead of those that its text names."""
    query = read_query(text, base)
    for message in query.suspicions:
        warn(message, stacklevel=5)
    evaluation = Evaluation(facts.terms, limits)
    graph = ActiveGraph(facts, query.dataset if graphs is None else graphs)
    pattern = query.pattern
    if query.form == "ask":
        pattern = Slice(pattern, 0, 1)
    found = evaluation.solve(pattern, Setting(graph))
    return _result(query, found, graph, facts.terms)


def _result(query: Query, found: Solutions, graph: ActiveGraph, terms: QueryTerms) -> QueryResult:
    if query.form == "select":
        return QueryResult("select", query.variables, found, terms, query.prefixes)
    if query.form == "ask":
        return QueryResult("ask", (), Solutions(min(found.length, 1), {}), terms, query.prefixes)
    if query.form == "construct":
        made = constructed(query.template, found, terms)
    else:
        pieces = [
            terms.encode([term.value]) if isinstance(term, Constant) else found.column(term) for term in query.described
        ]
        made = described(np.concatenate([np.zeros(0, np.int64), *pieces]), graph, terms)
    return QueryResult(query.form, PARTS, made, terms, query.prefixes)
