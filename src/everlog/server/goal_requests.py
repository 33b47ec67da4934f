"""`/goal`: goals in the rule syntax, by GET, or by POST as a form or as JSON.

Answers are as `everlog query --format json` has them, or as SPARQL's results in JSON, if these are accepted rather. They
can be had in parts, by `limit` and `offset`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from everlog.datalog.json_values import json_term, json_value
from everlog.datalog.values import Value
from everlog.knowledge.answer_rows import Answers
from everlog.knowledge.base import KnowledgeBase
from everlog.server.content_types import chosen
from everlog.server.request_bodies import JSON, asked, once, whole
from everlog.server.request_limits import Refusal
from everlog.server.served_store import ServedStore

_KNOWN: Final = ("goal", "limit", "offset", "version")
_RESULTS: Final = "application/sparql-results+json"
_ROWS: Final = 10_000
"""Answers that are one piece of the text."""


async def goal(request: Request) -> Response:
    """Answers a goal; `Everlog-Version` says of which version, `Everlog-Answers` how many there are without a limit."""
    store: ServedStore = request.app.state.store
    found = await asked(request, _KNOWN, store.limits)
    text, version = once(found, "goal"), whole(once(found, "version"), "version", 1)
    if text is None:
        raise Refusal(400, "there is no goal: give it as the parameter goal")
    kind, _ = chosen(request.headers.getlist("accept"), {JSON: "json", _RESULTS: "results"})
    limit, most = whole(once(found, "limit"), "limit", 1), store.limits.rows
    offset = whole(once(found, "offset"), "offset", 0)
    if offset is not None and limit is None:
        raise Refusal(400, "offset is for parts of the answers: say with limit how many a part has")

    def answered(kb: KnowledgeBase) -> tuple[Answers, int]:
        return kb.first_answers(text, most if limit is None else min(limit, most), offset)

    (rows, total), number = await store.read(version, answered)
    if total > most and (limit is None or limit > most):
        raise Refusal(422, f"there are {total:,} answers, and at most {most:,} are given: ask for fewer with limit")
    headers = {"Everlog-Version": str(number), "Everlog-Answers": str(total), "Vary": "Accept"}
    pieces = _pieces(rows) if kind == JSON else _result_pieces(rows)
    return StreamingResponse(pieces, media_type=kind, headers=headers)


def _pieces(answers: Answers) -> Iterator[bytes]:
    """The answers as an array of objects, or, where there are no variables, whether there is one."""
    if not answers.variables:
        yield b"true" if answers else b"false"
        return
    yield b"["
    yield from _objects(answers, json_value)
    yield b"\n]"


def _result_pieces(answers: Answers) -> Iterator[bytes]:
    """The answers as SPARQL's results have them."""
    if not answers.variables:
        yield json.dumps({"head": {}, "boolean": bool(answers)}).encode()
        return
    yield json.dumps({"head": {"vars": answers.variables}}, ensure_ascii=False)[:-1].encode()
    yield b', "results": {"bindings": ['
    yield from _objects(answers, json_term)
    yield b"\n]}}"


def _objects(answers: Answers, shown: Callable[[Value], object]) -> Iterator[bytes]:
    """The answers as objects with a value for each variable, some at a time."""
    for first in range(0, len(answers), _ROWS):
        objects = (
            json.dumps(dict(zip(answers.variables, map(shown, row), strict=True)), ensure_ascii=False)
            for row in answers[first : first + _ROWS]
        )
        yield ((",\n " if first else "\n ") + ",\n ".join(objects)).encode()
