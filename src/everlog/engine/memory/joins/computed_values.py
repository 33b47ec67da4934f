"""Computations over bindings: columns of ids become columns of values, and what `expressions/` makes of them becomes ids.

Numbers are computed row by row, in vectors. Of other values each distinct combination is computed once, and names are not
looked at where a function of literals is asked for. What only asks for the kind of a term looks at no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Call, Computation, Expression, Variable
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.term_kinds import BLANK, IRI, STRING
from everlog.engine.memory.value_columns import column_of_ids, ids_of_column, numbers_of_ids
from everlog.expressions.columns import Column
from everlog.expressions.evaluation import evaluate, holds
from everlog.expressions.functions import FUNCTIONS
from everlog.interrupts import lasting

_KINDS: Final = {"ISLITERAL": (IRI, BLANK), "ISIRI": (IRI,), "ISURI": (IRI,), "ISBLANK": (BLANK,)}
"""What asks for the kind of a term: those kinds, or, of literals, no literals."""

_ADDING: Final = lasting(Lock())
"""Held while a thread gives ids to values."""


class Computed:
    """A computation with numbered variables; its result is a variable's number, `~id` of a constant, or none."""

    def __init__(self, computation: Computation, dictionary: Dictionary, numbers: Mapping[Variable, int]) -> None:
        self._dictionary = dictionary
        self._expression = computation.expression
        self._inputs = {variable: numbers[variable] for variable in computation.inputs()}
        self._of_literals = _is_of_literals(computation.expression)
        self._kinds = _kinds_asked(computation)
        result = computation.result
        self.result: int | None = None
        if isinstance(result, Variable):
            self.result = numbers[result]
        elif result is not None:
            self.result = ~dictionary.encode_value(result.value)

    def needs(self) -> set[int]:
        """The variables that must have values first."""
        return set(self._inputs.values())

    def gives(self) -> set[int]:
        """The variable that may get its value."""
        return {self.result} if self.result is not None and self.result >= 0 else set()

    def variables(self) -> set[int]:
        return self.needs() | self.gives()

    def results(self, block: Ids, n: int, slots: Mapping[int, int]) -> tuple[Ids, NDArray[np.bool_]]:
        """The ids of results, and for which bindings there is one; of a filter, for which it holds."""
        ids = {variable: block[slots[number], :n] for variable, number in self._inputs.items()}
        if self._of_literals:
            return self._literals_computed(ids, n)
        if self._kinds is not None:
            wanted, among = self._kinds
            (column,) = ids.values()
            return np.zeros(n, np.int32), np.isin(self._dictionary.kinds(column), wanted) == among
        numbers: dict[Variable, Column] = {}
        for variable, column in ids.items():
            some = numbers_of_ids(self._dictionary, column)
            if some is None:
                return self._distinct_computed(ids)
            numbers[variable] = some
        return self._evaluated(numbers, n)

    def _literals_computed(self, ids: Mapping[Variable, Ids], n: int) -> tuple[Ids, NDArray[np.bool_]]:
        """The results of a function that has none for names; strings are computed in vectors."""
        (variable, column) = next(iter(ids.items()))
        kinds = self._dictionary.kinds(column)
        found, kept = np.zeros(n, np.int32), np.zeros(n, np.bool_)
        for wanted in (kinds == STRING, (kinds != STRING) & (kinds != IRI) & (kinds != BLANK)):
            rows = np.flatnonzero(wanted)
            if rows.size:
                found[rows], kept[rows] = self._distinct_computed({variable: column[rows]})
        return found, kept

    def _distinct_computed(self, ids: Mapping[Variable, Ids]) -> tuple[Ids, NDArray[np.bool_]]:
        rows, places = _distinct(list(ids.values()))
        few = {variable: column[rows] for variable, column in ids.items()}
        columns = {variable: column_of_ids(self._dictionary, column) for variable, column in few.items()}
        found, kept = self._evaluated(columns, len(rows))
        return found[places], kept[places]

    def _evaluated(self, columns: Mapping[Variable, Column], n: int) -> tuple[Ids, NDArray[np.bool_]]:
        found = evaluate(self._expression, columns, n)
        if self.result is None:
            return np.zeros(n, np.int32), holds(found)
        return ids_of_column(self._dictionary, found, _ADDING)


def _kinds_asked(computation: Computation) -> tuple[tuple[int, ...], bool] | None:
    """Kinds, and whether a term is to be of one of them, if a filter asks for nothing else."""
    expression, among = computation.expression, True
    if isinstance(expression, Call) and expression.function == "!":
        (expression,), among = expression.arguments, False
    match expression:
        case Call(name, (Variable(),)) if name in _KINDS and computation.result is None:
            return _KINDS[name], among != (name == "ISLITERAL")
    return None


def _is_of_literals(expression: Expression) -> bool:
    """Whether a call of a function of literals with a variable is all that an expression is."""
    if not isinstance(expression, Call) or not FUNCTIONS[expression.function].of_literals:
        return False
    return all(isinstance(argument, Variable) for argument in expression.arguments)


def _distinct(columns: list[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each combination of ids, and for each row the place of its combination among these."""
    rows, places = np.zeros(1, np.int64), np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        _, rows, places = np.unique(places * len(values) + codes, return_index=True, return_inverse=True)
    return rows, places
