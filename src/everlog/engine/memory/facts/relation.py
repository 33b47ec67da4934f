"""A relation: all tables of one predicate, and which of them an atom can match.

A plain predicate has one table. The facts of `triple` are kept by their predicate, and those with `rdf:type` by their
class, so that `[?x, rdf:type, ex:Person]` reads a table of one column. An atom whose predicate is a variable ranges over
tables, and sees those that appear while it waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Final

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.facts.table import Ids, Positions, Table
from everlog.engine.memory.kernels import table_kernels as kernels
from everlog.interrupts import aside

_FIRST: Final = np.zeros(1, np.int64)
"""The one column that is grouped by."""


class Relation:
    """The one table of a plain predicate."""

    def __init__(self, predicate: str, arity: int, shards: int) -> None:
        self.predicate = predicate
        self.arity = arity
        self._shards = shards
        self._table = Table(predicate, range(arity), shards=shards)

    def tables(self) -> Iterable[Table]:
        return (self._table,)

    def static(self, known: Mapping[int, int]) -> Table | None:
        """The one table that holds all facts with the given ids at the given positions, if there is one."""
        return self._table

    def candidates(self, known: Mapping[int, int]) -> Iterable[Table]:
        """The tables, so far, that may hold facts with the given ids at the given positions."""
        return (self._table,)

    def deciding(self) -> tuple[int, ...]:
        """The positions whose ids decide about the table, most important first."""
        return ()

    def split(self, facts: Ids) -> Iterator[tuple[Table, Ids, Positions | Ids]]:
        """The facts (one per column of the array) as tuples of their tables, with their places in the array."""
        yield self._table, facts, np.arange(facts.shape[1])


class Triples(Relation):
    """Triples by predicate, and those of `rdf:type` by class."""

    def __init__(self, predicate: str, rdf_type: int, shards: int) -> None:
        super().__init__(predicate, 3, shards)
        self._rdf_type = rdf_type
        self._properties: dict[int, Table] = {}
        self._classes: dict[int, Table] = {}
        self._lock = Lock()

    def tables(self) -> Iterable[Table]:
        return (*self._properties.values(), *self._classes.values())

    def static(self, known: Mapping[int, int]) -> Table | None:
        prop, kind = known.get(1), known.get(2)
        return None if prop is None or (prop == self._rdf_type and kind is None) else self._made(prop, kind)

    def _made(self, prop: int, kind: int | None = None) -> Table:
        """A table, made if it is missing; rules with a variable predicate in the head ask for it from several threads."""
        with self._lock:
            if kind is not None and prop == self._rdf_type:
                if kind not in self._classes:
                    self._classes[kind] = Table(self.predicate, (0,), ((1, prop), (2, kind)), self._shards)
                return self._classes[kind]
            if prop not in self._properties:
                self._properties[prop] = Table(self.predicate, (0, 2), ((1, prop),), self._shards)
            return self._properties[prop]

    def candidates(self, known: Mapping[int, int]) -> Iterable[Table]:
        prop = known.get(1)
        properties, classes = _having(self._properties, prop), _having(self._classes, known.get(2))
        if prop is None:
            return (*properties, *classes)
        return classes if prop == self._rdf_type else properties

    def deciding(self) -> tuple[int, ...]:
        return (1, 2)

    def split(self, facts: Ids) -> Iterator[tuple[Table, Ids, Positions | Ids]]:
        for prop, places in grouped(facts[1]):
            if prop != self._rdf_type:
                yield self._made(prop), np.stack([facts[0, places], facts[2, places]]), places
            else:
                for kind, among in grouped(facts[2, places]):
                    members = places[among]
                    yield self._made(prop, kind), facts[0, members].reshape(1, -1), members


def _having(tables: Mapping[int, Table], key: int | None) -> tuple[Table, ...]:
    """The table with a key, if there is one; all tables for None."""
    if key is None:
        return tuple(tables.values())
    return (tables[key],) if key in tables else ()


def grouped(column: Ids) -> Iterator[tuple[int, Positions | Ids]]:
    """The places of a column by its values, in order; where equal values mostly stand together, by runs of them."""
    if not len(column):
        return
    starts = _runs(column)
    if len(starts) * tuning.LONG_RUN <= len(column):
        ends = np.append(starts[1:], len(column))
        order = np.argsort(column[starts], kind="stable")
        for runs in np.split(order, _runs(column[starts[order]])[1:]):
            yield int(column[starts[runs[0]]]), np.concatenate([np.arange(starts[run], ends[run]) for run in runs])
        return
    run = aside(
        len(column), kernels.build_run, np.require(column[None], np.int32, ["C", "W"]), _FIRST, 0, len(column), -1, 0
    )
    starts, places = run[3], run[4]
    values = column[places[starts[:-1]]]
    for group in np.argsort(values).tolist():
        yield int(values[group]), places[starts[group] : starts[group + 1]]


def _runs(column: Ids) -> Positions:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
