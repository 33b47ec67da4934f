"""`/facts`: the facts that mention a term, by predicate and place, or those that an answer of a goal is made of."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from everlog.datalog.json_values import json_term, value_of_json
from everlog.datalog.ntriples import read_term
from everlog.datalog.syntax import Atom, Constant
from everlog.datalog.values import Value, normalise
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.term_mentions import Mention, facts_of_answer, mentions
from everlog.server.request_bodies import asked, json_of, once, whole
from everlog.server.request_limits import Refusal
from everlog.server.served_store import ServedStore

_KNOWN: Final = ("term", "goal", "row", "limit", "version")
_FACTS: Final = 20
"""So many facts of each predicate and place are given unless somebody wants more or fewer."""


async def facts(request: Request) -> Response:
    """Facts as predicates with values, which `/explain` takes in the same form."""
    store: ServedStore = request.app.state.store
    found = await asked(request, _KNOWN, store.limits)
    term, goal, row = once(found, "term"), once(found, "goal"), once(found, "row")
    limit, version = whole(once(found, "limit"), "limit", 1), whole(once(found, "version"), "version", 1)
    if (term is None) == (goal is None) or (goal is None) != (row is None):
        raise Refusal(400, "give a term, as N-Triples write it, or a goal with a row of its answers, as an object")
    answer: list[dict[str, Any]]
    if term is not None:
        value, most = read_term(term), min(limit or _FACTS, store.limits.rows)

        def known(kb: KnowledgeBase) -> list[Mention]:
            return mentions(kb, value, most)

        groups, number = await store.read(version, known)
        answer = [_mention(one) for one in groups]
    else:
        assert goal is not None and row is not None
        values = row_of(row)

        def made_of(kb: KnowledgeBase) -> list[Atom]:
            return facts_of_answer(kb, goal, values)

        atoms, number = await store.read(version, made_of)
        answer = [_fact(atom) for atom in atoms]
    return JSONResponse(answer, headers={"Everlog-Version": str(number)})


def row_of(text: str) -> dict[str, Value]:
    """The values of variables, of an object of JSON."""
    given = json_of(text.encode())
    if not isinstance(given, dict):
        raise Refusal(400, "a row is an object: of each variable, its value")
    return {name: normalise(value_of_json(value)) for name, value in given.items()}


def _mention(one: Mention) -> dict[str, Any]:
    rows = [[json_term(value) for value in fact] for fact in one.facts]
    return {"predicate": one.predicate, "place": one.place, "goal": one.goal, "number": one.number, "facts": rows}


def _fact(atom: Atom) -> dict[str, Any]:
    values = [json_term(term.value) for term in atom.terms if isinstance(term, Constant)]
    return {"predicate": atom.predicate, "values": values}
