"""`/info` and `/health`: what a store holds, from its manifest alone, and whether the server answers."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from everlog.datalog.printer import print_atom
from everlog.datalog.syntax import Atom, Variable
from everlog.server.request_bodies import once, parameters, whole
from everlog.server.served_store import ServedStore
from everlog.store.history import existing_version, history
from everlog.store.manifest import current_manifest, current_version


async def info(request: Request) -> Response:
    """The program, the predicates with their sizes, and the newest versions; of another version with `version`."""
    store: ServedStore = request.app.state.store
    version = whole(once(parameters(request.url.query, ["version"]), "version"), "version", 1)
    found = await to_thread.run_sync(_info, store, version)
    return JSONResponse({**found, "read_only": request.app.state.read_only})


async def health(request: Request) -> Response:
    """That the server is there, and which version is the newest."""
    store: ServedStore = request.app.state.store
    return JSONResponse({"status": "ok", "version": current_version(store.path)})


def _info(store: ServedStore, version: int | None) -> dict[str, Any]:
    manifest = current_manifest(store.path) if version is None else existing_version(store.path, version)
    predicates = {
        name: {"arity": arity, "goal": _goal(name, arity), **manifest.counts.get(name, {})}
        for name, arity in sorted(manifest.arities.items())
    }
    versions = [
        {"version": one.number, "written": one.written.isoformat(), "explicit": one.explicit, "derived": one.derived}
        for one in history(store.path, 100)
    ]
    return {
        "version": manifest.version,
        "written": manifest.written,
        "options": manifest.options,
        "terms": manifest.dictionary_size,
        "predicates": predicates,
        "versions": versions,
        "program": manifest.program,
        "statistics": manifest.statistics,
    }


def _goal(predicate: str, arity: int) -> str:
    """Asks for all facts of a predicate."""
    return print_atom(Atom(predicate, tuple(Variable(f"x{place}") for place in range(1, arity + 1))))
