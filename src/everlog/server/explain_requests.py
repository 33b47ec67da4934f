"""`/explain`: why a fact holds, or why it does not, as `everlog explain --format json` has it.

A fact is an atom in the rule syntax, or a predicate with values, which need no syntax.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from everlog.datalog.json_values import value_of_json
from everlog.datalog.values import Value
from everlog.knowledge.base import KnowledgeBase
from everlog.server.request_bodies import asked, json_of, once, whole
from everlog.server.request_limits import Refusal
from everlog.server.served_store import ServedStore

_KNOWN: Final = ("fact", "predicate", "values", "proofs", "depth", "version")
_MOST_PROOFS: Final = 1000


async def explain(request: Request) -> Response:
    """A proof of least height, or so many `proofs`, of no more than a `depth` of rules."""
    store: ServedStore = request.app.state.store
    found = await asked(request, _KNOWN, store.limits)
    fact, version = once(found, "fact"), whole(once(found, "version"), "version", 1)
    predicate, given = once(found, "predicate"), once(found, "values")
    if (fact is None) == (predicate is None) or (predicate is None) != (given is None):
        raise Refusal(400, "there is no fact: give it as the parameter fact, or as predicate and values, an array")
    values = None if given is None else _values(given)
    proofs, depth = whole(once(found, "proofs"), "proofs", 1), whole(once(found, "depth"), "depth", 1)
    if proofs is not None and proofs > _MOST_PROOFS:
        raise Refusal(422, f"at most {_MOST_PROOFS:,} proofs are given")

    def explained(kb: KnowledgeBase) -> dict[str, Any]:
        wanted = False if proofs is None else proofs
        return kb.explain(
            fact or predicate or "", values, all=wanted, depth=depth, seconds=store.limits.seconds
        ).to_json()

    explanation, number = await store.read(version, explained)
    return JSONResponse(explanation, headers={"Everlog-Version": str(number)})


def _values(text: str) -> list[Value]:
    given = json_of(text.encode())
    if not isinstance(given, list):
        raise Refusal(400, "the values of a fact are an array")
    return [value_of_json(value) for value in given]
