"""Conjunctions as joins: patterns matched one after the other, each in its view, for all rules of a shape at once.

Bindings are rows with a column for each variable (`v0`, `v1`, …) and for each parameter that differs between the rules of
the shape (`r0`, `r1`, …). The parameters come from a broadcast table with the first pattern.

Bindings that come from few facts are broadcast, and the facts that they are matched with stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts import fact_schema
from everlog.engine.spark.facts.runs import Run
from everlog.engine.spark.facts.sets import SparkFacts
from everlog.engine.spark.facts.sql_text import Keys, Table, any_present, select
from everlog.engine.spark.joins.comparisons import NO_TWINS, compared, equal
from everlog.engine.spark.joins.computed_values import RESULT, results
from everlog.engine.spark.joins.hubs import SHARE, Hubs, hubs, shared
from everlog.engine.spark.joins.patterns import Compared, Computed, Parameters, Pattern, Term


@dataclass(frozen=True)
class Literal:
    """A pattern to match in a view or, `negative`, outside of it."""

    pattern: Pattern
    view: SparkFacts
    negative: bool = False


Test: TypeAlias = Literal | Compared | Computed
"""What is asked of bindings as soon as its variables are bound: a negative literal, a comparison, or a computation."""


class Conjunction:
    """Bindings of a conjunction that is evaluated step by step; `table` is None when there are certainly none."""

    def __init__(self, engine: SparkEngine, parameters: Parameters, needed: Iterable[Term]) -> None:
        self._engine = engine
        self._parameters = parameters
        self._needed = set(needed)
        self._bound: set[Term] = set(parameters.fixed)
        self._columns: list[str] = []
        self._matched: list[Literal] = []
        """The positive literals that have bound variables so far."""
        self.started_from: int | None = None
        """How many facts the joins start from; None if nobody knows."""
        self._held: list[Literal | Run] = []
        """Sets and runs that the query names; they are held here, so that they are not dropped before it is evaluated."""
        self.table: Table | None = None

    # ------------------------------------------------------------------------------------ evaluation

    def evaluate(
        self, positive: Sequence[Literal], negative: Sequence[Literal], tests: Sequence[Compared | Computed]
    ) -> None:
        """Matches positive literals in the order given, and the others as soon as their variables are bound."""
        self._held += [*positive, *negative]
        waiting: list[Test] = [*tests, *negative]
        if not positive:
            self._start_empty()
            waiting = self._tested(waiting)
        for number, literal in enumerate(positive):
            later = [*positive[number + 1 :], *waiting]
            keep = self._needed.union(*(_terms(one) for one in later))
            self._match(literal, keep)
            if self.table is None:
                return
            waiting = self._tested(waiting)
        assert not waiting, "a negated or compared variable is not bound"

    def any_of(self, literals: Sequence[Literal]) -> None:
        """Keeps the bindings that have an instance of one of some patterns in its view."""
        self._held += literals
        asked = []
        for literal in literals:
            wanted = self._parameters.wanted(literal.pattern)
            sought = literal.view.table(wanted, to_broadcast=True)
            if sought is not None:
                asked.append((self.keys(literal.pattern), sought, literal.view.at_most(wanted)))
        if self.table is not None:
            self.table = any_present(self.table, asked) if asked else None

    def _tested(self, tests: Sequence[Test]) -> list[Test]:
        """Applies those tests whose variables are bound; gives the others."""
        waiting: list[Test] = []
        computed = False
        for test in tests:
            if not (test.giving[0] if isinstance(test, Computed) else _terms(test)) <= self._bound:
                waiting.append(test)
            elif isinstance(test, Computed):
                self._compute(test)
                computed = True
            elif isinstance(test, Compared):
                self._compare(test)
            elif self.table is not None:
                wanted = self._parameters.wanted(test.pattern)
                self.table = test.view.outside(self.table, self.keys(test.pattern), wanted, self.started_from)
        return self._tested(waiting) if computed else waiting

    def _compute(self, test: Computed) -> None:
        """Gives a variable its value, or keeps the bindings that have it or pass the filter."""
        assert self.table is not None
        bindings = self._engine.run(self.table)
        found = results(self._engine, bindings.view(), test)
        self._held += [bindings, found]
        columns, conditions = ["l.*"], [f"x.v{term} = l.v{term}" for term in test.inputs]
        if test.result is not None and test.result in self._bound:
            (known,) = self._expressions([test.result])
            conditions.append(f"x.{RESULT} = {known}")
        elif test.result is not None:
            columns.append(f"x.{RESULT} AS {_name(test.result)}")
            self._columns.append(_name(test.result))
            self._bound.add(test.result)
        hint = "BROADCAST(x)" if found.rows <= tuning.BROADCAST_JOIN_FACTS else ""
        self.table = select(columns, f"{bindings.view()} l CROSS JOIN {found.view()} x", conditions, hint)

    def _compare(self, test: Compared) -> None:
        assert self.table is not None
        left, right = (str(key) for key in self._expressions((test.left, test.right)))
        if test.operator == "is not":
            self.table = equal(self.table, "!=", left, right, NO_TWINS)
        elif test.operator in ("=", "!="):
            twins = self._engine.twins()
            self._held += [] if twins.run is None else [twins.run]
            self.table = equal(self.table, test.operator, left, right, twins)
        else:
            values = self._engine.names() if test.operator == "~" else self._engine.comparables()
            self.table = compared(self.table, test.operator, left, right, values, self.started_from)

    def _start_empty(self) -> None:
        """Starts without a positive literal: from one empty binding, or from one for each rule of the shape."""
        varying = self._parameters.varying
        self.table = self._engine.table(self._parameters) if varying else "(SELECT 1 AS unit)"
        self._columns = [_name(term) for term in varying] or ["unit"]
        self._bound.update(varying)
        self.started_from = len(self._parameters.rows)

    def _match(self, literal: Literal, keep: set[Term]) -> None:
        """Extends the bindings by a positive literal."""
        pattern = literal.pattern
        wanted = self._parameters.wanted(pattern)
        if self.table is not None and _terms(literal) <= self._bound:
            self.table = literal.view.inside(self.table, self.keys(pattern), wanted, self.started_from)
            return
        size = literal.view.at_most(wanted)
        facts = literal.view.table(wanted, to_broadcast=self.table is None or size <= tuning.BROADCAST_JOIN_FACTS)
        if facts is None:
            self.table = None
            return
        joins, hint, started_from = self._partners(size)
        conditions: list[str] = []
        if self.table is not None and not hint:
            facts, dealt = self._dealt_out(facts, literal)
            if dealt is not None:
                joins = f" CROSS JOIN {dealt} l"
                conditions.append(f"f.{SHARE} = l.{SHARE}")
        found: dict[Term, str] = {}
        columns = zip(fact_schema.columns(len(pattern.terms)), (pattern.relation, *pattern.terms), strict=True)
        for column, term in columns:
            if term in self._parameters.fixed:
                conditions.append(f"f.{column} = {self._parameters.fixed[term]}L")
            elif term in found:
                conditions.append(f"f.{column} = {found[term]}")
            elif term < 0 or term in self._bound:
                conditions.append(f"f.{column} = {self._source(term)}")
            else:
                found[term] = f"f.{column}"
        before = {name: f"l.{name}" for name in self._columns}
        if self.table is None:
            before |= {_name(term): self._source(term) for term in self._parameters.varying}
        after = before | {_name(term): expression for term, expression in found.items()}
        names = {_name(term) for term in keep}
        kept = {name: expression for name, expression in after.items() if name in names} or {"unit": "1"}
        listed = [f"{expression} AS {name}" for name, expression in kept.items()]
        self.table = select(listed, f"{facts} f{joins}", conditions, hint)
        self._columns = list(kept)
        self._matched.append(literal)
        self.started_from = started_from
        self._bound.update(pattern.variables(), self._parameters.varying)

    def _partners(self, size: int) -> tuple[str, str, int | None]:
        """What facts are joined with, with a hint, and how many facts the bindings then come from."""
        if self.table is None:
            if not self._parameters.varying:
                return "", "", size
            return f" CROSS JOIN {self._engine.table(self._parameters)} r", "BROADCAST(r)", size
        hint = ""
        if self._engine.driver.fetches(size):
            hint = "BROADCAST(f)"  # which takes no job, since the driver has the facts
        elif self.started_from is not None and self.started_from <= min(tuning.BROADCAST_JOIN_FACTS, size):
            hint = "BROADCAST(l)"
        elif size <= tuning.BROADCAST_JOIN_FACTS:
            hint = "BROADCAST(f)"
        return f" CROSS JOIN {self.table} l", hint, self.started_from

    def _dealt_out(self, facts: Table, literal: Literal) -> tuple[Table, Table | None]:
        """The facts and the bindings that meet them, in shares if a value that they meet by is a hub; see `hubs.py`."""
        places = list(zip(fact_schema.arguments(len(literal.pattern.terms)), literal.pattern.terms, strict=True))
        met = {term: column for column, term in places if term in self._bound and term not in self._parameters.fixed}
        if self.table is None or len(met) != 1 or (min(met) < 0):
            return facts, None
        ((term, column),) = met.items()
        ours = frozenset[int]().union(*(self._hubs(one, term) for one in self._matched))
        theirs = self._hubs(literal, term)
        if not ours and not theirs:
            return facts, None
        partitions, columns = self._engine.partitions, fact_schema.columns(self._engine.width)
        return (
            shared(facts, column, columns, theirs, ours - theirs, partitions),
            shared(self.table, _name(term), self._columns, ours - theirs, theirs, partitions),
        )

    def _hubs(self, literal: Literal, term: Term) -> Hubs:
        """The hubs among the values of a variable in a literal."""
        pattern, found = literal.pattern, frozenset[int]()
        for column, one in zip(fact_schema.arguments(len(pattern.terms)), pattern.terms, strict=True):
            if one == term:
                found |= hubs(self._engine, literal.view, self.relations(pattern), column)
        return found

    # ------------------------------------------------------------------------------------ bindings

    def with_parameters(self, parameters: Parameters) -> Conjunction:
        """A conjunction with the same bindings, whose parameters are those of further patterns."""
        copy = Conjunction(self._engine, parameters, self._needed)
        copy.table, copy.started_from = self.table, self.started_from
        copy._columns, copy._held = self._columns, self._held
        copy._bound |= self._bound
        return copy

    # ------------------------------------------------------------------------------------ terms

    def keys(self, pattern: Pattern) -> Keys:
        """The fact that a binding `l` makes of a pattern."""
        return self._expressions((pattern.relation, *pattern.terms))

    def relations(self, pattern: Pattern) -> frozenset[int]:
        """The relations of a pattern, in all rules."""
        return self._parameters.of(pattern.relation)

    def _expressions(self, terms: Iterable[Term]) -> list[str | int]:
        fixed = self._parameters.fixed
        return [fixed[term] if term in fixed else f"l.{_name(term)}" for term in terms]

    def _source(self, term: Term) -> str:
        return f"{'r' if self.table is None else 'l'}.{_name(term)}"


def _terms(part: Test) -> set[Term]:
    if isinstance(part, Compared):
        return {part.left, part.right}
    if isinstance(part, Computed):
        return part.giving[0] | part.giving[1] | ({part.result} if part.result is not None else set())
    return {part.pattern.relation, *part.pattern.terms}


def _name(term: Term) -> str:
    return f"v{term}" if term >= 0 else f"r{~term}"
