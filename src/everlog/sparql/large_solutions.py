"""Solutions that are too many for this process: the operators of the algebra, where the facts are.

`solutions.py` has columns of ids here. Where facts are on Spark, a pattern's matches stay there if they are many, and so
does what is joined with them, until an operator is one that only this process has, or makes groups; then they are fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, Protocol, TypeAlias

from everlog.datalog.syntax import Call, Expression, Variable, terms_of
from everlog.sparql.query_expressions import ROW
from everlog.sparql.query_tree import Formula, Group
from everlog.sparql.solutions import Solutions

_ONE_TIME: Final = frozenset({"NOW", "BNODE", "RAND", "UUID", "STRUUID"})
"""Functions that say the same all through a query, or something new in each row: they are computed in one place."""


class LargeSolutions(Protocol):
    """A bag of solutions elsewhere; nothing is changed in place."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Those that solutions may bind."""

    @property
    def open(self) -> frozenset[Variable]:
        """Those that some solution may not bind."""

    def joined(self, other: LargeSolutions) -> LargeSolutions:
        """All compatible pairs, merged."""

    def left_joined(self, other: LargeSolutions) -> LargeSolutions:
        """The same, and the solutions that are in none of these."""

    def without_partner(self, other: LargeSolutions, apart: Collection[Variable]) -> LargeSolutions:
        """Those without a compatible solution that binds a variable which they bind, too, and that is not among some."""

    def with_partner(self, other: LargeSolutions, negative: bool) -> LargeSolutions:
        """Those for which there is a compatible solution, or none."""

    def filtered(self, condition: Formula) -> LargeSolutions: ...

    def extended(self, variable: Variable, formula: Formula) -> LargeSolutions: ...

    def stacked(self, others: Sequence[LargeSolutions]) -> LargeSolutions:
        """These, and those of other bags."""

    def projected(self, variables: Sequence[Variable]) -> LargeSolutions: ...

    def copied(self, variable: Variable, name: Variable) -> LargeSolutions:
        """With the values of a variable as those of another, new one, too."""

    def renamed(self, variable: Variable, name: Variable) -> LargeSolutions:
        """With another name for a variable; if there is a variable of that name, where it has the same value or none."""

    def numbered(self, keys: Sequence[Variable], number: Variable) -> LargeSolutions:
        """With a further variable, which tells by a term of its own what values some variables have."""

    def marked(self, other: LargeSolutions, number: Variable, mark: Variable) -> LargeSolutions:
        """With a truth value that says whether another bag has the same value of `number`, which is bound everywhere."""

    def distinct(self) -> LargeSolutions: ...

    def first(self, number: int) -> LargeSolutions:
        """At most so many of them."""

    def least(self, keys: Sequence[tuple[Formula, bool]], number: int) -> LargeSolutions:
        """Some of them, among which are the first so many in an order."""

    def grouped(self, group: Group) -> LargeSolutions:
        """A solution for each group that there is."""

    def number(self) -> int: ...

    def fetched(self) -> Solutions:
        """These solutions in this process."""


AnySolutions: TypeAlias = Solutions | LargeSolutions


def can_spread(formula: Formula) -> bool:
    """Whether an expression can be computed in many places, once it is known of each solution which patterns have one."""
    return ROW not in terms_of(formula.expression) and not _is_of_one_time(formula.expression)


def conjuncts(expression: Expression) -> list[Expression]:
    """What has to hold, one by one, for a condition to hold."""
    if isinstance(expression, Call) and expression.function == "&&":
        return [part for argument in expression.arguments for part in conjuncts(argument)]
    return [expression]


def _is_of_one_time(expression: Expression) -> bool:
    if not isinstance(expression, Call):
        return False
    return expression.function in _ONE_TIME or any(map(_is_of_one_time, expression.arguments))
