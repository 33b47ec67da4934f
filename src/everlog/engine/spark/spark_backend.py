"""The Spark engine as a reasoner uses it: facts are DataFrames of ids, and stay where Spark keeps them.

Only what a user asks for comes to this process, decoded by joins with the dictionary. Sets are values here, so that
computing everything anew needs no other engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from everlog.datalog.constants import constants
from everlog.datalog.syntax import HIDDEN, Rule
from everlog.datalog.values import Value
from everlog.engine.algebra import Classes, FactSet
from everlog.engine.backend import Backend, Difference, KeptState, Measured, Names, Policy, Progress, Recovered, World
from everlog.engine.kept_kinds import BACKBONE, HIDDEN_FACTS
from everlog.engine.spark import kept_relations, tuning
from everlog.engine.spark.clashes import clashes
from everlog.engine.spark.classes import SparkClasses
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.lineage import CutName
from everlog.engine.spark.graphs.graphs import SparkGraphs
from everlog.engine.spark.joins.matcher import SparkMatcher
from everlog.engine.spark.joins.rules import SparkCompiler
from everlog.engine.spark.kept_changes import Changes, Marks
from everlog.engine.spark.statistics import spark_facts
from everlog.engine.spark.terms import SparkTerms
from everlog.planning.decomposition.decomposition_choice import Worth
from everlog.planning.decomposition.size_estimates import Explicit
from everlog.planning.modules.module_choice import Verdicts, judged
from everlog.sources.fact_columns import Columns
from everlog.sources.typed_columns import typed_columns
from everlog.spark.handover import to_arrow, to_spark
from everlog.spark.metrics import Rounds
from everlog.store.term_dictionary import FEW, NUMBER, together

if TYPE_CHECKING:
    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.spark.names import SparkNames
    from everlog.engine.spark.shelf import SparkShelf
    from everlog.store.commit import Writing

SparkWorld: TypeAlias = "World[FactSet, DataFrame, FactSet]"


class SparkBackend(Backend[FactSet, "DataFrame", FactSet]):
    """A Spark engine and its dictionary; `scratch` gives places for files, if rounds end in some."""

    name = "spark"
    policy = Policy(
        counts_on_demand=False,
        tries_rules_before_chains=False,
        decomposed_from=Worth(cheaper=4.0, much=5_000_000.0),  # nodes take jobs of their own
    )

    def __init__(
        self, spark: SparkSession, terms: SparkTerms, scratch: Callable[[], Path], cut: CutName | None = None
    ) -> None:
        self.spark, self.terms = spark, terms
        cut = cut or default_cut(spark)
        place = str(scratch()) if cut == "parquet" else None
        self._engine = SparkEngine(spark, lambda: terms.frame, terms.encode_values, cut, place)
        self.saved: tuple[FactSet, FactSet] = (self._engine.empty(), self._engine.empty())
        """`E` and `I ∖ E` as they were opened or saved last."""
        self.marks: Marks | None = None
        """What was kept then; None if it was not asked for yet."""

    @property
    def engine(self) -> SparkEngine:
        return self._engine

    # ------------------------------------------------------------------------------------ rules

    def compiler(self) -> SparkCompiler:
        return SparkCompiler(self._engine)

    def matcher(self) -> SparkMatcher:
        return SparkMatcher(self._engine)

    def graphs(self) -> SparkGraphs:
        return SparkGraphs(self._engine)

    def prepare(self, rules: Sequence[Rule]) -> None:
        self._engine.ids(constants(rules))  # all at once: each look-up is a job

    def statistics(self, given: FactSet) -> Explicit:
        return spark_facts(self._engine, given)

    def verdicts(self, rules: Sequence[Rule], given: FactSet) -> Verdicts:
        return partial(judged, facts=len(given))

    def measured(self, progress: Progress) -> Measured:
        return _Jobs(self, progress)

    # ------------------------------------------------------------------------------------ facts in

    def encoded(
        self, columns: Mapping[str, Columns], frames: Mapping[str, DataFrame] | None = None, add: bool = True
    ) -> list[FactSet]:
        here = {name: _texts_of(given) for name, given in columns.items()}
        there = frames or {}
        fetched = self._fetched_if_few(there)
        if fetched is not None:
            return [self._set(self._looked_up({**here, **fetched}, add))]
        found = [self._set(self._looked_up(here, add))]
        if not add:
            return [*found, self._engine.facts(self.terms.dictionary.find(there, few=False))]
        encoded = self.terms.encode(there, few=False)
        found.append(self._engine.facts(encoded.facts))
        encoded.release()
        return found

    def _fetched_if_few(self, facts: Mapping[str, DataFrame]) -> dict[str, list[pa.Array]] | None:
        """Facts in text form, in this process if they are few: by predicate, and column by column."""
        if not facts:
            return {}
        joint, arities = together(self.spark, facts)
        table = joint.limit(FEW + 1).toArrow()
        if table.num_rows > FEW:
            return None
        numbers, found = table.column(NUMBER).to_numpy(), {}
        for number, (predicate, arity) in enumerate(arities.items()):
            chosen = table.take(pa.array(np.flatnonzero(numbers == number)))
            found[predicate] = [chosen.column(f"a{place}").combine_chunks() for place in range(arity)]
            if not arity:
                found[predicate] = [pa.nulls(min(chosen.num_rows, 1))]
        return found

    def _looked_up(self, texts: Mapping[str, list[pa.Array]], add: bool) -> dict[str, NDArray[np.int64]]:
        """Facts in this process as ids, one per column of an array; all terms are looked up at once."""
        flat = [column.cast(pa.large_string()) for some in texts.values() for column in some if not _is_null(column)]
        joint = pa.chunked_array(flat, pa.large_string()).combine_chunks()
        ids = self.terms.encode_texts(joint) if add else self.terms.find_texts(joint)
        found, start = {}, 0
        for predicate, columns in texts.items():
            height = len(columns[0])
            if _is_null(columns[0]):  # the fact of a nullary predicate
                found[predicate] = np.empty((0, height), np.int64)
                continue
            rows = ids[start : start + height * len(columns)].reshape(len(columns), height)
            found[predicate] = rows[:, (rows >= 0).all(axis=0)]
            start += height * len(columns)
        return found

    def _set(self, facts: Mapping[str, NDArray[np.int64]]) -> FactSet:
        """Facts in this process as a set."""
        if sum(ids.size for ids in facts.values()) <= tuning.LISTED_IDS:
            return self._engine.listed({predicate: ids.T.tolist() for predicate, ids in facts.items()})
        tables = {
            predicate: pa.table({f"a{place}": pa.array(column) for place, column in enumerate(ids)})
            if ids.shape[0]
            else pa.table({"present": pa.array([True] * ids.shape[1])})
            for predicate, ids in facts.items()
        }
        return self._engine.facts({name: to_spark(self.spark, table) for name, table in tables.items()})

    def entered(self, batches: Sequence[FactSet], excluding: FactSet | None = None) -> FactSet:
        found: FactSet = self._engine.empty()
        for batch in batches:
            found |= batch
        return found if excluding is None else without(found, excluding)

    def present(self, batches: Sequence[FactSet]) -> FactSet:
        return self.entered(batches)

    def predicates(self, batches: Sequence[FactSet]) -> frozenset[str]:
        return frozenset(self.arities())

    def fresh(self) -> SparkBackend:
        return self

    def taken(self, facts: FactSet, other: Backend[FactSet, DataFrame, FactSet], new: bool = True) -> FactSet:
        found: FactSet = self._engine.empty()
        found |= facts
        return found

    # ------------------------------------------------------------------------------------ facts out

    def arities(self) -> dict[str, int]:
        relations = self._engine.relations().items()
        return {name: arity for name, (_, arity) in relations if not name.startswith(HIDDEN)}

    def counts(self, facts: FactSet) -> dict[str, int]:
        return {name: n for name, n in sorted(self._engine.counts(facts).items()) if not name.startswith(HIDDEN)}

    def count(self, facts: FactSet) -> int:
        hidden = any(predicate.startswith(HIDDEN) for predicate in self._engine.relations())
        return sum(self.counts(facts).values()) if hidden else len(facts)

    def listed(self, facts: FactSet, predicate: str, arity: int) -> DataFrame:
        if predicate not in self._engine.relations():
            schema = ", ".join(f"a{place} bigint" for place in range(arity)) or "present boolean"
            return self.spark.createDataFrame([], schema)
        return self._engine.frame(facts, predicate, arity)

    def few(self, number: Callable[[], int]) -> bool:
        return number() <= FEW

    def table(self, listed: DataFrame, arity: int, few: bool = True) -> pa.Table:
        """Each column has the type that all of its values share."""
        texts = self._fetched(listed, arity, few)
        if not arity:
            return pa.Table.from_struct_array(pa.array([{}] * texts.num_rows, pa.struct([])))
        dictionary = _dictionary()
        ids = ((name, dictionary.encode_ntriples(texts.column(name))) for name in texts.column_names)
        decoded = [dictionary.decode_field(name, column) for name, column in ids]
        return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))

    def rows(self, listed: DataFrame, arity: int, few: bool = True) -> list[tuple[Value, ...]]:
        texts = self._fetched(listed, arity, few)
        if not arity:
            return [()] * texts.num_rows
        dictionary = _dictionary()
        columns = (dictionary.values(dictionary.encode_ntriples(column)) for column in texts.columns)
        return list(zip(*columns, strict=True))

    def _fetched(self, ids: DataFrame, arity: int, few: bool) -> pa.Table:
        """Facts in text form, in this process."""
        if not arity:
            return pa.table({"present": pa.array([True] * len(ids.take(1)), pa.bool_())})
        schema = pa.schema([(f"a{place}", pa.large_string()) for place in range(arity)])
        return to_arrow(self.terms.texts(ids), schema, few)

    def texts(self, listed: DataFrame, spark: Callable[[], SparkSession]) -> DataFrame:
        return self.terms.texts(listed, stored=True)

    def dataframe(self, listed: DataFrame, arity: int, spark: Callable[[], SparkSession]) -> DataFrame:
        return typed_columns(self.terms.texts(listed))

    @contextmanager
    def scratch(self) -> Iterator[SparkBackend]:
        with self._engine.scratch(without=HIDDEN):
            yield self

    def clashes(self, I: FactSet) -> list[str]:
        return clashes(self._engine, self.terms, I)

    # ------------------------------------------------------------------------------------ what changes

    def part(self, facts: FactSet) -> FactSet:
        return facts

    def sizes(self, part: FactSet) -> dict[str, int]:
        return self.counts(part)

    def part_size(self, part: FactSet) -> int:
        return self.count(part)

    def part_listed(self, part: FactSet, predicate: str, arity: int) -> DataFrame:
        return self.listed(part, predicate, arity)

    def compared(
        self, then: SparkWorld, now: SparkWorld, deleted: Sequence[FactSet], added: Sequence[FactSet]
    ) -> Difference[FactSet]:
        if now.names is not None:
            nothing = self._engine.empty()
            return now.names.changed(then, now, nothing, nothing, nothing, nothing)
        E, I, F, J = then.E, then.I, now.E, now.I
        return Difference(
            without(F, E), without(E, F), without(J, I), without(I, J), without(J - F, I - E), without(I - E, J - F)
        )

    # ------------------------------------------------------------------------------------ what is kept, and equality

    def kept(self, state: KeptState) -> Mapping[str, DataFrame]:
        kinds = frozenset(kind for kind, _, _ in state.annotations)
        return kept_relations.apart(self._engine, state, kinds | {HIDDEN_FACTS, BACKBONE})

    def kept_change(
        self,
        state: KeptState,
        sets: Difference[FactSet] | None,
        kinds: frozenset[str],
        names: tuple[Names[FactSet, DataFrame, FactSet], Names[FactSet, DataFrame, FactSet]] | None = None,
        once: bool = True,
    ) -> tuple[Changes, Changes] | None:
        if self.marks is None:
            return None
        return self.marks.changes(self._engine, self.marked(state, None if names is None else names[1]), kinds)

    def mark(self, state: KeptState, names: Names[FactSet, DataFrame, FactSet] | None = None) -> None:
        self.marks = self.marked(state, names)

    def marked(self, state: KeptState, names: Names[FactSet, DataFrame, FactSet] | None) -> Marks:
        """What is kept now."""
        classes = None if names is None else names.classes
        return Marks(self._engine, state, classes.represented if isinstance(classes, SparkClasses) else {})

    def recovered(self, kept: Mapping[str, DataFrame], kinds: frozenset[str], I: FactSet) -> Recovered:
        return kept_relations.recovered(self._engine, kept, kinds, I)

    def shelf(self, spark: SparkSession, writer: Writing) -> SparkShelf:
        from everlog.engine.spark.shelf import SparkShelf

        return SparkShelf(self, writer)

    def encode_values(self, values: Sequence[Value]) -> list[int]:
        return self.terms.encode_values(values)

    def savepoint(self) -> Callable[[], None]:
        before, undo_terms = (self.saved, self.marks), self.terms.savepoint()

        def undo() -> None:
            self.saved, self.marks = before
            undo_terms()

        return undo

    def names(self, classes: Classes | None = None) -> SparkNames:
        from everlog.engine.spark.names import SparkNames

        return SparkNames(self, SparkClasses(self._engine, self.terms.values_of) if classes is None else classes)


class _Jobs(Measured):
    """Spark's jobs by round, and how often the driver did their work."""

    def __init__(self, backend: SparkBackend, progress: Progress) -> None:
        self._backend, self._before = backend, backend.engine.driver_applications
        self._rounds = Rounds(progress)
        self.progress = self._rounds

    def seconds(self) -> dict[str, float]:
        return {}

    def spark(self) -> dict[str, Any]:
        on_driver = self._backend.engine.driver_applications - self._before
        return {**self._rounds.summary(self._backend.spark), "on_driver": on_driver}


def default_cut(spark: SparkSession) -> CutName:
    """How rounds are cut apart: on a cluster so that the death of an executor does no harm."""
    master = spark.conf.get("spark.master", "local")
    return "local_checkpoint" if str(master).startswith("local") else "parquet"


def without(left: FactSet, right: FactSet) -> FactSet:
    """`left ∖ right`, computed."""
    left -= right
    return left


def _texts_of(columns: Columns) -> list[pa.Array]:
    """The N-Triples texts of facts in this process, column by column; of a nullary predicate, nulls."""
    if not columns.columns:
        return [pa.nulls(min(columns.height, 1))]
    dictionary = _dictionary()
    return [dictionary.ntriples_column(column.encoded(dictionary)) for column in columns.columns]


def _is_null(column: pa.Array) -> bool:
    return bool(pa.types.is_null(column.type))


def _dictionary() -> Dictionary:
    from everlog.engine.memory.dictionary import Dictionary

    return Dictionary()
