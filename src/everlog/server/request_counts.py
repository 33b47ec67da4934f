"""`/metrics`: what the server has done, in the OpenMetrics text form, for those who watch it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from everlog.server.change_feed import Streams
from everlog.server.served_store import ServedStore
from everlog.store.manifest import current_manifest

_TYPE: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class RequestCounts:
    """Requests by path and status, and how long they took."""

    def __init__(self) -> None:
        self._statuses = Counter[tuple[str, int]]()
        self._times: dict[str, list[int]] = {}
        self._seconds = defaultdict[str, float](float)

    def note(self, path: str, status: int, seconds: float) -> None:
        """A request to one of our own paths that was answered."""
        self._statuses[path, status] += 1
        times = self._times.setdefault(path, [0] * (len(_BOUNDS) + 1))
        times[bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[path] += seconds

    def lines(self) -> Iterator[str]:
        yield from _head("everlog_requests", "counter", "Requests that were answered.")
        for (path, status), number in sorted(self._statuses.items()):
            yield f'everlog_requests_total{{path="{path}",status="{status}"}} {number}'
        yield from _head("everlog_request_seconds", "histogram", "Seconds until an answer began.", "seconds")
        for path, times in sorted(self._times.items()):
            below = 0
            for bound, number in zip((*_BOUNDS, "+Inf"), times, strict=True):
                below += number
                yield f'everlog_request_seconds_bucket{{path="{path}",le="{bound}"}} {below}'
            yield f'everlog_request_seconds_sum{{path="{path}"}} {self._seconds[path]:.6f}'
            yield f'everlog_request_seconds_count{{path="{path}"}} {below}'


async def metrics(request: Request) -> Response:
    """Counts of requests, and of what the newest version holds."""
    store: ServedStore = request.app.state.store
    counts: RequestCounts = request.app.state.counts
    streams: Streams = request.app.state.streams
    manifest = await to_thread.run_sync(current_manifest, store.path)
    lines = [*counts.lines(), *_head("everlog_version", "gauge", "The newest version of the store.")]
    lines += [f"everlog_version {manifest.version}", *_head("everlog_facts", "gauge", "Facts of the newest version.")]
    for section in ("explicit", "derived"):
        number = sum(count.get(section, 0) for count in manifest.counts.values())
        lines.append(f'everlog_facts{{section="{section}"}} {number}')
    lines += [*_head("everlog_terms", "gauge", "Terms of the dictionary."), f"everlog_terms {manifest.dictionary_size}"]
    lines += [
        *_head("everlog_streams", "gauge", "Streams of changes that are open."),
        f"everlog_streams {streams.open}",
    ]
    return Response("\n".join([*lines, "# EOF\n"]), media_type=_TYPE)


def _head(name: str, kind: str, help: str, unit: str = "") -> Iterator[str]:
    yield f"# TYPE {name} {kind}"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {help}"
