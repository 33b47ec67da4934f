"""The facts of a predicate in a version of a store, as Spark reads them: `spark.read.format("everlog")`.

Conditions `column = value` and `column IN (…)` are looked for among ids, so that only the terms of rows that fit are read,
and only columns of the schema are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, EqualNullSafe, EqualTo, Filter, In, InputPartition, IsNotNull
from pyspark.sql.types import BooleanType, StructField, StructType

from everlog.datalog.ntriples import write_term
from everlog.datalog.suspicions import did_you_mean
from everlog.errors import EverlogError
from everlog.knowledge.stores import open_store
from everlog.sources.column_names import columns_of_width
from everlog.sources.typed_columns import TERM, kinds_of, one_kind
from everlog.store.held_versions import held
from everlog.store.manifest import Manifest, current_version
from everlog.streaming.stored_facts import (
    Piece,
    StoredTerms,
    Which,
    ids_of_piece,
    pieces_of,
    texts_of_ids,
    where,
)
from everlog.streaming.typed_terms import field_of, kind_of_field, terms_of, typed

_PRESENT: Final = "present"


@dataclass(frozen=True)
class Wanted:
    """Facts of a version of a store, and whether all columns are to be text of N-Triples."""

    store: Path
    predicate: str
    version: int | None = None
    which: Which = "all"
    as_terms: bool = False


def is_rewritten(manifest: Manifest) -> bool:
    """Whether equal constants are rewritten to one of them, so that files have representatives."""
    return manifest.options.get("equality") == "rewrite"


def _arity(manifest: Manifest, predicate: str) -> int:
    if predicate not in manifest.arities:
        raise EverlogError(f"there is no predicate {predicate}{did_you_mean(predicate, manifest.arities)}")
    return manifest.arities[predicate]


def column_names(manifest: Manifest, predicate: str) -> list[str]:
    """The columns of a predicate's facts."""
    return list(manifest.columns.get(predicate, columns_of_width(_arity(manifest, predicate))))


def fields_of(wanted: Wanted) -> list[StructField]:
    """The columns of a predicate, each of the type that all of its values share."""
    with held(wanted.store, wanted.version or current_version(wanted.store)) as manifest:
        return _fields(wanted, manifest)


def _fields(wanted: Wanted, manifest: Manifest) -> list[StructField]:
    names = column_names(manifest, wanted.predicate)
    if not _arity(manifest, wanted.predicate):
        return [StructField(_PRESENT, BooleanType())]
    kinds = [TERM] * len(names) if wanted.as_terms else _kinds(wanted, manifest)
    return [field_of(name, kind) for name, kind in zip(names, kinds, strict=True)]


def _kinds(wanted: Wanted, manifest: Manifest) -> list[int]:
    """The kinds of values in the columns of a predicate; where there are no facts, anything may come."""
    if is_rewritten(manifest):
        columns = _rewritten_columns(wanted, manifest.version)
        return [one_kind(kinds_of(texts)) if len(texts) else TERM for texts in columns]
    terms, seen = StoredTerms(wanted.store, manifest), [0] * manifest.arities[wanted.predicate]
    for piece in pieces_of(wanted.store, manifest, wanted.predicate, wanted.which):
        facts = ids_of_piece(wanted.store, manifest, wanted.predicate, piece)
        for place in range(len(seen)):
            ids = np.unique(facts.column(f"a{place}").to_numpy())
            seen[place] |= kinds_of(terms.texts(ids)) if len(ids) else 0
    return [one_kind(kinds) if kinds else TERM for kinds in seen]


def _rewritten_columns(wanted: Wanted, version: int) -> list[pa.Array]:
    """The facts of a predicate in all names, which a knowledge base has to say."""
    kb = open_store(wanted.store, version, engine="memory")
    rows = kb.rows(wanted.predicate, wanted.which)
    columns = list(zip(*rows, strict=True)) if rows else [()] * kb.arity(wanted.predicate)
    return [pa.array([write_term(value) for value in column], pa.string()) for column in columns]


class FactReader(DataSourceReader):
    """Reads the facts of a predicate in a version."""

    def __init__(self, wanted: Wanted, schema: StructType) -> None:
        self._wanted, self._schema = wanted, schema
        self._version = wanted.version or current_version(wanted.store)
        with held(wanted.store, self._version) as manifest:
            self._names = column_names(manifest, wanted.predicate)
            self._rewritten = is_rewritten(manifest)
        if unknown := [field.name for field in schema.fields if field.name not in self._names]:
            raise EverlogError(f"{wanted.predicate} has no column {unknown[0]}; it has {', '.join(self._names)}")
        self._values: dict[int, list[str]] = {}
        """By place the terms of which one has to be there."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        for one in filters:
            if isinstance(one, IsNotNull):
                continue  # as no argument is
            values = self._asked(one)
            if values is None or self._rewritten or self._names == [_PRESENT]:
                yield one
                continue
            place, terms = values
            known = self._values.get(place)
            self._values[place] = terms if known is None else [term for term in known if term in terms]

    def _asked(self, one: Filter) -> tuple[int, list[str]] | None:
        """Which terms a condition allows where; None if it is of another kind."""
        if not isinstance(one, EqualTo | EqualNullSafe | In) or len(one.attribute) != 1:
            return None
        name = one.attribute[0]
        field = next((field for field in self._schema.fields if field.name == name), None)
        if field is None or name not in self._names:
            return None
        values = list(one.value) if isinstance(one, In) else [one.value]
        return self._names.index(name), terms_of([value for value in values if value is not None], kind_of_field(field))

    def partitions(self) -> Sequence[InputPartition]:
        if self._rewritten:
            return [InputPartition(None)]
        with held(self._wanted.store, self._version) as manifest:
            pieces = pieces_of(self._wanted.store, manifest, self._wanted.predicate, self._wanted.which)
        return [InputPartition(piece) for piece in pieces] or [InputPartition(Piece("explicit"))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with held(self._wanted.store, self._version) as manifest:
            if self._rewritten:
                columns = _rewritten_columns(self._wanted, self._version)
                yield self._batch({place: columns[place] for place in self._places()})
                return
            yield from self._read(manifest, partition.value)

    def _places(self) -> list[int]:
        return [self._names.index(field.name) for field in self._schema.fields]

    def _read(self, manifest: Manifest, piece: Piece) -> Iterator[pa.RecordBatch]:
        store, predicate = self._wanted.store, self._wanted.predicate
        terms = StoredTerms(store, manifest)
        facts = ids_of_piece(store, manifest, predicate, piece)
        if self._names == [_PRESENT] and not manifest.arities[predicate]:
            yield self._finished([pa.array([True] * facts.num_rows, pa.bool_())])
            return
        facts = where(facts, {place: terms.ids(texts) for place, texts in self._values.items()})
        places = self._places()
        if not places:  # rows are counted, and nothing of them is looked at
            yield pa.RecordBatch.from_struct_array(pa.array([{}] * facts.num_rows, pa.struct([])))
        for columns in texts_of_ids(facts, places, terms) if places else ():
            yield self._batch(dict(zip(places, columns, strict=True)))

    def _batch(self, columns: Mapping[int, pa.Array]) -> pa.RecordBatch:
        values = []
        for field in self._schema.fields:
            texts = columns[self._names.index(field.name)]
            values.append(typed(texts, kind_of_field(field), f"the column {field.name} of {self._wanted.predicate}"))
        return self._finished(values)

    def _finished(self, columns: Sequence[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(list(columns), names=[field.name for field in self._schema.fields])
