"""`/update`: facts to add and to delete, as one new version, answered when it is durable.

    {"add": {"edge": [["a", "b"]]}, "delete": {"edge": [["b", "c"]]}}

is JSON, with values as `datalog/json_values.py` has them; `"add"` and `"delete"` may be texts of Turtle as well. A body of
N-Triples, Turtle, N-Quads or TriG is added, or deleted with `?change=delete`.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Sequence
from typing import Any, Final

from anyio import to_thread
from pyoxigraph import RdfFormat
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from everlog.datalog.json_values import value_of_json
from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import TRIPLE
from everlog.errors import EverlogError
from everlog.knowledge.opened_updates import FactChange, Texts
from everlog.rdf.blanks import renamed
from everlog.rdf.documents import MalformedDocument, document_prefixes, parse_document
from everlog.server.request_bodies import JSON, body, json_of, media_type, once, parameters
from everlog.server.request_limits import Refusal
from everlog.server.served_store import ServedStore

_RDF: Final = {
    "application/n-triples": RdfFormat.N_TRIPLES,
    "text/turtle": RdfFormat.TURTLE,
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
}
_WITH_PREFIXES: Final = (RdfFormat.TURTLE, RdfFormat.TRIG)
_BASE: Final = "everlog:"
"""What relative IRIs are relative to, as in rules."""
_QUAD: Final = "quad"


async def update(request: Request) -> Response:
    """Writes a version, and says which, with the report of `everlog update --stats`."""
    store: ServedStore = request.app.state.store
    if request.app.state.read_only:
        raise Refusal(403, "this server was started with --read-only")
    change = once(parameters(request.url.query, ["change"]), "change")
    if change not in (None, "add", "delete"):
        raise Refusal(400, f"change is add or delete, not {change!r}")
    kind = media_type(request)
    if kind not in (JSON, *_RDF):
        raise Refusal(415, f"facts come as one of {', '.join((JSON, *_RDF))}, not as {kind or 'nothing'}")
    if kind == JSON and change is not None:
        raise Refusal(400, "change is for bodies of RDF: JSON says by itself what is added and what is deleted")
    data = await body(request, store.limits)
    wanted = await to_thread.run_sync(_change, data, kind, change or "add")
    if not len(wanted):
        raise Refusal(400, "nothing to do: there are no facts to add or to delete")
    report, version = await store.update(wanted)
    return JSONResponse({"version": version, "added": report.added, "deleted": report.deleted, **report.stats()})


def _change(data: bytes, kind: str, change: str) -> FactChange:
    mark = "b" + secrets.token_hex(8)
    if kind == JSON:
        return _of_json(json_of(data), mark)
    facts, prefixes = _of_rdf(data, _RDF[kind], mark)
    return FactChange(add=facts, prefixes=prefixes) if change == "add" else FactChange(delete=facts)


def _of_json(given: Any, mark: str) -> FactChange:
    if not isinstance(given, dict) or not set(given) <= {"add", "delete"}:
        raise Refusal(400, 'the JSON is an object with "add" and "delete", or one of them')
    add, prefixes = _facts(given.get("add", {}), mark)
    delete, _ = _facts(given.get("delete", {}), mark)
    return FactChange(add, delete, prefixes)


def _facts(given: Any, mark: str) -> tuple[Texts, dict[str, str]]:
    if isinstance(given, str):
        try:
            return _of_rdf(given.encode(), RdfFormat.TURTLE, mark)
        except UnicodeEncodeError:
            raise Refusal(400, "a text holds a lone surrogate, which is no character") from None
    if not isinstance(given, dict):
        raise Refusal(400, 'facts are given by predicate, {"edge": [["a", "b"]]}, or as a text of Turtle')
    return {predicate: _rows(predicate, rows, mark) for predicate, rows in given.items()}, {}


def _rows(predicate: str, given: Any, mark: str) -> list[tuple[str, ...]]:
    if not predicate or not predicate.isprintable():
        raise Refusal(400, f"{predicate!r} is not the name of a predicate")
    if not isinstance(given, list) or not all(isinstance(row, list) for row in given):
        raise Refusal(400, f"the facts of {predicate} are an array of arrays, one for each fact")
    if len(set(map(len, given))) > 1:
        raise Refusal(400, f"the facts of {predicate} have different numbers of values")
    if predicate == TRIPLE and given and len(given[0]) != 3:
        raise Refusal(400, f"{TRIPLE} has 3 arguments, not {len(given[0])}")
    return [tuple(_term(predicate, value, mark) for value in row) for row in given]


def _term(predicate: str, value: Any, mark: str) -> str:
    try:
        text = write_term(value_of_json(value))
    except EverlogError as mistake:
        raise Refusal(400, f"a fact of {predicate}: {mistake}") from None
    return f"_:{renamed(text[2:], mark)}" if text.startswith("_:") else text


def _of_rdf(data: bytes, format: RdfFormat, mark: str) -> tuple[Texts, dict[str, str]]:
    """The facts of a document, and its prefixes."""
    triples: list[tuple[str, ...]] = []
    quads: list[tuple[str, ...]] = []
    try:
        for *triple, graph in parse_document(io.BytesIO(data), format, mark, _BASE):
            if graph is None:
                triples.append(_texts(triple))
            else:
                quads.append(_texts([*triple, graph]))
        prefixes = document_prefixes(data.decode(), format) if format in _WITH_PREFIXES else {}
    except MalformedDocument as mistake:
        where = "" if mistake.line is None else f"line {mistake.line}: "
        raise Refusal(400, f"the RDF cannot be read: {where}{mistake.reason}") from None
    found = {TRIPLE: triples, _QUAD: quads}
    return {name: rows for name, rows in found.items() if rows}, prefixes


def _texts(terms: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(term for term in terms if term is not None)
