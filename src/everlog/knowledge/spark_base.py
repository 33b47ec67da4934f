"""The knowledge base with its doors to Spark: `load`, `save`, `dataframe`, `create_views`, `open`, and the Spark engine.

Reasoning in memory needs no Spark; a session is started (or found) when one of these is first used.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from everlog import interrupts
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.errors import ArityMistake, EverlogError
from everlog.knowledge.engine_choice import (
    Engine,
    budget_bytes,
    choose_engine,
    engine_of,
    needed_by_facts,
    needed_by_frames,
)
from everlog.knowledge.memory_base import Batch, Progress, State, Which, guarded
from everlog.knowledge.memory_base import KnowledgeBase as MemoryKnowledgeBase
from everlog.knowledge.report import Report
from everlog.spark.cancelling import Home, cancellable
from everlog.spark.failures import spark_failures
from everlog.store.versions import Store

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.facts.table import Ids
    from everlog.knowledge.spark_state import SparkState
    from everlog.knowledge.state import MemoryState
    from everlog.sources.read_facts import Read
    from everlog.store.manifest import Manifest


class KnowledgeBase(MemoryKnowledgeBase):
    """Facts and rules, and everything that follows from them.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase(everlog.parse_program("reach(?x, ?y) :- edge(?x, ?y) ."))
    >>> kb.add({"edge": [("a", "b")]})
    >>> report = kb.materialise()
    >>> kb.rows("reach")
    [('a', 'b')]
    """

    def __init__(
        self,
        program: Program,
        *,
        spark: SparkSession | None = None,
        scratch: str | Path | None = None,
        memory: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(program, **options)
        budget_bytes(memory)  # refuses what is no size
        self._budget = memory
        """What the memory engine may use if the engine is to be chosen, such as `4g`."""
        self._chosen = Engine("memory")
        self._spark, self._home = spark, Home()
        """The session, and the process that it belongs to."""
        self._scratch = None if scratch is None else Path(scratch).absolute()
        """Where the Spark engine puts files; on a cluster, a folder that all executors see."""
        self._options = {name: getattr(self._settings, name, value) for name, value in options.items()}
        """The options that were given, in the form that a store keeps; threads are this machine's business."""
        self._options.pop("workers", None)
        self._stored: tuple[Path, Manifest] | None = None
        """The store, and its version, that this knowledge base was opened from or saved to last."""

    @property
    def spark(self) -> SparkSession:
        """The Spark session in use; one is started if there is none."""
        if self._spark is None:
            from everlog.spark.session import start_session

            events = self._options.get("engine") == "spark"
            self._spark = interrupts.uncovered(partial(start_session, events=events))
            self._home = Home()
        self._home.check()
        return self._spark

    def _during(self, doing: str, changes: bool = False) -> AbstractContextManager[None]:
        chosen = self._options.get("engine") == "spark" if self._current is None else is_on_spark(self._current)
        if not chosen:
            return super()._during(doing, changes)
        return self._during_jobs(doing, changes)

    @contextmanager
    def _during_jobs(self, doing: str, changes: bool) -> Iterator[None]:
        """A block in which the Spark engine works; explicit facts change before what follows from them."""
        spark = self.spark
        with self._guarded.during(doing, changes, readable=False), self._jobs(spark, doing):
            yield

    @staticmethod
    @contextmanager
    def _jobs(spark: SparkSession, doing: str) -> Iterator[None]:
        """Jobs that an interrupt cancels, and whose failures are said in a line."""
        with cancellable(spark), spark_failures(doing):
            yield

    def _restore(self, state: State, arities: dict[str, int], materialised: bool) -> None:
        self._current, self._arities, self._materialised = state, arities, materialised

    def _new_state(self) -> State:
        return self._new_spark_state() if self._options.get("engine") == "spark" else super()._new_state()

    def _new_spark_state(self) -> SparkState:
        from everlog.engine.spark.terms import SparkTerms
        from everlog.knowledge.spark_equated import SparkEquatedState
        from everlog.knowledge.spark_state import SparkState

        files = Scratch(self._scratch)
        kind = SparkEquatedState if self._settings.equality == "rewrite" else SparkState
        return kind(self.spark, SparkTerms(self.spark, [], 0, files.folder), files.folder)

    def _choose_engine(self, frames: Mapping[str, DataFrame]) -> None:
        """Moves what is there to Spark if it would not fit into memory together with some facts in text form."""
        if self._options.get("engine", "auto") != "auto" or self._materialised or is_on_spark(self._state):
            return
        here = needed_by_facts((self.size(name, "explicit"), arity) for name, arity in self._arities.items())
        self._chosen = choose_engine("auto", here + needed_by_frames(self.spark, frames), self._budget)
        if self._chosen.name == "spark":
            given = {name: self.facts(name, "explicit") for name in self._arities if self.size(name, "explicit")}
            state = self._new_spark_state()
            state.insert(state.encoded(self._columns(given, dict(self._arities))))
            self._current = state

    def materialise(self, progress: Progress | None = None) -> Report:
        report = super().materialise(progress)
        return replace(report, reasons=[*self._chosen.reasons, *report.reasons])

    @property
    def _memory(self) -> MemoryState:
        """The state, where only the memory engine's will do."""
        from everlog.knowledge.state import MemoryState

        assert isinstance(self._state, MemoryState)
        return self._state

    # ------------------------------------------------------------------------------------ facts in

    @guarded("loading facts", changes=True)
    def load(self, path: str | os.PathLike[str], *, on_error: Literal["fail", "skip"] = "fail") -> None:
        """Adds the facts of a file or folder, read by Spark."""
        from everlog.sources.read_facts import read_paths

        with self._jobs(self.spark, f"loading {path}"):
            self.load_read(read_paths(self.spark, [path], on_error=on_error, arities=self._arities))

    @guarded("loading facts", changes=True)
    def load_read(self, read: Read) -> None:
        """Adds facts that Spark has read."""
        with self._jobs(self.spark, "loading facts"):
            try:
                self._choose_engine(read.facts)
                if is_on_spark(self._state):
                    arities = dict(self._arities)
                    check_arities(read.facts, arities)
                    self._add(self._state.encoded(read.facts), arities)
                else:
                    self.add({predicate: _texts(frame) for predicate, frame in read.facts.items()})
            finally:
                read.release()

    def _encoded(self, facts: Mapping[str, Any], arities: dict[str, int]) -> list[Batch]:
        if not isinstance(facts, Mapping):
            return super()._encoded(facts, arities)
        from everlog.sources.read_facts import facts_from_dataframe

        frames = {
            predicate: facts_from_dataframe(given, predicate) for predicate, given in facts.items() if _is_frame(given)
        }
        if frames:
            with self._jobs(self.spark, "reading DataFrames"):
                self._choose_engine(frames)
                if not is_on_spark(self._state):
                    facts = {**facts, **{name: _texts(frame) for name, frame in frames.items()}}
        state = self._state
        if not is_on_spark(state):
            return super()._encoded(facts, arities)
        columns = self._columns({name: given for name, given in facts.items() if name not in frames}, arities)
        check_arities(frames, arities)
        return state.encoded({**columns, **frames})

    # ------------------------------------------------------------------------------------ facts out

    def arity(self, predicate: str) -> int:
        """The number of arguments of a predicate."""
        return self._arities[predicate]

    @guarded("reading facts")
    def text(self, predicate: str, which: Which = "all") -> DataFrame:
        """The facts of a predicate in text form: columns of N-Triples terms."""
        state, arity = self._state, self._arities.get(predicate, 0)
        if is_on_spark(state):
            return state.text(predicate, which, arity)
        return stored_frame(self.spark, state.engine.dictionary, self._memory.ids(predicate, which, arity))

    @guarded("reading facts")
    def dataframe(self, predicate: str, which: Which = "all") -> DataFrame:
        """The facts of a predicate as a Spark DataFrame with columns `a0`, `a1`, …, typed as `facts` types them.

        A column of mixed kinds is text in N-Triples form, marked so in its metadata. A nullary predicate has the column
        `present`.
        """
        if not self._arities.get(predicate, 0):
            return self.text(predicate, which)
        from everlog.engine.memory.dictionary import NTRIPLES_METADATA
        from everlog.sources.typed_columns import NTRIPLES, typed_columns
        from everlog.spark.handover import to_spark

        if is_on_spark(self._state):
            return typed_columns(self._state.terms.texts(self._state.ids(predicate, which, self._arities[predicate])))

        table = self.facts(predicate, which)
        frame = to_spark(self.spark, table)
        for field in table.schema:
            if field.metadata and NTRIPLES_METADATA.items() <= field.metadata.items():
                frame = frame.withMetadata(field.name, NTRIPLES)
        return frame

    @guarded("making views")
    def create_views(self, which: Which = "all") -> dict[str, str]:
        """Makes every predicate a temporary view of the Spark session; gives the views' names as SQL writes them.

        A view is named after its predicate, in backticks where the name is no SQL identifier: `` `two words` ``. SQL does
        not tell capitals from small letters, so predicates that differ in nothing else are refused.
        """
        names = {predicate: _sql_name(predicate) for predicate in self.predicates()}
        folded: dict[str, str] = {}
        for predicate in names:
            other = folded.setdefault(predicate.lower(), predicate)
            if other != predicate:
                raise EverlogError(
                    f"the predicates {other} and {predicate} would be one view, as SQL ignores case; use dataframe()"
                )
        for predicate, name in names.items():
            self.dataframe(predicate, which).createOrReplaceTempView(name)
        return names

    # ------------------------------------------------------------------------------------ stores

    @guarded("saving", changes=True)
    def save(self, path: str | Path) -> int:
        """Writes a new store, or a new version of one, and gives the version's number.

        Only what changed is written if this knowledge base was opened from that store or saved to it last; if the store
        has got a newer version since, that is an error, as saving would undo it. Over a store that it has nothing to do
        with a knowledge base is written whole, as the next version. A store calls blank nodes `_:everlog<id>`, whatever
        their labels are here.
        """
        from everlog.knowledge.saving import save

        if not self._materialised:
            self.materialise()
        elif self._pending:
            self.update()
        with cancellable(self.spark):
            return save(self, Path(path).absolute())


def open_store(
    path: str | Path,
    version: int | None = None,
    spark: SparkSession | None = None,
    workers: int | None = None,
    engine: str | None = None,
    memory: str | None = None,
) -> KnowledgeBase:
    """The knowledge base in a store, as of a version or as it is now. Nothing is derived again.

    The engine is the store's unless another one is asked for.
    """
    from everlog.knowledge.loading import load_state
    from everlog.knowledge.spark_store import load_spark_state

    store = Store.open(path, version)
    manifest = store.manifest
    kb = KnowledgeBase(parse_program(manifest.program), spark=spark, workers=workers, memory=memory, **manifest.options)
    kb._chosen = engine_of(store.path, manifest, engine, memory)
    state: State
    if kb._chosen.name == "spark":
        files = Scratch(None)
        with spark_failures(f"opening the store {path}"):
            state = load_spark_state(kb.spark, store.path, manifest, files.folder, files.folder)
    else:
        state = load_state(store.path, manifest, workers)
    kb._restore(state, dict(manifest.arities), materialised=True)
    kb._stored = store.path, manifest
    return kb


def stored_frame(spark: SparkSession, dictionary: Dictionary, ids: Ids) -> DataFrame:
    """Facts of the memory engine as a DataFrame in text form, with the names that stores have for blank nodes."""
    import pyarrow as pa

    from everlog.spark.handover import to_spark
    from everlog.store.sections import stored_terms

    if not ids.shape[0]:
        return to_spark(spark, pa.table({"present": pa.array([True] * ids.shape[1], pa.bool_())}))
    columns = {f"a{place}": stored_terms(dictionary, column) for place, column in enumerate(ids)}
    return to_spark(spark, pa.table(columns))


class Scratch:
    """Folders for files that are needed as long as somebody refers to this."""

    def __init__(self, place: Path | None) -> None:
        import tempfile

        if place is not None:
            place.mkdir(parents=True, exist_ok=True)
        self._path = Path(tempfile.mkdtemp(prefix="everlog-", dir=place))
        self._count = 0
        weakref.finalize(self, shutil.rmtree, self._path, ignore_errors=True)

    def folder(self) -> Path:
        """A new place in it."""
        self._count += 1
        return self._path / str(self._count)


def is_on_spark(state: State) -> TypeGuard[SparkState]:
    """Whether a state is the Spark engine's."""
    from everlog.knowledge.spark_state import SparkState

    return isinstance(state, SparkState)


def check_arities(frames: Mapping[str, DataFrame], arities: dict[str, int]) -> None:
    """Facts must agree with what is known about their predicates, which `arities` learns about."""
    for predicate, frame in frames.items():
        arity = 0 if frame.columns == ["present"] else len(frame.columns)
        if arities.setdefault(predicate, arity) != arity:
            raise ArityMistake(f"{predicate} has {arities[predicate]} arguments, but the facts given have {arity}")


def _is_frame(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "pyspark"


def _texts(frame: DataFrame) -> Any:
    """Facts in text form as an Arrow table of N-Triples terms; of a nullary predicate, as rows."""
    import pyarrow as pa

    from everlog.engine.memory.dictionary import NTRIPLES_METADATA
    from everlog.spark.handover import to_arrow
    from everlog.store.term_dictionary import FEW

    if frame.columns == ["present"]:
        return [()] if frame.take(1) else []
    schema = pa.schema([pa.field(name, pa.large_string()) for name in frame.columns])
    table = to_arrow(frame, schema, few=frame.limit(FEW + 1).count() <= FEW)
    return table.cast(pa.schema([field.with_metadata(NTRIPLES_METADATA) for field in schema]))


def _sql_name(predicate: str) -> str:
    if predicate.isascii() and predicate.isidentifier():
        return predicate
    return "`" + predicate.replace("`", "``") + "`"
