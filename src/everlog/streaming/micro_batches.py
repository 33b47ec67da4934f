"""One batch of a stream is one update of the store and one version, exactly once.

Spark writes down what a batch has before it hands it over, and runs a batch again, with the same number and the same
rows, if it does not know that it was done. The version that a batch becomes says so in its manifest, which is committed
with its facts (`StreamPosition`). So a batch that is in the store is passed over, and one that is not is applied, wherever
the process was killed in between. A batch that changes nothing is a version, too.

The knowledge base stays open from batch to batch; it is opened anew if somebody else has written to the store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from everlog.datalog.syntax import TRIPLE
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.opened_updates import FactChange, OtherVersion, update_opened
from everlog.knowledge.report import Report
from everlog.knowledge.stores import open_store
from everlog.store.cleanup import committed_versions
from everlog.store.history import forget_versions
from everlog.store.manifest import Manifest, StreamPosition
from everlog.streaming.arrived_files import heard_files
from everlog.streaming.arrived_rows import heard_rows
from everlog.streaming.batch_metrics import BatchMetrics
from everlog.streaming.late_words import LateWords
from everlog.streaming.settling import Heard, settled
from everlog.streaming.stream_sources import SOURCE, Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from everlog.streaming.change_files import ChangeFiles

_QUERY: Final = "sql.streaming.queryId"
_SLACK: Final = 10
"""A tenth more versions than are to be kept may be there, so that not every batch has to forget one."""


class StreamStopped(EverlogError):
    """A batch that came when the stream was ending."""


class MicroBatches:
    """What is done with each batch of a stream into a store."""

    def __init__(
        self,
        store: Path,
        sources: Sequence[Source],
        ntriples: Sequence[Sequence[str]],
        checkpoint: Path,
        *,
        opened: Callable[[], KnowledgeBase] | None = None,
        keep: int | None = None,
        quarantine: Path | None = None,
        changes: ChangeFiles | None = None,
        metrics: Path | None = None,
        remember: int = 0,
        wait: float = 60.0,
    ) -> None:
        self._store, self._sources, self._ntriples, self._checkpoint = store, sources, ntriples, checkpoint
        self._open = opened or partial(open_store, store)
        self._kb: KnowledgeBase | None = None
        self._keep, self._quarantine, self._changes, self._metrics = keep, quarantine, changes, metrics
        self._late = LateWords(checkpoint / "words", remember) if remember else None
        self._wait = wait
        self._written_last: Manifest | None = None
        self.turn = Lock()
        """Held while a batch is applied."""
        self.is_ending = False
        self.failure: BaseException | None = None
        """Why a batch could not be applied."""
        self.recent: list[BatchMetrics] = []
        """What the last batches took, the newest last."""

    def open(self) -> KnowledgeBase:
        """The knowledge base as of the newest version this process knows."""
        kb = self._kb
        if kb is None or kb.stored is None:
            self._kb = None  # or both would be in memory
            kb = self._kb = self._open()
        return kb

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Applies a batch, unless the store has it."""
        with self.turn:
            if self.is_ending:
                raise StreamStopped("the stream is ending")
            try:
                name = frame.sparkSession.sparkContext.getLocalProperty(_QUERY)
                assert name is not None
                self.apply(name, batch, frame.toArrow)
            except BaseException as failure:
                self.failure = failure
                raise

    def apply(self, name: str, batch: int, rows: Callable[[], pa.Table]) -> None:
        """Applies a batch of the query `name`, unless the store has it; `rows` fetches it."""
        metrics = BatchMetrics(name, batch)
        if self._has(name, batch):
            return
        heard = self._heard(rows(), metrics)
        change, metrics.read = self._change(heard, name, batch), perf_counter() - metrics.began
        applied = self._applied(change, name, StreamPosition(batch, self._offsets(batch)))
        if applied is None:
            return
        report, manifest = applied
        metrics.applied(heard, change, report, manifest)
        if self._changes is not None:
            self._changes.write(self.open(), manifest)
        self._forget(manifest)
        metrics.finished()
        self._note(metrics)

    def _has(self, name: str, batch: int) -> bool:
        """Whether the store has a batch; then files of changes may still lack it."""
        if self._done(name) < batch:
            return False
        if self._changes is not None:
            self._changes.catch_up()
        return True

    def _done(self, name: str) -> int:
        """The last batch of a query that the store has, -1 if it has none."""
        kb = self.open()
        assert kb.stored is not None
        known = kb.stored[1].streams.get(name)
        return -1 if known is None else known.batch

    def _heard(self, table: pa.Table, metrics: BatchMetrics) -> Heard:
        """What a batch says, source by source; what says nothing goes to quarantine."""
        heard, arities = Heard(), self.open().arities
        numbers = table.column(SOURCE)
        for number, source in enumerate(self._sources):
            some = table.filter(pc.equal(numbers, number)) if len(self._sources) > 1 else table
            if not some.num_rows:
                continue
            rows = _flat(some.column(f"rows{number}"))
            arity = 3 if source.predicate == TRIPLE else arities.get(source.predicate)
            if source.is_folder:
                heard.add(heard_files(source, rows, arity))
                metrics.saw(rows.column("modificationTime"))
            else:
                heard.add(heard_rows(source, rows, self._ntriples[number]))
                if source.order is not None and source.order in rows.column_names:
                    metrics.saw(rows.column(source.order))
        if heard.problems and self._quarantine is not None:
            _write_whole(
                self._quarantine / f"{metrics.query}-{metrics.batch:06}.jsonl",
                "".join(problem.to_json() + "\n" for problem in heard.problems),
            )
        return heard

    def _change(self, heard: Heard, name: str, batch: int) -> FactChange:
        if self._late is None:
            found = settled(heard.words)
        else:
            self._late.begin(self._done(name))
            found = settled(heard.words, self._late.fresh)
            self._late.write(batch)
            heard.late = self._late.late
        return FactChange(
            {name: facts.added for name, facts in found.items() if len(facts.added)},
            {name: facts.deleted for name, facts in found.items() if len(facts.deleted)},
        )

    def _applied(self, change: FactChange, name: str, position: StreamPosition) -> tuple[Report, Manifest] | None:
        """The report and the manifest of the new version; None if another process of the stream has applied the batch."""
        while True:
            try:
                kb, streams = self.open(), {name: position}
                report, manifest = update_opened(kb, change, None, self._written_last, streams, self._wait)
            except OtherVersion:  # somebody else has written to the store
                self._kb = None
                if self._has(name, position.batch):
                    return None
            else:
                self._written_last = manifest
                return report, manifest

    def _offsets(self, batch: int) -> tuple[str, ...]:
        """Where the sources are after a batch, as Spark has written it down before it began."""
        try:
            lines = (self._checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
        except OSError:
            return ()
        return tuple(lines[2:])

    def _forget(self, manifest: Manifest) -> None:
        """Forgets versions beyond those that are to be kept, some at a time."""
        if self._keep is None or manifest.version % max(1, self._keep // _SLACK):
            return
        if len(committed_versions(self._store)) > self._keep:
            forget_versions(self._store, keep=self._keep, wait=self._wait)

    def _note(self, metrics: BatchMetrics) -> None:
        self.recent = [*self.recent[-99:], metrics]
        if self._metrics is not None:
            with self._metrics.open("a", encoding="utf-8") as file:
                file.write(json.dumps(metrics.as_json()) + "\n")


def _flat(column: pa.ChunkedArray) -> pa.Table:
    """A column of structs as a table."""
    batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in column.chunks if len(chunk)]
    return pa.Table.from_batches(batches)


def _write_whole(path: Path, text: str) -> None:
    """Writes a file that is there as a whole or not at all; one that a batch wrote before it was cut off is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8", errors="backslashreplace")
    new.replace(path)
