"""A store that is open for many requests: one knowledge base for its newest version, and turns.

Requests take turns with the knowledge base, in the order in which they come: a query is computed in one turn, and an update
(reasoning, and writing the version until it is durable) is one as well. So every answer is of one version, which is
durable. The text of an answer is made after the turn, from ids that keep their meaning. If somebody else has written to
the store, the next turn begins with opening it anew; so it does after an update that failed when it was being written.

An older version is a knowledge base of its own, with turns of its own; the last few are kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from anyio import to_thread

from everlog import interrupts
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.opened_updates import FactChange, OtherVersion, update_opened
from everlog.knowledge.report import Report
from everlog.knowledge.sparql_answers import SparqlAnswer
from everlog.knowledge.stores import open_store
from everlog.server.request_limits import RequestLimits, busy
from everlog.store.history import existing_version
from everlog.store.local_place import local_place
from everlog.store.lock import StoreLocked
from everlog.store.manifest import Manifest, current_version

T = TypeVar("T")

_OLDER_KEPT: Final = 2
_PROFILES_KEPT: Final = 10
_LOOK: Final = 0.1
"""Seconds between two tries to write to a store that another process is writing to."""


class _Turns:
    """A knowledge base, if it is open, and the queue of those who want to use it."""

    def __init__(self, kb: KnowledgeBase | None = None) -> None:
        self.kb, self.lock = kb, asyncio.Lock()


class ServedStore:
    """The knowledge base of a store, for requests that come at the same time."""

    def __init__(self, path: Path, limits: RequestLimits, engine: str | None = None, memory: str | None = None) -> None:
        self.path, self.limits = local_place(path, "the store"), limits
        self._open = partial(open_store, self.path, engine=engine, memory=memory)
        self._newest = _Turns(self._open())
        self._older: OrderedDict[int, _Turns] = OrderedDict()
        self._written_last: Manifest | None = None
        self._changed = asyncio.Event()
        self._measuring = _Turns()
        self.profiles: dict[int, dict[str, object]] = {}
        """What rules took, by version, where it was measured here."""
        self.read_last: dict[tuple[int | str, ...], SparqlAnswer] = {}
        """The answer that somebody has read a part of, by version and query."""

    async def read(self, version: int | None, work: Callable[[KnowledgeBase], T]) -> tuple[T, int]:
        """What some work finds in a version, or the newest one, and which version that is."""
        end = monotonic() + self.limits.seconds
        if version is None or version == current_version(self.path):
            async with self._turn(self._newest, end):
                kb = await to_thread.run_sync(self._refreshed)
                number = version_of(kb)
                if version is None or number == version:
                    return await self._done(end, work, kb), number
        await to_thread.run_sync(existing_version, self.path, version)
        turns = self._older.setdefault(version, _Turns())
        self._older.move_to_end(version)
        while len(self._older) > _OLDER_KEPT:
            self._older.popitem(last=False)
        async with self._turn(turns, end):
            if turns.kb is None:
                turns.kb = await to_thread.run_sync(partial(self._open, version=version))
            return await self._done(end, work, turns.kb), version

    async def update(self, change: FactChange) -> tuple[Report, int]:
        """Writes a change as the next version, and gives its report and number when it is durable."""
        end = monotonic() + self.limits.seconds
        while True:
            async with self._turn(self._newest, end):
                try:
                    report, manifest = await to_thread.run_sync(self._updated, change, end)
                except OtherVersion:  # written just now by another process
                    self._newest.kb = None
                    continue
                except StoreLocked as refusal:
                    if monotonic() >= end:
                        raise busy(str(refusal)) from None
                else:
                    self._changed.set()
                    self._changed = asyncio.Event()
                    return report, manifest.version
            await asyncio.sleep(_LOOK)

    async def measured(self, version: int) -> dict[str, object]:
        """What each rule took when everything of a version was computed anew, in a knowledge base of its own."""
        end = monotonic() + self.limits.seconds
        async with self._turn(self._measuring, end):
            if version not in self.profiles:
                kb = await to_thread.run_sync(partial(self._open, version=version))
                report = await self._done(end, partial(_measured_anew, end), kb)
                self.profiles[version] = report
                while len(self.profiles) > _PROFILES_KEPT:
                    del self.profiles[next(iter(self.profiles))]
            return self.profiles[version]

    async def next_change(self, seconds: float) -> None:
        """Waits for an update of this process, or for some seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return

    @asynccontextmanager
    async def _turn(self, turns: _Turns, end: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(max(0.0, end - monotonic())):
                await turns.lock.acquire()
        except TimeoutError:
            raise busy("others are being answered; try again later") from None
        try:
            yield
        finally:
            turns.lock.release()

    async def _done(self, end: float, work: Callable[[KnowledgeBase], T], kb: KnowledgeBase) -> T:
        left = max(0.001, end - monotonic())
        return await to_thread.run_sync(interrupts.within, left, work, kb)

    def _refreshed(self) -> KnowledgeBase:
        """The newest version, opened anew if this process has another one."""
        kb = self._newest.kb
        if kb is None or kb.stored is None or version_of(kb) != current_version(self.path):
            kb = self._newest.kb = None  # or both would be in memory
            kb = self._newest.kb = self._open()
        return kb

    def _updated(self, change: FactChange, end: float) -> tuple[Report, Manifest]:
        progress = _until(end, "the update")
        report, manifest = update_opened(self._refreshed(), change, progress, self._written_last)
        self._written_last = manifest
        return report, manifest


def _until(end: float, what: str) -> Callable[[int, int, int], None]:
    """Between rounds, gives up what has taken too long."""

    def progress(stratum: int, number: int, new: int) -> None:
        if monotonic() > end:
            raise interrupts.TimeOver(f"{what} was given up, since it took too long; everything is as before")

    return progress


def _measured_anew(end: float, kb: KnowledgeBase) -> dict[str, object]:
    report = kb.update(algorithm="remat", progress=_until(end, "measuring"), profile=True)
    assert report.profile is not None
    return report.profile.stats()


def version_of(kb: KnowledgeBase) -> int:
    """Which version of its store a knowledge base is."""
    if kb.stored is None:
        raise EverlogError("the knowledge base belongs to no version of a store")
    return kb.stored[1].version
