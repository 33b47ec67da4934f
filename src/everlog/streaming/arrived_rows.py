"""Rows of a batch, which are typed columns: what they say about facts, and which of them are malformed.

A row is malformed if an argument is null (unless told otherwise) or no N-Triples term where one should be, if nobody knows
what its operation means, or if it has no place in the order. It is left out, with the reason, and the others count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from everlog.sources.canonical_texts import canonical_texts, texts_of
from everlog.sources.null_policy import LEFT_OUT, null_reason
from everlog.sources.problems import Problem
from everlog.streaming.settling import Heard, Words
from everlog.streaming.stream_sources import Roles, Source

_PRESENT: Final = "present"
_NO_IMAGE: Final = (
    "an update or a deletion without what was there before; the database has to log whole rows "
    "(REPLICA IDENTITY FULL, in PostgreSQL)"
)


def heard_rows(source: Source, rows: pa.Table, ntriples: Sequence[str] = (), place: str | None = None) -> Heard:
    """What the rows of a source, or of a file of it, say. Columns in `ntriples` hold terms and not strings."""
    if source.feed == "debezium":
        return _heard_changes(source, rows, ntriples)
    roles = source.roles(rows.column_names)
    if source.feed == "delta" and roles.order is not None:
        rows = rows.append_column("_image", pc.equal(rows.column(roles.op), "update_postimage"))
        # The images of an update share a version: what is there afterwards comes last.
        places = pc.sort_indices(rows, [(roles.order, "ascending"), ("_image", "ascending")])
        rows = rows.take(places)
    return _Said(source, roles, rows, place or source.place, ntriples).heard()


def _heard_changes(source: Source, rows: pa.Table, ntriples: Sequence[str]) -> Heard:
    """What Debezium's records say: each has what was there before, what is there after, or both."""
    whole = rows.combine_chunks()
    records = whole.to_batches()[0] if whole.num_rows else pa.RecordBatch.from_pylist([], rows.schema)
    height = records.num_rows
    places = pa.array(range(height), pa.int64())
    ops = records.column("op")
    is_update = pc.fill_null(pc.equal(pc.utf8_lower(ops), "u"), False)
    meanings = [source.operations.meaning(op) for op in ops.to_pylist()]
    goes = pc.or_(is_update, pa.array([meaning == "delete" for meaning in meanings], pa.bool_()))
    comes = pc.or_(is_update, pa.array([meaning == "insert" for meaning in meanings], pa.bool_()))
    before, after = records.column("before"), records.column("after")
    lost = pc.or_(pc.and_(goes, before.is_null()), pc.and_(comes, after.is_null()))
    unknown = pc.invert(pc.or_(goes, comes))
    heard = Heard(rows=height)
    for row in pc.indices_nonzero(pc.or_(lost, unknown)).to_pylist():
        reason = f"nobody knows the operation {ops[row].as_py()!r}" if unknown[row].as_py() else _NO_IMAGE
        heard.problems.append(Problem(source.place, None, reason, repr(records.slice(row, 1).to_pylist()[0])))
    pieces, gone, order = [], [], []
    for image, chosen, is_gone in ((before, goes, True), (after, comes, False)):
        chosen = pc.and_not(chosen, lost)
        pieces.append(pa.Table.from_batches([pa.RecordBatch.from_struct_array(image.filter(chosen))]))
        gone.append(pa.array([is_gone] * pieces[-1].num_rows, pa.bool_()))
        order.append(pc.add(pc.multiply(places.filter(chosen), 2), 0 if is_gone else 1))
        if source.order is not None:
            pieces[-1] = pieces[-1].append_column("_order", records.column(source.order).filter(chosen))
    table = pa.concat_tables(pieces).append_column("_gone", pa.chunked_array(gone))
    table = table.append_column("_place", pa.chunked_array(order)).sort_by("_place")
    names = tuple(source.columns) or tuple(field.name for field in before.type)
    roles = Roles(names, None, None if source.order is None else "_order")
    found = _Said(source, roles, table, source.place, ntriples, table.column("_gone")).heard()
    found.rows = 0
    heard.add(found)
    return heard


class _Said:
    """Rows of a table, with the reasons why some of them say nothing."""

    def __init__(
        self,
        source: Source,
        roles: Roles,
        rows: pa.Table,
        place: str,
        ntriples: Sequence[str],
        gone: pa.ChunkedArray | None = None,
    ) -> None:
        self._source, self._roles, self._place, self._ntriples = source, roles, place, ntriples
        self._rows, self._gone = rows.combine_chunks(), gone
        self._reasons: dict[int, str] = {}

    def heard(self) -> Heard:
        """What the rows say."""
        height = self._rows.num_rows
        is_nullary = self._roles.arguments == (_PRESENT,) and pa.types.is_boolean(self._rows.column(_PRESENT).type)
        columns = [self._texts(name) for name in self._roles.arguments]
        gone, order = self._operations(), self._order()
        if is_nullary:  # false says that the fact is not there
            gone = pc.or_(gone, pc.invert(pc.fill_null(_one(self._rows.column(_PRESENT)), True)))
            columns = [pa.array([""] * height, pa.string())]
        problems = [self._problem(row, reason) for row, reason in sorted(self._reasons.items()) if reason != LEFT_OUT]
        left_out = len(self._reasons) - len(problems)
        if self._reasons:
            keep = pa.array([row not in self._reasons for row in range(height)])
            columns = [column.filter(keep) for column in columns]
            gone, order = gone.filter(keep), None if order is None else order.filter(keep)
        words = Words(self._source.predicate, columns, gone, order, is_nullary)
        return Heard([words], problems, height, left_out)

    def _against(self, reasons: Iterable[tuple[int, str]]) -> None:
        """The first reason against a row is the one that is told."""
        for row, reason in reasons:
            self._reasons.setdefault(row, reason)

    def _texts(self, name: str) -> pa.Array:
        values = _one(self._rows.column(name))
        if values.null_count and self._source.nulls != "empty":
            reason = null_reason(self._source.nulls, f"the column {name} is null")
            self._against((row, reason) for row in pc.indices_nonzero(values.is_null()).to_pylist())
        if name in self._ntriples:
            texts, mistakes = canonical_texts(values, None)
            self._against((row, f"the column {name}: {reason}") for row, reason in mistakes)
        else:
            texts = texts_of(values)
        if isinstance(texts, pa.DictionaryArray):
            texts = texts.dictionary_decode()
        return texts.fill_null('""') if texts.null_count else texts

    def _operations(self) -> pa.Array:
        """Which rows go."""
        height = self._rows.num_rows
        if self._gone is not None:
            return _one(self._gone)
        if self._roles.op is None:
            return pa.repeat(pa.scalar(self._source.deletes), height)
        encoded = _one(self._rows.column(self._roles.op)).dictionary_encode()
        meanings = [self._source.operations.meaning(name) for name in encoded.dictionary.to_pylist()]
        found = pa.array([None if one is None else one == "delete" for one in meanings], pa.bool_()).take(
            encoded.indices
        )
        for row in pc.indices_nonzero(found.is_null()).to_pylist():
            said = self._rows.column(self._roles.op)[row].as_py()
            self._against([(row, f"nobody knows the operation {said!r} in the column {self._roles.op}")])
        return found.fill_null(False)

    def _order(self) -> pa.Array | None:
        """By what rows are in order."""
        if self._roles.order is None:
            return None
        values = _one(self._rows.column(self._roles.order))
        for row in pc.indices_nonzero(values.is_null()).to_pylist():
            self._against([(row, f"the column {self._roles.order}, by which rows are in order, is null")])
        return comparable(values)

    def _problem(self, row: int, reason: str) -> Problem:
        names = [name for name in self._rows.column_names if not name.startswith("_") or name == self._roles.op]
        shown = {name: self._rows.column(name)[row].as_py() for name in names}
        return Problem(self._place, None, reason, repr(shown))


def comparable(values: pa.Array) -> pa.Array:
    """Values by which rows are in order, in one type for each kind."""
    type = values.type
    if pa.types.is_integer(type):
        return values.cast(pa.int64())
    if pa.types.is_floating(type):
        return values.cast(pa.float64())
    return values.cast(pa.timestamp("us")) if pa.types.is_timestamp(type) or pa.types.is_date(type) else values


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column in one piece."""
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(found, pa.ChunkedArray):
        return found.chunk(0) if found.num_chunks else pa.array([], found.type)
    return found
