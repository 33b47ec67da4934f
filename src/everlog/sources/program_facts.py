"""The facts of a program as DataFrames in text form, beside those of sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode

from everlog.datalog.arities import program_arities
from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import HIDDEN, Constant, Program
from everlog.errors import ArityMistake
from everlog.store.blank_nodes import blank_nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BLANK_NODES = f"{HIDDEN}blank"
"""A predicate that no store keeps: the blank nodes of a program, so that the dictionary has them."""


def program_facts(spark: SparkSession, program: Program, read: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """What was read and the facts of the program, by predicate."""
    arities = program_arities(program)
    rows: dict[str, list[tuple[object, ...]]] = {}
    for fact in program.facts:
        texts = tuple(write_term(term.value) for term in fact.terms if isinstance(term, Constant))
        rows.setdefault(fact.predicate, []).append(texts or (True,))
    if labels := blank_nodes(program):
        rows[BLANK_NODES] = [(write_term(BlankNode(label)),) for label in sorted(labels)]
    result = dict(read)
    for predicate, frame in read.items():
        arity = 0 if frame.columns == ["present"] else len(frame.columns)
        if arities.get(predicate, arity) != arity:
            raise ArityMistake(
                f"{predicate} has {arities[predicate]} arguments in the program, but the facts given have {arity}"
            )
    for predicate, texts_of in rows.items():
        arity = arities.get(predicate, 1)
        schema = ", ".join(f"a{place} string" for place in range(arity)) or "present boolean"
        frame = spark.createDataFrame(texts_of, schema)
        result[predicate] = result[predicate].unionByName(frame) if predicate in result else frame
    return result
