"""Patterns whose solutions are only counted, or of which some variables are asked for: where the facts are elsewhere, that
is done there, and no more is fetched than values with their numbers.

All of these are about basic graph patterns, which bind all their variables in each solution. None is the answer where
that does not apply, or where matches are here anyway.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Variable
from everlog.sparql.active_graph import ActiveGraph
from everlog.sparql.query_tree import Basic, Group, Pattern, Project
from everlog.sparql.solutions import Solutions

Counted: TypeAlias = "tuple[Solutions, NDArray[np.int64]]"
"""Distinct values, and how often each is there."""


def counted_values(pattern: Pattern, graph: ActiveGraph) -> Counted | None:
    """The values of the variables that are projected from a basic pattern."""
    if not isinstance(pattern, Project) or not isinstance(pattern.pattern, Basic):
        return None
    return _counted(pattern.pattern, pattern.variables, graph)


def counted_groups(pattern: Group, graph: ActiveGraph) -> Counted | None:
    """The keys of the groups of a basic pattern, if each aggregate is the number of solutions in a group."""
    inner = pattern.pattern
    if not isinstance(inner, Basic):
        return None
    bound = inner.variables
    plain = all(
        aggregation.function == "COUNT"
        and not aggregation.distinct
        and all(one.expression in bound and not one.exists for one in arguments)
        for aggregation, arguments in zip(pattern.aggregations, pattern.arguments, strict=True)
    )
    return _counted(inner, pattern.keys, graph) if plain else None


def repeated(values: Solutions, numbers: NDArray[np.int64]) -> Solutions:
    """Each solution so many times."""
    if not values.columns:
        return Solutions(int(numbers.sum()), {})
    return values.take(np.repeat(np.arange(values.length), numbers))


def _counted(pattern: Basic, keys: tuple[Variable, ...], graph: ActiveGraph) -> Counted | None:
    if not pattern.triples or not set(pattern.variables).issuperset(keys):
        return None
    return graph.counted(pattern, keys)
