"""The values that the variables of an atom have in its facts: the ends of edges, or the items of an order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from everlog.datalog.syntax import Atom, Constant
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.driver_facts import DriverFacts, each_once, widened
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.runs import class_of
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts
from everlog.engine.spark.facts.sql_text import Table, fact_columns, select
from everlog.engine.spark.joins.hubs import Hubs, hubs

_NAMES = ("x", "y")


class AtomColumns:
    """An atom with one or two variables, each once, which the columns `x` and `y` are for; `turned`, `y` and `x`."""

    def __init__(self, engine: SparkEngine, atom: Atom, turned: bool = False) -> None:
        self._engine = engine
        ids = engine.ids(term for term in atom.terms if isinstance(term, Constant))
        self.relation = engine.relation(atom.predicate, len(atom.terms))
        self._terms = [ids[term] if isinstance(term, Constant) else None for term in atom.terms]
        places = [place for place, id in enumerate(self._terms) if id is None]
        self._places = places[::-1] if turned else places
        self._fixed = {place: id for place, id in enumerate(self._terms) if id is not None}
        self.wanted = {RELATION: class_of(self.relation)}
        self.wanted |= {f"a{place}": class_of(id) for place, id in self._fixed.items()}

    def table(self, facts: SparkFacts) -> Table | None:
        """The values in some facts, a row for each; None if there are certainly none."""
        table = facts.table(self.wanted)
        conditions = [f"{RELATION} = {self.relation}L", *(f"a{place} = {id}L" for place, id in self._fixed.items())]
        columns = [f"a{place} AS {name}" for place, name in zip(self._places, _NAMES, strict=False)]
        return None if table is None else select(columns, table, conditions)

    def hubs(self, facts: SparkFacts, name: str) -> Hubs:
        """The values of `x` or `y` that very many facts have."""
        column = f"a{self._places[_NAMES.index(name)]}"
        return hubs(self._engine, facts, frozenset({self.relation}), column)

    def local(self, facts: ComputedFacts, most: int = 0) -> Rows | None:
        """The values in some facts, a row for each, if the driver has the facts; it fetches them if they are so many."""
        local = facts.local() if facts.at_most() > most else facts.fetched(most)
        return None if local is None else self.values(local)

    def values(self, facts: DriverFacts) -> Rows:
        """The values in some facts of the driver, a row for each."""
        rows = facts.of(self.relation, len(self._terms))
        for place, id in self._fixed.items():
            rows = rows[rows[:, place] == id]
        return np.ascontiguousarray(rows[:, self._places])

    def made(self, values: Rows) -> DriverFacts:
        """The facts that the atom becomes with rows of ids for its variables."""
        rows = np.empty((len(values), len(self._terms) + 1), np.int64)
        rows[:, 0] = self.relation
        for place, id in self._fixed.items():
            rows[:, place + 1] = id
        for column, place in enumerate(self._places):
            rows[:, place + 1] = values[:, column]
        return each_once(widened(rows, self._engine.width + 1))

    def rows(self, x: str, y: str, tables: str, conditions: Iterable[str] = (), hint: str = "") -> Table:
        """The facts that the atom becomes with two expressions, over some tables, for its variables."""
        given = dict(zip(self._places, (x, y), strict=True))
        keys = [self.relation, *(given[place] if id is None else id for place, id in enumerate(self._terms))]
        return select(fact_columns(keys, self._engine.width), tables, conditions, hint)
