"""The Spark engine: relations as numbers, sets of facts as runs, and the jobs that compute them.

All facts of all predicates are rows of one kind (`fact_schema.py`), so that a rule shape is one join for all predicates.
Runs are partitioned by all their columns, and Spark is told so: what rules derive is moved once, to where it would be if
it were known already, and the materialisation is not moved at all.

On a classic session the engine works in a session of its own beside the user's, with settings of its own: it knows the
sizes of its sets, and adaptive execution would forget how checkpoints are partitioned. The user's settings are not touched.
Through Spark Connect it works in the session that it is given.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count as counting_up
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import count, expr, lit

from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import Constant
from everlog.engine.algebra import Engine, FactSet, Region
from everlog.engine.spark import tuning
from everlog.engine.spark.facts import driver_facts, fact_schema
from everlog.engine.spark.facts.annotations import SparkAnnotation, SparkCounted
from everlog.engine.spark.facts.driver_facts import DriverFacts, together
from everlog.engine.spark.facts.driver_sets import Driver
from everlog.engine.spark.facts.estimates import Estimates
from everlog.engine.spark.facts.fact_schema import COUNT, RELATION
from everlog.engine.spark.facts.lineage import Cut, CutName, cut_named
from everlog.engine.spark.facts.region_filters import RegionFilter
from everlog.engine.spark.facts.runs import (
    CLASSES,
    Run,
    class_of,
    columns_of,
    local_run,
    merged_length,
    remaining,
    total,
)
from everlog.engine.spark.facts.sets import EVERYTHING, ComputedFacts, SparkFacts, Wanted, as_spark_facts, computed
from everlog.engine.spark.facts.sorted_files import SortedFiles, sorted_files
from everlog.engine.spark.facts.sql_text import (
    DISTINCT,
    Table,
    absent,
    fact_columns,
    own_keys,
    partitioned_union,
    select,
    union,
)
from everlog.engine.spark.joins.comparisons import Twins, comparable, nameable, twin
from everlog.engine.spark.joins.patterns import Parameters
from everlog.engine.spark.listed_facts import SparkListed
from everlog.errors import ArityMistake, EverlogError
from everlog.interrupts import look
from everlog.spark.handover import to_arrow, to_spark
from everlog.spark.session import ENGINES_OWN
from everlog.wording import counted

_OWN_SETTINGS: Final = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.unionOutputPartitioning": "true",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.crossJoin.enabled": "true",
    # The rows that come to the driver are asked of all partitions at once.
    "spark.sql.limit.initialNumPartitions": "100000",
    # Its inference of filters fails on unions of views that share columns (key not found in rewriteConstraints).
    "spark.sql.constraintPropagation.enabled": "false",
}


_FOLLOWING: Final = 3
"""Of so many times the facts that come in there is room for what follows from them, before others have to be moved."""


class SparkEngine(Engine):
    """Facts in DataFrames.

    `terms` gives a DataFrame with the columns `id` and `term`, the N-Triples text of each value, another one when there are
    new terms; only comparisons need it. `encode` gives the ids of N-Triples terms in this process, `encode_texts`
    those of a column `text` of distinct terms, as a column `id` beside it; `texts_of` the terms of ids, as
    columns `id` and `term`, and `near_twins` those of equal values, if that takes no job. `scratch` is the folder for
    `cut="parquet"`, removed by whoever gave it.
    """

    def __init__(
        self,
        spark: SparkSession,
        terms: Callable[[], DataFrame] | None,
        encode: Callable[[pa.Array], NDArray[np.int64]],
        cut: CutName = "local_checkpoint",
        scratch: str | None = None,
        encode_texts: Callable[[DataFrame], DataFrame] | None = None,
        texts_of: Callable[[NDArray[np.int64]], pa.Table] | None = None,
        near_twins: Callable[[], Mapping[int, int] | None] = lambda: None,
    ) -> None:
        self._given = spark
        self._most_partitions = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
        self.partitions = self._most_partitions
        self.spark = _beside(spark, self.partitions)
        self.derivations = 0
        self.driver_applications = 0
        """How often rules were applied on the driver (`driver_rules.py`)."""
        self.width = 0
        self._relations: dict[str, tuple[int, int]] = {}
        self.arities: list[int] = []
        """The arities of predicates, by their numbers."""
        self._encode, self._encode_texts, self._texts_of = encode, encode_texts, texts_of
        self._near_twins = near_twins
        self._scratch = scratch
        self._ids: dict[Constant, int] = {}
        self._regions: dict[Region, RegionFilter] = {}
        self._tables: dict[Parameters, Table] = {}
        self._texts: Table | None = None
        self._chosen_terms: dict[Callable[[Table], str], Table] = {}
        self._twins: Twins | None = None
        self._cut: Cut = cut_named(self.spark, cut, scratch, lambda: self.partitions, self._has_many)
        self._prefix = f"everlog_{uuid4().hex[:8]}"
        self._names = counting_up()
        self._estimates = Estimates(self.spark, self._prefix)
        self._kept: dict[Table, DataFrame] = {}
        self._views: set[Table] = set()
        self._sizes: dict[Table, int] = {}
        self._generated = True
        self._finds_files = True
        """Whether the driver finds files that tasks write."""
        self._forgotten: list[Table] = []
        self._terms = terms
        self._known_terms: DataFrame | None = None
        self.driver = Driver(self)
        self._partition(1)

    # ------------------------------------------------------------------------------------ relations and values

    def relation(self, predicate: str, arity: int) -> int:
        """The number of a predicate, given when it is first mentioned."""
        if predicate not in self._relations:
            self._relations[predicate] = len(self.arities), arity
            self.arities.append(arity)
        number, known = self._relations[predicate]
        if known != arity:
            raise ArityMistake(f"{predicate} has {counted(known, 'argument')} elsewhere and {arity} here")
        self.width = max(self.width, arity)
        return number

    def relations(self) -> Mapping[str, tuple[int, int]]:
        """The number and the arity of each predicate."""
        return self._relations

    @contextmanager
    def scratch(self, without: str) -> Iterator[SparkEngine]:
        """This engine, for a while: relations whose names start so are out of sight, new ones forgotten at the end."""
        before = self._relations
        self._relations = {name: relation for name, relation in before.items() if not name.startswith(without)}
        try:
            yield self
        finally:
            self._relations = before

    def ids(self, constants: Iterable[Constant]) -> Mapping[Constant, int]:
        """The ids of some constants, and perhaps of others."""
        missing = list(dict.fromkeys(constant for constant in constants if constant not in self._ids))
        if missing:
            texts = pa.array([write_term(constant.value) for constant in missing], pa.large_string())
            self._ids.update(zip(missing, self._encode(texts).tolist(), strict=True))
        return self._ids

    def encoded(self, texts: pa.Array) -> NDArray[np.int64]:
        """The ids of some N-Triples terms; those that have none get some."""
        return self._encode(texts)

    def comparables(self) -> Table:
        """The ids of all that is compared by value, with keys in the order of the values."""
        return self._terms_chosen(comparable)

    def twins(self) -> Twins:
        """The ids whose values are equal to those of others."""
        near, most = self._near_twins(), min(tuning.FETCHED_FACTS, tuning.DRIVER_FACTS)
        if near is not None and len(near) <= most:
            return Twins(near)
        texts = self.texts()
        if self._twins is None:
            look()
            few = self.spark.sql(f"SELECT * FROM ({twin(texts)}) LIMIT {most + 1}").collect()
            self._twins = Twins(dict(map(tuple, few))) if len(few) <= most else Twins(run=self.run(f"({twin(texts)})"))
        return self._twins

    def names(self) -> Table:
        """The ids of the names in the dictionary: IRIs, blank nodes and strings."""
        return self._terms_chosen(nameable)

    def _terms_chosen(self, query: Callable[[Table], str]) -> Table:
        texts = self.texts()
        if query not in self._chosen_terms:
            self._chosen_terms[query] = self._named(self.spark.sql(query(texts)))
        return self._chosen_terms[query]

    def texts(self) -> Table:
        """The dictionary: ids, and the N-Triples text of each as `term`."""
        if self._terms is None:
            raise EverlogError("a rule compares values, and the Spark engine was given no dictionary to find them in")
        terms = self._terms()
        if self._texts is None or terms is not self._known_terms:  # there are new ones
            self._known_terms, self._chosen_terms, self._twins = terms, {}, None
            self._texts = self._named(self._here(terms.select("id", "term")))
        return self._texts

    def texts_of(self, ids: NDArray[np.int64]) -> pa.Table:
        """The terms that distinct ids, not too many, stand for: `id` and `term`."""
        if self._texts_of is not None:
            return self._texts_of(ids)
        asked = self.few(["id"], [ids])
        joined = f"{self.texts()} t JOIN {asked.view()} l ON t.id = l.id"
        return self.spark.sql(f"SELECT * FROM {select(['t.id', 't.term'], joined, hint='BROADCAST(l)')}").toArrow()

    def texts_in(self, rows: Table, column: str) -> tuple[Table, str]:
        """The terms that a column of some rows has, if these are few, else all; and the hint to join them by, as `t`.

        Few terms come by way of the driver and are broadcast: the rows need not be moved for them.
        """
        most = min(tuning.FETCHED_FACTS, tuning.DRIVER_FACTS)
        distinct = self.spark.sql(f"SELECT DISTINCT {column} AS id FROM {rows} LIMIT {most + 1}").toArrow()
        if distinct.num_rows > most:
            return self.texts(), ""
        ids = distinct.column("id").to_numpy()
        return self._named(self.spark.createDataFrame(self.texts_of(ids).combine_chunks())), "BROADCAST(t)"

    def ids_of_texts(self, texts: Table) -> tuple[Table, str]:
        """Distinct N-Triples `text`s with their ids, and the hint to join them by, as `x`; new ones get ids.

        Few get theirs on the driver.
        """
        distinct = self.run(texts)
        if self.driver.fetches(distinct.rows):
            table = self.spark.sql(f"SELECT * FROM {distinct.view()}").toArrow().combine_chunks()
            ids = self._encode(table.column("text").combine_chunks())
            found = table.append_column("id", pa.array(ids))
            return self._named(self.spark.createDataFrame(found)), "BROADCAST(x)"
        assert self._encode_texts is not None, "rules that compute need a dictionary"
        return self._named(self._here(self._encode_texts(self._there(f"SELECT * FROM {distinct.view()}")))), ""

    def evaluated(self, table: Table, evaluate: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> Table:
        """What workers make of the rows of a table, batch by batch."""
        return self._named(self.spark.sql(f"SELECT * FROM {table}").mapInArrow(evaluate, schema))

    # ------------------------------------------------------------------------------------ facts in and out

    def empty(self) -> ComputedFacts:
        return ComputedFacts(self, ())

    def annotation(self, sparse: bool = False) -> SparkAnnotation:
        return SparkAnnotation(self)

    def facts(self, frames: Mapping[str, DataFrame], apart: FactSet | None = None, expected: int = 0) -> ComputedFacts:
        """A set of facts by predicate, from the columns `a0`, `a1`, … of ids; a nullary fact is there if a row is.

        None of them is in the set `apart`, as the caller knows. About so many are `expected`.
        """
        if not frames:
            return self.empty()
        numbers = {predicate: self.relation(predicate, _arity(frame)) for predicate, frame in frames.items()}
        views = {predicate: self._named(self._here(frame)) for predicate, frame in frames.items()}
        parts = []
        for predicate, number in numbers.items():
            ids = [f"bigint(l.{name})" for name in fact_schema.arguments(self.arities[number])]
            parts.append(select(fact_columns([number, *ids], self.width), f"{views[predicate]} l"))
        rows = union(parts)
        known = frozenset[int]() if apart is None else as_spark_facts(apart).covered()
        # Where nobody knows yet how many facts there are, they may be many; what follows from them may be more.
        self._partition(max(self._most_partitions, self._worthwhile(_FOLLOWING * expected)))
        found = self.computed(DISTINCT, known, rows)
        if self._is_beside and 8 * self._worthwhile() <= self.partitions:
            self._partition(self._worthwhile())
            found = self.computed(DISTINCT, known, rows)
            self._forget()
        self._drop(views.values())
        return self._drawn(found)

    def _drawn(self, found: ComputedFacts) -> ComputedFacts:
        """Facts that come from outside; the driver has them, too, if they are not too many for it."""
        if self.driver.takes(total(found.runs)):
            for run in found.runs:
                self.driver.fetched(run)
        return found

    def listed(self, facts: Mapping[str, Iterable[Sequence[int]]]) -> ComputedFacts:
        """A set of a few facts by predicate, each a list of ids."""
        numbered = ((self.relation(name, len(row)), row) for name, rows in facts.items() for row in rows)
        rows = [(number, *row) for number, row in numbered]
        return self.local(driver_facts.listed(rows, self.width))

    def columns(self, facts: Mapping[str, NDArray[np.int64]]) -> ComputedFacts:
        """A set of facts by predicate, each an array of ids with a row for each argument; they stay on the driver."""
        numbers = [self.relation(predicate, len(ids)) for predicate, ids in facts.items()]
        rows = np.full((sum(ids.shape[1] for ids in facts.values()), self.width + 1), fact_schema.PADDING, np.int64)
        end = 0
        for number, ids in zip(numbers, facts.values(), strict=True):
            start, end = end, end + ids.shape[1]
            rows[start:end, 0], rows[start:end, 1 : len(ids) + 1] = number, ids.T
        return self.local(driver_facts.each_once(rows)) if len(rows) else self.empty()

    def local(self, facts: DriverFacts, apart: frozenset[int] = frozenset()) -> ComputedFacts:
        """A set of facts on the driver; none of them is in the runs with the given numbers."""
        return ComputedFacts(self, [local_run(facts.with_numbers(None), apart)] if len(facts) else ())

    def counted(self, frame: DataFrame) -> SparkCounted:
        """A multiset, from a frame with `p`, `a0`, … and `n`, each fact once."""
        run = self.run(self._named(self._here(frame)))
        if self.driver.takes(run.rows):
            self.driver.fetched(run)
        return SparkCounted(self, [run])

    def by_number(self, frame: DataFrame, number: str) -> dict[int, ComputedFacts]:
        """Sets of facts, from a frame with `p`, `a0`, … and a column with the number of the set."""
        run = self.run(self._named(self._here(frame)))
        columns = tuple(name for name in run.columns if name != number)
        sizes = self.spark.sql(f"SELECT {number}, count(*) FROM {run.view()} GROUP BY {number}").collect()
        return {
            one: self._drawn(
                ComputedFacts(
                    self,
                    [Run(select(columns, run.view(), [f"{number} = {one}"]), columns, rows, run.classes, source=run)],
                )
            )
            for one, rows in sizes
        }

    def facts_of(self, facts: FactSet, predicate: str, arity: int) -> SparkListed:
        """The facts of a predicate as ids; what is not on the driver is computed where it is used."""
        number, _ = self._relations.get(predicate, (fact_schema.PADDING, arity))  # a scratch may be gone by then
        near = as_spark_facts(facts).local()

        def make() -> DataFrame:
            return self._rows(computed(facts).table({RELATION: class_of(number)}), number, arity)

        return SparkListed(make, None if near is None else near.of(number, arity))

    def rows(self, table: Table | None, predicate: str, arity: int) -> DataFrame:
        """The facts of a predicate in a table as ids; of a nullary one, a row if it holds."""
        number, _ = self._relations.get(predicate, (fact_schema.PADDING, arity))
        return self._rows(table, number, arity)

    def _rows(self, table: Table | None, number: int, arity: int) -> DataFrame:
        names = fact_schema.arguments(arity) or ["true AS present"]
        if table is None or number == fact_schema.PADDING:
            return self._given.createDataFrame([], fact_schema.schema(arity)).selectExpr(*names)
        return self._there(f"SELECT {', '.join(names)} FROM {table} WHERE {RELATION} = {number}")

    def together(self, facts: FactSet) -> DataFrame:
        """All facts of a set, as they are in here: with the numbers of their relations, and padding."""
        table = computed(facts).table()
        if table is None:
            return self._given.createDataFrame([], fact_schema.schema(self.width))
        return self._there(f"SELECT * FROM {table}")

    def values(self, annotation: SparkAnnotation) -> DataFrame | None:
        """The facts whose value is not 0, with that value as `n`."""
        table = annotation.table()
        return None if table is None else self._there(f"SELECT * FROM {table}")

    def counts(self, facts: FactSet) -> dict[str, int]:
        """How many facts of each predicate there are."""
        names = {number: predicate for predicate, (number, _) in self._relations.items()}
        here = as_spark_facts(facts)
        if not isinstance(here, ComputedFacts) and not self.driver.has([here]) and here.local() is None:
            return {names[number]: n for number, n in self._counted(here.table()).items()}
        sizes = np.zeros(len(self.arities), np.int64)
        for run in here.computed().runs:
            if run.whole is not None:
                sizes += _sizes(run.whole, len(sizes))
            else:
                there = run.asked
                if there.sizes is None:
                    there.sizes = self._counted(self.table_of(there))
                for number, n in there.sizes.items():
                    sizes[number] += n
            if run.gone is not None:
                sizes -= _sizes(run.gone, len(sizes))
        return {names[number]: int(sizes[number]) for number in np.flatnonzero(sizes).tolist()}

    def _counted(self, table: Table | None) -> dict[int, int]:
        """How many facts of each relation a table has, by the relation's number."""
        if table is None:
            return {}
        rows = self.spark.sql(f"SELECT {RELATION}, count(*) FROM {table} GROUP BY {RELATION}").collect()
        return {number: n for number, n in rows}

    def region_filter(self, region: Region) -> RegionFilter:
        if region not in self._regions:
            self._regions[region] = RegionFilter(self, region)
        return self._regions[region]

    def table(self, parameters: Parameters) -> Table:
        """The parameters that differ between the rules of a shape."""
        if parameters not in self._tables:
            numbers = [~parameter for parameter in parameters.varying]
            columns = [np.array([row[number] for row in parameters.rows], np.int64) for number in numbers]
            self._tables[parameters] = self._named(self._local([f"r{number}" for number in numbers], columns))
        return self._tables[parameters]

    # ------------------------------------------------------------------------------------ computing

    def computed(
        self,
        table: Table | None,
        apart: frozenset[int] = frozenset(),
        rows: Table | None = None,
        counting: bool = False,
        few: bool = False,
    ) -> ComputedFacts:
        """The set of some distinct facts, computed; see `run`."""
        return ComputedFacts(
            self, () if table is None else [self.run(table, apart, rows=rows, counting=counting, few=few)]
        )

    def distinct(
        self,
        rows: Table,
        excluding: SparkFacts | None = None,
        wanted: Wanted = EVERYTHING,
        counting: bool = False,
        few: bool = False,
    ) -> ComputedFacts:
        """The set of the facts that are rows of a table, perhaps several times, without those of another set.

        All the facts are among the `wanted` ones. For the rest see `run`.
        """
        if excluding is None:
            return self.computed(DISTINCT, frozenset(), rows, counting, few)
        new = excluding.outside(DISTINCT, own_keys(self.width), wanted, None)
        return self.computed(new, excluding.covered(), rows, counting, few)

    def run(
        self,
        table: Table,
        apart: frozenset[int] = frozenset(),
        parts: frozenset[int] | None = None,
        rows: Table | None = None,
        counting: bool = False,
        few: bool = False,
    ) -> Run:
        """Computes facts, or bindings. None of the facts is in the runs with the numbers `apart`.

        `parts` are the runs that are merged. In the table `{rows}` may stand for further rows, which are given apart; these
        count as derivations if it is said so. If `few` facts are expected, they come to the driver; should they be many,
        the job is done a second time.
        """
        look()
        self._choose_codegen()
        self._partition(max(self._worthwhile(), self.partitions))
        query = f"SELECT * FROM {table}"
        with self._observed(rows, counting) as observed:
            frame = self.spark.sql(query) if observed is None else self.spark.sql(query, rows=observed)
            local = self.driver.computed(frame) if few else None
            if local is not None:
                return local_run(local, apart, counted=COUNT in frame.columns)
            columns = tuple(frame.columns)
            classed = [name for name in columns if name in fact_schema.columns(self.width)]
            classes = [expr(f"bit_or(shiftleft(1L, int(pmod({name}, {CLASSES}))))").alias(name) for name in classed]
            sums = [expr(f"sum({COUNT})").alias("sum")] if COUNT in columns else []
            kept, seen = self._cut(frame, [count(lit(1)).alias("rows"), *classes, *sums])
        name = self._named(kept)
        if self._estimates.has_grown(name, f"{query} {rows}"):
            kept = self._cut.settled(kept)
        self._kept[name] = kept
        run = Run(name, columns, seen["rows"], {one: seen[one] or 0 for one in classed}, apart)
        run.parts, run.sum = parts or run.parts, seen.get("sum") or 0
        weakref.finalize(run, self._forgotten.append, name)
        self._sizes[name] = run.rows
        self._forget()
        return run

    def _choose_codegen(self) -> None:
        """Lets Spark generate code for a job over many facts; over few, compiling it takes longer than going without.

        That goes for whole stages, and for the single expressions of the others.
        """
        generated = sum(self._sizes.values()) > tuning.INTERPRETED_FACTS
        if self._is_beside and generated != self._generated:
            self.spark.conf.set("spark.sql.codegen.wholeStage", str(generated).lower())
            self.spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if generated else "NO_CODEGEN")
            self._generated = generated

    def _worthwhile(self, more: int = 0) -> int:
        """As many partitions as the facts are worth, in large steps: runs with others have to be moved for a join."""
        wanted, most, facts = 1, self._most_partitions, sum(self._sizes.values()) + more
        while wanted * tuning.FACTS_PER_PARTITION < facts:
            wanted *= 4
        while most * tuning.FULL_PARTITION_FACTS < facts:
            most *= 4
        return min(wanted, most)

    @property
    def tasks(self) -> int:
        """By so many tasks a job reads what it joins, at most: each writes a piece for every partition."""
        return max(self.partitions, tuning.TASKS_SHARE * self._most_partitions)

    def _has_many(self) -> bool:
        """Whether there are more facts than Java should have as objects."""
        return sum(self._sizes.values()) > tuning.HEAP_FACTS

    def _partition(self, number: int) -> None:
        """Lets the next jobs have so many partitions; a task costs about the same however little it does."""
        if self._is_beside and number != self.partitions:
            self.spark.conf.set("spark.sql.shuffle.partitions", str(number))
            self.partitions = number

    @contextmanager
    def _observed(self, rows: Table | None, counting: bool) -> Iterator[DataFrame | None]:
        """Some rows that are counted when a job has computed what the block makes of them.

        The optimiser does not look through an observation, which is wanted also where nothing is counted: a constant column
        would else be missing from the partitioning of what is made of these rows. Spark Connect tells nobody what it
        observed inside of a query; there the rows are computed by themselves.
        """
        if rows is None:
            yield None
            return
        frame = self.spark.sql(f"SELECT * FROM {rows}")
        if self._is_beside:
            seen = Observation()
            yield frame.observe(seen, count(lit(1)).alias("rows"))
            self.derivations += seen.get["rows"] if counting else 0
        else:
            kept = frame.localCheckpoint()
            self.derivations += kept.count() if counting else 0
            yield kept

    def compacted(self, runs: Sequence[Run]) -> Sequence[Run]:
        """Runs in which some are merged where they are many: joins with a set have an input for each.

        In Spark these are the newest. On the driver they are the smallest: what is large has indexes, a merger has none.
        """
        near = all(run.near for run in runs)
        ordered = sorted(runs, key=lambda run: -run.rows) if near else runs
        length = merged_length([run.rows for run in ordered], tuning.RUNS_BEFORE_MERGE)
        return [*ordered[:-length], self._merged(ordered[-length:])] if length else runs

    def _merged(self, runs: Sequence[Run]) -> Run:
        few = self.driver.merged(runs)
        if few is not None:
            return few
        for run in runs:
            self.placed(run)
        parts = frozenset[int]().union(*(run.parts for run in runs))
        table = partitioned_union([self.table_of(run) for run in runs])
        # A union of runs that are not partitioned alike has the partitions of all, and each is a task in every later job.
        if self.partitions == 1:
            table = select(["*"], table, hint="COALESCE(1)")
        elif total(runs) <= tuning.BROADCAST_JOIN_FACTS or any(run.name is None for run in runs):
            columns = ", ".join(fact_schema.columns(self.width))
            table = select(["*"], table, hint=f"REPARTITION({self.partitions}, {columns})")
        return self.run(table, parts=parts)

    def table_of(self, run: Run, to_broadcast: bool = False) -> Table:
        """The facts of a run; what is going to be broadcast comes from the driver if it is little."""
        counted = COUNT in run.columns
        names = [*fact_schema.columns(self.width), COUNT] if counted else fact_schema.columns(self.width)
        if self.placed(run).name is None or (to_broadcast and self.driver.fetches(run.rows)):
            if self.width not in run.from_driver:
                columns = columns_of(self.driver.fetched(run), self.width, counted)
                run.from_driver[self.width] = self._named(self._local(names, columns))
                weakref.finalize(run, self._forgotten.append, run.from_driver[self.width])
            # Spark cannot tell rows of the driver from a run that was made of them, unless their columns are other ones.
            return select([f"{name} AS {name}" for name in names], run.from_driver[self.width])
        if tuple(names) == run.columns:
            return run.view()
        padded = (name if name in run.columns else f"{fact_schema.PADDING}L AS {name}" for name in names)
        return select(padded, run.view())

    def placed(self, run: Run) -> Run:
        """A run that Spark has from now on, too, partitioned as others are, if it is too large to be broadcast."""
        if run.name is None and run.rows > tuning.BROADCAST_LOOK_UP_FACTS:
            assert run.local is not None
            table = pa.table(
                columns_of(run.local, len(run.columns) - 1 - (COUNT in run.columns), COUNT in run.columns),
                list(run.columns),
            )
            with self._folder() as folder:
                given = self._named(to_spark(self.spark, table, folder))
                names = ", ".join(name for name in run.columns if name != COUNT)
                self._partition(max(self._worthwhile(run.rows), self.partitions))
                run.source = self.run(select(["*"], given, hint=f"REPARTITION({self.partitions}, {names})"))
                self._drop([given])
            run.name = run.source.name
        return run

    def remaining(self, run: Run, gone: DriverFacts, apart: frozenset[int]) -> Run:
        """A run without some of its facts. Few of many that are in Spark stay there, and are passed over."""
        if run.near:
            return remaining(run, gone, apart)
        known = gone if run.gone is None else together([run.gone, gone])
        there, rows = run.asked, run.rows - len(gone)
        passed_over = local_run(known)
        keys, sought = own_keys(len(run.columns) - 1), self.table_of(passed_over)
        table = absent(there.view(), keys, sought, 0, None, self.width)
        if tuning.GONE_SHARE * len(known) > rows or not self.driver.fetches(len(known)):
            return self.run(table, run.apart | apart)
        left = Run(table, run.columns, rows, run.classes, run.apart | apart, source=there, sum=rows, gone=known)
        left.passed_over = passed_over
        return left

    def sorted_copy(self, run: Run, order: Sequence[int]) -> SortedFiles | None:
        """Sorted files with a run in Spark and the numbers beside its facts; None if the driver would not find them."""
        if not self._finds_files:
            return None
        look()
        names = fact_schema.columns(self.width)
        count = COUNT if COUNT in run.columns else f"1L AS {COUNT}"
        frame = self.spark.sql(f"SELECT {', '.join(names)}, {count} FROM {self.table_of(run)}")
        files = sorted_files(frame, [*order, len(names)], self._new_folder())
        if files is None:
            self._finds_files = False
        else:
            run.files.append(files)
        return files

    def fetched(self, query: str, names: Sequence[str], at_most: int) -> pa.Table:
        """Some columns of numbers that a query gives, at most so many rows, as a table of this process."""
        schema = pa.schema([(name, pa.int64()) for name in names])
        with self._folder() as folder:
            return to_arrow(self.spark.sql(query), schema, at_most <= tuning.FETCHED_IDS, folder)

    @contextmanager
    def _folder(self) -> Iterator[Callable[[], Path]]:
        """A place for files that are read at once, here and by all executors; it is made when somebody wants it."""
        made: list[Path] = []

        def folder() -> Path:
            made.append(self._new_folder())
            return made[-1]

        try:
            yield folder
        finally:
            for one in made:
                shutil.rmtree(one, ignore_errors=True)

    def _new_folder(self) -> Path:
        if self._scratch is not None:
            Path(self._scratch).mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="everlog-", dir=self._scratch))

    def _local(self, names: Sequence[str], columns: Sequence[NDArray[np.int64]]) -> DataFrame:
        """A few rows from the driver, which Spark broadcasts without a job."""
        return self.spark.createDataFrame(pa.table([pa.array(column, pa.int64()) for column in columns], list(names)))

    def few(self, names: Sequence[str], columns: Sequence[NDArray[np.int64]]) -> Run:
        """A few rows from the driver that are no facts."""
        run = Run(self._named(self._local(names, columns)), tuple(names), len(columns[0]), {})
        weakref.finalize(run, self._forgotten.append, run.view())
        return run

    # ------------------------------------------------------------------------------------ names

    def _named(self, frame: DataFrame) -> Table:
        """A frame under a name that queries can use."""
        name = f"{self._prefix}_{next(self._names)}"
        frame.createOrReplaceTempView(name)
        self._views.add(name)
        return name

    def _drop(self, names: Iterable[Table]) -> None:
        for name in list(names):
            self._views.discard(name)
            self.spark.catalog.dropTempView(name)

    def _forget(self) -> None:
        """Gives back what Spark keeps for runs that nobody refers to any more."""
        while self._forgotten:
            name = self._forgotten.pop()
            self._drop([name])
            self._sizes.pop(name, None)
            self._estimates.forget(name)
            frame = self._kept.pop(name, None)
            if frame is not None:
                self._cut.forget(frame)

    def release(self) -> None:
        """Gives back what Spark keeps; no set of this engine may be used afterwards."""
        self._forgotten += self._kept
        self._forget()
        self._drop(self._views)
        self._tables.clear()

    # ------------------------------------------------------------------------------------ sessions

    @property
    def _is_beside(self) -> bool:
        """Whether the engine has a session of its own."""
        return self.spark is not self._given

    def _there(self, query: str) -> DataFrame:
        """What a query gives, as a frame of the user's session; it outlives the names in the query."""
        found = self.spark.sql(query)
        if self._is_beside:
            return self._given.createDataFrame([], found.schema).unionAll(found)
        return found.localCheckpoint()

    def _here(self, frame: DataFrame) -> DataFrame:
        """A frame of the user's as one of the engine's session."""
        return self.spark.createDataFrame([], frame.schema).unionAll(frame) if self._is_beside else frame


def _beside(spark: SparkSession, partitions: int) -> SparkSession:
    """A session with the engine's settings, if there can be one that sees the frames of the given session."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    if not isinstance(spark.range(0), ClassicDataFrame):
        return spark
    session = spark.newSession()
    for key, value in {**_OWN_SETTINGS, ENGINES_OWN: "true"}.items():
        session.conf.set(key, value)
    session.conf.set("spark.sql.shuffle.partitions", str(partitions))
    return session


def _sizes(facts: DriverFacts, relations: int) -> NDArray[np.int64]:
    """How many facts of each relation there are."""
    return np.bincount(facts.rows[:, 0], minlength=relations)


def _arity(frame: DataFrame) -> int:
    return sum(1 for name in frame.columns if name[0] == "a" and name[1:].isdigit())
