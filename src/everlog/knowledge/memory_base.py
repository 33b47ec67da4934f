"""The knowledge base: a program, an engine and an algorithm tied together. It knows no file format.

Explicit facts wait until `materialise`; afterwards what `add` brings waits for the next `update`. Everything that can be
wrong with a user's facts is found before anything is stored, and an update works beside the old state until it is done,
so that a failure leaves the knowledge base as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol, TypeAlias, TypeVar

from everlog import interrupts
from everlog.datalog.arities import program_arities
from everlog.datalog.reader import parse_goal
from everlog.datalog.syntax import HIDDEN, TRIPLE, BodyLiteral, Constant, Program
from everlog.datalog.values import Value
from everlog.errors import EverlogError
from everlog.knowledge.fact_columns import Columns, columns_of
from everlog.knowledge.report import Report
from everlog.knowledge.request import Request
from everlog.knowledge.saved_kinds import OLDER
from everlog.knowledge.settings import Settings
from everlog.planning.equality_rules import refuse_equalities, telling_apart, with_same_as
from everlog.planning.modules.module_rules import kinds_of
from everlog.reasoning.algorithms import needed

if TYPE_CHECKING:
    import pyarrow as pa

    from everlog.knowledge.materialisation import Materialisation

Which: TypeAlias = Literal["all", "explicit", "derived"]
Progress: TypeAlias = Callable[[int, int, int], None]
"""Called with the stratum, the round in it, and the number of new facts."""

Batch: TypeAlias = Any
"""Facts as ids, in whatever form an engine has them."""


class State(Protocol):
    """The facts of a knowledge base in an engine."""

    engine: Any
    materialisation: Materialisation | None

    def encoded(self, facts: Any) -> list[Batch]: ...

    def insert(self, batches: Sequence[Batch]) -> None: ...

    def materialise(self, program: Program, settings: Settings, progress: Progress, started: float) -> Report: ...

    def updated(self, request: Request[Batch]) -> tuple[State, Report]: ...

    def kept_kinds(self) -> frozenset[str]: ...

    def changes(self, predicate: str, arity: int) -> tuple[pa.Table, pa.Table]: ...

    def size(self, predicate: str, which: Which) -> int: ...

    def facts(self, predicate: str, which: Which, arity: int) -> pa.Table: ...

    def rows(self, predicate: str, which: Which) -> list[tuple[Value, ...]]: ...

    def answers(self, goal: Sequence[BodyLiteral]) -> list[tuple[Value, ...]]: ...

    def clashes(self) -> list[str]: ...


_OLDER = "everything was computed anew, since an earlier Everlog has stored what is kept for updates"

P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound="KnowledgeBase")


def guarded(
    doing: str, changes: bool = False
) -> Callable[[Callable[Concatenate[Self, P], R]], Callable[Concatenate[Self, P], R]]:
    """Makes a method one that a single thread is in at a time, and that no interrupt leaves half done.

    It `changes` the knowledge base, or reads it.
    """

    def decorated(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
        @wraps(method)
        def called(self: Self, /, *arguments: P.args, **options: P.kwargs) -> R:
            with self._during(doing, changes):
                return method(self, *arguments, **options)

        return called

    return decorated


_OPTIONS = {
    "engine": ("auto", "memory", "spark"),
    "hypertree": ("auto", "cyclic", "off", "all"),
    "stratification": ("levels", "single"),
    "equality": ("off", "rewrite", "axioms"),
}


class KnowledgeBase:
    """Facts and rules, and everything that follows from them.

    One thread uses it at a time, and others wait. An interrupt (Ctrl-C) is a request: the work is given up where it can be
    undone, or, if its result counts already, `KeyboardInterrupt` is raised when it is done; the knowledge base is as before
    or as after it, and can be used. Only a second interrupt, after a second or more, ends the work wherever it is, and the
    knowledge base with it.

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
        engine: str = "auto",
        algorithm: str = "auto",
        modules: str | Sequence[str] = "auto",
        hypertree: Literal["auto", "cyclic", "off", "all"] = "auto",
        stratification: Literal["levels", "single"] = "levels",
        equality: Literal["off", "rewrite", "axioms"] = "off",
        workers: int | None = None,
        checked: bool = False,
    ) -> None:
        _check("engine", engine)
        needed(algorithm)  # refuses what is none
        chosen = kinds_of(modules)
        _check("hypertree", hypertree)
        _check("stratification", stratification)
        _check("equality", equality)
        if not isinstance(program, Program):
            raise EverlogError(f"a program is what parse_program returns, not a {type(program).__name__}")
        if equality == "off":
            refuse_equalities(program)
        else:
            program = with_same_as(program)
        self.program = program
        self._settings = Settings(stratification, algorithm, chosen, hypertree, equality, checked)
        self._workers = workers
        self._arities = program_arities(program)
        for predicate in self._arities:
            _check_name(predicate)
        self._current: State | None = None
        self._pending: list[Batch] = []
        self._materialised = False
        facts: dict[str, list[tuple[Value, ...]]] = {}
        for fact in program.facts:
            values = tuple(term.value for term in fact.terms if isinstance(term, Constant))
            facts.setdefault(fact.predicate, []).append(values)
        self._from_program = facts
        self._guarded = interrupts.Guarded("knowledge base")

    def _during(self, doing: str, changes: bool = False) -> AbstractContextManager[None]:
        """A block in which nothing else happens to the knowledge base (`interrupts.py`)."""
        # Where constants are rewritten, classes and facts change one after the other.
        return self._guarded.during(doing, changes, readable=self._settings.equality != "rewrite")

    def _told(self, progress: Progress | None) -> Progress:
        """Between rounds an update can be given up, and somebody may want to know about it."""

        def told(stratum: int, number: int, new: int) -> None:
            interrupts.look()
            if progress is not None:
                self._guarded.call(progress, stratum, number, new)

        return told

    @property
    def _state(self) -> State:
        if self._current is None:
            state = self._new_state()
            state.insert(state.encoded(self._columns(self._from_program, self._arities)))
            self._current = state
        return self._current

    def _new_state(self) -> State:
        # Compiled kernels are loaded here, not with the module.
        from everlog.knowledge.equated import EquatedState
        from everlog.knowledge.state import MemoryState

        return (EquatedState if self._settings.equality == "rewrite" else MemoryState)(workers=self._workers)

    # ------------------------------------------------------------------------------------ facts in

    @guarded("adding facts", changes=True)
    def add(self, facts: Mapping[str, Any]) -> None:
        """Adds explicit facts: per predicate rows (tuples), an Arrow table, or a pandas DataFrame.

        Before `materialise` they count at once, afterwards with the next `update`.
        """
        arities = dict(self._arities)
        self._add(self._encoded(facts, arities), arities)

    def _add(self, batches: list[Batch], arities: dict[str, int]) -> None:
        if self._materialised:
            self._pending.extend(batches)
        else:
            self._state.insert(batches)
        self._arities = arities

    def _encoded(self, facts: Mapping[str, Any], arities: dict[str, int]) -> list[Batch]:
        """Facts as ids; `arities` learns about new predicates. Nothing is stored."""
        return self._state.encoded(interrupts.uncovered(self._columns, facts, arities))

    @staticmethod
    def _columns(facts: Mapping[str, Any], arities: dict[str, int]) -> dict[str, Columns]:
        """Facts as columns; `arities` learns about new predicates."""
        if not isinstance(facts, Mapping):
            raise EverlogError(
                f"the facts are a {type(facts).__name__}; give them by predicate: {{'edge': [('a', 'b')]}}"
            )
        result = {}
        for predicate, given in facts.items():
            _check_name(predicate)
            columns = columns_of(predicate, given, 3 if predicate == TRIPLE else arities.get(predicate))
            if columns is not None:
                arities[predicate] = columns.arity
                result[predicate] = columns
        return result

    # ------------------------------------------------------------------------------------ reasoning

    @guarded("materialising", changes=True)
    def materialise(self, progress: Progress | None = None) -> Report:
        """Computes everything that follows from the explicit facts."""
        started = perf_counter()
        if self._materialised:
            return self.update(progress=progress)
        report = self._state.materialise(self.program, self._settings, self._told(progress), started)
        self._materialised = True
        return report

    @guarded("an update", changes=True)
    def update(
        self,
        add: Mapping[str, Any] | None = None,
        delete: Mapping[str, Any] | None = None,
        algorithm: str | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """Adds and deletes explicit facts and brings the materialisation up to date.

        A fact that is both added and deleted is added. Deleting what is not explicit changes nothing. The algorithm is
        that of the knowledge base unless another one is asked for.
        """
        started = perf_counter()
        if algorithm is not None:
            needed(algorithm)
        if not self._materialised:
            raise EverlogError("there is no materialisation to update yet: call materialise() first")
        arities = dict(self._arities)
        added, deleted = self._encoded(add or {}, arities), self._encoded(delete or {}, arities)
        return self._updated(added, deleted, arities, algorithm, progress, started)

    def _updated(
        self,
        added: Sequence[Batch],
        deleted: Sequence[Batch],
        arities: dict[str, int],
        algorithm: str | None,
        progress: Progress | None,
        started: float,
    ) -> Report:
        """An update with facts that are ids already; `arities` are those with the facts."""
        settings = self._settings if algorithm is None else replace(self._settings, algorithm=algorithm)
        reasons = []
        if OLDER in self._state.kept_kinds():
            settings, reasons = replace(settings, algorithm="remat"), [_OLDER]
        asked = Request([*self._pending, *added], deleted, self.program, settings, self._told(progress), started)
        after, report = self._state.updated(asked)
        self._current, self._pending, self._arities = after, [], arities
        return replace(report, reasons=[*reasons, *report.reasons])

    @guarded("reading what changed")
    def changes(self, predicate: str) -> tuple[pa.Table, pa.Table]:
        """What the last update added to the materialisation and deleted from it, as `facts` gives them."""
        return self._state.changes(predicate, self._arities.get(predicate, 0))

    # ------------------------------------------------------------------------------------ facts out

    def predicates(self) -> list[str]:
        """The predicates of the program and of the facts, sorted."""
        return sorted(self._arities)

    @guarded("counting facts")
    def size(self, predicate: str, which: Which = "all") -> int:
        """How many facts of a predicate there are."""
        return self._state.size(predicate, which)

    @guarded("reading facts")
    def facts(self, predicate: str, which: Which = "all") -> pa.Table:
        """The facts of a predicate as an Arrow table with columns `a0`, `a1`, …

        A column of mixed kinds is text in N-Triples form, marked so in its field's metadata.
        """
        return self._state.facts(predicate, which, self._arities.get(predicate, 0))

    @guarded("reading facts")
    def rows(self, predicate: str, which: Which = "all") -> list[tuple[Value, ...]]:
        """The facts of a predicate as tuples of Python values, in no special order."""
        return self._state.rows(predicate, which)

    @guarded("looking for contradictions")
    def clashes(self) -> list[str]:
        """What equality contradicts, with facts: values and different names that are said to be equal, and stay apart."""
        return [] if self._settings.equality == "off" else self._state.clashes()

    @guarded("a query")
    def query(self, goal: str) -> list[tuple[Value, ...]]:
        """The answers to a conjunctive goal in the rule syntax: distinct bindings of its variables, sorted.

        The variables come in the order of their first occurrence; a goal without any has the answer `()` or none.
        """
        literals = parse_goal(goal, self.program.prefixes)
        return self._state.answers(telling_apart(literals) if self._settings.equality == "axioms" else literals)


def _check(option: str, value: object) -> None:
    if value not in _OPTIONS[option]:
        known = ", ".join(_OPTIONS[option])
        raise EverlogError(f"{option}={value!r} is not supported; choose one of: {known}")


def _check_name(predicate: object) -> None:
    if not isinstance(predicate, str):
        raise EverlogError(f"{predicate!r} is not the name of a predicate, which is a string")
    if predicate.startswith(HIDDEN):
        raise EverlogError(f"the predicate {predicate} needs another name: those with {HIDDEN} are Everlog's own")
