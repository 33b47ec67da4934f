"""Conjunctions as joins: patterns matched one after the other, each in its view, for all rules of a shape at once.

Bindings are rows with a column for each variable (`v0`, `v1`, …) and for each parameter that differs between the rules of
the shape (`r0`, `r1`, …). The parameters come from a broadcast table by the first pattern that has them.

Bindings that come from few facts are broadcast, and the facts that they are matched with stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from everlog.engine.spark import naming
from everlog.engine.spark.comparisons import compared
from everlog.engine.spark.frames import fact_row, opaque
from everlog.engine.spark.patterns import Compared, Parameters, Pattern, Term

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from everlog.engine.spark.engine import SparkEngine
    from everlog.engine.spark.runs import Run
    from everlog.engine.spark.sets import SparkFacts, Wanted

SMALL: Final = 200_000
"""Up to this many facts, what is matched with them is broadcast."""

_SOUGHT: Final = "t"


@dataclass(frozen=True)
class Literal:
    """A pattern to match in a view or, `negative`, outside of it."""

    pattern: Pattern
    view: SparkFacts
    negative: bool = False


class Conjunction:
    """Bindings of a conjunction that is evaluated step by step; `frame` is None when there are certainly none."""

    def __init__(self, engine: SparkEngine, parameters: Parameters, needed: Iterable[Term]) -> None:
        self._engine = engine
        self._parameters = parameters
        self._needed = set(needed)
        self._bound: set[Term] = set(parameters.fixed)
        self._rows: int | None = None
        self.frame: DataFrame | None = None
        self._source: Run | None = None
        """What keeps the rows of the frame, if it has been computed."""

    # ------------------------------------------------------------------------------------ evaluation

    def evaluate(
        self, positive: Sequence[Literal], negative: Sequence[Literal], comparisons: Sequence[Compared]
    ) -> DataFrame | None:
        """Matches positive literals in the order given, and the others as soon as their variables are bound."""
        waiting: list[Literal | Compared] = [*comparisons, *negative]
        for number, literal in enumerate(positive):
            later = [*(one.pattern for one in positive[number + 1 :]), *(_pattern(one) for one in waiting)]
            keep = self._needed | {term for pattern in later for term in (pattern.relation, *pattern.terms)}
            if not self._match(literal, keep):
                return None
            waiting = self._tested(waiting)
        if not positive:
            self._start_empty()
            waiting = self._tested(waiting)
        assert not waiting, "a negated or compared variable is not bound"
        return self.frame

    def _tested(self, tests: Sequence[Literal | Compared]) -> list[Literal | Compared]:
        """Applies those tests whose variables are bound; gives the others."""
        waiting: list[Literal | Compared] = []
        for test in tests:
            pattern = _pattern(test)
            if not {pattern.relation, *pattern.terms} <= self._bound or self.frame is None:
                waiting.append(test)
            elif isinstance(test, Literal):
                self.frame = self._asked(test, negated=True)
            else:
                self.frame = compared(self._engine, self.frame, test, self.column, self._rows)
        return waiting if self.frame is not None else []

    def _start_empty(self) -> None:
        """One binding of nothing, or one for each rule."""
        self.frame = self._table() if self._parameters.varying else self._engine.spark.range(1)
        self._bound.update(self._parameters.varying)
        self._rows = len(self._parameters.rows)

    def _match(self, literal: Literal, keep: set[Term]) -> bool:
        """Extends the bindings by a positive literal; False if nothing can match."""
        from pyspark.sql.functions import lit

        pattern = literal.pattern
        wanted = self.wanted(pattern)
        if self.frame is not None and {pattern.relation, *pattern.terms} <= self._bound:
            self.frame = self._asked(literal, negated=False)
            return self.frame is not None
        facts = literal.view.frame(wanted)
        if facts is None:
            return False
        size = literal.view.about(wanted)
        matched, keys = self._instances(facts, pattern)
        if self.frame is None:
            self.frame, self._rows = self._with_parameters(matched, pattern, keys), size
        else:
            self.frame = self._join(matched, keys, size)
        self._bound.update(pattern.variables(), self._parameters.varying)
        names = [name for name in self.frame.columns if name in {_name(term) for term in keep}]
        self.frame = self.frame.select(*(names or [lit(True).alias("unit")]))  # rows need a column to be counted
        return True

    def _instances(self, facts: DataFrame, pattern: Pattern) -> tuple[DataFrame, list[Term]]:
        """The facts that match a pattern, as columns for its variables and parameters; and those known already."""
        from pyspark.sql.functions import col

        columns = dict(zip(naming.columns(len(pattern.terms)), (pattern.relation, *pattern.terms), strict=True))
        first: dict[Term, str] = {}
        for column, term in columns.items():
            if term in self._parameters.fixed:
                facts = facts.where(col(column) == self._parameters.fixed[term])
            elif term in first:
                facts = facts.where(col(column) == col(first[term]))
            else:
                first[term] = column
        known = [term for term in first if term in self._bound or term < 0]
        return facts.select(*(col(column).alias(_name(term)) for term, column in first.items())), known

    def _with_parameters(self, matched: DataFrame, pattern: Pattern, keys: Sequence[Term]) -> DataFrame:
        from pyspark.sql.functions import broadcast

        if not self._parameters.varying:
            return matched
        table = broadcast(self._table())
        return matched.join(table, [_name(term) for term in keys]) if keys else matched.crossJoin(table)

    def _join(self, matched: DataFrame, keys: Sequence[Term], size: int) -> DataFrame:
        from pyspark.sql.functions import broadcast

        assert self.frame is not None
        small = self._rows is not None and self._rows <= SMALL
        bindings = self.frame
        if small and (self._rows or 0) <= size:
            bindings = broadcast(bindings)
        elif size <= SMALL:
            matched = broadcast(matched)
        if not keys:
            return matched.crossJoin(bindings)
        return matched.join(bindings, [_name(term) for term in keys])

    def _asked(self, literal: Literal, negated: bool) -> DataFrame | None:
        """The bindings whose instance of a pattern is in a view, or is not."""
        assert self.frame is not None
        asking, keys = self._sought(self.frame, literal.pattern)
        wanted = self.wanted(literal.pattern)
        if negated:
            return literal.view.outside(asking, keys, wanted, self._rows).drop(*keys)
        found = literal.view.inside(asking, keys, wanted, self._rows)
        return None if found is None else found.drop(*keys)

    def _sought(self, frame: DataFrame, pattern: Pattern) -> tuple[DataFrame, list[str]]:
        """The bindings with the columns of their instance of a pattern, under other names."""
        keys = [f"{_SOUGHT}{name}" for name in naming.columns(self._engine.width)]
        return opaque(frame.select("*", *self.fact(pattern, keys))), keys

    def any_of(self, literals: Sequence[Literal]) -> None:
        """Keeps the bindings that have an instance of one of some patterns in its view."""
        from pyspark.sql.functions import coalesce, col, lit

        if self.frame is None:
            return
        names, frame, flags = self.frame.columns, self.frame, []
        for number, literal in enumerate(literals):
            asking, keys = self._sought(frame, literal.pattern)
            told = literal.view.flag(asking, keys, self.wanted(literal.pattern), f"f{number}")
            if told is not None:
                frame = told.drop(*keys)
                flags.append(col(f"f{number}"))
        self.frame = frame.where(coalesce(*flags, lit(False))).select(*names) if flags else None

    def count(self) -> int:
        return 0 if self.frame is None else self.frame.count()

    def kept(self) -> Conjunction:
        """The same bindings, computed."""
        if self.frame is None or self._source is not None:
            return self
        copy = self._copied(None, self._parameters)
        copy._source = self._engine.run(self.frame)
        copy.frame = copy._source.frame
        return copy

    def with_parameters(self, parameters: Parameters) -> Conjunction:
        """The same bindings, with parameters for further patterns."""
        return self._copied(self.frame, parameters)

    def _copied(self, frame: DataFrame | None, parameters: Parameters) -> Conjunction:
        copy = Conjunction(self._engine, parameters, self._needed)
        copy.frame, copy._bound, copy._rows, copy._source = frame, self._bound, self._rows, self._source
        return copy

    # ------------------------------------------------------------------------------------ terms

    def column(self, term: Term) -> Column:
        """A term of a binding."""
        from pyspark.sql.functions import col, lit

        return lit(self._parameters.fixed[term]) if term in self._parameters.fixed else col(_name(term))

    def fact(self, pattern: Pattern, names: Sequence[str]) -> list[Column]:
        """The columns of an instance of a pattern."""
        return fact_row(self.column(pattern.relation), [self.column(term) for term in pattern.terms], names)

    def values(self, parameter: Term) -> frozenset[int]:
        return self._parameters.of(parameter)

    def wanted(self, pattern: Pattern) -> Wanted:
        return self._parameters.wanted(pattern)

    def _table(self) -> DataFrame:
        return self._engine.table(self._parameters)


def _pattern(test: Literal | Compared) -> Pattern:
    """The terms that a test needs, as a pattern."""
    return test.pattern if isinstance(test, Literal) else Pattern(test.left, (test.right,))


def _name(term: Term) -> str:
    return f"v{term}" if term >= 0 else f"r{~term}"
