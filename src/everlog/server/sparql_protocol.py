"""`/sparql`: queries as the SPARQL 1.1 Protocol has them, by GET, and by POST as a form or as the text of a query.

Answers can be had in parts, by `limit` and `offset`, which are not the query's own: the query is computed as a whole, and
the last answer that somebody has read a part of is kept, unless it is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.sparql_answers import SparqlAnswer
from everlog.server.content_types import GRAPHS, SOLUTIONS, chosen
from everlog.server.request_bodies import FORM, body, media_type, once, parameters, text_of, whole
from everlog.server.request_limits import Refusal
from everlog.server.served_store import ServedStore, version_of

QUERY: Final = "application/sparql-query"
_KEPT_CELLS: Final = 10_000_000
"""An answer with more terms than that is computed again for its next part."""
_GRAPHS: Final = ("default-graph-uri", "named-graph-uri")


async def sparql(request: Request) -> Response:
    """Answers a query; the header `Everlog-Version` says of which version."""
    store: ServedStore = request.app.state.store
    limits = store.limits
    known = ("query", "version", "limit", "offset", "update", *_GRAPHS)
    found = parameters(request.url.query, known)
    if request.method == "POST":
        kind = media_type(request)
        text = text_of(await body(request, limits))
        if kind == FORM:
            for name, values in parameters(text, known).items():
                found.setdefault(name, []).extend(values)
        elif kind == QUERY:
            found.setdefault("query", []).append(text)
        else:
            raise Refusal(415, f"a query is posted as {FORM} or {QUERY}, not as {kind or 'nothing'}")
    if "update" in found:
        raise Refusal(400, "SPARQL Update is not there: POST facts to /update")
    default, named = (found.get(name, []) for name in _GRAPHS)
    graphs = (default, named) if default or named else None
    query, version = once(found, "query"), whole(once(found, "version"), "version", 1)
    if query is None:
        raise Refusal(400, "there is no query: give it as the parameter query")

    limit, offset = whole(once(found, "limit"), "limit", 1), whole(once(found, "offset"), "offset", 0)
    if offset is not None and limit is None:
        raise Refusal(400, "offset is for parts of the answer: say with limit how many rows a part has")

    def answered(kb: KnowledgeBase) -> SparqlAnswer:
        key: tuple[int | str, ...] = (version_of(kb), query, *default, "", *named)
        answer = store.read_last.get(key) if limit is not None else None
        if answer is None:
            answer = kb.sparql(query, seconds=limits.seconds, rows=limits.rows, memory=limits.memory, graphs=graphs)
        if limit is not None:
            store.read_last = {key: answer} if answer.cells <= _KEPT_CELLS else {}
        return answer

    answer, number = await store.read(version, answered)
    total = len(answer)
    if limit is not None:
        answer = answer.part(offset or 0, limit)
    offered = SOLUTIONS if answer.form in ("select", "ask") else GRAPHS
    kind, format = chosen(request.headers.getlist("accept"), offered)
    headers = {"Everlog-Version": str(number), "Everlog-Answers": str(total), "Vary": "Accept"}
    return StreamingResponse(_bytes(answer, format), media_type=kind, headers=headers)


def _bytes(answer: SparqlAnswer, format: str) -> Iterator[bytes]:
    return (piece.encode() for piece in answer.pieces(format))
