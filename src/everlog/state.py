"""The facts of a knowledge base in the memory engine: explicit ones, and what follows from them.

`restarted` makes a new state with other explicit facts and leaves the old one as it is, so that whoever holds it decides
when to let go of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from everlog.columns import Columns
from everlog.datalog.syntax import Atom, BodyLiteral, Program, Rule
from everlog.datalog.values import Value, identity
from everlog.engine.algebra import FactSet
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.sets import Facts, Stored, own
from everlog.engine.memory.start import start_engine
from everlog.engine.memory.table import Ids
from everlog.errors import EverlogError
from everlog.planning.negation import HIDDEN
from everlog.planning.program import Stratification, compile_program
from everlog.planning.rules import MemoryCompiler
from everlog.reasoning.seminaive import Progress, materialise
from everlog.report import Report, peak_rss_bytes

if TYPE_CHECKING:
    from everlog.knowledge import Which

_ANONYMOUS = re.compile(r"_[0-9]+")
"""The names that the reader gives to `_`."""

Batch: TypeAlias = tuple[str, Ids]
"""Facts of a predicate, one per column of the array."""

ByPredicate: TypeAlias = dict[str, Ids]


@dataclass(frozen=True)
class Change:
    """What an update did, by predicate: to the explicit facts, and to the materialisation."""

    explicit_added: ByPredicate = field(default_factory=dict)
    explicit_deleted: ByPredicate = field(default_factory=dict)
    added: ByPredicate = field(default_factory=dict)
    deleted: ByPredicate = field(default_factory=dict)


class MemoryState:
    """An engine with its explicit facts `E` and, once `materialise` ran, the materialisation `I`."""

    def __init__(self, engine: MemoryEngine | None = None, workers: int | None = None) -> None:
        self._compilation = 0.0
        if engine is None:
            engine, self._compilation = start_engine(workers)
        self.engine = engine
        self._E: Stored = engine.empty()
        self._I: Facts = engine.empty()
        self.change = Change()
        """What made this state out of the one that it replaced."""

    # ------------------------------------------------------------------------------------ facts in

    @classmethod
    def restored(
        cls, dictionary: Dictionary, explicit: Iterable[Batch], derived: Iterable[Batch], workers: int | None = None
    ) -> MemoryState:
        """A state that was materialised earlier: nothing is derived again."""
        started, compilation = start_engine(workers)
        state = cls(MemoryEngine(dictionary, started.workers))
        state._compilation = compilation
        state.insert(explicit)
        I = state._E
        for predicate, ids in derived:
            I |= state.engine.insert(predicate, ids, excluding=I)
        state._I = I
        return state

    def encoded(self, facts: Mapping[str, Columns]) -> list[Batch]:
        """Facts as ids; nothing is stored, so a value that cannot be is found before anything happened."""
        return [(predicate, self._ids(columns)) for predicate, columns in facts.items()]

    def _ids(self, columns: Columns) -> Ids:
        if not columns.columns:
            return np.empty((0, min(columns.height, 1)), np.int32)
        return np.array([column.encoded(self.engine.dictionary) for column in columns.columns], np.int32)

    def insert(self, batches: Iterable[Batch]) -> None:
        """Makes facts explicit."""
        for predicate, ids in batches:
            self._E |= self.engine.insert(predicate, ids, excluding=self._E)

    def restarted(self, added: Sequence[Batch], deleted: Sequence[Batch]) -> MemoryState:
        """A state with the explicit facts `(E ∖ deleted) ∪ added` and nothing derived; ids keep their meaning."""
        gone = self.engine.empty()
        for predicate, ids in deleted:
            gone |= self.engine.present(predicate, ids)
        kept = self._E - gone
        after = MemoryState(MemoryEngine(self.engine.dictionary, self.engine.workers))
        after.insert((predicate, self.engine.columns(kept, predicate)) for predicate in self.engine.relations())
        after.insert(added)
        after.change = Change(
            explicit_added=after._missing(after._E, (predicate for predicate, _ in added), self, self._E),
            explicit_deleted=self._missing(self._E, (predicate for predicate, _ in deleted), after, after._E),
        )
        return after

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(
        self,
        program: Program,
        stratification: Stratification,
        progress: Progress,
        started: float,
        before: MemoryState | None = None,
    ) -> Report:
        """Computes `I`; `before` is the state that this one replaces."""
        engine = self.engine
        begun = perf_counter()
        strata = compile_program(program.rules, MemoryCompiler(engine), stratification)
        compiled = perf_counter()
        derivations = engine.derivations
        I, rounds = materialise(strata, self._E, engine, progress)
        self._I = own(I)
        done = perf_counter()
        total = self.count(self._I)
        added, deleted = total, 0
        if before is not None:
            self.change = replace(
                self.change,
                added=self._missing(self._I, self.engine.relations(), before, before._I),
                deleted=before._missing(before._I, before.engine.relations(), self, self._I),
            )
            added, deleted = (
                sum(ids.shape[1] for ids in facts.values()) for facts in (self.change.added, self.change.deleted)
            )
        return Report(
            engine="memory",
            algorithm="remat",
            facts={"explicit": self.count(self._E), "total": total},
            derivations={"materialise": engine.derivations - derivations},
            seconds={
                "compilation": self._compilation,
                "planning": compiled - begun,
                "reasoning": done - compiled,
                "total": perf_counter() - started,
            },
            rounds=rounds,
            added=added,
            deleted=deleted,
            peak_rss_bytes=peak_rss_bytes(),
        )

    def _missing(self, facts: Facts, predicates: Iterable[str], other: MemoryState, others: Facts) -> ByPredicate:
        """Facts of some predicates that a set has and a set of another state has not."""
        missing = {}
        for predicate in dict.fromkeys(predicates):
            if not predicate.startswith(HIDDEN):
                ids = self.engine.columns(facts, predicate)
                ids = ids[:, ~other._among(others, predicate, ids)]
                if ids.shape[1]:
                    missing[predicate] = ids
        return missing

    def _among(self, facts: Facts, predicate: str, ids: Ids) -> NDArray[np.bool_]:
        """Which of some facts of a predicate are in a set."""
        inside = np.zeros(ids.shape[1], np.bool_)
        relation = self.engine.relations().get(predicate)
        if relation is not None and ids.shape[1]:
            for table, tuples, places in relation.split(ids):
                found = table.find(tuples)
                stored = np.flatnonzero(found >= 0)
                inside[places[stored]] = facts.rows(table).contains(found[stored])
        return inside

    def holds(self, predicate: str, ids: Ids, which: Which) -> NDArray[np.bool_]:
        """Which of some facts of a predicate, one per column of the array, are known."""
        return self._among(self._chosen(which), predicate, ids)

    @staticmethod
    def count(facts: Facts) -> int:
        """How many facts a set has, without those of hidden predicates."""
        return sum(len(facts.rows(table)) for table in facts.tables() if not table.predicate.startswith(HIDDEN))

    # ------------------------------------------------------------------------------------ facts out

    def _chosen(self, which: Which) -> Facts:
        if which == "all":
            return self._I if self._I else self._E
        if which == "explicit":
            return self._E
        if which == "derived":
            return self._I - self._E
        raise EverlogError(f"which={which!r} is not supported; choose one of: all, explicit, derived")

    def size(self, predicate: str, which: Which) -> int:
        facts = self._chosen(which)
        return sum(len(facts.rows(table)) for table in facts.tables() if table.predicate == predicate)

    def ids(self, predicate: str, which: Which, arity: int) -> Ids:
        """The facts of a predicate, one per column of the array."""
        ids = self.engine.columns(self._chosen(which), predicate)
        return np.empty((arity, 0), np.int32) if ids.shape[0] == 0 and arity else ids

    def facts(self, predicate: str, which: Which, arity: int) -> pa.Table:
        return self.table(self.ids(predicate, which, arity))

    def table(self, ids: Ids) -> pa.Table:
        """Facts as an Arrow table of values."""
        decoded = [self.engine.dictionary.decode_field(f"a{number}", column) for number, column in enumerate(ids)]
        if not decoded:
            # A table without columns has as many rows as the fact of a nullary predicate has times: one or none.
            return pa.Table.from_struct_array(pa.array([{}] * ids.shape[1], pa.struct([])))
        return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))

    def changes(self, predicate: str, arity: int) -> tuple[pa.Table, pa.Table]:
        """What the last update added to the materialisation, and what it deleted."""
        nothing = np.empty((arity, 0), np.int32)
        added, deleted = (facts.get(predicate, nothing) for facts in (self.change.added, self.change.deleted))
        return self.table(added), self.table(deleted)

    def rows(self, predicate: str, which: Which) -> list[tuple[Value, ...]]:
        return self._values(self.engine.columns(self._chosen(which), predicate))

    def _values(self, ids: Ids) -> list[tuple[Value, ...]]:
        if ids.shape[0] == 0:
            return [()] * ids.shape[1]
        return list(zip(*(self.engine.dictionary.values(column) for column in ids), strict=True))

    def answers(self, goal: Sequence[BodyLiteral]) -> list[tuple[Value, ...]]:
        """The answers to a goal: distinct bindings of its variables, sorted by kind and value."""
        local = {variable for literal in goal for variable in getattr(literal, "local", ())}
        variables = dict.fromkeys(
            variable
            for literal in goal
            for variable in literal.variables()
            if variable not in local and not _ANONYMOUS.fullmatch(variable.name)
        )
        answer = Atom(f"{HIDDEN}answer", tuple(variables))
        with self.engine.scratch(without=HIDDEN) as engine:
            found: FactSet = self._I if self._I else self._E
            for stratum in compile_program([Rule(answer, tuple(goal))], MemoryCompiler(engine)):
                found |= stratum.nonrecursive.apply(found, excluding=found)
            rows = self._values(engine.columns(own(found), answer.predicate))
        return sorted(rows, key=lambda row: tuple(_order(value) for value in row))


def _order(value: Value) -> tuple[str, str | float, str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "", value, type(value).__name__
    kind, _ = identity(value)
    return kind, str(value), ""
