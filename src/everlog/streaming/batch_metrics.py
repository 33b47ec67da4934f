"""What a batch of a stream brought, and what it took: numbers for a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from everlog.knowledge.opened_updates import FactChange
    from everlog.knowledge.report import Report
    from everlog.store.manifest import Manifest
    from everlog.streaming.settling import Heard


@dataclass
class BatchMetrics:
    """One batch; seconds are by the clock."""

    query: str
    batch: int
    began: float = field(default_factory=perf_counter)
    read: float = 0.0
    """Seconds of fetching, parsing and settling rows."""
    reasoning: float = 0.0
    committing: float = 0.0
    """Seconds of everything else that an update takes: terms become ids, and the version is written and safely on disk."""
    total: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    oldest: datetime | None = None
    """When the oldest of what the batch brought was there, if that is known."""
    lag: float | None = None
    """Seconds from then until the version counts."""
    version: int = 0
    written: str = ""
    algorithm: str = ""

    def saw(self, times: pa.ChunkedArray) -> None:
        """The batch has rows, or files, of these times."""
        if pa.types.is_timestamp(times.type) and len(times):
            first = pc.min(times).as_py()
            if first is not None:
                first = first if first.tzinfo is not None else first.replace(tzinfo=UTC)
                self.oldest = first if self.oldest is None else min(first, self.oldest)

    def applied(self, heard: Heard, change: FactChange, report: Report, manifest: Manifest) -> None:
        """The batch has become a version."""
        self.version, self.written, self.algorithm = manifest.version, manifest.written, report.algorithm
        self.reasoning = report.seconds.get("reasoning", 0.0)
        self.committing = report.seconds["total"] - self.reasoning
        self.counts = {
            "rows": heard.rows,
            "malformed": len(heard.problems),
            "left_out": heard.left_out,
            "late": heard.late,
            "inserted": sum(map(len, change.add.values())),
            "deleted": sum(map(len, change.delete.values())),
            "facts_added": report.added or 0,
            "facts_deleted": report.deleted or 0,
        }
        if self.oldest is not None:
            self.lag = (datetime.now(UTC) - self.oldest).total_seconds()

    def finished(self) -> None:
        """Everything about the batch is done."""
        self.total = perf_counter() - self.began

    def as_json(self) -> dict[str, Any]:
        """The line of the batch."""
        seconds = {
            "reading": self.read,
            "reasoning": self.reasoning,
            "committing": self.committing,
            "total": self.total,
        }
        return {
            "query": self.query,
            "batch": self.batch,
            "version": self.version,
            "written": self.written,
            **self.counts,
            "algorithm": self.algorithm,
            "seconds": {name: round(value, 6) for name, value in seconds.items()},
            "lag": None if self.lag is None else round(self.lag, 3),
        }
