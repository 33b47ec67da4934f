"""Whether steps between groups can be taken in both directions."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import Variable
from everlog.engine.algebra import Steps


def both_ways(steps: Sequence[Steps]) -> bool:
    """Whether each step is one backwards, too."""

    def shape(step: Steps, start: Variable, end: Variable) -> tuple[object, ...]:
        terms = step.atom.terms
        constants = tuple(None if isinstance(term, Variable) else term for term in terms)
        added = None if step.added is None else terms.index(step.added)
        return step.atom.predicate, constants, terms.index(start), terms.index(end), added

    return {shape(one, one.start, one.end) for one in steps} == {shape(one, one.end, one.start) for one in steps}
