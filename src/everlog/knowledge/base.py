"""The knowledge base: a program, an engine and an algorithm tied together, with its doors to Spark and to stores.

Explicit facts wait until `materialise`; afterwards what `add` brings waits for the next `update`. Everything that can be
wrong with a user's facts is found before anything is stored, and an update works beside the old state until it is done,
so that a failure leaves the knowledge base as it was. Reasoning in memory needs no Spark; a session is started (or found)
when something that needs it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from functools import cache, partial, wraps
from html import escape
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec, TypeAlias, TypeVar
from warnings import warn

from everlog import interrupts
from everlog.datalog.arities import program_arities
from everlog.datalog.constraints import violation_patterns
from everlog.datalog.prefixes import with_prefixes
from everlog.datalog.program_changes import changed_program
from everlog.datalog.reader import parse_goal, parse_program
from everlog.datalog.suspicions import (
    did_you_mean,
    goal_suspicions,
    not_mentioned,
    nothing_to_delete,
    suspicions,
)
from everlog.datalog.syntax import HIDDEN, TRIPLE, Atom, Constant, Program, Rule, parts
from everlog.datalog.values import Value
from everlog.engine.backend import Batch, Progress, Which
from everlog.errors import ArityMistake, EverlogError
from everlog.garbage import few_collections
from everlog.knowledge.answer_rows import Answers
from everlog.knowledge.engine_choice import Engine, budget_bytes, choose_engine, needed_by_facts, needed_by_read
from everlog.knowledge.goals import WORTH_SORTING, answer_variables, in_order
from everlog.knowledge.progress_display import telling
from everlog.knowledge.questions import answers, found_beside
from everlog.knowledge.refusals import Enforcement, described, guard
from everlog.knowledge.report import Report
from everlog.knowledge.request import Request
from everlog.knowledge.rule_profile import Profile
from everlog.knowledge.saved_kinds import BY_TERM, BY_TEXT, OLDER, chooses, compares
from everlog.knowledge.settings import Settings
from everlog.planning.equality_rules import refuse_equalities, telling_apart, with_same_as
from everlog.planning.modules.module_rules import kinds_of
from everlog.rdf.owl.axiom_triples import idle_axioms
from everlog.reasoning.algorithms import needed
from everlog.sources.column_mapping import mappings
from everlog.sources.column_names import columns_of_width, known_names, names_of
from everlog.sources.fact_columns import Columns, columns_of
from everlog.sources.given_files import ELSEWHERE, PROGRAM, known_files
from everlog.sources.null_policy import Nulls, check_nulls, left_out
from everlog.sources.source_files import check_there
from everlog.spark.cancelling import Home, cancellable
from everlog.spark.failures import spark_failures
from everlog.spark.workers import prepare_workers
from everlog.store.local_place import local_place
from everlog.wording import counted

if TYPE_CHECKING:
    import os

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from everlog.explaining.explanation import Explanation
    from everlog.knowledge.explained import ProofFacts
    from everlog.knowledge.reasoner import Reasoner
    from everlog.knowledge.sparql_answers import SparqlAnswer
    from everlog.rdf.shacl.validation_report import ValidationReport
    from everlog.sources.read_facts import Read
    from everlog.store.held_versions import Hold
    from everlog.store.manifest import Manifest
    from everlog.store.publishing.fact_files import FiledFacts

_OLDER: Final = "everything was computed anew, since an earlier Everlog has stored what is kept for updates"

P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound="KnowledgeBase")

AnyReasoner: TypeAlias = "Reasoner[Any, Any, Any]"


def _beyond(what: str, option: str) -> EverlogError:
    return EverlogError(
        f"there was no end after {what} ({option}), and everything is as before: a rule that makes values out of those "
        f"that it has made needs a condition, such as FILTER(?x < 100); or allow more by {option}"
    )


def guarded(
    doing: str, changes: bool = False
) -> Callable[[Callable[Concatenate[Self, P], R]], Callable[Concatenate[Self, P], R]]:
    """Makes a method one that a single thread is in at a time, and that no interrupt leaves half done.

    It `changes` the knowledge base, or reads it.
    """

    def decorated(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
        @wraps(method)
        def called(self: Self, /, *arguments: P.args, **options: P.kwargs) -> R:
            with self.during(doing, changes):
                return method(self, *arguments, **options)

        return called

    return decorated


@cache
def _answering() -> Callable[..., SparqlAnswer]:
    """What answers queries; to look for it in a module takes as long as a tenth of a small query."""
    from everlog.knowledge.sparql_answers import answered

    return answered


_OPTIONS = {
    "engine": ("auto", "memory", "spark"),
    "hypertree": ("auto", "cyclic", "off", "all"),
    "stratification": ("levels", "single"),
    "equality": ("off", "rewrite", "axioms"),
    "constraints": ("warn", "fail", "strict"),
}


class KnowledgeBase:
    """Facts and rules, and everything that follows from them.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase(everlog.parse_program("reach(?x, ?y) :- edge(?x, ?y) ."))
    >>> kb.add({"edge": [("a", "b")]})
    >>> report = kb.materialise()
    >>> kb.rows("reach")
    [('a', 'b')]

    One thread uses it at a time, and others wait. An interrupt (Ctrl-C) is a request: the work is given up where it can be
    undone, or, if its result counts already, `KeyboardInterrupt` is raised when it is done; the knowledge base is as before
    or as after it, and can be used. Only a second interrupt, after a second or more, ends the work wherever it is, and the
    knowledge base with it.
    """

    def __init__(
        self,
        program: Program | str,
        *,
        engine: Literal["auto", "memory", "spark"] = "auto",
        algorithm: str = "auto",
        modules: str | Sequence[str] = "auto",
        hypertree: Literal["auto", "cyclic", "off", "all"] = "auto",
        stratification: Literal["levels", "single"] = "levels",
        equality: Literal["off", "rewrite", "axioms"] = "off",
        checked: bool = False,
        max_rounds: int | None = None,
        max_facts: int | None = None,
        constraints: Enforcement = "warn",
        workers: int | None = None,
        memory: str | None = None,
        spark: SparkSession | None = None,
        scratch: str | Path | None = None,
    ) -> None:
        """Makes a knowledge base with the facts of a program; more come with `add` and `load`.

        Args:
            program: the text of rules and facts, or what `parse_program` or `ontology` returns.
            engine: where to reason: in this process (`memory`), on Spark (`spark`), or where the facts fit (`auto`).
            algorithm: how updates are made, and what is kept for them: `auto`; `dred`; `fbf`, perhaps with a strategy, as
                in `fbf:depth:3`; `bf`; with counts of derivations `dredc` and `bfc`; with a trace of them `counting`; or
                `remat`, which computes everything anew.
            modules: which kinds of rules are closed as a whole instead of rule by rule: `auto` (where it pays), `off`, or
                kinds such as `["tc", "stc"]`, or `"tc,stc"`, used wherever they are found.
            hypertree: which rule bodies are decomposed before they are joined: `auto` (where it pays), `cyclic` (all that
                are cyclic), `all`, or `off`.
            stratification: whether strata are as small as they can be (`levels`) or one for all rules without negation
                between them (`single`).
            equality: what owl:sameAs and `=` in rule heads mean: `off` (nothing), `rewrite` (equal names are replaced by
                one of them) or `axioms` (rules for equality are added).
            checked: whether every call of a module is checked against the bounds that it has to keep, which takes long.
            max_rounds: after how many rounds of a stratum, or of an update, it is given up, with everything as before; for
                rules that make new values and might not end.
            max_facts: after how many derived facts it is given up.
            constraints: what becomes of rules that must not fire (`violation(…)`, or no head at all) and do: a warning
                (`warn`); a refusal of what adds violations, with everything as before (`fail`); or also of updates that
                leave old violations as they are (`strict`).
            workers: how many threads the memory engine may use; by default as many as there are processors.
            memory: with `engine="auto"`, what reasoning in this process may use, such as `4g`; by default half of the
                machine's memory.
            spark: the Spark session to use, if one is needed; by default one is found or started.
            scratch: where the Spark engine puts files; on a cluster, a folder that all executors see.
        """
        _check("engine", engine)
        needed(algorithm)  # refuses what is none
        chosen = kinds_of(modules)
        _check("hypertree", hypertree)
        _check("stratification", stratification)
        _check("equality", equality)
        _check("constraints", constraints)
        for name, most in (("max_rounds", max_rounds), ("max_facts", max_facts)):
            if most is not None and most < 1:
                raise EverlogError(f"{name} is at least 1, not {most}")
        program = _read_program(program)
        budget_bytes(memory)  # refuses what is no size
        if equality == "off":
            refuse_equalities(program)
        else:
            program = with_same_as(program)
        self.program = program
        self.settings = Settings(
            stratification, algorithm, chosen, hypertree, equality, checked, max_rounds, max_facts, constraints
        )
        """How the program is evaluated."""
        self.arities = program_arities(program)
        """How many arguments the predicates have that the program or facts mention."""
        for predicate in self.arities:
            _check_name(predicate)
        self.column_names: dict[str, tuple[str, ...]] = {}
        """The names of the arguments of predicates whose facts came from tables with names."""
        self.given_files = known_files({}, {fact.predicate: [PROGRAM] for fact in program.facts})
        """The files that the explicit facts of predicates came from, as far as that is known."""
        self.stored: tuple[Path, Manifest] | None = None
        """The store, and its version, that this knowledge base was opened from or saved to last."""
        self.known_stores: dict[Path, Manifest] = {}
        """The stores that this knowledge base was opened from or saved to, as of that time."""
        self.holding: Hold | None = None
        """The version whose files this knowledge base may still read."""
        self._engine, self._workers, self._memory = engine, workers, memory
        self._spark, self._home = spark, Home()
        """The session, and the process that it belongs to."""
        self._scratch = None if scratch is None else local_place(scratch, "the folder scratch")
        self._choice = Engine("spark" if engine == "spark" else "memory")
        """Where to reason, and why."""
        self._reasoner: AnyReasoner | None = None
        self._pending: list[Any] = []
        self._given = {fact.predicate for fact in program.facts}
        """The predicates that facts were given of."""
        self._remarks: list[str] = []
        self._materialised = False
        self._constraints: tuple[tuple[Rule, ...], tuple[Atom, ...]] | None = None
        self._violated: list[str] | None = None
        """What the facts contradict, once it was looked for."""
        self._profile: Profile | None = None
        self._proof_facts: ProofFacts | None = None
        self._guarded = interrupts.Guarded("knowledge base")

    def __repr__(self) -> str:
        state = f"materialised on {self._choice.name}" if self._choice.name == "spark" else "materialised in memory"
        what = f"{counted(len(self.program.rules), 'rule')}, {counted(len(self.arities), 'predicate')}"
        return f"<KnowledgeBase: {what}, {state if self._materialised else 'not materialised yet'}>"

    def _repr_html_(self) -> str:
        """A notebook shows the predicates; nothing is counted for that."""
        rows = (f"<tr><td>{escape(name)}</td><td>{self.arities[name]}</td></tr>" for name in self.predicates())
        heads = "<tr><th>predicate</th><th>arguments</th></tr>"
        return f"<p>{escape(repr(self))}</p><table>{heads}{''.join(rows)}</table>"

    @property
    def options(self) -> dict[str, Any]:
        """The options that a store keeps: how, and where, the program is evaluated."""
        settings = asdict(self.settings).items()
        return {"engine": self._engine, **{name: value for name, value in settings if value is not None}}

    @property
    def spark(self) -> SparkSession:
        """The Spark session in use; one is started if there is none."""
        if self._spark is None:
            from everlog.spark.session import start_session

            self._spark = interrupts.uncovered(partial(start_session, events=self._engine == "spark"))
            self._home = Home()
        self._home.check()
        prepare_workers(self._spark)
        return self._spark

    # ------------------------------------------------------------------------------------ one thing at a time

    def during(self, doing: str, changes: bool = False) -> AbstractContextManager[None]:
        """A block in which nothing else happens to the knowledge base (`interrupts.py`)."""
        if self._choice.name == "spark":
            return self._during_jobs(doing, changes)
        # Where constants are rewritten, classes and facts change one after the other.
        guarded = self._guarded.during(doing, changes, readable=self.settings.equality != "rewrite")
        return self._during_changes(guarded) if changes else guarded

    @staticmethod
    @contextmanager
    def _during_changes(guarded: AbstractContextManager[None]) -> Iterator[None]:
        with guarded, few_collections():
            yield

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

    def _told(self, progress: Progress | None) -> Progress:
        """Between rounds an update can be given up, and somebody may want to know about it."""
        settings, found = self.settings, 0

        def told(stratum: int, number: int, new: int) -> None:
            nonlocal found
            interrupts.look()
            found += new
            if settings.max_rounds is not None and number > settings.max_rounds:
                raise _beyond(counted(settings.max_rounds, "round"), "max_rounds")
            if settings.max_facts is not None and found > settings.max_facts:
                raise _beyond(f"{settings.max_facts:,} new facts", "max_facts")
            if progress is not None:
                self._guarded.call(progress, stratum, number, new)

        return told

    # ------------------------------------------------------------------------------------ the reasoner

    @property
    def reasoner(self) -> AnyReasoner:
        """The facts in an engine, and what follows from them."""
        if self._reasoner is None:
            self.begin(self._new_reasoner(), self._choice)
        assert self._reasoner is not None
        return self._reasoner

    def begin(self, reasoner: AnyReasoner, choice: Engine) -> None:
        """Takes an engine without facts, which was chosen for some reasons, and gives it those of the program."""
        reasoner.insert(reasoner.backend.encoded(self._columns(_rows(self.program.facts), self.arities)))
        self._reasoner, self._choice = reasoner, choice

    def _new_reasoner(self) -> AnyReasoner:
        from everlog.knowledge.reasoners import new_reasoner

        spark = (lambda: self.spark) if self._choice.name == "spark" else None
        return new_reasoner(self.settings.equality, self._workers, spark, self._scratch)

    def restore(self, reasoner: AnyReasoner, arities: Mapping[str, int], choice: Engine) -> None:
        """Takes over what is materialised in a store, by an engine that was chosen for some reasons."""
        reasoner.complete(self.program, self.settings)
        self._reasoner, self.arities, self._choice = reasoner, dict(arities), choice
        self._materialised = True

    def _choose_engine(self, read: Read) -> None:
        """Moves what is there to Spark if it would not fit into memory together with what was read."""
        if self._engine != "auto" or self._materialised or self._choice.name == "spark":
            return
        here = needed_by_facts((self.size(name, "explicit"), arity) for name, arity in self.arities.items())
        choice = choose_engine("auto", here + needed_by_read(read), self._memory)
        if choice.name == "spark":
            given = {name: self.facts(name, "explicit") for name in self.arities if self.size(name, "explicit")}
            self._choice, before = choice, self._choice
            try:
                reasoner = self._new_reasoner()
                reasoner.insert(reasoner.backend.encoded(self._columns(given, dict(self.arities))))
            except BaseException:
                self._choice = before
                raise
            self._reasoner = reasoner
        self._choice = choice

    # ------------------------------------------------------------------------------------ facts in

    @guarded("adding facts", changes=True)
    def add(self, facts: Mapping[str, Any], *, nulls: Nulls = "error") -> None:
        """Adds explicit facts: per predicate rows (tuples), an Arrow table, or a pandas or Spark DataFrame.

        Before `materialise` they count at once, afterwards with the next `update`. A fact holds no nulls (None): a row with
        one is an error, or with `nulls="skip"` left out, counted by a warning of the next report; with `nulls="empty"` the
        empty string stands there.
        """
        arities, remarks = dict(self.arities), list[str]()
        self._add(self._encoded(facts, arities, nulls, remarks), arities)
        self._given.update(facts)
        self._remarks += remarks
        self._learn_about(facts)

    def _learn_about(self, facts: Mapping[str, Any]) -> None:
        """Facts that are no file's may have names of columns."""
        self.given_files = known_files(self.given_files, dict.fromkeys(facts, (ELSEWHERE,)))
        found = {predicate: names for predicate, given in facts.items() if (names := names_of(given)) is not None}
        self.column_names = known_names(self.column_names, found, self.arities)

    @guarded("loading facts", changes=True)
    def load(
        self,
        path: str | os.PathLike[str] | Mapping[str, str],
        *,
        on_error: Literal["fail", "skip"] = "fail",
        header: bool = False,
        nulls: Nulls = "error",
        partition_columns: bool = True,
        progress: bool = False,
    ) -> None:
        """Adds the facts of a file or folder, or of all that match a pattern (`data/*.nt`), read by Spark.

        A file `edge.csv` (or `.tsv`, `.facts`, `.parquet`, `.jsonl`, `.orc`), or a folder `edge` of parts, has facts of
        `edge`; RDF files have triples. The values of partitions (`edge/dt=2026-01-01/`) are last arguments, unless told
        otherwise. With
        `on_error="skip"` what is malformed is left out instead of being an error; with `header` the first line of a CSV
        or TSV file has names and is no fact. Instead of a path, tables may be given by predicate, with the columns that are
        its arguments: `{"edge": "orders.parquet:customer,product"}`, of Parquet, ORC, JSON lines or CSV with a header, or
        `{"edge": "table:db.orders:customer,product"}` of one that Spark's catalog knows by its name. `nulls` is as in
        `add`; an empty field of CSV is a null unless it is quoted. `progress=True` shows that it is at work, on a terminal
        or in a notebook.
        """
        from everlog.sources.read_facts import read_paths

        if not isinstance(path, Mapping):
            check_there(path)  # before Spark is started for nothing
        with telling(progress, f"loading {path}"), self._jobs(self.spark, f"loading {path}"):
            read = read_paths(
                self.spark,
                [] if isinstance(path, Mapping) else [path],
                tables=mappings(path) if isinstance(path, Mapping) else [],
                arities=self.arities,
                on_error=on_error,
                header=header,
                nulls=nulls,
                partition_columns=partition_columns,
            )
            self.load_read(read)

    @guarded("loading facts", changes=True)
    def load_read(self, read: Read) -> None:
        """Adds facts that Spark has read (`everlog.sources.read_facts.read_paths`), and releases them."""
        with self._jobs(self.spark, "loading facts"):
            try:
                arities = dict(self.arities)
                self._choose_engine(read)
                check_arities(read.arities, arities)
                self._add(self.reasoner.backend.encoded({}, read), arities)
                self.program = with_prefixes(self.program, read.prefixes)
                self._given.update(read.arities)
                self.column_names = known_names(self.column_names, read.names, self.arities)
                self.given_files = known_files(self.given_files, read.files)
                self._remarks += [*read.warnings, *idle_axioms(read.axioms, self.program)]
            finally:
                read.release()

    def _remarked(self) -> list[str]:
        """What reading facts warned of since the last report."""
        remarks, self._remarks = self._remarks, []
        return remarks

    def _add(self, batches: list[Batch], arities: dict[str, int]) -> None:
        if self._materialised:
            self._pending.extend(batches)
        else:
            self.reasoner.insert(batches)
        self.arities = arities

    def _encoded(
        self, facts: Mapping[str, Any], arities: dict[str, int], nulls: Nulls, remarks: list[str]
    ) -> list[Any]:
        """Facts as ids; `arities` learns about new predicates, `remarks` what there is to say. Nothing is stored."""
        check_nulls(nulls)
        if not isinstance(facts, Mapping):
            raise EverlogError(
                f"the facts are a {type(facts).__name__}; give them by predicate: {{'edge': [('a', 'b')]}}"
            )
        given = {predicate: one for predicate, one in facts.items() if _is_frame(one)}
        here = {predicate: one for predicate, one in facts.items() if predicate not in given}
        if not given:
            return self.reasoner.backend.encoded(interrupts.uncovered(self._columns, here, arities, nulls, remarks))
        from everlog.sources.read_facts import read_frames

        with self._jobs(self.spark, "reading DataFrames"):
            read = read_frames(self.spark, given, nulls)
            try:
                remarks += read.warnings
                self._choose_engine(read)
                columns = interrupts.uncovered(self._columns, here, arities, nulls, remarks)
                check_arities(read.arities, arities)
                return self.reasoner.backend.encoded(columns, read)
            finally:
                read.release()

    @staticmethod
    def _columns(
        facts: Mapping[str, Any], arities: dict[str, int], nulls: Nulls = "error", remarks: list[str] | None = None
    ) -> dict[str, Columns]:
        """Facts as columns; `arities` learns about new predicates, and `remarks` what was left out."""
        result = {}
        for predicate, given in facts.items():
            _check_name(predicate)
            columns = columns_of(predicate, given, 3 if predicate == TRIPLE else arities.get(predicate), nulls)
            if columns is not None:
                if columns.left_out and remarks is not None:
                    remarks.append(left_out(predicate, columns.left_out))
                arities[predicate] = columns.arity
                result[predicate] = columns
        return result

    # ------------------------------------------------------------------------------------ reasoning

    @guarded("materialising", changes=True)
    def materialise(self, progress: Progress | bool | None = None, *, profile: bool = False) -> Report:
        """Computes everything that follows from the explicit facts.

        `progress=True` shows strata and rounds, on a terminal or in a notebook; a function is called after each round with
        the stratum, the round in it, and how many facts are new. With `profile` rules are measured, and `profile()` tells
        what they took.
        """
        started = perf_counter()
        if self._materialised and profile and not self._pending:
            return self.update(algorithm="remat", progress=progress, profile=True)  # there is nothing else to measure
        if self._materialised:
            return self.update(progress=progress, profile=profile)
        with telling(progress, "materialising") as told:
            request = self._request([], [], None, told, started, profile)
            report = self.reasoner.materialise(request)
            if request.guard is not None:
                try:
                    request.guard.check_all(self.reasoner)
                except BaseException:
                    self.reasoner.forget()
                    raise
        self._materialised, self._violated, self._profile = True, None, report.profile
        suspected = suspicions(self.program, self._given, self.settings.equality != "off")
        return replace(
            report,
            warnings=[*self._remarked(), *suspected, *report.warnings, *self._violations()],
            reasons=[*self._choice.reasons, *report.reasons],
            spark=request.work.spark(),
        )

    @guarded("an update", changes=True)
    def update(
        self,
        add: Mapping[str, Any] | None = None,
        delete: Mapping[str, Any] | None = None,
        algorithm: str | None = None,
        progress: Progress | bool | None = None,
        *,
        nulls: Nulls = "error",
        profile: bool = False,
        add_rules: Program | str | None = None,
        delete_rules: Program | str | None = None,
        constraints: Enforcement | None = None,
    ) -> Report:
        """Adds and deletes explicit facts, and perhaps rules, and brings the materialisation up to date.

        A fact that is both added, here or by `add` before, and deleted is added. Deleting what is not explicit changes
        nothing. Rules come and go as `change_rules` says. The algorithm is that of the knowledge base unless another one
        is asked for: `auto`, `dred`, `fbf` (perhaps with a strategy), `bf`, `dredc`, `bfc`, `counting`, or `remat`. Those
        with counts need a knowledge base that keeps them; an algorithm that does not keep them right drops them, and
        `remat` brings them back. `nulls` is as in `add`; `progress` and `profile` are as in `materialise`, and
        `constraints` as in the knowledge base, which it is for this update; what they refuse is a `ConstraintsViolated`,
        and everything is as before.
        """
        started = perf_counter()
        if algorithm is not None:
            needed(algorithm)
        if constraints is not None:
            _check("constraints", constraints)
        if not self._materialised:
            raise EverlogError("there is no materialisation to update yet: call materialise() first")
        arities, remarks = dict(self.arities), list[str]()
        more, fewer = {} if add is None else add, {} if delete is None else delete
        program = self.program
        with telling(progress, "updating") as told:
            added = self._encoded(more, arities, nulls, remarks)
            deleted = self._encoded(fewer, dict(arities), nulls, remarks)
            if add_rules is not None or delete_rules is not None:
                program, come, gone = self.encoded_rules((add_rules, delete_rules), arities)
                added, deleted = [*added, *come], [*deleted, *gone]
            remarks += nothing_to_delete(fewer, self.arities)
            new = set(more) - set(self.arities)
            remarks += not_mentioned(program, new) if new else []
            report = self.update_encoded(
                added, deleted, arities, algorithm, told, started, remarks, profile, constraints, program
            )
        self._learn_about(more)
        return report

    @guarded("changing rules", changes=True)
    def change_rules(
        self,
        add: Program | str | None = None,
        delete: Program | str | None = None,
        algorithm: str | None = None,
        progress: Progress | bool | None = None,
    ) -> Report:
        """Adds rules to the program and deletes others, and brings the materialisation up to date.

        What an added rule derives comes, and what a deleted one derived, and nothing else proves, goes, by the algorithm
        that is used for facts. Facts of these programs are explicit facts that come and go. A rule to be deleted is named
        by its text; names of variables and the order of conditions do not matter. If it is not there, or the program as a
        whole is refused, everything is as before. `update` changes facts and rules at once.

        >>> import everlog
        >>> kb = everlog.KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) . edge(a, b) . edge(b, c) .")
        >>> report = kb.materialise()
        >>> report = kb.change_rules(add="reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
        >>> sorted(kb.rows("reach"))
        [('a', 'b'), ('a', 'c'), ('b', 'c')]
        >>> report = kb.change_rules(delete="reach(?a, ?c) :- edge(?b, ?c), reach(?a, ?b) .")
        >>> sorted(kb.rows("reach"))
        [('a', 'b'), ('b', 'c')]
        """
        return self.update(None, None, algorithm, progress, add_rules=add, delete_rules=delete)

    def encoded_rules(
        self, change: tuple[Program | str | None, Program | str | None], arities: dict[str, int]
    ) -> tuple[Program, list[Any], list[Any]]:
        """The program with rules added and others deleted, and the facts to be added and deleted with them.

        `arities` learns about new predicates. Nothing is changed.
        """
        more, fewer = map(_read_program, change)
        if self.settings.equality == "off":
            refuse_equalities(more)
        else:
            more, fewer = with_same_as(more), with_same_as(fewer)
        program = changed_program(self.program, more, fewer)
        for predicate in program_arities(more):
            _check_name(predicate)
        _learn_arities(more, arities)
        added, deleted = (self._encoded(_rows(one.facts), dict(arities), "error", []) for one in (more, fewer))
        return program, added, deleted

    def update_encoded(
        self,
        added: Sequence[Any],
        deleted: Sequence[Any],
        arities: dict[str, int],
        algorithm: str | None,
        progress: Progress | None,
        started: float,
        remarks: Sequence[str] = (),
        profile: bool = False,
        constraints: Enforcement | None = None,
        program: Program | None = None,
    ) -> Report:
        """An update with facts that are ids of the engine already; `arities` are those with the facts.

        `remarks` about what was given become warnings. The `program` may be another one from now on.
        """
        reasons, kinds, rules = [], self.reasoner.kept_kinds(), self.program.rules
        if OLDER in kinds or (BY_TERM in kinds and compares(rules)) or (BY_TEXT in kinds and chooses(rules)):
            algorithm, reasons = "remat", [_OLDER]
        request = self._request(
            [*self._pending, *added], deleted, algorithm, progress, started, profile, constraints, program
        )
        after, report = self.reasoner.updated(request)
        self._reasoner, self._pending, self.arities, self._violated = after, [], arities, None
        if program is not None:
            self.program = program
            self._given.update(fact.predicate for fact in program.facts)
        self._profile = report.profile
        return replace(
            report,
            warnings=[*self._remarked(), *remarks, *report.warnings, *self._violations()],
            reasons=[*reasons, *report.reasons],
            spark=request.work.spark(),
        )

    def _request(
        self,
        added: Sequence[Any],
        deleted: Sequence[Any],
        algorithm: str | None,
        progress: Progress | None,
        started: float,
        profile: bool,
        constraints: Enforcement | None = None,
        program: Program | None = None,
    ) -> Request[Any]:
        """What is asked of the reasoner; `program` is what the program becomes, if rules come or go."""
        work = self.reasoner.backend.measured(self._told(progress))
        then, earlier = self.program, None
        if program is not None and program.rules != self.program.rules:
            then, earlier = program, self.program
        patterns = self._constraint_patterns() if earlier is None else violation_patterns(then)
        guarding = guard(then, self.settings, patterns, constraints or self.settings.constraints)
        return Request(added, deleted, then, self.settings, algorithm, work, started, profile, guarding, earlier)

    def profile(self) -> Profile:
        """What each rule took in the last `materialise(profile=True)` or `update(…, profile=True)`."""
        if self._profile is None:
            raise EverlogError("nothing was measured last: call materialise(profile=True) or update(…, profile=True)")
        return self._profile

    @guarded("reading what changed")
    def changes(self, predicate: str) -> tuple[pa.Table, pa.Table]:
        """What the last update added to the materialisation and deleted from it, as `facts` gives them."""
        arity, backend, what = self._arity(predicate), self.reasoner.backend, self.reasoner.difference
        added, deleted = (
            backend.table(
                backend.part_listed(part, predicate, arity), arity, backend.few(partial(backend.part_size, part))
            )
            for part in (what.added, what.deleted)
        )
        return self._with_names(predicate, added), self._with_names(predicate, deleted)

    # ------------------------------------------------------------------------------------ facts out

    def predicates(self) -> list[str]:
        """The predicates of the program and of the facts, sorted."""
        return sorted(self.arities)

    def arity(self, predicate: str) -> int:
        """The number of arguments of a predicate."""
        return self._arity(predicate)

    def columns(self, predicate: str) -> list[str]:
        """The names of a predicate's columns in tables and views: those of the table it came from, or `a0`, …"""
        return list(self.column_names.get(predicate, columns_of_width(self._arity(predicate))))

    def _arity(self, predicate: str) -> int:
        """The number of arguments of a predicate, which must exist; of triples there may be none."""
        if predicate not in self.arities and predicate not in (TRIPLE, *self._given):
            raise EverlogError(f"there is no predicate {predicate}{did_you_mean(predicate, self.arities)}")
        return self.arities.get(predicate, 3 if predicate == TRIPLE else 0)

    def _check_materialised(self) -> None:
        if self.program.rules and not self._materialised:
            raise EverlogError("there is no materialisation to query yet: call materialise() first")

    @guarded("counting facts")
    def size(self, predicate: str, which: Which = "all") -> int:
        """How many facts of a predicate there are: `all`, only `explicit`, or only `derived` ones."""
        return self.reasoner.size(predicate, which)

    @guarded("reading facts")
    def facts(self, predicate: str, which: Which = "all") -> pa.Table:
        """The facts of a predicate as an Arrow table, with columns named as `columns` says.

        A column of mixed kinds is text in N-Triples form, marked so in its field's metadata.
        """
        reasoner, arity = self.reasoner, self._arity(predicate)
        table = reasoner.backend.table(reasoner.listed(predicate, which, arity), arity, reasoner.few(which))
        return self._with_names(predicate, table)

    def _with_names(self, predicate: str, table: pa.Table) -> pa.Table:
        return table.rename_columns(self.columns(predicate)) if predicate in self.column_names else table

    @guarded("reading facts")
    def rows(self, predicate: str, which: Which = "all") -> Answers:
        """The facts of a predicate as tuples of Python values, in no special order; a list that becomes a table, too.

        `rows("edge").to_pandas()` has columns of natural types (`Answers.to_arrow`), named as `columns` says.
        """
        reasoner, arity = self.reasoner, self._arity(predicate)
        found = reasoner.backend.rows(reasoner.listed(predicate, which, arity), arity, reasoner.few(which))
        return Answers(found, self.columns(predicate) if arity else ())

    @guarded("reading facts")
    def head(self, predicate: str, number: int = 10, which: Which = "all") -> list[tuple[Value, ...]]:
        """Some facts of a predicate, sorted: the first ones, or, where there are many thousands, any of them."""
        if self.size(predicate, which) <= WORTH_SORTING:
            return in_order(self.rows(predicate, which))[:number]
        reasoner, arity = self.reasoner, self._arity(predicate)
        some = reasoner.backend.first(reasoner.listed(predicate, which, arity), number)
        return in_order(reasoner.backend.rows(some, arity, few=True))

    @guarded("reading facts")
    def text(self, predicate: str, which: Which = "all") -> DataFrame:
        """The facts of a predicate as a Spark DataFrame in text form: columns of N-Triples terms."""
        reasoner, arity = self.reasoner, self._arity(predicate)
        return reasoner.backend.texts(reasoner.listed(predicate, which, arity), lambda: self.spark)

    @guarded("writing facts")
    def filed(self, predicates: Iterable[str], folder: Path) -> FiledFacts:
        """The facts of some predicates as files of ids in a folder, for those who write them in other forms."""
        reasoner = self.reasoner
        listed = {name: (reasoner.listed(name, "all", self._arity(name)), self._arity(name)) for name in predicates}
        return reasoner.backend.filed(listed, folder)

    @guarded("reading facts")
    def dataframe(self, predicate: str, which: Which = "all") -> DataFrame:
        """The facts of a predicate as a Spark DataFrame, typed as `facts` types them.

        Its columns are `a0`, `a1`, …, or have the names of the table that facts of the predicate first came from
        (`columns`). A column of mixed kinds is text in N-Triples form, marked so in its metadata. A nullary predicate has
        the column `present`.
        """
        reasoner, arity = self.reasoner, self._arity(predicate)
        if not arity:
            return self.text(predicate, which)
        frame = reasoner.backend.dataframe(reasoner.listed(predicate, which, arity), arity, lambda: self.spark)
        return frame.toDF(*self.columns(predicate)) if predicate in self.column_names else frame

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

    @guarded("looking for contradictions")
    def clashes(self) -> list[str]:
        """What equality contradicts, with facts: values and different names that are said to be equal, and stay apart."""
        return [] if self.settings.equality == "off" else self.reasoner.clashes()

    @guarded("looking for contradictions")
    def contradictions(self) -> list[str]:
        """What the facts contradict, with facts: equalities (`clashes`), axioms of ontologies, and other constraints."""
        return [*self.clashes(), *self._violations()]

    def _violations(self) -> list[str]:
        """The constraints that do not hold, with facts."""
        if self._violated is None:
            self._violated = described(self.reasoner, self.program, self.settings, self._constraint_patterns())
        return self._violated

    def _constraint_patterns(self) -> tuple[Atom, ...]:
        """The forms of facts that say what is violated; they are looked for once for each program."""
        if self._constraints is None or self._constraints[0] is not self.program.rules:
            self._constraints = self.program.rules, violation_patterns(self.program)
        return self._constraints[1]

    @guarded("validating")
    def derived_beside(self, program: Program, predicates: Mapping[str, int]) -> list[tuple[Value, ...]]:
        """Facts of some predicates that a program would derive from what holds here, one predicate after another."""
        columns = self._columns(_rows(program.facts), program_arities(program))
        return found_beside(self.reasoner.world, program.rules, columns, predicates, self._told(None))

    @guarded("validating")
    def validate(self, shapes: str | os.PathLike[str] | Program | Iterable[Any] | None = None) -> ValidationReport:
        """What does not conform to shapes of SHACL: a file, triples, or what `shapes` returns.

        Without any, those that the program has: it is kept up to date what does not conform to them, and nothing is
        computed. The report has `conforms`, `results` and `rows()`, and `serialize("ttl")` is the graph of SHACL.
        """
        from everlog.knowledge.validation import validated

        self._check_materialised()
        return validated(self, shapes)

    @guarded("a query")
    def query(self, goal: str, limit: int | None = None) -> Answers:
        """The answers to a conjunctive goal in the rule syntax: distinct bindings of its variables, sorted.

        The variables come in the order of their first occurrence; a goal without any has the answer `()` or none. With a
        `limit` there are at most so many: the first ones or, where there are more than 10,000, any. The list becomes a
        table whose columns are named after the variables: `to_pandas()`, `to_arrow()`, `dataframe(spark)`.
        """
        return self._answers(goal, limit)[0]

    @guarded("a query")
    def first_answers(self, goal: str, limit: int | None, after: int | None = None) -> tuple[Answers, int]:
        """The answers that `query` gives, perhaps with a limit, and how many there are without one.

        With a limit they may be those `after` so many others; parts that are asked for one by one are all of the answers.
        """
        rows, number = self._answers(goal, limit, after)
        return rows, len(rows) if number is None else number

    def _answers(self, goal: str, limit: int | None, after: int | None = None) -> tuple[Answers, int | None]:
        if limit is not None and limit < 1:
            raise EverlogError(f"a limit is at least 1, not {limit}")
        literals = parse_goal(goal, self.program.prefixes)
        self._check_materialised()
        for part in (part for literal in literals for part in parts(literal)):
            if isinstance(part, Atom):
                self._arity(part.predicate)  # refuses what is none
        asked = telling_apart(literals) if self.settings.equality == "axioms" else literals
        rows, number = answers(self.reasoner.world, asked, limit, after)
        if not rows:
            for message in goal_suspicions(literals):
                warn(message, stacklevel=4)
        return Answers(rows, (variable.name for variable in answer_variables(literals))), number

    @guarded("a query")
    def sparql(
        self,
        text: str,
        base: str | None = None,
        *,
        seconds: float | None = None,
        rows: int | None = None,
        memory: str | None = None,
        graphs: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> SparqlAnswer:
        """The answer to a SPARQL 1.1 query over the triples, and over `quad` for named graphs.

        Relative IRIs are resolved by a `base`. With `graphs`, the IRIs of those that make up the default graph and of those
        that may be named count instead of FROM and FROM NAMED. A query that takes longer than some `seconds`, or in which
        an operator finds more than some `rows` of solutions, or solutions that take more `memory`, such as `800m`, is given
        up with an error. The answer has `variables`, can be iterated over, and becomes a table (`to_arrow()`,
        `to_pandas()`, `dataframe(spark)`) or text: `serialize("json")`.
        """
        self._check_materialised()
        most = None if memory is None else budget_bytes(memory)
        return _answering()(self.reasoner, text, base, seconds, rows, most, graphs)

    # ------------------------------------------------------------------------------------ why

    @guarded("explaining")
    def explain(
        self,
        fact: str,
        values: Sequence[Any] | None = None,
        *,
        all: bool | int = False,
        depth: int | None = None,
        paths: bool = True,
        seconds: float = 60.0,
        facts: int = 1_000_000,
    ) -> Explanation:
        """Why a fact holds, by a proof of least height; or, if it does not hold, why not.

        A fact is text in the rule syntax, `explain("reach(a, d)")`, or a predicate with values, `explain("reach", ("a",
        "d"))`. Of a pattern with variables, `reach(a, ?y)`, the first answer is explained. With `all`, every proof is
        found, those of least height first, when somebody looks at it; a number says how many. What lies deeper than
        `depth` rules is not shown. Without `all`, a fact of a transitive relation, or another one that rules follow step by
        step, is shown with the steps of a shortest path, unless `paths=False` wants every rule. A search that takes more
        than so many `seconds`, or looks at more than so many `facts`, is ended, with the best that was found so far.
        Nothing is stored for any of this.
        """
        from everlog.explaining.proof_search import Limits
        from everlog.knowledge.explained import ProofFacts, explained, fact_pattern

        if depth is not None and depth < 1:
            raise EverlogError(f"a depth is at least 1, not {depth}")
        pattern = fact_pattern(self, fact, values)
        self._check_materialised()
        self._arity(pattern.predicate)  # refuses what is none
        self._proof_facts = self._proof_facts or ProofFacts()
        held = self._proof_facts.of(self.reasoner, self.program, self.settings)
        return explained(self, held, pattern, all, depth, paths, Limits(seconds, facts))

    # ------------------------------------------------------------------------------------ stores

    @guarded("saving", changes=True)
    def save(self, path: str | Path, *, overwrite: bool = False) -> int:
        """Writes a new store, or a new version of one, and gives the version's number.

        Only what changed is written if this knowledge base was opened from that store or saved to it last; if the store
        has got a newer version since, that is an error, as saving would undo it. Over a store that it has nothing to do
        with a knowledge base is written only if told to `overwrite` it, whole, as the next version. A store calls blank
        nodes `_:everlog<id>`, whatever their labels are here.
        """
        from everlog.knowledge.persistence import save

        place = local_place(path, "the store")
        if not self._materialised:
            self.materialise()
        elif self._pending:
            self.update()
        return save(self, place, overwrite)


def _read_program(program: Program | str | None) -> Program:
    if program is None:
        return Program()
    if isinstance(program, str):
        return parse_program(program)
    if not isinstance(program, Program):
        raise EverlogError(f"a program is text, or what parse_program returns, not a {type(program).__name__}")
    return program


def _rows(facts: Iterable[Atom]) -> dict[str, list[tuple[Value, ...]]]:
    """Facts by predicate, as tuples of values."""
    found: dict[str, list[tuple[Value, ...]]] = {}
    for fact in facts:
        values = tuple(term.value for term in fact.terms if isinstance(term, Constant))
        found.setdefault(fact.predicate, []).append(values)
    return found


def _learn_arities(program: Program, arities: dict[str, int]) -> None:
    """The predicates of a program must agree with what is known about them, which `arities` learns about."""
    for predicate, arity in program_arities(program).items():
        if arities.setdefault(predicate, arity) != arity:
            raise ArityMistake(
                f"{predicate} has {counted(arities[predicate], 'argument')}, but the rules to be added give it {arity}"
            )


def check_arities(given: Mapping[str, int], arities: dict[str, int]) -> None:
    """Facts must agree with what is known about their predicates, which `arities` learns about."""
    for predicate, arity in given.items():
        _check_name(predicate)
        if predicate == TRIPLE:
            arities.setdefault(TRIPLE, 3)
        if arities.setdefault(predicate, arity) != arity:
            raise ArityMistake(
                f"{predicate} has {counted(arities[predicate], 'argument')}, but the facts given have {arity}"
            )


def _is_frame(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "pyspark"


def _sql_name(predicate: str) -> str:
    if predicate.isascii() and predicate.isidentifier():
        return predicate
    return "`" + predicate.replace("`", "``") + "`"


def _check(option: str, value: object) -> None:
    if value not in _OPTIONS[option]:
        known = ", ".join(_OPTIONS[option])
        raise EverlogError(f"{option}={value!r} is not supported; choose one of: {known}")


def _check_name(predicate: object) -> None:
    if not isinstance(predicate, str):
        raise EverlogError(f"{predicate!r} is not the name of a predicate, which is a string")
    if predicate.startswith(HIDDEN):
        raise EverlogError(f"the predicate {predicate} needs another name: those with {HIDDEN} are Everlog's own")
