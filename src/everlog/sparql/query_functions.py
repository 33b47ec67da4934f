"""Functions of SPARQL that rules have not: what looks at what is bound, and what is new whenever it is asked."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np
from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.values import Value, normalise
from everlog.expressions.application import Function, strict
from everlog.expressions.columns import Booleans, Column, terms_of
from everlog.expressions.functions import FUNCTIONS
from everlog.sparql.iri_names import resolved


def _bound(columns: Sequence[Column]) -> Column:
    (column,) = columns
    missing = column.missing
    return Booleans(np.ones(column.length, np.bool_) if missing is None else ~missing)


def _resolve(value: Value, base: Value) -> NamedNode | None:
    if isinstance(value, NamedNode):
        return value
    if not isinstance(value, str) or not isinstance(base, str):
        return None
    try:
        return resolved(value, base or None)
    except ValueError:
        return None


def query_functions() -> Mapping[str, Function]:
    """All functions for one query, which has one time, and in which a label names one blank node in each row."""
    now = normalise(datetime.now(UTC))
    labelled: dict[tuple[Value, Value], BlankNode] = {}

    def blank(row: Value, label: Value | None = None) -> BlankNode | None:
        if label is None:
            return BlankNode()
        return labelled.setdefault((row, label), BlankNode()) if isinstance(label, str) else None

    return {**_ALWAYS, "BNODE": strict(blank, 1, optional=1), "NOW": strict(lambda: now, 0)}


_ALWAYS: Final[Mapping[str, Function]] = {
    **FUNCTIONS,
    "BOUND": Function(_bound, 1, 1),
    "MISSING": Function(lambda columns: terms_of([None]), 0, 0),
    "RESOLVE": strict(_resolve, 2),
    "RAND": strict(lambda row: random.random(), 1),
    "UUID": strict(lambda row: NamedNode(f"urn:uuid:{uuid.uuid4()}"), 1),
    "STRUUID": strict(lambda row: str(uuid.uuid4()), 1),
}
