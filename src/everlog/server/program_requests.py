"""`/program`: strata, rules and modules; `/profile`: what rules took, as far as it is known, or, by POST, measured now.

A version keeps what was measured when it was made (`everlog init --profile-rules`, `everlog update --profile-rules`). To
measure is to compute everything anew, in a knowledge base of its own, which is given up afterwards; results are kept.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from everlog.datalog.prefixes import WELL_KNOWN
from everlog.datalog.reader import parse_program
from everlog.knowledge.program_strata import program_strata
from everlog.server.request_bodies import once, parameters, whole
from everlog.server.served_store import ServedStore
from everlog.store.history import existing_version
from everlog.store.manifest import Manifest, current_manifest


async def program(request: Request) -> Response:
    """The program as it is evaluated; of another version with `version`."""
    store: ServedStore = request.app.state.store
    manifest = await to_thread.run_sync(_manifest, store, _version(request))
    found = await to_thread.run_sync(_program, manifest)
    return JSONResponse({"version": manifest.version, **found})


async def profile(request: Request) -> Response:
    """What each rule took and derived, if somebody has measured it; by POST it is measured now."""
    store: ServedStore = request.app.state.store
    manifest = await to_thread.run_sync(_manifest, store, _version(request))
    measured: dict[str, Any] | None = manifest.statistics.get("profile")
    of = "update" if measured is not None and manifest.version > 1 else "materialisation"
    if request.method == "POST":
        measured, of = await store.measured(manifest.version), "materialisation"
    elif measured is None:
        measured = store.profiles.get(manifest.version)
    if measured is None:
        return JSONResponse({"version": manifest.version, "measured": None, "rules": [], "strata": {}})
    return JSONResponse({"version": manifest.version, "measured": of, **measured})


def _version(request: Request) -> int | None:
    return whole(once(parameters(request.url.query, ["version"]), "version"), "version", 1)


def _manifest(store: ServedStore, version: int | None) -> Manifest:
    return current_manifest(store.path) if version is None else existing_version(store.path, version)


def _program(manifest: Manifest) -> dict[str, Any]:
    names = ("algorithm", "modules", "stratification")
    options = tuple((name, manifest.options[name]) for name in names if name in manifest.options)
    left = tuple((one["kind"], tuple(one["predicates"]), one["why"]) for one in manifest.statistics.get("left_out", ()))
    return {
        **_analysed(manifest.program, options, left),
        "seconds": manifest.statistics.get("strata", {}),
        "algorithm": manifest.statistics.get("algorithm", ""),
    }


@lru_cache(maxsize=4)
def _analysed(
    text: str, options: tuple[tuple[str, Any], ...], left_out: tuple[tuple[str, tuple[str, ...], str], ...]
) -> dict[str, Any]:
    """What a program is by its text; most versions of a store have the same."""
    parsed = parse_program(text)
    left = [{"kind": kind, "predicates": predicates, "why": why} for kind, predicates, why in left_out]
    found = program_strata(parsed, dict(options), left)
    return {
        "prefixes": {**WELL_KNOWN, **parsed.prefixes},
        "strata": [{"stratum": index, "relations": names} for index, names in found.relations.items()],
        "edges": [asdict(edge) for edge in found.edges],
        "units": [asdict(unit) for unit in found.units],
    }
