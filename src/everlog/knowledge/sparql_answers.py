"""SPARQL for a knowledge base: the facts that queries are about, and answers that become tables and texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from everlog.datalog.syntax import Atom, Variable
from everlog.datalog.values import Value
from everlog.engine.spark import tuning
from everlog.errors import EverlogError
from everlog.knowledge.questions import STEP, closed_pairs, listed_matches, matches
from everlog.sparql.large_solutions import AnySolutions, LargeSolutions
from everlog.sparql.query_limits import Limits
from everlog.sparql.query_run import QueryResult, run_query
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.query_tree import Dataset
from everlog.sparql.result_formats import serialized
from everlog.sparql.result_pieces import serialized_pieces
from everlog.sparql.solutions import UNBOUND, Solutions

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from everlog.knowledge.frame_solutions import QueryFrames
    from everlog.knowledge.reasoner import Reasoner


Seeds: TypeAlias = "Mapping[Variable, NDArray[np.int32]]"
_NONE: Final[Seeds] = {}
_FETCHED: Final = 10_000_000
"""So many matches of a pattern are fetched where they are found by Spark, unless a query may have fewer or more."""


class ReasonedFacts:
    """The materialisation of a reasoner, as queries ask for it."""

    def __init__(self, reasoner: Reasoner[Any, Any, Any], limits: Limits) -> None:
        dictionary, grows = reasoner.backend.query_dictionary()
        self._world, self.terms = reasoner.world, QueryTerms(dictionary, grows)
        self._spread: dict[tuple[tuple[Atom, ...], tuple[Variable, ...]], AnySolutions] = {}
        self._limits = replace(limits, rows=_FETCHED) if grows and limits.rows is None else limits

    def matches(
        self, atoms: Sequence[Atom], variables: Sequence[Variable], seeds: Solutions | None, first: int | None = None
    ) -> Solutions:
        spread = self.spread(atoms, variables) if self.terms.grows else None
        if spread is not None:
            return self._fetched(spread, seeds, first)
        known = _NONE if seeds is None else self._seeds(seeds, variables)
        check = self._limits.of_columns(len(variables))
        number, ids = matches(self._world, atoms, variables, known, self.terms.known, check, first)
        return Solutions(number, dict(zip(variables, ids.astype(np.int64), strict=True)))

    def _fetched(self, found: AnySolutions, seeds: Solutions | None, first: int | None) -> Solutions:
        """Matches in this process; where there are many, those that agree with seeds, or the first."""
        if isinstance(found, Solutions):
            return found
        columns = {} if seeds is None else seeds.columns
        known = [name for name in found.variables if name in columns and (columns[name] != UNBOUND).all()]
        if seeds is not None and known:
            found = found.with_partner(self.moved(seeds.project(known).distinct()), False)
        return (found if first is None else found.first(first)).fetched()

    def spread(self, atoms: Sequence[Atom], variables: Sequence[Variable]) -> AnySolutions | None:
        if not self.terms.grows or not variables:
            return None
        key = tuple(atoms), tuple(variables)
        if key not in self._spread:
            self._spread[key] = self._arranged(*listed_matches(self._world, atoms, variables), variables)
        return self._spread[key]

    def _arranged(self, number: int, listed: Any, variables: Sequence[Variable]) -> AnySolutions:
        """Few matches are fetched, many stay where they are."""
        most, rows = tuning.FETCHED_MATCHES, self._limits.rows
        if number > (most if rows is None else min(most, rows)):
            return self._frames.of_facts(listed, variables)
        ids = self._world.backend.columns(listed, len(variables), self.terms.known)
        return Solutions(number, dict(zip(variables, ids.astype(np.int64), strict=True)))

    def moved(self, solutions: Solutions) -> LargeSolutions:
        return self._frames.moved(solutions)

    def closed(self, pairs: LargeSolutions) -> LargeSolutions:
        from everlog.engine.spark.spark_backend import SparkBackend
        from everlog.knowledge.frame_solutions import FrameSolutions

        backend = self._world.backend
        assert isinstance(pairs, FrameSolutions) and isinstance(backend, SparkBackend), (
            "solutions are elsewhere on Spark"
        )
        edges = self._frames.edges(pairs)
        reached = closed_pairs(self._world, lambda: backend.engine.facts({STEP: edges}))
        # A pair of terms that no fact has is no step of anything else.
        return self._frames.of_facts(reached, pairs.variables).stacked([pairs]).distinct()

    @cached_property
    def _frames(self) -> QueryFrames:
        from everlog.engine.spark.spark_backend import SparkBackend
        from everlog.knowledge.frame_solutions import QueryFrames

        backend = self._world.backend
        assert isinstance(backend, SparkBackend), "solutions are elsewhere only where facts are"
        terms = backend.terms
        return QueryFrames(backend.spark, lambda: terms.frame, terms.find_texts, self.terms, self._limits)

    def _seeds(self, seeds: Solutions, mentioned: Sequence[Variable]) -> Seeds:
        """Those columns of some solutions that can be looked up: bound, and known to the knowledge base."""
        return {
            variable: column.astype(np.int32)
            for variable, column in seeds.columns.items()
            if variable in mentioned and self.terms.is_stored(column)
        }


def answered(
    reasoner: Reasoner[Any, Any, Any],
    text: str,
    base: str | None,
    seconds: float | None,
    rows: int | None,
    memory: int | None,
    graphs: tuple[Sequence[str], Sequence[str]] | None,
) -> SparqlAnswer:
    """The answer to a query, within limits; `graphs` are IRIs of the default graph's parts, and of those with names."""
    limits = Limits(seconds, rows, memory)
    dataset = None if graphs is None else Dataset(*(tuple(map(_graph_name, names)) for names in graphs))
    return SparqlAnswer(run_query(text, base, ReasonedFacts(reasoner, limits), limits, dataset))


def _graph_name(iri: str) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError as mistake:
        raise EverlogError(f"'{iri}' is no IRI of a graph: {mistake}") from None


class SparqlAnswer:
    """What a query gives: rows of Python values, in order; None where a variable is not bound.

    Of ASK, the truth of the answer is what was asked, and it has one row, without values, or none. Of CONSTRUCT and
    DESCRIBE rows are triples. Values are looked up when they are first asked for.
    """

    def __init__(self, result: QueryResult) -> None:
        self._result = result

    @property
    def form(self) -> Literal["select", "ask", "construct", "describe"]:
        """Which form the query has."""
        return self._result.form

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns, without question marks."""
        return tuple(variable.name for variable in self._result.variables)

    @cached_property
    def _rows(self) -> list[tuple[Value | None, ...]]:
        columns = self._result.columns()
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    def __len__(self) -> int:
        return self._result.solutions.length

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[tuple[Value | None, ...]]:
        return iter(self._rows)

    def __getitem__(self, place: int) -> tuple[Value | None, ...]:
        return self._rows[place]

    def __repr__(self) -> str:
        if self.form == "ask":
            return f"<SparqlAnswer: {'true' if self else 'false'}>"
        names = " ".join(f"?{name}" for name in self.variables)
        return f"<SparqlAnswer: {len(self):,} rows of {names or 'no variables'}>"

    @property
    def cells(self) -> int:
        """How many terms it has, with those that are not bound."""
        return len(self) * len(self.variables)

    def part(self, first: int, number: int) -> SparqlAnswer:
        """At most so many of its rows, from one on."""
        solutions = self._result.solutions.take(slice(first, first + number))
        return self if self.form == "ask" else SparqlAnswer(replace(self._result, solutions=solutions))

    def to_arrow(self) -> pa.Table:
        """An Arrow table; `natural_columns.py` says which types its columns have. Null is what is not bound."""
        import pyarrow as pa

        from everlog.knowledge.answer_rows import PRESENT
        from everlog.knowledge.natural_columns import nullable_column

        if not self.variables:
            return pa.table({PRESENT: pa.array([True] * len(self), pa.bool_())})
        made = [
            nullable_column(name, column) for name, column in zip(self.variables, self._result.columns(), strict=True)
        ]
        return pa.Table.from_arrays([array for _, array in made], schema=pa.schema([field for field, _ in made]))

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame; dates are its timestamps."""
        return self.to_arrow().to_pandas(date_as_object=False)

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """A DataFrame of a Spark session."""
        from everlog.spark.handover import to_spark

        return to_spark(spark, self.to_arrow())

    def serialize(self, format: str) -> str:
        """The answer as text: `json`, `xml`, `csv` or `tsv`; of CONSTRUCT and DESCRIBE, `nt` or `ttl`."""
        return serialized(self._result, format)

    def pieces(self, format: str, rows: int = 10_000) -> Iterator[str]:
        """The same text in pieces of so many rows each, for those who send it on; of a graph, one that means the same."""
        return serialized_pieces(self._result, format, rows)
