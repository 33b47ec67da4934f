"""`/changes?from=N`: what each version after version N changed, as JSON, or as server-sent events that go on.

A version that changed more facts than may be answered has the numbers of its facts alone. Events have the number of the
version as their id, so that a client that was cut off goes on where it was (`Last-Event-ID`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from everlog.datalog.json_values import json_term, json_value
from everlog.datalog.ntriples import read_term
from everlog.datalog.values import Value
from everlog.knowledge.version_changes import diff
from everlog.server.content_types import chosen
from everlog.server.request_bodies import JSON, once, parameters, whole
from everlog.server.request_limits import Refusal, busy
from everlog.server.served_store import ServedStore
from everlog.store.cleanup import committed_versions
from everlog.store.manifest import read_manifest
from everlog.store.version_diff import Rows, SectionDiff

EVENTS: Final = "text/event-stream"
_LOOK: Final = 1.0
"""Seconds between looks for versions that other processes write."""
_SILENCE: Final = 15
"""Looks without a version, after which a comment is sent, so that nobody takes the stream for dead."""


@dataclass(frozen=True)
class Form:
    """How facts are written, and how many of a predicate at most; None is all."""

    value: Callable[[Value], object]
    limit: int | None


class Streams:
    """How many streams of changes there are."""

    def __init__(self) -> None:
        self.open = 0


async def changes(request: Request) -> Response:
    """What versions changed, oldest first."""
    store: ServedStore = request.app.state.store
    streams: Streams = request.app.state.streams
    kind, _ = chosen(request.headers.getlist("accept"), {JSON: "json", EVENTS: "events"})
    found = parameters(request.url.query, ["from", "to", "limit", "terms"])
    first, last = whole(once(found, "from"), "from", 1), whole(once(found, "to"), "to", 1)
    terms = once(found, "terms") or "plain"
    if terms not in ("plain", "full"):
        raise Refusal(400, f"terms are plain or full, not {terms!r}")
    form = Form(json_term if terms == "full" else json_value, whole(once(found, "limit"), "limit", 1))
    seen = whole(request.headers.get("last-event-id"), "Last-Event-ID", 1) if kind == EVENTS else None
    start = first if seen is None else seen
    if start is None:
        raise Refusal(400, "say after which version: /changes?from=1")
    known = await to_thread.run_sync(committed_versions, store.path)
    if start not in known:
        if start > known[-1]:
            raise Refusal(404, f"there is no version {start} yet; the newest is {known[-1]}")
        raise Refusal(410, f"version {start} is not kept any more; the oldest that is, is {known[0]}")
    if kind == EVENTS:
        if streams.open >= store.limits.streams:
            raise busy(f"there are {streams.open} streams already")
        return StreamingResponse(
            _events(store, streams, start, form), media_type=EVENTS, headers={"Cache-Control": "no-store"}
        )
    wanted = [one for one in known if one > start and (last is None or one <= last)]
    return StreamingResponse(_listed(store, start, wanted, form), media_type=JSON)


def _listed(store: ServedStore, before: int, versions: list[int], form: Form) -> Iterator[bytes]:
    yield b"["
    for number, version in enumerate(versions):
        yield b",\n " if number else b"\n "
        yield json.dumps(_change(store, before, version, form), ensure_ascii=False).encode()
        before = version
    yield b"\n]"


async def _events(store: ServedStore, streams: Streams, before: int, form: Form) -> AsyncIterator[bytes]:
    streams.open += 1
    try:
        quiet = 0
        yield b": what versions changed\n\n"
        while True:
            known = await to_thread.run_sync(committed_versions, store.path)
            for version in (one for one in known if one > before):
                found = await to_thread.run_sync(_change, store, before, version, form)
                yield f"id: {version}\nevent: version\ndata: {json.dumps(found, ensure_ascii=False)}\n\n".encode()
                before, quiet = version, 0
            await store.next_change(_LOOK)
            quiet += 1
            if quiet % _SILENCE == 0:
                yield b": nothing new\n\n"
    finally:
        streams.open -= 1


def _change(store: ServedStore, before: int, version: int, form: Form) -> dict[str, Any]:
    """What differs between two versions."""
    manifest, found = read_manifest(store.path, version), diff(store.path, before, version)
    sections = {"explicit": found.explicit, "derived": found.derived}
    counts = {
        name: {part: {predicate: len(rows) for predicate, rows in facts.items()} for part, facts in _parts(section)}
        for name, section in sections.items()
    }
    number = sum(size for one in counts.values() for part in one.values() for size in part.values())
    about = {"version": version, "after": before, "written": manifest.written, "facts": number, "counts": counts}
    if form.limit is None and number > store.limits.rows:
        return about
    return {**about, **{name: _facts(section, form) for name, section in sections.items()}}


def _facts(section: SectionDiff, form: Form) -> dict[str, Any]:
    return {
        name: {
            predicate: [[form.value(read_term(text)) for text in row] for row in rows[: form.limit]]
            for predicate, rows in part.items()
        }
        for name, part in _parts(section)
    }


def _parts(section: SectionDiff) -> list[tuple[str, Mapping[str, Rows]]]:
    return [("added", section.added), ("deleted", section.deleted)]
