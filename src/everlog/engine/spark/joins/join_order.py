"""The order in which a Spark join matches literals: what is bound most comes first, a product only when it must."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everlog.engine.spark.facts.sets import SparkFacts
from everlog.engine.spark.joins.conjunction import Literal
from everlog.engine.spark.joins.patterns import Pattern, Term


def in_order(
    driver: Literal | None,
    literals: Sequence[Literal],
    at_most: Callable[[Pattern, SparkFacts], int],
    giving: Sequence[tuple[set[Term], set[Term]]] = (),
) -> list[Literal]:
    """All literals, the driver first; without one, the literal with the fewest facts goes first.

    `giving` are the variables that computations need, and those that they give values to; a literal with one of these is
    not the first one, if it can be avoided.
    """
    results = {term for _, gives in giving for term in gives}
    rest = list(literals)
    found = [] if driver is None else [driver]
    bound = set() if driver is None else set(driver.pattern.variables())
    while rest:

        def worth(literal: Literal) -> tuple[bool, bool, bool, int, int]:
            variables = set(literal.pattern.variables())
            early = not variables.isdisjoint(results - bound)
            free = len(variables - bound)
            connected = not found or not variables or not variables.isdisjoint(bound)
            return (free > 0, not connected, early, free if found else 0, at_most(literal.pattern, literal.view))

        best = min(rest, key=worth)
        rest.remove(best)
        found.append(best)
        bound.update(best.pattern.variables())
        for _ in giving:
            bound.update(term for needs, gives in giving if needs <= bound for term in gives)
    return found
