"""Which recursions through `MIN` and `MAX` are well defined: a better value only ever improves what follows from it.

Every variable of a rule has an *effect*: whether its value rises (1), falls (-1) or stays (0) as the values improve that
the rule gets from the recursion. What a head takes the minimum of must not rise, a test must not cease to hold, and nothing
else may depend on such a value. What cannot be shown is refused, with the rule and the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from everlog.datalog.extremes import is_choice
from everlog.datalog.printer import print_expression, print_literal, print_rule
from everlog.datalog.stratify import recursive_atoms
from everlog.datalog.syntax import (
    QUAD,
    TRIPLE,
    Atom,
    Call,
    Comparison,
    Computation,
    Constant,
    Expression,
    Extreme,
    Rule,
    Test,
    Variable,
    terms_of,
)
from everlog.datalog.values import XSD
from everlog.errors import EverlogError

_LESS: Final = ("<", "<=")
_ORDERS: Final = ("<", "<=", ">", ">=")
_RISING: Final = frozenset({"FLOOR", "CEIL", "ROUND", *(f"{XSD}{name}" for name in ("integer", "decimal", "double"))})
"""Functions of one number that never fall as it rises."""
_AT_LEAST_ZERO: Final = frozenset({"ABS", "STRLEN", "YEAR"})

Relation = tuple[str, Constant | None]
"""A predicate, and the property of triples."""

Extremes = Mapping[Relation, Extreme]
"""Where the facts of relations have a least or greatest value."""


class _Refused(Exception):
    """A recursion that is not well defined, and why."""


def relation_of(atom: Atom) -> Relation | None:
    """The relation of an atom; of triples with any property there is none."""
    if atom.predicate not in (TRIPLE, QUAD):
        return atom.predicate, None
    verb = atom.terms[1]
    return (atom.predicate, verb) if isinstance(verb, Constant) else None


class Recursion(NamedTuple):
    """What is known of the rules that depend on each other through minima and maxima."""

    numbers: bool = False
    """Whether some rule computes with a value of the recursion, or compares it, so that it has to be a number."""
    adds: bool = True
    """Whether what each rule computes is a sum of all values that it gets from the recursion, and others."""
    worsens: bool = True
    """Whether what each rule computes is never better than a value that it gets from the recursion."""


def check_recursion(rules: Sequence[Rule], extremes: Extremes) -> dict[Relation, Recursion]:
    """Refuses rules that are not well defined together; gives what is known of the recursion of each relation."""
    numbered = list(zip(rules, recursive_atoms(rules), strict=True))
    found: dict[int, Recursion] = {number: Recursion() for _, (number, _) in numbered}
    for rule, (number, atoms) in numbered:
        if any(_may_be_extreme(atom, extremes) for atom in atoms):
            one, known = _Checked(rule, atoms, extremes).run(), found[number]
            found[number] = Recursion(
                known.numbers or one.numbers, known.adds and one.adds, known.worsens and one.worsens
            )
        elif atoms and not is_choice(rule):
            found[number] = found[number]._replace(adds=False, worsens=False)
    heads = ((relation_of(rule.head), number) for rule, (number, _) in numbered)
    return {relation: found[number] for relation, number in heads if relation is not None and relation in extremes}


def _may_be_extreme(atom: Atom, extremes: Extremes) -> bool:
    relation = relation_of(atom)
    if relation is None:
        return any(predicate == atom.predicate for predicate, _ in extremes)
    return relation in extremes


@dataclass(frozen=True)
class _Checked:
    """One rule, with the atoms of its body that depend on its head."""

    rule: Rule
    recursive: Sequence[Atom]
    extremes: Extremes

    def run(self) -> Recursion:
        try:
            values = dict(self._values())
            effects = dict(values)
            self._alone(set(effects))
            numbers = self._bound(effects) | self._tested(effects)
            extreme = self._head(effects)
        except _Refused as why:
            raise EverlogError(
                f"the rule `{print_rule(self.rule)}` is not well defined in its recursion through MIN or MAX, where a "
                f"better value must only ever improve what follows from it: {why}"
            ) from None
        if extreme is None or len(values) < len(self.recursive):
            return Recursion(numbers, adds=False, worsens=False)
        inside = self._spelled_out(self.rule.head.terms[extreme.place])
        return Recursion(
            numbers,
            adds=_is_sum(inside, effects) and values.keys() <= set(terms_of(inside)),
            worsens=all(self._worsens(inside, variable, _better(extreme)) for variable in values),
        )

    def _values(self) -> Iterator[tuple[Variable, int]]:
        """The values that the rule gets from the recursion, with the direction in which each improves."""
        for atom in self.recursive:
            relation = relation_of(atom)
            if relation is None and _may_be_extreme(atom, self.extremes):
                raise _Refused(f"{print_literal(atom)} may be about any property; name it")
            extreme = None if relation is None else self.extremes.get(relation)
            if extreme is not None:
                term = atom.terms[extreme.place]
                if isinstance(term, Constant):
                    raise _Refused(f"{print_literal(atom)} asks for one value, which a better one takes away")
                yield term, _better(extreme)

    def _alone(self, values: set[Variable]) -> None:
        """Refuses what joins by a value, or asks whether something does not hold for it."""
        atoms = [variable for atom in self.rule.positive for variable in atom.variables()]
        for variable in values:
            if atoms.count(variable) > 1:
                raise _Refused(f"{variable!r} stands in two places, which may cease to be the same value")
        for literal in self.rule.body:
            if not isinstance(literal, Atom | Comparison | Computation):
                shared = [variable for variable in literal.variables() if variable in values]
                if shared:
                    raise _Refused(f"{print_literal(literal)} asks about {shared[0]!r}")

    def _bound(self, effects: dict[Variable, int]) -> bool:
        """Notes the effects on what `BIND` computes; tells whether there are any."""
        given = {variable for atom in self.rule.positive for variable in atom.variables()}
        waiting = [one for one in self.rule.computations if one.result is not None]
        found = False
        while waiting:
            results = [one.result for one in waiting]
            one = next(one for one in waiting if not any(variable in results for variable in one.inputs()))
            waiting.remove(one)
            effect = self._effect(one.expression, effects)
            if effect:
                found = True
                if not isinstance(one.result, Variable) or one.result in given or one.result in effects:
                    raise _Refused(f"{print_literal(one)} compares with a value that has to be the very same")
                effects[one.result] = effect
        return found

    def _tested(self, effects: Mapping[Variable, int]) -> bool:
        """Refuses tests that may cease to hold; tells whether there are any about values of the recursion."""
        found = False
        for test in self._tests():
            if any(effects.get(variable) for variable in test.variables()):
                found = True
                self._holds_on(_as_expression(test), effects, print_literal(test))
        return found

    def _tests(self) -> Iterator[Test]:
        for literal in self.rule.body:
            if isinstance(literal, Comparison) or (isinstance(literal, Computation) and literal.result is None):
                yield literal

    def _holds_on(self, test: Expression, effects: Mapping[Variable, int], text: str) -> None:
        """Refuses a test that holds for some values and may not hold for better ones."""
        if not _depends(test, effects):
            return
        if isinstance(test, Call) and test.function in ("&&", "||"):
            for part in test.arguments:
                self._holds_on(part, effects, text)
            return
        if isinstance(test, Call) and test.function in _ORDERS:
            low, high = test.arguments if test.function in _LESS else test.arguments[::-1]
            if self._effect(low, effects) <= 0 <= self._effect(high, effects):
                return
        raise _Refused(f"{text} may cease to hold")

    def _head(self, effects: Mapping[Variable, int]) -> Extreme | None:
        """Refuses a head that gets worse or depends on a value in another way; gives what is kept of it."""
        relation = relation_of(self.rule.head)
        extreme = None if relation is None else self.extremes.get(relation)
        for place, term in enumerate(self.rule.head.terms):
            effect = effects.get(term, 0) if isinstance(term, Variable) else 0
            if extreme is not None and place == extreme.place:
                if effect == -_better(extreme):
                    inside = print_expression(self._inside(term))
                    worse = "larger" if extreme.function == "MIN" else "smaller"
                    raise _Refused(f"{inside}, of which the {extreme.function} is kept, gets {worse}")
            elif effect:
                raise _Refused(f"its head has {term!r}, which changes, and keeps no MIN or MAX of it")
        return extreme

    def _inside(self, term: Expression) -> Expression:
        """What a term of the head is computed by, if it is."""
        return next((one.expression for one in self.rule.computations if one.result == term), term)

    def _spelled_out(self, expression: Expression) -> Expression:
        """An expression with what `BIND` computes in the place of its variables."""
        if isinstance(expression, Call):
            return Call(expression.function, tuple(map(self._spelled_out, expression.arguments)))
        inside = self._inside(expression)
        return expression if inside is expression else self._spelled_out(inside)

    def _worsens(self, expression: Expression, value: Variable, better: int) -> bool:
        """Whether an expression is never better than a value, where greater values are `better` or smaller ones (-1)."""
        if expression == value:
            return True
        if not isinstance(expression, Call):
            return False
        arguments = expression.arguments
        if expression.function == "+" and len(arguments) == 2:
            return any(
                self._worsens(one, value, better) and self._sign(other)[0] == -better
                for one, other in (arguments, arguments[::-1])
            )
        if expression.function == "IF" and _chooses(arguments[0], arguments[1:]):
            assert isinstance(arguments[0], Call)
            less = (arguments[0].arguments == arguments[1:]) == (arguments[0].function in _LESS)
            if less == (better == 1):  # the worse of two is no better than either
                return any(self._worsens(one, value, better) for one in arguments[1:])
        return False

    # ------------------------------------------------------------------------------------ effects

    def _effect(self, expression: Expression, effects: Mapping[Variable, int]) -> int:
        """Whether the value of an expression rises, falls or stays as values improve; refuses what it cannot tell."""
        if not _depends(expression, effects):
            return 0
        if isinstance(expression, Variable):
            return effects[expression]
        assert isinstance(expression, Call), "constants depend on nothing"
        function, arguments = expression.function, expression.arguments
        if function == "-":
            return self._joint(expression, effects, *([1, -1] if len(arguments) == 2 else [-1]))
        if function == "+":
            return self._joint(expression, effects, *([1] * len(arguments)))
        if function in _RISING and len(arguments) == 1:
            return self._effect(arguments[0], effects)
        if function == "IF" and (not _depends(arguments[0], effects) or _chooses(arguments[0], arguments[1:])):
            return self._joint(Call("IF", arguments[1:]), effects, 1, 1)
        if function in ("*", "/") and not _depends(arguments[1], effects):
            return self._scaled(expression, arguments[0], arguments[1], effects)
        if function == "*" and not _depends(arguments[0], effects):
            return self._scaled(expression, arguments[1], arguments[0], effects)
        raise _Refused(f"whether {print_expression(expression)} rises or falls is not known")

    def _joint(self, expression: Call, effects: Mapping[Variable, int], *signs: int) -> int:
        """The effect on a sum of several parts, or on what is one of them; each may count as its opposite."""
        found = {
            sign * effect
            for sign, part in zip(signs, expression.arguments, strict=True)
            if (effect := self._effect(part, effects))
        }
        if len(found) > 1:
            raise _Refused(f"whether {print_expression(expression)} rises or falls is not known")
        return found.pop() if found else 0

    def _scaled(self, whole: Call, part: Expression, factor: Expression, effects: Mapping[Variable, int]) -> int:
        """The effect on a product or a quotient, where the sign of the other part has to be known."""
        sign, strict = self._sign(factor)
        if not sign or (whole.function == "/" and not strict):
            asked = ">" if whole.function == "/" else ">="
            raise _Refused(
                f"the sign of {print_expression(factor)} in {print_expression(whole)} is not known: add "
                f"FILTER({print_expression(factor)} {asked} 0)"
            )
        return sign * self._effect(part, effects)

    def _sign(self, expression: Expression) -> tuple[int, bool]:
        """1 for what is at least 0, -1 for what is at most 0, 0 if neither is known; and whether it is never 0."""
        if isinstance(expression, Constant):
            value = _number(expression)
            return (0, False) if value is None else (1 if value >= 0 else -1, value != 0)
        known = self._tested_sign(expression)
        if known[0] or not isinstance(expression, Call):
            return known
        signs = [self._sign(one) for one in expression.arguments]
        if expression.function in _AT_LEAST_ZERO:
            return 1, False
        if expression.function == "-" and len(signs) == 1:
            return -signs[0][0], signs[0][1]
        if expression.function == "+" and len({sign for sign, _ in signs}) == 1:
            return signs[0][0], any(strict for _, strict in signs)
        if expression.function in ("*", "/"):
            return signs[0][0] * signs[1][0], all(strict for _, strict in signs)
        return 0, False

    def _tested_sign(self, expression: Expression) -> tuple[int, bool]:
        """What the tests of the rule say of the sign of an expression."""
        found = (0, False)
        for test in self._tests():
            for part in _conjuncts(_as_expression(test)):
                if not (isinstance(part, Call) and part.function in _ORDERS):
                    continue
                low, high = part.arguments if part.function in _LESS else part.arguments[::-1]
                strict = part.function in ("<", ">")
                least, most = _number(low), _number(high)
                if high == expression and least is not None and least >= 0:
                    found = 1, found[1] or strict or least > 0
                elif low == expression and most is not None and most <= 0:
                    found = -1, found[1] or strict or most < 0
        return found


def _better(extreme: Extreme) -> int:
    """The direction in which values improve."""
    return -1 if extreme.function == "MIN" else 1


def _depends(expression: Expression, effects: Mapping[Variable, int]) -> bool:
    return any(isinstance(term, Variable) and effects.get(term) for term in terms_of(expression))


def _is_sum(expression: Expression, effects: Mapping[Variable, int]) -> bool:
    if not isinstance(expression, Call) or not _depends(expression, effects):
        return True
    return expression.function in ("+", "-") and all(_is_sum(one, effects) for one in expression.arguments)


def _chooses(condition: Expression, branches: Sequence[Expression]) -> bool:
    """Whether `IF` gives the less or the greater of two values: `IF(?a < ?b, ?a, ?b)`."""
    ordered = isinstance(condition, Call) and condition.function in _ORDERS
    return ordered and isinstance(condition, Call) and set(condition.arguments) == set(branches)


def _as_expression(test: Test) -> Expression:
    return Call(test.operator, test.terms) if isinstance(test, Comparison) else test.expression


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == "&&":
        for part in expression.arguments:
            yield from _conjuncts(part)
    else:
        yield expression


def _number(expression: Expression) -> int | float | None:
    value = expression.value if isinstance(expression, Constant) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return None
