"""The order in which a Spark join matches literals: what is bound most comes first, a product only when it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everlog.engine.spark.facts.sets import SparkFacts
from everlog.engine.spark.joins.conjunction import Literal
from everlog.engine.spark.joins.patterns import Pattern


def in_order(
    driver: Literal | None, literals: Sequence[Literal], at_most: Callable[[Pattern, SparkFacts], int]
) -> list[Literal]:
    """All literals, the driver first; without one, the literal with the fewest facts goes first."""
    rest = list(literals)
    found = [] if driver is None else [driver]
    bound = set() if driver is None else set(driver.pattern.variables())
    while rest:

        def worth(literal: Literal) -> tuple[bool, bool, int, int]:
            variables = set(literal.pattern.variables())
            free = len(variables - bound)
            connected = not found or not variables or not variables.isdisjoint(bound)
            return (free > 0, not connected, free if found else 0, at_most(literal.pattern, literal.view))

        best = min(rest, key=worth)
        rest.remove(best)
        found.append(best)
        bound.update(best.pattern.variables())
    return found
