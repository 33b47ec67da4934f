"""The changes of each version of a store as a stream of Spark: the columns of a predicate, `op` and `version`.

An offset is the last version that was read; who has read none gets a *snapshot* first, all facts of the newest version,
with that as their `op`. Changes are `insert` and `delete`. Where versions between two that are there were forgotten, what
they changed is told with the next. While a query runs, the versions that it still needs are held (`held_versions.py`); if
it was away so long that its last version was forgotten, that is an error, or a snapshot begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import StructField, StructType

from everlog.errors import EverlogError
from everlog.knowledge.stores import open_store
from everlog.store.cleanup import committed_versions
from everlog.store.held_versions import Hold, held
from everlog.store.manifest import NoStore, current_version
from everlog.store.version_diff import Rows
from everlog.streaming.fact_reader import is_rewritten
from everlog.streaming.materialised_changes import changed_facts
from everlog.streaming.stored_facts import Piece, StoredTerms, ids_of_piece, pieces_of, texts_of_ids
from everlog.streaming.typed_terms import kind_of_field, typed

OP: Final = "op"
VERSION: Final = "version"
PREDICATE: Final = "predicate"
ARGUMENTS: Final = "arguments"
_SNAPSHOT: Final = "snapshot"
_PARTS: Final = 8
"""Tasks that read the changes of many versions."""


@dataclass(frozen=True)
class _Changed(InputPartition):
    """The changes from each of some versions to the next."""

    versions: tuple[int, ...]


@dataclass(frozen=True)
class _Whole(InputPartition):
    """Facts of a version: a piece of a predicate's, or all of the predicate's."""

    version: int
    predicate: str
    piece: Piece | None = None


class ChangeReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows a store; Spark keeps one in a process beside it as long as the query runs."""

    def __init__(
        self,
        store: Path,
        predicate: str | None,
        schema: StructType,
        since: int | None,
        most: int | None,
        snapshot_again: bool,
    ) -> None:
        self._store, self._predicate, self._schema = store, predicate, schema
        self._since, self._most, self._again = since, most, snapshot_again
        self._last: int | None = None
        """The version after which a query ends that takes what is there."""
        self._held: dict[int, Hold] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Tasks get one without holds."""
        return {**self.__dict__, "_held": {}}

    def initialOffset(self) -> dict[str, int]:
        return {VERSION: self._since or 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self._most is None else ReadMaxFiles(self._most)

    def prepareForTriggerAvailableNow(self) -> None:
        self._last = current_version(self._store)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        first = start[VERSION]
        for version in [one for one in self._held if one < first]:
            self._held.pop(version).release()
        known = committed_versions(self._store)
        if not first:
            versions = known[-1:]
        else:
            versions = [one for one in known if one > first and (self._last is None or one <= self._last)]
            versions = versions[: limit.max_files] if isinstance(limit, ReadMaxFiles) else versions
        for version in (first, *versions):
            if version in known and version not in self._held:
                try:
                    self._held[version] = Hold(self._store, version)
                except NoStore:  # forgotten just now; what it changed comes with the next
                    continue
        return {VERSION: max([first, *(one for one in versions if one in self._held)])}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        first, last = start[VERSION], end[VERSION]
        if first == last:
            return []
        known = committed_versions(self._store)
        if last not in known:
            raise EverlogError(self._gone(last, known))
        if first and first not in known:
            if not self._again:
                raise EverlogError(self._gone(first, known))
            first = 0
        if not first:
            return self._snapshot(last)
        versions = [one for one in known if first <= one <= last]
        size = max(1, -(-len(versions) // _PARTS))
        return [_Changed(tuple(versions[begin : begin + size + 1])) for begin in range(0, len(versions) - 1, size)]

    def _gone(self, version: int, known: Sequence[int]) -> str:
        return (
            f"version {version} of the store {self._store} was forgotten before its changes were read; the oldest that is "
            f"left is {known[0]}. Keep more versions, or begin again with all facts: "
            '.option("onForgotten", "snapshot"), or a new checkpoint'
        )

    def _snapshot(self, version: int) -> list[InputPartition]:
        with held(self._store, version) as manifest:
            found: list[InputPartition] = []
            for predicate in [self._predicate] if self._predicate is not None else sorted(manifest.arities):
                if is_rewritten(manifest):
                    found.append(_Whole(version, predicate))
                elif predicate in manifest.arities:
                    pieces = pieces_of(self._store, manifest, predicate, "all")
                    found += [_Whole(version, predicate, piece) for piece in pieces]
            return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, _Whole):
            yield from self._whole(partition)
            return
        assert isinstance(partition, _Changed)
        for before, after in pairwise(partition.versions):
            for predicate, (came, went) in changed_facts(self._store, before, after, self._predicate).items():
                for op, rows in (("delete", went), ("insert", came)):
                    if rows:
                        yield self._batch(predicate, _columns(rows), op, after)

    def _whole(self, part: _Whole) -> Iterator[pa.RecordBatch]:
        with held(self._store, part.version) as manifest:
            arity = manifest.arities[part.predicate]
            if part.piece is None:
                from everlog.datalog.ntriples import write_term

                kb = open_store(self._store, part.version, engine="memory")
                rows = [tuple(map(write_term, row)) for row in kb.rows(part.predicate)]
                if rows:
                    yield self._batch(part.predicate, _columns(rows), _SNAPSHOT, part.version)
                return
            facts = ids_of_piece(self._store, manifest, part.predicate, part.piece)
            if not arity:
                yield self._batch(part.predicate, [pa.array([True] * facts.num_rows)], _SNAPSHOT, part.version)
                return
            for columns in texts_of_ids(facts, range(arity), StoredTerms(self._store, manifest)):
                yield self._batch(part.predicate, columns, _SNAPSHOT, part.version)

    def _batch(self, predicate: str, columns: Sequence[pa.Array], op: str, version: int) -> pa.RecordBatch:
        """Facts that came or went as rows. Those without arguments are a column of true."""
        height = len(columns[0])
        fixed = {
            OP: pa.array([op] * height, pa.string()),
            VERSION: pa.array([version] * height, pa.int64()),
        }
        if self._predicate is None:
            terms = [] if pa.types.is_boolean(columns[0].type) else [column.to_pylist() for column in columns]
            rows = [list(row) for row in zip(*terms, strict=True)] if terms else [[]] * height
            fixed[PREDICATE] = pa.array([predicate] * height, pa.string())
            fixed[ARGUMENTS] = pa.array(rows, pa.list_(pa.string()))
        own = [field for field in self._schema.fields if field.name not in fixed]
        if own and len(own) != len(columns):
            raise EverlogError(
                f"{predicate} has {len(columns)} arguments, and the schema of its changes has {len(own)}"
            )
        fixed.update(
            (field.name, _values(column, field, predicate)) for field, column in zip(own, columns, strict=False)
        )
        names = self._schema.names
        return pa.RecordBatch.from_arrays([fixed[name] for name in names], names=names)

    def commit(self, end: dict[str, int]) -> None:
        for version in [one for one in self._held if one < end[VERSION]]:
            self._held.pop(version).release()

    def stop(self) -> None:
        for holding in self._held.values():
            holding.release()
        self._held = {}


def _values(column: pa.Array, field: StructField, predicate: str) -> pa.Array:
    if pa.types.is_boolean(column.type):
        return column
    return typed(column, kind_of_field(field), f"the column {field.name} of {predicate}")


def _columns(rows: Rows) -> list[pa.Array]:
    if not rows[0]:
        return [pa.array([True] * len(rows))]
    return [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
