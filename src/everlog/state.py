"""The facts of a knowledge base in the memory engine: explicit ones, and what follows from them.

`restarted` makes a new state with other explicit facts and leaves the old one as it is, so that whoever holds it decides
when to let go of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from everlog.columns import Columns
from everlog.datalog.syntax import Atom, BodyLiteral, Program, Rule
from everlog.datalog.values import Value, identity
from everlog.engine.algebra import FactSet
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.sets import Facts, Stored, own
from everlog.engine.memory.start import start_engine
from everlog.engine.memory.table import Ids
from everlog.planning.negation import HIDDEN
from everlog.planning.program import Stratification, compile_program
from everlog.reasoning.seminaive import Progress, materialise
from everlog.report import Report, peak_rss_bytes

if TYPE_CHECKING:
    from everlog.knowledge import Which

Batch: TypeAlias = tuple[str, Ids]
"""Facts of a predicate, one per column of the array."""


class MemoryState:
    """An engine with its explicit facts `E` and, once `materialise` ran, the materialisation `I`."""

    def __init__(self, engine: MemoryEngine | None = None, workers: int | None = None) -> None:
        self._compilation = 0.0
        if engine is None:
            engine, self._compilation = start_engine(workers)
        self.engine = engine
        self._E: Stored = engine.empty()
        self._I: Facts = engine.empty()

    # ------------------------------------------------------------------------------------ facts in

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

    def restarted(self, added: Iterable[Batch], deleted: Iterable[Batch]) -> MemoryState:
        """A state with the explicit facts `(E ∖ deleted) ∪ added` and nothing derived; ids keep their meaning."""
        gone = self.engine.empty()
        for predicate, ids in deleted:
            gone |= self.engine.present(predicate, ids)
        kept = self._E - gone
        after = MemoryState(MemoryEngine(self.engine.dictionary, self.engine.workers))
        after.insert((predicate, self.engine.columns(kept, predicate)) for predicate in self.engine.relations())
        after.insert(added)
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
        strata = compile_program(program.rules, engine, stratification)
        compiled = perf_counter()
        derivations = engine.derivations
        I, rounds = materialise(strata, self._E, engine, progress)
        self._I = own(I)
        done = perf_counter()
        total = self.count(self._I)
        added, deleted = (total, 0) if before is None else (self.missing_in(before), before.missing_in(self))
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

    def missing_in(self, other: MemoryState) -> int:
        """How many facts of the materialisation another state does not have."""
        return sum(
            ids.shape[1] - len(other.engine.present(predicate, ids) & other._I)
            for predicate in self.engine.relations()
            if not predicate.startswith(HIDDEN) and (ids := self.engine.columns(self._I, predicate)).shape[1]
        )

    @staticmethod
    def count(facts: Facts) -> int:
        """How many facts a set has, without those of hidden predicates."""
        return sum(len(facts.rows(table)) for table in facts.tables() if not table.predicate.startswith(HIDDEN))

    # ------------------------------------------------------------------------------------ facts out

    def _chosen(self, which: Which) -> Facts:
        if which == "all":
            return self._I if self._I else self._E
        return self._E if which == "explicit" else self._I - self._E

    def size(self, predicate: str, which: Which) -> int:
        facts = self._chosen(which)
        return sum(len(facts.rows(table)) for table in facts.tables() if table.predicate == predicate)

    def facts(self, predicate: str, which: Which, arity: int) -> pa.Table:
        ids = self.engine.columns(self._chosen(which), predicate)
        if ids.shape[0] == 0 and arity:
            ids = np.empty((arity, 0), np.int32)
        decoded = [self.engine.dictionary.decode_field(f"a{number}", column) for number, column in enumerate(ids)]
        if not decoded:
            return pa.table({}).select([]) if not ids.shape[1] else pa.Table.from_pylist([{}] * ids.shape[1])
        return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))

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
            if variable not in local and not variable.name.startswith("_")
        )
        answer = Atom(f"{HIDDEN}answer", tuple(variables))
        with self.engine.scratch() as engine:
            found: FactSet = self._I if self._I else self._E
            for stratum in compile_program([Rule(answer, tuple(goal))], engine):
                found |= stratum.nonrecursive.apply(found, excluding=found)
            rows = self._values(engine.columns(own(found), answer.predicate))
        return sorted(rows, key=lambda row: tuple(_order(value) for value in row))


def _order(value: Value) -> tuple[str, str | float, str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "", value, type(value).__name__
    kind, _ = identity(value)
    return kind, str(value), ""
