"""The Spark engine as a reasoner uses it: facts are DataFrames of ids, and stay where Spark keeps them.

Only what a user asks for comes to this process: decoded by joins with the dictionary, or, where the driver has the facts,
here. Sets are values here, so that
computing everything anew needs no other engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from everlog.datalog.constants import constants
from everlog.datalog.syntax import HIDDEN, Atom, Rule
from everlog.datalog.values import Value
from everlog.engine.algebra import Classes, FactSet, Labelled
from everlog.engine.backend import (
    Backend,
    Difference,
    KeptState,
    Matched,
    Matching,
    Measured,
    Names,
    Policy,
    Progress,
    Recovered,
)
from everlog.engine.kept_kinds import BACKBONE, HIDDEN_FACTS
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.spark import kept_relations, tuning
from everlog.engine.spark.clashes import clashes
from everlog.engine.spark.classes import SparkClasses
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.lineage import CutName
from everlog.engine.spark.facts.sets import computed
from everlog.engine.spark.graphs.graphs import SparkGraphs
from everlog.engine.spark.joins.matcher import SparkMatcher
from everlog.engine.spark.joins.rules import SparkRules
from everlog.engine.spark.kept_changes import Changes, KeptSnapshot, changes, hidden_facts, snapshot
from everlog.engine.spark.listed_facts import SparkListed
from everlog.engine.spark.names import SparkNames, SparkWorld, represented
from everlog.engine.spark.shelf import SparkShelf
from everlog.engine.spark.statistics import literal_columns, spark_facts
from everlog.engine.spark.terms import SparkTerms
from everlog.planning.compiled_program import Compiler
from everlog.planning.decomposition.decomposition_choice import Worth
from everlog.planning.decomposition.size_estimates import Explicit
from everlog.planning.literal_places import Place
from everlog.planning.modules.module_choice import Verdicts, judged
from everlog.sources.fact_columns import Column, Columns
from everlog.sources.read_facts import Read
from everlog.sources.typed_columns import typed_columns
from everlog.spark.handover import to_arrow, to_spark
from everlog.spark.metrics import Rounds
from everlog.store.commit import Writing
from everlog.store.publishing.fact_files import FactFiles, FiledFacts, TermFiles
from everlog.store.term_dictionary import FEW


class SparkBackend(Backend[FactSet, SparkListed, FactSet]):
    """A Spark engine and its dictionary; `scratch` gives places for files, if rounds end in some."""

    name = "spark"
    policy = Policy(
        counts_on_demand=False,
        tries_rules_before_chains=False,
        decomposed_from=Worth(cheaper=4.0, much=5_000_000.0),  # nodes take jobs of their own
    )

    def __init__(self, spark: SparkSession, terms: SparkTerms, scratch: Callable[[], Path]) -> None:
        self.spark, self.terms = spark, terms
        cut: CutName = "local_checkpoint"
        if not str(spark.conf.get("spark.master", "local")).startswith("local"):
            cut = "parquet"  # so that the death of an executor does no harm
        files = str(scratch()) if cut == "parquet" else None
        self._engine = SparkEngine(
            spark,
            lambda: terms.frame,
            terms.encode_texts,
            cut,
            files,
            encode_texts=terms.encode_frame,
            texts_of=terms.texts_of,
            near_twins=terms.near_twins,
        )
        self.saved: tuple[FactSet, FactSet] = (self._engine.empty(), self._engine.empty())
        """`E` and `I ∖ E` as they were opened or saved last."""
        self.stored: KeptSnapshot | None = None
        """What was kept then; None if it was not asked for yet."""
        self._hidden: WeakKeyDictionary[FactSet, FactSet] = WeakKeyDictionary()
        """The hidden facts of sets that snapshots were made of: a save asks for one before and after it has written."""

    @property
    def engine(self) -> SparkEngine:
        return self._engine

    # ------------------------------------------------------------------------------------ rules

    def compiler(self) -> Compiler:
        return partial(SparkRules, self._engine)

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

    def literals(self, facts: FactSet, places: Collection[Place]) -> frozenset[Place]:
        return literal_columns(self._engine, facts, places)

    def measured(self, progress: Progress) -> Measured:
        return _Jobs(self, progress)

    # ------------------------------------------------------------------------------------ facts in

    def encoded(self, columns: Mapping[str, Columns], read: Read | None = None, add: bool = True) -> list[FactSet]:
        dictionary = Dictionary()
        here = [(predicate, _numbered(given, dictionary)) for predicate, given in columns.items()]
        if read is None or self._takes(read):
            for predicate, block in () if read is None else read.blocks():
                places = dictionary.encode_ntriples(block.texts)
                here.append((predicate, places[block.numbers] if len(block.numbers) else block.numbers))
            return [self._looked_up(here, dictionary, add)]
        found = [self._looked_up(here, dictionary, add)]
        if not add:
            return [*found, self._engine.facts(self.terms.dictionary.find(read))]
        encoded = self.terms.encode(read)
        found.append(self._engine.facts(encoded.facts, expected=sum(read.sizes.values())))
        encoded.release()
        return found

    def _takes(self, read: Read) -> bool:
        """Whether what was read is encoded in this process: it is little, or the driver would have it anyway."""
        size = sum(read.sizes.values())
        return size <= FEW or (self._engine.driver.takes(size) and self.terms.takes(read.terms[0]))

    def _looked_up(self, facts: Sequence[tuple[str, Ids]], dictionary: Dictionary, add: bool) -> FactSet:
        """Facts in this process, as ids of a dictionary, as a set; all terms are looked up at once."""
        used = np.zeros(len(dictionary), np.bool_)
        for _, numbers in facts:
            used[numbers] = True
        ids = self.terms.ids_of(dictionary, np.flatnonzero(used).astype(np.int32), add)
        pieces: dict[str, list[NDArray[np.int64]]] = {}
        for predicate, numbers in facts:
            rows = ids[numbers] if len(ids) else numbers.astype(np.int64)
            pieces.setdefault(predicate, []).append(rows if add else rows[:, (rows >= 0).all(axis=0)])
        found = {name: some[0] if len(some) == 1 else np.concatenate(some, axis=1) for name, some in pieces.items()}
        size = sum(rows.shape[1] for rows in found.values())
        if sum(rows.size for rows in found.values()) <= tuning.LISTED_IDS or self._engine.driver.takes(size):
            return self._engine.columns(found)
        tables = {
            predicate: pa.table(
                {f"a{place}": column for place, column in enumerate(rows)} or {"present": [True] * rows.shape[1]}
            )
            for predicate, rows in found.items()
        }
        frames = {name: to_spark(self.spark, table) for name, table in tables.items()}
        return self._engine.facts(frames, expected=size)

    def entered(self, batches: Sequence[FactSet], excluding: FactSet | None = None) -> FactSet:
        nothing: FactSet = self._engine.empty()
        found = reduce(FactSet.plus, batches, nothing)
        return found if excluding is None else found.minus(excluding)

    def present(self, batches: Sequence[FactSet]) -> FactSet:
        return self.entered(batches)

    def predicates(self, batches: Sequence[FactSet]) -> frozenset[str]:
        return frozenset(self.arities())

    def fresh(self) -> SparkBackend:
        return self

    def taken(self, facts: FactSet, other: Backend[FactSet, SparkListed, FactSet], new: bool = True) -> FactSet:
        return computed(facts)

    # ------------------------------------------------------------------------------------ facts out

    def arities(self) -> dict[str, int]:
        relations = self._engine.relations().items()
        return {name: arity for name, (_, arity) in relations if not name.startswith(HIDDEN)}

    def counts(self, facts: FactSet) -> dict[str, int]:
        return {name: n for name, n in sorted(self._engine.counts(facts).items()) if not name.startswith(HIDDEN)}

    def count(self, facts: FactSet) -> int:
        hidden = any(predicate.startswith(HIDDEN) for predicate in self._engine.relations())
        return sum(self.counts(facts).values()) if hidden else len(facts)

    def listed(self, facts: FactSet, predicate: str, arity: int) -> SparkListed:
        return self._engine.facts_of(facts, predicate, arity)

    def size(self, listed: SparkListed) -> int:
        return listed.size

    def first(self, listed: SparkListed, number: int, after: int | None = None) -> SparkListed:
        return listed.first(number, after)

    def few(self, number: Callable[[], int]) -> bool:
        return number() <= FEW

    def table(self, listed: SparkListed, arity: int, few: bool = True) -> pa.Table:
        """Each column has the type that all of its values share."""
        if not arity:
            return pa.Table.from_struct_array(pa.array([{}] * listed.first(1, None).size, pa.struct([])))
        dictionary, columns = self._fetched(listed, arity, few)
        decoded = [dictionary.decode_field(f"a{place}", ids) for place, ids in enumerate(columns)]
        return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))

    def rows(self, listed: SparkListed, arity: int, few: bool = True) -> list[tuple[Value, ...]]:
        if not arity:
            return [()] * listed.first(1, None).size
        dictionary, columns = self._fetched(listed, arity, few)
        return list(zip(*map(dictionary.values, columns), strict=True))

    def _fetched(
        self, listed: SparkListed, arity: int, few: bool, dictionary: Dictionary | None = None
    ) -> tuple[Dictionary, list[NDArray[np.int32]]]:
        """The columns of facts in this process, as ids of a dictionary that has their values, else of some other."""
        if listed.rows is not None:
            return self.terms.decoded(listed.rows, dictionary)
        schema = pa.schema([(name, pa.large_string()) for name in fact_schema.arguments(arity)])
        texts = to_arrow(self.terms.texts(listed.frame), schema, few)
        dictionary = Dictionary() if dictionary is None else dictionary
        return dictionary, [dictionary.encode_ntriples(texts.column(name)) for name in schema.names]

    def texts(self, listed: SparkListed, spark: Callable[[], SparkSession]) -> DataFrame:
        return self.terms.texts(listed.frame, stored=True)

    def filed(self, listed: Mapping[str, tuple[SparkListed, int]], folder: Path) -> FiledFacts:
        files = {
            predicate: FactFiles.of_frame(facts.frame, arity, folder / f"facts-{number}")
            for number, (predicate, (facts, arity)) in enumerate(listed.items())
        }
        return FiledFacts(files, TermFiles(tuple(self.terms.all_files()), self.terms.size))

    def dataframe(self, listed: SparkListed, arity: int, spark: Callable[[], SparkSession]) -> DataFrame:
        return typed_columns(self.terms.texts(listed.frame))

    @contextmanager
    def scratch(self) -> Iterator[SparkBackend]:
        with self._engine.scratch(without=HIDDEN):
            yield self

    def query_dictionary(self) -> tuple[Dictionary, bool]:
        return Dictionary(), True

    def batch(self, predicate: str, ids: NDArray[np.int32], dictionary: Dictionary) -> FactSet:
        column = Column(predicate, 0, dictionary.values(ids))
        (found,) = self.encoded({predicate: Columns((column,), len(ids))})
        return found

    def columns(self, listed: SparkListed, arity: int, dictionary: Dictionary) -> NDArray[np.int32]:
        _, columns = self._fetched(listed, arity, True, dictionary)
        return np.array(columns, np.int32).reshape(arity, -1)

    def matches(
        self, asked: Matching, dictionary: Dictionary, names: Names[FactSet, SparkListed, FactSet] | None = None
    ) -> Matched:
        """Matches are found by Spark and fetched, so that they have to fit into this process."""
        with self.scratch():
            return self._fetched_matches(asked, dictionary, names)

    def _fetched_matches(
        self, asked: Matching, dictionary: Dictionary, names: Names[FactSet, SparkListed, FactSet] | None
    ) -> Matched:
        arity = len(asked.variables)
        answer, found = self._matching(asked, names)
        number = len(found)
        asked.check(number)
        if names is not None:
            rows = names.answers(self, found, answer.predicate, asked.variables, asked.atoms, asked.E)
            asked.check(len(rows))
            columns = [dictionary.encode_values(column) for column in zip(*rows, strict=True)] if rows else []
            return len(rows), np.array(columns, np.int32).reshape(arity, len(rows) if arity else 0)
        if not arity:
            return number, np.empty((0, number), np.int32)
        _, columns = self._fetched(self.listed(found, answer.predicate, arity), arity, number <= FEW, dictionary)
        return number, np.array(columns, np.int32).reshape(arity, -1)

    def _matching(
        self, asked: Matching, names: Names[FactSet, SparkListed, FactSet] | None = None
    ) -> tuple[Atom, FactSet]:
        """The matches of some atoms as facts, and what their atom is."""
        answer = Atom(f"{HIDDEN}answer", tuple(asked.variables))
        atoms = [names.literal(atom) if names is not None else atom for atom in asked.atoms]
        literals = [Labelled(atom, asked.I) for atom in atoms if isinstance(atom, Atom)]
        return answer, self.matcher().match(literals).facts(answer)

    def listed_matches(
        self, asked: Matching, names: Names[FactSet, SparkListed, FactSet] | None = None
    ) -> tuple[int, SparkListed]:
        with self.scratch():
            answer, found = self._matching(asked, names)
            if names is None:
                return len(found), self.listed(found, answer.predicate, len(asked.variables))
            assert isinstance(names, SparkNames)
            listed = names.listed_answers(found, answer.predicate, asked.variables, asked.atoms, asked.E)
            number = len(found)
            return number if number > tuning.FETCHED_MATCHES else listed.size, listed

    def clashes(self, I: FactSet) -> list[str]:
        return clashes(self._engine, self.terms, I)

    # ------------------------------------------------------------------------------------ what changes

    def part(self, facts: FactSet) -> FactSet:
        return facts

    def sizes(self, part: FactSet) -> dict[str, int]:
        return self.counts(part)

    def part_size(self, part: FactSet) -> int:
        return self.count(part)

    def part_listed(self, part: FactSet, predicate: str, arity: int) -> SparkListed:
        return self.listed(part, predicate, arity)

    def compared(
        self, then: SparkWorld, now: SparkWorld, deleted: Sequence[FactSet], added: Sequence[FactSet]
    ) -> Difference[FactSet]:
        if now.names is not None:
            nothing = self._engine.empty()
            return now.names.changed(then, now, nothing, nothing, nothing, nothing)
        E, I, F, J = then.E, then.I, now.E, now.I
        changes = ((F, E), (E, F), (J, I), (I, J), (J - F, I - E), (I - E, J - F))
        return Difference(*(more.minus(less) for more, less in changes))

    # ------------------------------------------------------------------------------------ what is kept, and equality

    def kept(self, state: KeptState) -> Mapping[str, SparkListed]:
        kinds = frozenset(kind for kind, _, _ in state.annotations)
        frames = kept_relations.apart(self._engine, state, kinds | {HIDDEN_FACTS, BACKBONE})
        return {name: SparkListed.of(frame) for name, frame in frames.items()}

    def kept_change(
        self,
        state: KeptState,
        sets: Difference[FactSet] | None,
        kinds: frozenset[str],
        names: tuple[Names[FactSet, SparkListed, FactSet], Names[FactSet, SparkListed, FactSet]] | None = None,
        once: bool = True,
    ) -> tuple[Changes, Changes] | None:
        if self.stored is None:
            return None
        now = self._snapshot(state, None if names is None else names[1])
        return changes(self._engine, self.stored, now, kinds)

    def note_stored(self, state: KeptState, names: Names[FactSet, SparkListed, FactSet] | None = None) -> None:
        self.stored = self._snapshot(state, names)

    def _snapshot(self, state: KeptState, names: Names[FactSet, SparkListed, FactSet] | None) -> KeptSnapshot:
        """What is kept now."""
        if state.I not in self._hidden:
            self._hidden[state.I] = hidden_facts(self._engine, state.I)
        return snapshot(state, self._hidden[state.I], represented(names))

    def recovered(self, kept: Mapping[str, SparkListed], kinds: frozenset[str], I: FactSet) -> Recovered:
        return kept_relations.recovered(self._engine, {name: one.frame for name, one in kept.items()}, kinds, I)

    def shelf(self, writer: Writing) -> SparkShelf:
        return SparkShelf(self, writer)

    def encode_values(self, values: Sequence[Value]) -> list[int]:
        return self.terms.encode_values(values)

    def savepoint(self) -> Callable[[], None]:
        before, undo_terms = (self.saved, self.stored), self.terms.savepoint()

        def undo() -> None:
            self.saved, self.stored = before
            undo_terms()

        return undo

    def names(self, classes: Classes | None = None) -> SparkNames:
        return SparkNames(self, SparkClasses(self._engine, self.terms.values_of) if classes is None else classes)


class _Jobs(Measured):
    """Spark's jobs by round, and how often the driver did their work."""

    def __init__(self, backend: SparkBackend, progress: Progress) -> None:
        self._backend, self._before = backend, backend.engine.driver_applications
        self._rounds = Rounds(progress)
        self.progress = self._rounds

    def spark(self) -> dict[str, Any]:
        on_driver = self._backend.engine.driver_applications - self._before
        return {**self._rounds.summary(self._backend.spark), "on_driver": on_driver}


def _numbered(facts: Columns, dictionary: Dictionary) -> Ids:
    """Facts in this process as ids of a dictionary, a row for each argument."""
    numbers = [column.encoded(dictionary) for column in facts.columns]
    return np.array(numbers, np.int32).reshape(len(numbers), facts.height)
