"""Rows that come late: an earlier batch has said something about the same fact that is later in the order.

For some batches it is remembered which facts they spoke of, and at which place of the order. It is written down beside the
checkpoint before the batch is committed, a file for each batch; after a restart the files count of batches that the store
has. So a row that comes late changes nothing, before and after a restart.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from everlog.streaming.settling import ORDER

_Fact: TypeAlias = tuple[str, tuple[str, ...]]


class LateWords:
    """The last words of the last so many batches."""

    def __init__(self, folder: Path, batches: int) -> None:
        self._folder, self._batches = folder, batches
        self._last: dict[_Fact, tuple[Any, int]] = {}
        """By fact the place in the order of what was said last, and the batch that said it."""
        self._spoken: deque[tuple[int, list[_Fact]]] = deque()
        self._heard: dict[str, pa.Table] = {}
        self.late = 0
        """Facts of the batch that is being settled about which more is known already."""

    def begin(self, committed: int) -> None:
        """A batch is to be settled; the store has those up to another one."""
        self._heard, self.late = {}, 0
        known = self._spoken[-1][0] if self._spoken else -1
        for batch in range(max(known + 1, committed - self._batches + 1), committed + 1):
            self._learn(batch)

    def fresh(self, predicate: str, words: pa.Table) -> pa.Table:
        """The words about facts of a predicate, one for each, without those that come late."""
        known = [self._last.get((predicate, fact)) for fact in _facts(words)]
        orders = words.column(ORDER).to_pylist()
        stays = [one is None or not order < one[0] for one, order in zip(known, orders, strict=True)]
        self.late += len(stays) - sum(stays)
        chosen: pa.Table = words.filter(pa.array(stays, pa.bool_()))
        self._heard[predicate] = chosen
        return chosen

    def write(self, batch: int) -> None:
        """Writes down what a batch says, before it counts."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for number, (predicate, words) in enumerate(self._heard.items()):
            schema = words.schema.with_metadata({b"predicate": predicate.encode()})
            with pa.OSFile(str(self._file(batch, number)), "wb") as sink, ipc.new_file(sink, schema) as file:
                file.write_table(words.replace_schema_metadata(schema.metadata))
        for stale in self._folder.glob(f"{batch}-*.arrow"):  # of a try that was cut off
            if int(stale.stem.partition("-")[2]) >= len(self._heard):
                stale.unlink()
        for old in self._folder.glob(f"{batch - self._batches - 1}-*.arrow"):
            with suppress(OSError):
                old.unlink()

    def _file(self, batch: int, number: int) -> Path:
        return self._folder / f"{batch}-{number}.arrow"

    def _learn(self, batch: int) -> None:
        """Remembers what a batch has said, and forgets one that is long ago."""
        spoken: list[_Fact] = []
        for file in sorted(self._folder.glob(f"{batch}-*.arrow")):
            with ipc.open_file(pa.memory_map(str(file))) as opened:
                words = opened.read_all()
            predicate = words.schema.metadata[b"predicate"].decode()
            for fact, order in zip(_facts(words), words.column(ORDER).to_pylist(), strict=True):
                self._last[(predicate, fact)] = order, batch
                spoken.append((predicate, fact))
        self._spoken.append((batch, spoken))
        while self._spoken[0][0] <= batch - self._batches:
            old, facts = self._spoken.popleft()
            for one in facts:
                if self._last.get(one, (None, None))[1] == old:
                    del self._last[one]


def _facts(words: pa.Table) -> list[tuple[str, ...]]:
    columns = [name for name in words.column_names if name.startswith("a")]
    return list(zip(*(pc.cast(words.column(name), pa.string()).to_pylist() for name in columns), strict=True))
