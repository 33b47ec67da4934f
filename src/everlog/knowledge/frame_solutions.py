"""Large solutions as Spark DataFrames: what `sparql/large_solutions.py` asks for.

A variable is a column. Terms that facts have are ids of the knowledge base, and those that were computed N-Triples texts;
where both meet, and where values are looked at, ids become texts. Null is what is not bound. What Spark has no operator
for (filters, expressions, most aggregates, orders) is done by tasks, each with the code that this process uses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, concat, concat_ws, count, count_distinct, lit, when
from pyspark.sql.functions import hex as hex_of

from everlog.datalog.syntax import Variable, terms_of
from everlog.datalog.values import XSD
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.spark.listed_facts import SparkListed
from everlog.spark.handover import to_arrow, to_spark
from everlog.sparql.query_evaluation import Evaluation, Setting
from everlog.sparql.query_limits import Limits
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.query_tree import Formula, Group
from everlog.sparql.solutions import UNBOUND, Ids, Solutions, stacked

_COPIES: Final = Variable("#copies")
"""How often a solution occurs."""
_TRUE, _FALSE = (f'"{truth}"^^<{XSD}boolean>' for truth in ("true", "false"))

Work: TypeAlias = Callable[[Evaluation, Solutions], Solutions]


@dataclass(frozen=True)
class QueryFrames:
    """What solutions of one query share: the terms of the knowledge base, and those that are fetched."""

    spark: SparkSession
    known: Callable[[], DataFrame]
    """All terms of the knowledge base: `id` and `term`."""
    find: Callable[[pa.Array], NDArray[np.int64]]
    """The ids of some of these terms, -1 for other terms."""
    terms: QueryTerms
    limits: Limits

    def of_facts(self, facts: SparkListed, variables: Sequence[Variable]) -> FrameSolutions:
        """Solutions that are rows of ids, `a0`, `a1`, …"""
        columns = [col(f"a{place}").alias(_name(place)) for place in range(len(variables))]
        return FrameSolutions(self, tuple(variables), facts.frame.select(*columns))

    def moved(self, solutions: Solutions) -> FrameSolutions:
        """Solutions of this process."""
        variables = tuple(solutions.columns)
        columns = {name: self._moved(column) for name, column in solutions.columns.items()}
        texts = frozenset(name for name, column in columns.items() if column.type != pa.int64())
        open = frozenset(name for name, column in columns.items() if column.null_count)
        table = pa.table(list(columns.values()), names=list(map(_name, range(len(variables)))))
        return FrameSolutions(self, variables, to_spark(self.spark, table), texts, open)

    def _moved(self, column: Ids) -> pa.Array:
        """Ids of the knowledge base, if it has all terms of a column, so that what they meet stays as it is; else texts."""
        texts, there = _texts(self.terms, column), column != UNBOUND
        ids = np.full(len(column), UNBOUND, np.int64)
        if there.any():
            ids[there] = self.find(texts.drop_null())
        return pa.array(ids, mask=~there) if (ids[there] >= 0).all() else texts.cast(pa.string())

    def edges(self, pairs: FrameSolutions) -> DataFrame:
        """Solutions with two variables as facts `a0` and `a1`, without those of which the knowledge base has no term."""
        frame = pairs.frame
        for place, variable in enumerate(pairs.variables):
            name = _name(place)
            if variable in pairs.texts:
                known = self.known().select(col("term").alias(name), col("id").alias(f"a{place}"))
                frame = frame.join(known, name)
            else:
                frame = frame.withColumn(f"a{place}", col(name))
        return frame.select("a0", "a1")


@dataclass(frozen=True)
class FrameSolutions:
    """Solutions with some variables, in the columns `c0`, `c1`, … of a DataFrame."""

    frames: QueryFrames
    variables: tuple[Variable, ...]
    frame: DataFrame
    texts: frozenset[Variable] = frozenset()
    """Those whose columns are texts."""
    open: frozenset[Variable] = frozenset()

    # ------------------------------------------------------------------------------------ columns

    def column(self, variable: Variable, side: str = "") -> Column:
        return col(f"{side}{_name(self.variables.index(variable))}")

    def with_texts(self, variables: Iterable[Variable]) -> FrameSolutions:
        """The same with texts in the columns of some variables."""
        frame, texts = self.frame, set(self.texts)
        for variable in variables:
            if variable in texts or variable not in self.variables:
                continue
            name = _name(self.variables.index(variable))
            meant = self.frames.known().select(col("id").alias(name), col("term").alias("text"))
            frame = frame.join(meant, name, "left").drop(name).withColumnRenamed("text", name)
            texts.add(variable)
        return replace(self, frame=frame.select(*map(_name, range(len(self.variables)))), texts=frozenset(texts))

    def projected(self, variables: Sequence[Variable]) -> FrameSolutions:
        columns = [
            (self.column(one) if one in self.variables else lit(None).cast("string")).alias(_name(place))
            for place, one in enumerate(variables)
        ]
        missing = frozenset(variables).difference(self.variables)
        kept = frozenset(variables)
        texts, open = (self.texts & kept) | missing, (self.open & kept) | missing
        return FrameSolutions(self.frames, tuple(variables), self.frame.select(*columns), texts, open)

    def _side(self, side: str) -> DataFrame:
        return self.frame.select(
            *(self.column(one).alias(f"{side}{_name(at)}") for at, one in enumerate(self.variables))
        )

    # ------------------------------------------------------------------------------------ joins

    def _compared(self, other: FrameSolutions) -> tuple[FrameSolutions, FrameSolutions, list[Variable]]:
        """Both with the same kind of columns for what they share."""
        shared = [variable for variable in self.variables if variable in other.variables]
        unlike = [variable for variable in shared if (variable in self.texts) != (variable in other.texts)]
        return self.with_texts(unlike), other.with_texts(unlike), shared

    def _pairs(
        self, other: FrameSolutions, shared: Sequence[Variable], how: str, telling: Sequence[Variable] = ()
    ) -> DataFrame:
        """Compatible pairs, `l…` and `r…`; with `telling` ones, both have to bind one of these variables."""
        tests = []
        for variable in shared:
            mine, theirs = self.column(variable, "l"), other.column(variable, "r")
            equal = mine == theirs
            loose = [side for side, of in ((mine, self), (theirs, other)) if variable in of.open]
            tests.append(reduce(or_, (side.isNull() for side in loose), equal))
        if telling and all(variable in self.open | other.open for variable in telling):
            bound = [self.column(one, "l").isNotNull() & other.column(one, "r").isNotNull() for one in telling]
            tests.append(reduce(or_, bound))
        left, right = self._side("l"), other._side("r")
        if not tests and how == "inner":
            return left.crossJoin(right)
        return left.join(right, reduce(and_, tests) if tests else lit(True), how)

    def _merged(self, other: FrameSolutions, pairs: DataFrame, optional: bool = False) -> FrameSolutions:
        """Pairs as solutions."""
        variables = tuple(dict.fromkeys((*self.variables, *other.variables)))
        columns = []
        for variable in variables:
            if variable not in self.variables:
                columns.append(other.column(variable, "r"))
            elif variable in self.open and variable in other.variables:
                columns.append(coalesce(self.column(variable, "l"), other.column(variable, "r")))
            else:
                columns.append(self.column(variable, "l"))
        loose = {one for one in variables if one not in self.variables or one in self.open}
        loose &= {one for one in variables if optional or one not in other.variables or one in other.open}
        frame = pairs.select(*(column.alias(_name(place)) for place, column in enumerate(columns)))
        return FrameSolutions(self.frames, variables, frame, self.texts | other.texts, frozenset(loose))

    def joined(self, other: Any) -> FrameSolutions:
        one, two, shared = self._compared(other)
        return one._merged(two, one._pairs(two, shared, "inner"))

    def left_joined(self, other: Any) -> FrameSolutions:
        one, two, shared = self._compared(other)
        return one._merged(two, one._pairs(two, shared, "left"), optional=True)

    def without_partner(self, other: Any, apart: Collection[Variable]) -> FrameSolutions:
        telling = [name for name in self.variables if name in other.variables and name not in apart]
        if not telling:
            return self
        one, two, shared = self._compared(other)
        return one._sifted(two.projected(shared).distinct(), shared, "left_anti", telling)

    def with_partner(self, other: Any, negative: bool) -> FrameSolutions:
        one, two, shared = self._compared(other)
        few = two.projected(shared).distinct() if shared else two
        return one._sifted(few, shared, "left_anti" if negative else "left_semi")

    def _sifted(
        self, other: FrameSolutions, shared: Sequence[Variable], how: str, telling: Sequence[Variable] = ()
    ) -> FrameSolutions:
        kept = self._pairs(other, shared, how, telling)
        return replace(self, frame=kept.toDF(*map(_name, range(len(self.variables)))))

    def stacked(self, others: Sequence[Any]) -> FrameSolutions:
        parts: list[FrameSolutions] = [self, *others]
        variables = tuple(dict.fromkeys(name for part in parts for name in part.variables))
        open = frozenset(name for part in parts for name in {*variables}.difference(part.variables) | part.open)
        ids = {name for name in variables if all(name in part.variables and name not in part.texts for part in parts)}
        texts = frozenset(variables) - ids
        frames = [part.with_texts(texts).projected(variables).frame for part in parts]
        return FrameSolutions(self.frames, variables, reduce(DataFrame.unionAll, frames), texts, open)

    # ------------------------------------------------------------------------------------ variables

    def copied(self, variable: Variable, name: Variable) -> FrameSolutions:
        found = self._with_column(name, self.column(variable), variable in self.texts)
        return replace(found, open=found.open | {name}) if variable in self.open else found

    def renamed(self, variable: Variable, name: Variable) -> FrameSolutions:
        if name not in self.variables:
            variables, texts, open = (
                tuple(name if one == variable else one for one in some)
                for some in (self.variables, self.texts, self.open)
            )
            return replace(self, variables=variables, texts=frozenset(texts), open=frozenset(open))
        alike = (variable in self.texts) == (name in self.texts)
        both = self if alike else self.with_texts((variable, name))
        value, other = both.column(variable), both.column(name)
        kept = replace(both, frame=both.frame.where((value == other) | other.isNull()))
        rest = [one for one in both.variables if one not in (variable, name)]
        return kept.projected([*rest, variable]).renamed(variable, name)

    def numbered(self, keys: Sequence[Variable], number: Variable) -> FrameSolutions:
        columns = ((key, self.column(key)) for key in keys)
        parts = [coalesce(hex_of(one) if key in self.texts else one.cast("string"), lit("-")) for key, one in columns]
        return self._with_column(number, concat(lit('"'), concat_ws(" ", *parts), lit('"')), True)

    def marked(self, other: Any, number: Variable, mark: Variable) -> FrameSolutions:
        one, two, _ = self.projected(self.variables)._compared(other.projected((number,)).distinct())
        there = two._side("r")
        pairs = one.frame.join(there, one.column(number) == col(f"r{_name(0)}"), "left")
        truth = when(col(f"r{_name(0)}").isNotNull(), lit(_TRUE)).otherwise(lit(_FALSE))
        return replace(one, frame=pairs)._with_column(mark, truth, True)

    def _with_column(self, variable: Variable, column: Column, text: bool) -> FrameSolutions:
        names = [_name(place) for place in range(len(self.variables) + 1)]
        frame = self.frame.select(*names[:-1], column.alias(names[-1]))
        texts = self.texts | {variable} if text else self.texts
        return replace(self, variables=(*self.variables, variable), frame=frame, texts=texts)

    # ------------------------------------------------------------------------------------ by Spark alone

    def distinct(self) -> FrameSolutions:
        return replace(self, frame=self.frame.distinct())

    def first(self, number: int) -> FrameSolutions:
        return replace(self, frame=self.frame.limit(number))

    def number(self) -> int:
        return self.frame.count()

    def fetched(self) -> Solutions:
        frames, names = self.frames, [_name(place) for place in range(len(self.variables))]
        check, most = frames.limits.of_columns(len(names)), frames.limits.rows
        frame = self.with_texts(self.variables).frame
        schema = pa.schema([(name, pa.large_string()) for name in names])
        table = to_arrow(frame if most is None else frame.limit(most + 1), schema, few=False)
        check(table.num_rows)
        columns = [_ids(frames.terms, table.column(name)) for name in names]
        return Solutions(table.num_rows, dict(zip(self.variables, columns, strict=True)))

    # ------------------------------------------------------------------------------------ by tasks

    def filtered(self, condition: Formula) -> FrameSolutions:
        return self._worked(_Filter(condition), _used(condition), self.variables)

    def extended(self, variable: Variable, formula: Formula) -> FrameSolutions:
        return self._worked(_Extend(variable, formula), _used(formula), (*self.variables, variable), {variable})

    def least(self, keys: Sequence[tuple[Formula, bool]], number: int) -> FrameSolutions:
        used = {variable for formula, _ in keys for variable in _used(formula)}
        return self._worked(_Least(tuple(keys), number), used, self.variables, how="folded")

    def grouped(self, group: Group) -> FrameSolutions:
        results = [aggregation.result for aggregation in group.aggregations]
        variables = (*group.keys, *results)
        keyed = self.projected([*self.variables, *(key for key in group.keys if key not in self.variables)])
        counts = [keyed._count(*pair) for pair in zip(group.aggregations, group.arguments, strict=True)]
        if all(one is not None for one in counts):
            numbers = [_integer(one).alias(f"n{place}") for place, one in enumerate(counts) if one is not None]
            by = [keyed.column(key) for key in group.keys]
            found = keyed.frame.groupBy(*by).agg(*numbers) if numbers else keyed.frame.select(*by).distinct()
            frame = found.toDF(*map(_name, range(len(variables))))
            texts = (keyed.texts & frozenset(group.keys)) | frozenset(results)
            return FrameSolutions(self.frames, variables, frame, texts, keyed.open & frozenset(group.keys))
        whole = any(not some for some in group.arguments)  # COUNT(DISTINCT *) looks at all of a solution
        used = {name for some in group.arguments for one in some for name in _used(one)} & set(keyed.variables)
        kept = keyed.variables if whole else tuple(dict.fromkeys((*group.keys, *sorted(used, key=repr))))
        few = keyed.projected(kept)
        columns = [few.column(name) for name in kept]
        frame = few.frame.groupBy(*columns).agg(count("*").alias(_name(len(kept))))
        copied = replace(few, variables=(*kept, _COPIES), frame=frame)
        return copied._worked(_Groups(group), used, variables, set(results), how="whole", by=group.keys)

    def _count(self, aggregation: Any, arguments: Sequence[Formula]) -> Column | None:
        """A number that Spark counts, if an aggregate is one."""
        if aggregation.function != "COUNT":
            return None
        if not arguments:
            return None if aggregation.distinct else count("*")
        expression = arguments[0].expression
        if not isinstance(expression, Variable):
            return None
        if expression not in self.variables:
            return count(lit(None))
        column = self.column(expression)
        return count_distinct(column) if aggregation.distinct else count(column)

    def _worked(
        self,
        work: Work,
        values: Iterable[Variable],
        variables: tuple[Variable, ...],
        new: Iterable[Variable] = (),
        how: Literal["each", "folded", "whole"] = "each",
        by: Sequence[Variable] | None = None,
    ) -> FrameSolutions:
        """What tasks make of these solutions: of each batch, of one after the other, or of all that have the same keys.

        Of some variables they look at the `values`; others they hand on. Variables that are `new` are texts.
        """
        given = self.with_texts(values)
        frame = given.frame
        if by is not None:
            frame = frame.repartition(*(given.column(key) for key in by)) if by else frame.coalesce(1)
        texts = (given.texts | frozenset(new)) & frozenset(variables)
        part = _Part(work, given.variables, given.texts, variables, texts, how)
        schema = ", ".join(f"{name} {kind}" for name, kind in part.schema())
        open = (self.open | frozenset(new)) & frozenset(variables)
        return FrameSolutions(self.frames, variables, frame.mapInArrow(part, schema), texts, open)


# ---------------------------------------------------------------------------------------- what tasks do


@dataclass(frozen=True)
class _Filter:
    condition: Formula

    def __call__(self, evaluation: Evaluation, found: Solutions) -> Solutions:
        return evaluation.kept(found, self.condition)


@dataclass(frozen=True)
class _Extend:
    variable: Variable
    formula: Formula

    def __call__(self, evaluation: Evaluation, found: Solutions) -> Solutions:
        return evaluation.with_values(found, self.variable, self.formula)


@dataclass(frozen=True)
class _Least:
    keys: tuple[tuple[Formula, bool], ...]
    number: int

    def __call__(self, evaluation: Evaluation, found: Solutions) -> Solutions:
        return evaluation.ordered(found, self.keys).take(slice(self.number))


@dataclass(frozen=True)
class _Groups:
    group: Group

    def __call__(self, evaluation: Evaluation, found: Solutions) -> Solutions:
        copies = found.columns[_COPIES]
        every = found.without((_COPIES,)).take(np.repeat(np.arange(found.length), copies))
        return evaluation.groups(every, self.group, _ALONE)


_ALONE: Final = Setting(None)  # type: ignore[arg-type]  # tasks have no graph, and nothing that they do asks for one


@dataclass(frozen=True)
class _Part:
    """The work of a task. Ids that it does not look at are numbers for it like others."""

    work: Work
    variables: tuple[Variable, ...]
    texts: frozenset[Variable]
    after: tuple[Variable, ...]
    texts_after: frozenset[Variable]
    how: Literal["each", "folded", "whole"]

    def schema(self) -> list[tuple[str, str]]:
        kinds = ("string" if variable in self.texts_after else "bigint" for variable in self.after)
        return [(_name(place), kind) for place, kind in enumerate(kinds)]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        evaluation = Evaluation(QueryTerms(Dictionary(), True), Limits())
        parts = (self._read(evaluation.terms, batch) for batch in batches if batch.num_rows)
        if self.how == "each":
            for part in parts:
                yield self._written(evaluation.terms, self.work(evaluation, part))
            return
        kept: list[Solutions] = []
        for part in parts:
            kept = [self.work(evaluation, stacked([*kept, part]))] if self.how == "folded" else [*kept, part]
        if kept:
            found = self.work(evaluation, stacked(kept)) if self.how == "whole" else kept[0]
            yield self._written(evaluation.terms, found)

    def _read(self, terms: QueryTerms, batch: pa.RecordBatch) -> Solutions:
        columns = {}
        for place, variable in enumerate(self.variables):
            column = batch.column(place)
            if variable in self.texts:
                columns[variable] = _ids(terms, column)
            else:
                columns[variable] = column.fill_null(UNBOUND).to_numpy(zero_copy_only=False).astype(np.int64)
        return Solutions(batch.num_rows, columns)

    def _written(self, terms: QueryTerms, found: Solutions) -> pa.RecordBatch:
        columns = []
        for variable in self.after:
            ids = found.column(variable)
            if variable in self.texts_after:
                columns.append(_texts(terms, ids).cast(pa.string()))
            else:
                columns.append(pa.array(ids, mask=ids == UNBOUND))
        return pa.RecordBatch.from_arrays(columns, names=[name for name, _ in self.schema()])


# ---------------------------------------------------------------------------------------- columns


def _name(place: int) -> str:
    return f"c{place}"


def _used(formula: Formula) -> set[Variable]:
    return {term for term in terms_of(formula.expression) if isinstance(term, Variable)}


def _integer(number: Column) -> Column:
    """A number as a term."""
    return concat(lit('"'), number.cast("string"), lit(f'"^^<{XSD}integer>'))


def _ids(terms: QueryTerms, column: pa.Array | pa.ChunkedArray) -> Any:
    """The ids of texts, in a dictionary that takes all."""
    there = np.asarray(column.is_valid())
    ids = np.full(len(column), UNBOUND, np.int64)
    if there.any():
        ids[there] = terms.known.encode_ntriples(column.drop_null())
    return ids


def _texts(terms: QueryTerms, ids: Any) -> pa.Array:
    """The texts of ids; null where there is none."""
    there = ids != UNBOUND
    if there.all() and len(ids):
        return terms.known.ntriples_column(ids.astype(np.int32))
    found = np.full(len(ids), None, object)
    if there.any():
        found[there] = terms.known.ntriples_column(ids[there].astype(np.int32)).to_pylist()
    return pa.array(found, pa.large_string())
