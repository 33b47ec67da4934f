"""Solutions that count as being elsewhere, and are here: what `sparql/large_solutions.py` asks for, in the plainest way.

With `far_away`, a knowledge base in memory answers queries as if its facts were on Spark and every pattern had many
matches, so that the algebra of large solutions can be tried with many queries, and without a job.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from everlog.datalog.syntax import Variable
from everlog.engine.memory.memory_backend import MemoryBackend
from everlog.engine.spark import tuning
from everlog.knowledge.sparql_answers import ReasonedFacts
from everlog.sparql.large_solutions import can_spread
from everlog.sparql.path_search import Pairs, _closed
from everlog.sparql.query_evaluation import Evaluation, Setting
from everlog.sparql.query_limits import Limits
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.query_tree import Formula, Group
from everlog.sparql.solution_joins import has_partner, join, merged, pairs
from everlog.sparql.solutions import UNBOUND, Solutions, stacked

FAR: list[str] = []
"""What was done elsewhere, so that a test can see that something was."""


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Some solutions; what is done with them is noted."""

    terms: QueryTerms
    here: Solutions

    def _made(self, how: str, here: Solutions) -> Elsewhere:
        FAR.append(how)
        return Elsewhere(self.terms, here)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self.here.columns)

    @property
    def open(self) -> frozenset[Variable]:
        return frozenset(name for name, column in self.here.columns.items() if (column == UNBOUND).any())

    def joined(self, other: Elsewhere) -> Elsewhere:
        assert self.variables and other.variables
        return self._made("joined", join(self.here, other.here))

    def left_joined(self, other: Elsewhere) -> Elsewhere:
        mine, others = pairs(self.here, other.here)
        alone = np.ones(self.here.length, np.bool_)
        alone[mine] = False
        return self._made("left joined", stacked([merged(self.here, other.here, mine, others), self.here.take(alone)]))

    def without_partner(self, other: Elsewhere, apart: Collection[Variable]) -> Elsewhere:
        return self._made("without", self.here.take(~has_partner(self.here, other.here, apart)))

    def with_partner(self, other: Elsewhere, negative: bool) -> Elsewhere:
        return self._made("with", self.here.take(has_partner(self.here, other.here) != negative))

    def filtered(self, condition: Formula) -> Elsewhere:
        assert not condition.exists and can_spread(condition)
        return self._made("filtered", Evaluation(self.terms, Limits()).kept(self.here, condition))

    def extended(self, variable: Variable, formula: Formula) -> Elsewhere:
        assert not formula.exists and can_spread(formula) and variable not in self.variables
        return self._made("extended", Evaluation(self.terms, Limits()).with_values(self.here, variable, formula))

    def stacked(self, others: Sequence[Elsewhere]) -> Elsewhere:
        return self._made("stacked", stacked([self.here, *(other.here for other in others)]))

    def projected(self, variables: Sequence[Variable]) -> Elsewhere:
        assert variables
        return self._made("projected", self.here.project(variables))

    def copied(self, variable: Variable, name: Variable) -> Elsewhere:
        assert name not in self.variables
        return self._made("copied", self.here.extended(name, self.here.columns[variable]))

    def renamed(self, variable: Variable, name: Variable) -> Elsewhere:
        values, rest = self.here.columns[variable], self.here.without((variable,))
        known = rest.column(name)
        return self._made("renamed", rest.extended(name, values).take((known == UNBOUND) | (known == values)))

    def numbered(self, keys: Sequence[Variable], number: Variable) -> Elsewhere:
        rows = zip(*(self.here.columns[key].tolist() for key in keys), strict=True) if keys else ()
        texts = [" ".join(map(str, row)) for row in rows] if keys else [""] * self.here.length
        return self._made("numbered", self.here.extended(number, self.terms.encode(texts)))

    def marked(self, other: Elsewhere, number: Variable, mark: Variable) -> Elsewhere:
        there = np.isin(self.here.columns[number], other.here.columns[number])
        return self._made("marked", self.here.extended(mark, self.terms.encode(there.tolist())))

    def distinct(self) -> Elsewhere:
        return self._made("distinct", self.here.distinct())

    def first(self, number: int) -> Elsewhere:
        return self._made("first", self.here.take(slice(number)))

    def least(self, keys: Sequence[tuple[Formula, bool]], number: int) -> Elsewhere:
        return self._made("least", Evaluation(self.terms, Limits()).ordered(self.here, keys).take(slice(number)))

    def grouped(self, group: Group) -> Elsewhere:
        nowhere: Any = Setting(None)  # type: ignore[arg-type]
        return self._made("grouped", Evaluation(self.terms, Limits()).groups(self.here, group, nowhere))

    def number(self) -> int:
        return self.here.length

    def fetched(self) -> Solutions:
        return self.here


@dataclass
class _Frames:
    terms: QueryTerms

    def of_facts(self, ids: Any, variables: Sequence[Variable]) -> Elsewhere:
        columns = dict(zip(variables, ids.astype(np.int64), strict=True))
        return Elsewhere(self.terms, Solutions(ids.shape[1], columns))

    def moved(self, solutions: Solutions) -> Elsewhere:
        assert solutions.columns
        return Elsewhere(self.terms, solutions)


def _closed_here(facts: ReasonedFacts, steps: Elsewhere) -> Elsewhere:
    one, other = steps.variables
    found = _closed(Pairs(steps.here.columns[one], steps.here.columns[other]), np.unique(steps.here.columns[one]))
    return steps._made("closed", Solutions(len(found.starts), {one: found.starts, other: found.ends}))


def far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has knowledge bases in memory answer as if all matches were elsewhere; their dictionaries take new terms."""
    monkeypatch.setattr(tuning, "FETCHED_MATCHES", -1)
    monkeypatch.setattr(MemoryBackend, "query_dictionary", lambda backend: (backend.engine.dictionary, True))
    monkeypatch.setattr(ReasonedFacts, "_frames", property(lambda facts: _Frames(facts.terms)))
    monkeypatch.setattr(ReasonedFacts, "closed", partial(_called, _closed_here))
    FAR.clear()


def _called(method: Any, *arguments: Any) -> Any:
    return method(None, *arguments)
