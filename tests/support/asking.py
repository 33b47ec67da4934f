"""Knowledge bases made of quads, and what their answers are as outcomes that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyoxigraph import DefaultGraph, Quad, QueryResultsFormat, RdfFormat, parse, parse_query_results

import everlog
from everlog.knowledge.sparql_answers import SparqlAnswer
from support.w3c_queries import Outcome, outcome_of


def knowledge_base(quads: Sequence[Quad], program: str = "", **options: Any) -> everlog.KnowledgeBase:
    """Some quads, and what a program makes of them."""
    kb = everlog.KnowledgeBase(program, **options)
    kb.add({"triple": [(one.subject, one.predicate, one.object) for one in quads if _is_default(one)]})
    named = [(one.subject, one.predicate, one.object, one.graph_name) for one in quads if not _is_default(one)]
    if named:
        kb.add({"quad": named})
    kb.materialise()
    return kb


def _is_default(quad: Quad) -> bool:
    return isinstance(quad.graph_name, DefaultGraph)


def outcome(answer: SparqlAnswer) -> Outcome:
    """What an answer says, read from one of its texts."""
    if answer.form == "ask":
        return Outcome(truth=bool(answer))
    if answer.form == "select":
        return outcome_of(parse_query_results(answer.serialize("json"), format=QueryResultsFormat.JSON))
    return Outcome(graph=[one.triple for one in parse(answer.serialize("nt"), format=RdfFormat.N_TRIPLES)])
