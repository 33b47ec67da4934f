"""The application: which path is answered by whom, who may ask, and what becomes of errors.

A mistake of whoever asks is answered with a status of 4xx and a message; so is everything that is not known here. Only
what nobody asked for (a full disk, a damaged store) is a 5xx, and 503 what may succeed later.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from everlog.errors import EverlogError, Failure
from everlog.interrupts import TimeOver
from everlog.server.change_feed import Streams, changes
from everlog.server.explain_requests import explain
from everlog.server.fact_requests import facts
from everlog.server.goal_requests import goal
from everlog.server.page_files import FOLDER, START, is_of_page, page
from everlog.server.program_requests import profile, program
from everlog.server.request_counts import RequestCounts, metrics
from everlog.server.request_limits import Refusal
from everlog.server.served_store import ServedStore
from everlog.server.sparql_protocol import sparql
from everlog.server.store_facts import health, info
from everlog.server.update_requests import update
from everlog.sparql.query_limits import QueryTooLarge
from everlog.store.manifest import NoStore

Endpoint = Callable[[Request], Awaitable[Response]]

_PATHS: Final[dict[str, tuple[Endpoint, list[str]]]] = {
    "/sparql": (sparql, ["GET", "POST"]),
    "/goal": (goal, ["GET", "POST"]),
    "/explain": (explain, ["GET", "POST"]),
    "/facts": (facts, ["GET", "POST"]),
    "/update": (update, ["POST"]),
    "/changes": (changes, ["GET"]),
    "/info": (info, ["GET"]),
    "/program": (program, ["GET"]),
    "/profile": (profile, ["GET", "POST"]),
    "/metrics": (metrics, ["GET"]),
    "/health": (health, ["GET"]),
}
_logger: Final = logging.getLogger("everlog.server")


def application(store: ServedStore, *, read_only: bool, token: bytes | None, hosts: frozenset[str] | None) -> ASGIApp:
    """The application for a store; without a token it answers those alone who call it by one of some `hosts`."""
    app = Starlette(
        routes=[
            *(Route(path, endpoint, methods=methods) for path, (endpoint, methods) in _PATHS.items()),
            Route(START, page, methods=["GET"]),
            Route(FOLDER + "{name}", page, methods=["GET"]),
        ],
        exception_handlers={
            Refusal: _refused,
            HTTPException: _not_known,
            EverlogError: _mistaken,
            RecursionError: _too_deep,
            MemoryError: _no_memory,
            Exception: _failed,
        },
    )
    app.state.store, app.state.read_only = store, read_only
    app.state.counts, app.state.streams = RequestCounts(), Streams()
    return _Doorkeeper(app, app.state.counts, token, hosts)


class _Doorkeeper:
    """Lets in who has the token, or calls this machine by its own name, and counts requests."""

    def __init__(self, app: ASGIApp, counts: RequestCounts, token: bytes | None, hosts: frozenset[str] | None) -> None:
        self._app, self._counts, self._token, self._hosts = app, counts, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, path = perf_counter(), scope["path"] if scope["path"] in _PATHS else "other"

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._counts.note(path, message["status"], perf_counter() - started)
            await send(message)

        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, noted)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = dict(scope["headers"])
        if self._token is not None and scope["path"] != "/health" and not is_of_page(scope["path"]):
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, b"Bearer " + self._token):
                return _answer(401, "this needs the server's token", {"WWW-Authenticate": "Bearer"})
        if self._hosts is not None:
            # A page of somebody else may have its own name lead here, and read what it gets.
            name = headers.get(b"host", b"").decode("latin-1").lower()
            if _without_port(name) not in self._hosts:
                return _answer(421, "this server answers to the name of this machine alone")
        return None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _answer(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": message}, status, headers)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return _answer(error.status, error.message, dict(error.headers))


def _not_known(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = f"; there are: {', '.join(_PATHS)}" if error.status_code == 404 else ""
    return _answer(error.status_code, f"{error.detail}{known}", dict(error.headers or {}))


def _mistaken(request: Request, error: Exception) -> Response:
    message = str(error)
    if isinstance(error, TimeOver):
        return _answer(503, message)
    if isinstance(error, QueryTooLarge):
        return _answer(422, message)
    if isinstance(error, NoStore):
        return _answer(404, message)
    if isinstance(error, Failure):
        _logger.error("%s", message)
        return _answer(500, message)
    return _answer(400, message)


def _too_deep(request: Request, error: Exception) -> Response:
    return _answer(400, "what is asked is nested too deeply")


def _no_memory(request: Request, error: Exception) -> Response:
    return _answer(503, "there is not enough memory for this")


def _failed(request: Request, error: Exception) -> Response:
    return _answer(500, f"the server failed: {type(error).__name__}")
