"""The facts of a knowledge base in the Spark engine: explicit ones, and what follows from them.

It is to the Spark engine what `state.py` is to the memory engine, with the same methods. Facts are DataFrames of ids
and stay where Spark keeps them; only what a user asks for comes to this process, decoded by joins with the dictionary.
Sets are values here, so that an update makes new ones and a failure leaves the old ones as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from everlog import interrupts
from everlog.datalog.arities import program_arities
from everlog.datalog.constants import constants
from everlog.datalog.syntax import HIDDEN, Atom, BodyLiteral, Program, Rule
from everlog.datalog.values import Value
from everlog.engine.algebra import FactSet
from everlog.engine.spark.clashes import clashes
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.lineage import CutName
from everlog.engine.spark.graphs.graphs import SparkGraphs
from everlog.engine.spark.joins.matcher import SparkMatcher
from everlog.engine.spark.joins.rules import SparkCompiler
from everlog.engine.spark.statistics import spark_facts
from everlog.engine.spark.terms import SparkTerms
from everlog.errors import EverlogError
from everlog.knowledge import spark_saved
from everlog.knowledge.choice import choose
from everlog.knowledge.fact_columns import Columns
from everlog.knowledge.goals import answer_variables, in_order
from everlog.knowledge.materialisation import Difference, Materialisation, Outcome
from everlog.knowledge.report import Report, peak_rss_bytes
from everlog.knowledge.request import Request
from everlog.knowledge.resuming import Chosen, Unresumable, refuse_undefined, resumed
from everlog.knowledge.settings import Settings
from everlog.knowledge.spark_changes import Marks
from everlog.planning.compiled_program import compile_program, prepared
from everlog.planning.decomposition.decomposition_choice import Decomposer, Worth
from everlog.planning.decomposition.size_estimates import Statistics
from everlog.planning.equality_rules import UNEQUATED, axiomatised
from everlog.planning.modules.module_choice import Verdicts, judged
from everlog.planning.modules.module_rules import relation_name
from everlog.reasoning.algorithms import TRACE, needed
from everlog.reasoning.bounds import Bounds
from everlog.reasoning.change import Progress, TooCostly
from everlog.reasoning.modules.make_modules import make_modules
from everlog.reasoning.modules.module import Module
from everlog.spark.handover import to_arrow, to_spark
from everlog.spark.metrics import Rounds
from everlog.store.term_dictionary import FEW, NUMBER, together

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.knowledge.memory_base import Which


class SparkState:
    """An engine with its explicit facts `E` and, once `materialise` ran, the materialisation `I`."""

    def __init__(
        self, spark: SparkSession, terms: SparkTerms, scratch: Callable[[], Path], cut: CutName | None = None
    ) -> None:
        self.spark = spark
        self.terms = terms
        cut = cut or default_cut(spark)
        place = str(scratch()) if cut == "parquet" else None
        self.engine = SparkEngine(spark, terms.frame, terms.encode_values, cut, place)
        self._E: FactSet = self.engine.empty()
        self._I: FactSet = self.engine.empty()
        self.materialisation: Materialisation | None = None
        self.difference: Difference | None = None
        """What the last update did."""
        self._counts: dict[str, dict[str, int]] = {}
        self._kept: Callable[[], Mapping[str, DataFrame]] = dict
        self._kinds: frozenset[str] = frozenset()
        """What a store has for the first update, of which kinds."""
        self._equated: frozenset[str] | None = None
        """The predicates that rules about equality were made for, where equality is a matter of rules."""
        self.saved: tuple[FactSet, FactSet] = (self.engine.empty(), self.engine.empty())
        """`E` and `I ∖ E` as they were opened or saved last."""
        self.marks: Marks | None = None
        """What was kept then; None if it was not asked for yet."""

    @property
    def explicit(self) -> FactSet:
        """`E`."""
        return self._E

    @property
    def derived(self) -> FactSet:
        """`I ∖ E`, computed."""
        return without(self._I, self._E)

    def savepoint(self) -> Callable[[], None]:
        """A function that brings back what was known about the store before a version was written that came to nothing."""
        before, undo_terms = (self.saved, self.marks), self.terms.savepoint()

        def undo() -> None:
            self.saved, self.marks = before
            undo_terms()

        return undo

    def marked(self) -> Marks:
        """What is kept now."""
        assert self.materialisation is not None
        return Marks(self.engine, self.materialisation)

    def kept(self) -> Mapping[str, DataFrame]:
        """What a store had for the first update, until there was one."""
        return self._kept()

    def counted(self, stored: Mapping[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        """How many facts of each predicate a store has to say there are; it has so many explicit and derived ones."""
        return dict(stored)

    def kept_kinds(self) -> frozenset[str]:
        """The kinds of relations (`everlog.knowledge.saved`) that are kept right."""
        return self._kinds if self.materialisation is None else self.materialisation.kinds()

    # ------------------------------------------------------------------------------------ facts in

    def encoded(self, facts: Mapping[str, Columns | DataFrame], add: bool = True) -> list[FactSet]:
        """Facts as a set of the engine: columns of this process, or DataFrames in text form.

        Without `add`, facts with a term that is not known are left out.
        """
        here = {name: texts_of(given) for name, given in facts.items() if isinstance(given, Columns)}
        there = {name: given for name, given in facts.items() if not isinstance(given, Columns)}
        fetched = self._few(there)
        if fetched is not None:
            return [self._listed(self._looked_up({**here, **fetched}, add))]
        found = [self._listed(self._looked_up(here, add))]
        if not add:
            return [*found, self.engine.facts(self.terms.dictionary.find(there, few=False))]
        encoded = self.terms.encode(there, few=False)
        found.append(self.engine.facts(encoded.facts))
        encoded.release()
        return found

    def _few(self, facts: Mapping[str, DataFrame]) -> dict[str, list[pa.Array]] | None:
        """Facts in text form, in this process if they are few: by predicate, and column by column."""
        import numpy as np
        import pyarrow as pa

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
        import numpy as np
        import pyarrow as pa

        flat = [
            column.cast(pa.large_string()) for columns in texts.values() for column in columns if not is_null(column)
        ]
        joint = pa.chunked_array(flat, pa.large_string()).combine_chunks()
        ids = self.terms.encode_texts(joint) if add else self.terms.find_texts(joint)
        found, start = {}, 0
        for predicate, columns in texts.items():
            height = len(columns[0])
            if is_null(columns[0]):  # the fact of a nullary predicate
                found[predicate] = np.empty((0, height), np.int64)
                continue
            rows = ids[start : start + height * len(columns)].reshape(len(columns), height)
            found[predicate] = rows[:, (rows >= 0).all(axis=0)]
            start += height * len(columns)
        return found

    def _listed(self, facts: Mapping[str, NDArray[np.int64]]) -> FactSet:
        """Facts in this process as a set."""
        import pyarrow as pa

        if sum(ids.size for ids in facts.values()) <= _LISTED:
            return self.engine.listed({predicate: ids.T.tolist() for predicate, ids in facts.items()})
        return self.engine.facts(
            {
                predicate: to_spark(
                    self.spark,
                    pa.table({f"a{place}": pa.array(column) for place, column in enumerate(ids)})
                    if ids.shape[0]
                    else pa.table({"present": pa.array([True] * ids.shape[1])}),
                )
                for predicate, ids in facts.items()
            }
        )

    def restore(
        self,
        explicit: Mapping[str, DataFrame],
        derived: Mapping[str, DataFrame],
        kept: Callable[[], Mapping[str, DataFrame]],
        kinds: frozenset[str],
    ) -> None:
        """Takes over facts, as ids, that were materialised earlier: nothing is derived again.

        `kept` gives what else was stored, of some kinds; it is called before the first update.
        """
        self._E = self.engine.facts(explicit)
        more = self.engine.facts(derived, apart=self._E)
        self._I = self._E | more
        self.saved = self._E, more
        self._kept, self._kinds = kept, kinds

    def insert(self, batches: Sequence[FactSet]) -> None:
        """Makes facts explicit: all of them, or none if it is given up."""
        E = self._E
        for facts in batches:
            E |= facts
        self._E, self._counts = E, {}

    # ------------------------------------------------------------------------------------ reasoning

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report:
        """Computes `I`."""
        begun = perf_counter()
        materialisation = self._compiled(program, settings, needed(settings.algorithm) | self._kinds)
        planned = perf_counter() - begun
        rounds = Rounds(progress)
        near = self.engine.driver_applications
        try:
            outcome = materialisation.materialise(rounds)
            self._I, self._counts = materialisation.I, {}
            report = self._report(outcome, planned, started, self.count("all"), 0)
        except BaseException:
            # There is none before it is whole.
            self.materialisation, self._I, self._counts = None, self.engine.empty(), {}
            raise
        return replace(report, spark=self._work(rounds, near))

    def updated(self, request: Request[FactSet]) -> tuple[SparkState, Report]:
        """This state after an update, and a report; a failure leaves it as it was."""
        minus, plus = self._all_of(request.deleted), self._all_of(request.added)
        warnings, rounds = self._not_explicit(minus), Rounds(request.progress)
        near = self.engine.driver_applications
        report = self._changed(minus, plus, replace(request, progress=rounds))
        return self, replace(report, warnings=[*warnings, *report.warnings], spark=self._work(rounds, near))

    def _work(self, rounds: Rounds, near: int) -> dict[str, Any]:
        """What Spark did, and how often the driver did it instead, which had done so `near` times before."""
        return {**rounds.summary(self.spark), "on_driver": self.engine.driver_applications - near}

    def _changed(self, minus: FactSet, plus: FactSet, request: Request[FactSet]) -> Report:
        program, settings = request.program, request.settings
        if settings.algorithm == "remat":
            return self._started_again(minus, plus, request, [])
        if self._equated is not None and not self._equated.issuperset(self._arities()):
            return self._started_again(minus, plus, request, [UNEQUATED])
        begun = perf_counter()
        try:
            materialisation = self._resumed(program, settings)
        except Unresumable as reason:
            return self._started_again(minus, plus, request, [str(reason)])
        self.engine.terms = self.terms.frame  # the facts may have brought new terms
        planned = perf_counter() - begun
        choice = choose(settings.algorithm, materialisation)
        try:
            outcome, difference = materialisation.update(
                minus, plus, choice.algorithm, request.progress, choice.allowed
            )
        except TooCostly:
            why = (
                f"{choice.algorithm.name} was given up, since the change spreads too far; everything was computed anew"
            )
            return self._started_again(minus, plus, request, [why])
        self._E, self._I, self._counts = materialisation.E, materialisation.I, {}
        self.difference = difference
        return self._report(
            outcome,
            planned,
            request.started,
            self._seen(difference.added),
            self._seen(difference.deleted),
            choice.reasons,
        )

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        """What is to be updated; of a state that was stored it is made before the first update."""
        if self.materialisation is not None:
            return self.materialisation
        try:
            found = resumed(
                lambda options, verdicts, trees: self._compiled(program, options, self._kinds, verdicts, trees),
                settings,
                self._kinds,
            )
            kept = self._kept()
            refuse_undefined(kept, self._heads(found))
            spark_saved.restore(self.engine, found, self._I, kept)
            self.marks = self.marked()
        except BaseException:
            self.materialisation = None
            raise
        return found

    def _heads(self, compiled: Materialisation) -> frozenset[str]:
        """The predicates that rules derive."""
        return compiled.heads()

    def _not_explicit(self, minus: FactSet) -> list[str]:
        """Says how many facts are to be deleted and only follow from others."""
        derived = len((minus & self._I) - self._E) if minus else 0
        if not derived:
            return []
        return [f"{derived:,} of the facts to be deleted are not explicit but follow from others, and stay"]

    def _all_of(self, batches: Sequence[FactSet]) -> FactSet:
        facts: FactSet = self.engine.empty()
        for batch in batches:
            facts |= batch
        return facts

    def _compiled(
        self,
        program: Program,
        settings: Settings,
        kinds: frozenset[str],
        verdicts: Verdicts | None = None,
        trees: Chosen | None = None,
    ) -> Materialisation:
        # All constants at once: each look-up is a job.
        rules = self._rules(program, settings)
        self.engine.ids(constants(rules))
        graphs = SparkGraphs(self.engine)
        given = graphs if settings.modular and TRACE not in kinds else None
        compiler = SparkCompiler(self.engine)
        decomposer = Decomposer(
            settings.hypertree if settings.decomposed and TRACE not in kinds else "off",
            lambda: Statistics(prepared(rules), spark_facts(self.engine, self._given())),
            _WORTH,
            trees,
        )
        if verdicts is None and settings.modules == "auto" and given is not None:
            verdicts = partial(judged, facts=len(self._given()))
        strata = compile_program(rules, compiler, settings.stratification, given, decomposer, settings.kinds, verdicts)
        self.engine.terms = self.terms.frame
        # To try rules before a module does its work takes jobs, however little they find.
        modules = make_modules(strata, self.engine, graphs, SparkMatcher(self.engine), compiler, forced=True)
        bounds = None
        if settings.checked and modules:
            bounds = Bounds(compile_program(rules, compiler, settings.stratification), self.engine, compiler)
        self.materialisation = Materialisation(strata, self.engine, self._given(), kinds, modules, bounds)
        return self.materialisation

    def _given(self) -> FactSet:
        """The facts that the rules are applied to."""
        return self._E

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        """The rules to be evaluated."""
        if settings.equality != "axioms":
            return program.rules
        self._equated = frozenset({**program_arities(program), **self._arities()})
        return axiomatised(program.rules, self._arities())

    def _arities(self) -> dict[str, int]:
        """The predicates that facts have."""
        relations = self.engine.relations().items()
        return {name: arity for name, (_, arity) in relations if not name.startswith(HIDDEN)}

    def _started_again(self, minus: FactSet, plus: FactSet, request: Request[FactSet], reasons: list[str]) -> Report:
        """Computes everything from the explicit facts `(E ∖ deleted) ∪ added`."""
        E, I, before, kinds = self._E, self._I, self.materialisation, self.kept_kinds()
        after = E
        after -= minus - plus
        after |= plus
        self._E = after
        try:
            begun = perf_counter()
            materialisation = self._compiled(request.program, request.settings, kinds)
            planned = perf_counter() - begun
            outcome = materialisation.materialise(request.progress)
            J = materialisation.I
            gained, lost = without(J, I), without(I, J)
            difference = Difference(
                without(after, E),
                without(E, after),
                gained,
                lost,
                without(J - after, I - E),
                without(I - E, J - after),
            )
        except BaseException:
            self._E, self.materialisation, self._counts = E, before, {}
            raise
        interrupts.settle()
        self._I, self._counts, self.difference = J, {}, difference
        return self._report(outcome, planned, request.started, self._seen(gained), self._seen(lost), reasons)

    def _report(
        self, outcome: Outcome, planned: float, started: float, added: int, deleted: int, reasons: Sequence[str] = ()
    ) -> Report:
        return Report(
            engine="spark",
            algorithm=outcome.algorithm,
            facts={"explicit": self.count("explicit"), "total": self.count("all")},
            derivations=outcome.derivations,
            seconds={"planning": planned, "reasoning": outcome.seconds, "total": perf_counter() - started},
            rounds=outcome.rounds,
            added=added,
            deleted=deleted,
            strata=outcome.strata,
            peak_rss_bytes=peak_rss_bytes(),
            warnings=[*outcome.warnings, *(self.clashes() if self._equated is not None else ())],
            reasons=list(reasons),
            modules=[
                {
                    "kind": module.kind,
                    "predicates": [relation_name(atom) for atom in module.heads],
                    **module.described(),
                }
                for module in self._modules()
            ],
            left_out=[]
            if self.materialisation is None
            else [one.described() for one in self.materialisation.left_out()],
        )

    def _modules(self) -> list[Module]:
        return [] if self.materialisation is None else self.materialisation.module_list()

    # ------------------------------------------------------------------------------------ sizes

    def count(self, which: Which) -> int:
        """How many facts there are, without those of hidden predicates."""
        return self._seen(self._chosen(which))

    def _seen(self, facts: FactSet) -> int:
        if any(predicate.startswith(HIDDEN) for predicate in self.engine.relations()):
            return sum(n for predicate, n in self.engine.counts(facts).items() if not predicate.startswith(HIDDEN))
        return len(facts)

    def size(self, predicate: str, which: Which) -> int:
        if which not in self._counts:
            self._counts[which] = self.engine.counts(self._chosen(which))
        return self._counts[which].get(predicate, 0)

    # ------------------------------------------------------------------------------------ facts out

    def _chosen(self, which: Which) -> FactSet:
        if which == "all":
            return self._I if self._I else self._E
        if which == "explicit":
            return self._E
        if which == "derived":
            return self._I - self._E
        raise EverlogError(f"which={which!r} is not supported; choose one of: all, explicit, derived")

    def ids(self, predicate: str, which: Which, arity: int) -> DataFrame:
        """The facts of a predicate as a DataFrame of ids."""
        return self.frame(self._chosen(which), predicate, arity)

    def frame(self, facts: FactSet, predicate: str, arity: int) -> DataFrame:
        """The facts of a predicate in a set, as ids."""
        if predicate not in self.engine.relations():
            schema = ", ".join(f"a{place} bigint" for place in range(arity)) or "present boolean"
            return self.spark.createDataFrame([], schema)
        return self.engine.frame(facts, predicate, arity)

    def text(self, predicate: str, which: Which, arity: int) -> DataFrame:
        """The facts of a predicate in text form, with the names that stores have for blank nodes."""
        return self.terms.texts(self.ids(predicate, which, arity), stored=True)

    def facts(self, predicate: str, which: Which, arity: int) -> pa.Table:
        return _typed(self._fetched(self.ids(predicate, which, arity), arity, self._are_few(which)))

    def changes(self, predicate: str, arity: int) -> tuple[pa.Table, pa.Table]:
        """What the last update added to the materialisation, and what it deleted."""
        added, deleted = (
            _typed(self._fetched(self.frame(done, predicate, arity), arity, len(done) <= FEW))
            for done in (self._done(True), self._done(False))
        )
        return added, deleted

    def changed(self, added: bool) -> dict[str, int]:
        """How many facts of which predicates the last update added, or deleted."""
        counts = self.engine.counts(self._done(added))
        return {predicate: n for predicate, n in sorted(counts.items()) if not predicate.startswith(HIDDEN)}

    def changed_text(self, added: bool, predicate: str) -> DataFrame:
        """Those facts of a predicate in text form."""
        _, arity = self.engine.relations()[predicate]
        return self.terms.texts(self.frame(self._done(added), predicate, arity), stored=True)

    def _done(self, added: bool) -> FactSet:
        if self.difference is None:
            return self.engine.empty()
        return self.difference.added if added else self.difference.deleted

    def rows(self, predicate: str, which: Which) -> list[tuple[Value, ...]]:
        known = self.engine.relations().get(predicate)
        if known is None:
            return []
        _, arity = known
        return self._values_in(self.ids(predicate, which, arity), arity, self._are_few(which))

    def clashes(self) -> list[str]:
        """What equality contradicts, with facts."""
        return clashes(self.engine, self.terms, self._I)

    def answers(self, goal: Sequence[BodyLiteral]) -> list[tuple[Value, ...]]:
        """The answers to a goal: distinct bindings of its variables, sorted by kind and value."""
        answer = Atom(f"{HIDDEN}answer", tuple(answer_variables(goal)))
        rule = Rule(answer, tuple(goal))
        with self.engine.scratch(without=HIDDEN) as engine:
            engine.ids(constants([rule]))
            engine.terms = self.terms.frame
            found = self._chosen("all")
            for stratum in compile_program([rule], SparkCompiler(engine)):
                found |= stratum.nonrecursive.apply(found, excluding=found)
            arity = len(answer.terms)
            rows = self._values_in(self.frame(found, answer.predicate, arity), arity, len(found) <= FEW)
        return in_order(rows)

    def _are_few(self, which: Which) -> bool:
        return len(self._chosen(which)) <= FEW

    def _values_in(self, ids: DataFrame, arity: int, few: bool = True) -> list[tuple[Value, ...]]:
        return _values(self._fetched(ids, arity, few))

    def _fetched(self, ids: DataFrame, arity: int, few: bool) -> pa.Table:
        """Facts in text form, in this process."""
        import pyarrow as pa

        if not arity:
            return pa.table({"present": pa.array([True] * len(ids.take(1)), pa.bool_())})
        schema = pa.schema([(f"a{place}", pa.large_string()) for place in range(arity)])
        return to_arrow(self.terms.texts(ids), schema, few)


_WORTH = Worth(cheaper=4.0, much=5_000_000.0)
"""The nodes of a decomposition take jobs of their own."""

_LISTED = 30_000
"""Up to this many ids are handed to Spark as they are."""


def default_cut(spark: SparkSession) -> CutName:
    """How rounds are cut apart: on a cluster so that the death of an executor does no harm."""
    master = spark.conf.get("spark.master", "local")
    return "local_checkpoint" if str(master).startswith("local") else "parquet"


def texts_of(columns: Columns) -> list[pa.Array]:
    """The N-Triples texts of facts in this process, column by column; of a nullary predicate, nulls."""
    import pyarrow as pa

    if not columns.columns:
        return [pa.nulls(min(columns.height, 1))]
    dictionary = _dictionary()
    return [dictionary.ntriples_column(column.encoded(dictionary)) for column in columns.columns]


def is_null(column: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_null(column.type))


def without(left: FactSet, right: FactSet) -> FactSet:
    """`left ∖ right`, computed."""
    left -= right
    return left


def _typed(texts: pa.Table) -> pa.Table:
    """Texts as a table of values, each column in the type that all of its values share."""
    import pyarrow as pa

    if texts.column_names == ["present"]:
        return pa.Table.from_struct_array(pa.array([{}] * texts.num_rows, pa.struct([])))
    dictionary = _dictionary()
    decoded = [
        dictionary.decode_field(name, dictionary.encode_ntriples(texts.column(name))) for name in texts.column_names
    ]
    return pa.Table.from_arrays([array for _, array in decoded], schema=pa.schema([field for field, _ in decoded]))


def _values(texts: pa.Table) -> list[tuple[Value, ...]]:
    if texts.column_names == ["present"]:
        return [()] * texts.num_rows
    dictionary = _dictionary()
    columns = (dictionary.values(dictionary.encode_ntriples(column)) for column in texts.columns)
    return list(zip(*columns, strict=True))


def _dictionary() -> Dictionary:
    from everlog.engine.memory.dictionary import Dictionary

    return Dictionary()
