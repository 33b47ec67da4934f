"""Why a fact does not hold: the rules that could derive it, and which of their conditions fails first.

The conditions of a rule are taken in an order in which each can be decided: positive atoms as they are written, tests as
soon as their variables have values, then aggregates and negations. As many of them as hold together, for some values, do
hold; the next one fails for all of these. Last, `MIN` and `MAX` in a head ask that no fact of the group is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.substitution import substitute_literal
from everlog.datalog.syntax import (
    Aggregate,
    Atom,
    BodyLiteral,
    Comparison,
    Computation,
    Constant,
    Negation,
    Rule,
    Term,
    Test,
    Variable,
)
from everlog.explaining.held_facts import HeldFacts
from everlog.explaining.proof import Failed

Values = Mapping[Variable, Term]


def why_not(held: HeldFacts, rules: Iterable[int], pattern: Atom) -> tuple[Failed, ...]:
    """What is wrong with each of some rules whose head fits a fact, or a pattern that no fact matches."""
    found = (_failed(held, held.rules[number], pattern) for number in sorted(rules))
    return tuple(one for one in found if one is not None)


def _failed(held: HeldFacts, rule: Rule, pattern: Atom) -> Failed | None:
    solved = rule if rule.aggregates else eliminate_equalities(rule)
    if solved is None:
        contradictory = next(one for one in rule.body if isinstance(one, Comparison) and one.operator == "=")
        return Failed(rule, (), contradictory)
    values = _fitting(solved.head, pattern)
    if values is None:
        return None
    conditions = _decidable(solved, values)
    least, most, example, number = 0, len(conditions), dict[Variable, Term](), 1
    while least < most:  # some first conditions hold for any number up to `least`, and for none from `most` on
        half = (least + most + 1) // 2
        variables = tuple(dict.fromkeys(v for one in conditions[:half] for v in _outer(one) if v not in values))
        rows, size = held.answers(_for_values(conditions[:half], values), variables, 1)
        if size:
            least, number = half, size
            example = dict(zip(variables, map(Constant, rows[0]), strict=True))
        else:
            most = half - 1
    if least == len(conditions):
        better = _better(held, rule, pattern)  # otherwise the pattern wants more than constants say
        return (
            None
            if better is None
            else Failed(rule, tuple(_shown(one, {**values, **example}) for one in conditions), better)
        )
    chosen = {**values, **example}
    return Failed(
        rule,
        tuple(_shown(one, chosen) for one in conditions[:least]),
        _shown(conditions[least], chosen),
        number,
    )


def _better(held: HeldFacts, rule: Rule, pattern: Atom) -> Comparison | None:
    """What a fact that is derived does not meet, where only the best of a group are kept: to be as good as that one."""
    if rule.extreme is None or any(isinstance(term, Variable) for term in pattern.terms):
        return None
    place, value = rule.extreme.place, Variable("best")
    group = tuple(value if number == place else term for number, term in enumerate(pattern.terms))
    rows, _ = held.answers([Atom(pattern.predicate, group)], [value], 1)
    if not rows:
        return None
    return Comparison("<=" if rule.extreme.function == "MIN" else ">=", pattern.terms[place], Constant(rows[0][0]))


def _fitting(head: Atom, pattern: Atom) -> dict[Variable, Term] | None:
    """The values that a head's variables have where it is a pattern; None if it cannot be."""
    values: dict[Variable, Term] = {}
    for term, wanted in zip(head.terms, pattern.terms, strict=True):
        if isinstance(wanted, Constant) and wanted != (
            values.setdefault(term, wanted) if isinstance(term, Variable) else term
        ):
            return None
    return values


def _outer(literal: BodyLiteral) -> Iterable[Variable]:
    """The variables of a condition that others see; those of a negation must have values already."""
    return () if isinstance(literal, Negation) else literal.variables()


def _decidable(rule: Rule, values: Values) -> list[BodyLiteral]:
    """The conditions of a rule in an order in which they can be decided."""
    found: list[BodyLiteral] = []
    bound = set(values)
    waiting: list[Test] = [one for one in rule.body if isinstance(one, Comparison | Computation)]

    def test() -> None:
        while True:
            ready = next((one for one in waiting if bound.issuperset(_needed(one, bound))), None)
            if ready is None:
                return
            waiting.remove(ready)
            found.append(ready)
            bound.update(ready.variables())

    givers: tuple[Atom | Aggregate, ...] = (*rule.positive, *rule.aggregates)
    for giver in givers:
        found.append(giver)
        bound.update(giver.variables())
        test()
    test()
    return [*found, *waiting, *rule.negative]


def _needed(test: Test, bound: set[Variable]) -> Iterable[Variable]:
    """The variables that must have values before a test; an equality gives one side the value of the other."""
    if isinstance(test, Computation):
        return test.inputs()
    sides = [{one} if isinstance(one, Variable) else set[Variable]() for one in (test.left, test.right)]
    if test.operator == "=" and any(side <= bound for side in sides):
        return ()
    return test.variables()


def _for_values(conditions: Sequence[BodyLiteral], values: Values) -> list[BodyLiteral]:
    """Conditions about some values; where aggregates have the variables, it is said apart what these are."""
    grouped = {variable for one in conditions if isinstance(one, Aggregate) for variable in one.variables()}
    said: list[BodyLiteral] = [Comparison("is", one, value) for one, value in values.items() if one in grouped]
    plain = {one: value for one, value in values.items() if one not in grouped}
    return [*(_shown(one, plain) for one in conditions), *said]


def _shown(literal: BodyLiteral, values: Values) -> BodyLiteral:
    return literal if isinstance(literal, Aggregate) else substitute_literal(literal, values)
