"""`MIN(…)` and `MAX(…)` in heads, as they are written and as rules have them.

`dist(?y, MIN(?d + ?w)) :- …` is a rule with the head `dist(?y, ?value)` and `BIND(?d + ?w AS ?value)` as the last literal
of its body; of a variable or a constant, as in `MIN(?d)`, nothing is computed.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import count
from typing import Final

from everlog.datalog.syntax import HIDDEN, Atom, Computation, Expression, Rule, Variable, parts

CANDIDATES: Final = f"{HIDDEN}best"
"""How the hidden predicates of candidates start (`planning/candidates.py`)."""

_NAME: Final = "value"


def is_choice(rule: Rule) -> bool:
    """Whether a rule is made by Everlog to choose the best of candidates."""
    first = rule.body[0] if rule.extreme is not None and rule.body else None
    return isinstance(first, Atom) and first.predicate.startswith(CANDIDATES)


def value_variable(written: Collection[str]) -> Variable:
    """The variable of what is computed inside `MIN(…)`: one whose name nobody has written.

    >>> value_variable({"x", "value"})
    ?value1
    """
    names = (_NAME if number == 0 else f"{_NAME}{number}" for number in count())
    return Variable(next(name for name in names if name not in written))


def written_inside(rule: Rule) -> tuple[Expression, bool] | None:
    """What stands inside `MIN(…)` of a head, and whether it is the last literal of the body; None without such a head."""
    if rule.extreme is None:
        return None
    term = rule.head.terms[rule.extreme.place]
    last = rule.body[-1] if rule.body else None
    if isinstance(term, Variable) and isinstance(last, Computation) and last.result == term:
        others = [
            variable for literal in (rule.head, *rule.body) for part in parts(literal) for variable in part.variables()
        ]
        names = {variable.name for variable in others if variable != term}
        if others.count(term) == 2 and value_variable(names) == term:
            return last.expression, True
    return term, False
