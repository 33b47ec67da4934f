"""Computations over bindings: Spark looks up the distinct inputs, and workers evaluate them in vectors.

A computation asks of the dictionary the texts of what it needs, and no more. The results are texts, too, and get ids as
those of facts do that are read: the numbers of new terms are fixed by writing them once (`store/term_dictionary.py`), so
that a task which Spark runs again gives the same ids, and no value passes through the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from everlog.datalog.syntax import Computation, Variable
from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.joins.computed_values import Computed as ComputedInMemory
from everlog.engine.spark.facts.runs import Run
from everlog.engine.spark.facts.sql_text import Table, select
from everlog.engine.spark.joins.patterns import Computed

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine

RESULT: Final = "result"
"""The column with the ids of results."""

_TEXT: Final = "text"


def results(engine: SparkEngine, bindings: Table, computed: Computed) -> Run:
    """The distinct inputs of a computation in some bindings that have a result, or pass the filter, and the result."""
    inputs = [f"v{term}" for term in computed.inputs]
    found = engine.evaluated(_asked(engine, bindings, inputs), partial(_evaluated, computed, inputs), _schema(computed))
    if computed.result is None:
        return engine.run(found)
    texts = engine.run(found)
    ids, hint = engine.ids_of_texts(select([f"DISTINCT {_TEXT}"], texts.view()))
    columns = [*(f"l.{name}" for name in inputs), f"x.id AS {RESULT}"]
    return engine.run(select(columns, f"{texts.view()} l JOIN {ids} x ON l.{_TEXT} = x.{_TEXT}", hint=hint))


def _asked(engine: SparkEngine, bindings: Table, inputs: Sequence[str]) -> Table:
    """The distinct inputs with their texts."""
    if not inputs:
        return "(SELECT 1 AS unit)"
    joined = select(["DISTINCT *"], select(inputs, bindings))
    for name in inputs:
        texts, hint = engine.texts_in(bindings, name)
        joined = select(
            ["l.*", f"t.term AS {name}_{_TEXT}"], f"{joined} l JOIN {texts} t ON t.id = l.{name}", hint=hint
        )
    return joined


def _schema(computed: Computed) -> str:
    columns = [f"v{term} bigint" for term in computed.inputs] or ["unit int"]
    return ", ".join(columns if computed.result is None else [*columns, f"{_TEXT} string"])


def _evaluated(
    computed: Computed, inputs: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Inputs with results, in a worker, by the code that evaluates in memory."""
    dictionary = Dictionary()
    numbers = {Variable(str(term)): number for number, term in enumerate(computed.inputs)}
    result = None if computed.result is None else Variable(RESULT)
    numbers |= {} if result is None else {result: len(numbers)}
    in_memory = ComputedInMemory(Computation(computed.expression, result), dictionary, numbers)
    slots = {number: number for number in range(len(inputs))}
    for batch in batches:
        texts = [dictionary.encode_ntriples(batch.column(f"{name}_{_TEXT}")) for name in inputs]
        block = np.stack(texts) if texts else np.empty((0, batch.num_rows), np.int32)
        ids, kept = in_memory.results(block, batch.num_rows, slots) if batch.num_rows else (block, np.zeros(0, bool))
        columns = batch.select(inputs or ["unit"]).filter(pa.array(kept))
        if result is not None:
            found = dictionary.ntriples_column(ids[kept]).cast(pa.string()) if kept.any() else pa.array([], pa.string())
            columns = columns.append_column(_TEXT, found)
        yield columns
