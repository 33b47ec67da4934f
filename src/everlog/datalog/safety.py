"""Safety: every variable gets its value from a positive atom, a computation, or an equality with a side that has one.

A safe rule also keeps its scopes apart: a local variable of a negation occurs in an atom inside it and nowhere outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.printer import print_goal, print_rule
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
from everlog.errors import UnsafeRule

_ANONYMOUS = re.compile(r"_[0-9]+")


def check_safety(rule: Rule, place: str | None = None, prefixes: Mapping[str, str] = NO_PREFIXES) -> None:
    """Raise `UnsafeRule` with the rule and the variable; `place` is where the rule stands, if that is known."""
    mistake = next(_mistakes(rule.head, rule.body), None)
    if mistake is not None:
        kind = "rule" if rule.body else "fact"
        raise _unsafe(f"{kind} `{print_rule(rule, prefixes)}`", place, *mistake)


def check_goal(
    literals: Sequence[BodyLiteral], place: str | None = None, prefixes: Mapping[str, str] = NO_PREFIXES
) -> None:
    """The same for a conjunctive goal."""
    mistake = next(_mistakes(None, literals), None)
    if mistake is not None:
        raise _unsafe(f"goal `{print_goal(literals, prefixes)}`", place, *mistake)


def bound_variables(body: Sequence[BodyLiteral]) -> set[Variable]:
    """The variables that have a value once the positive atoms, equalities and computations of a body hold."""
    bound = {variable for literal in body if isinstance(literal, Atom | Aggregate) for variable in literal.variables()}
    equalities = [literal for literal in body if isinstance(literal, Comparison) and literal.operator == "="]
    computations = [literal for literal in body if isinstance(literal, Computation)]

    def has_value(term: Term) -> bool:
        return isinstance(term, Constant) or term in bound

    while True:
        known: list[Test] = [one for one in equalities if has_value(one.left) or has_value(one.right)]
        known += [one for one in computations if bound.issuperset(one.inputs())]
        if not any(variable not in bound for one in known for variable in one.variables()):
            return bound
        bound.update(variable for one in known for variable in one.variables())


def _mistakes(head: Atom | None, body: Sequence[BodyLiteral]) -> Iterator[tuple[Variable, str]]:
    """Each offending variable with what is wrong about it."""
    bound = bound_variables(body)
    negations = [literal for literal in body if isinstance(literal, Negation)]
    for literal in body:
        if isinstance(literal, Computation):
            for variable in literal.inputs():
                if variable not in bound:
                    yield variable, "is in an expression, but nothing else in the body binds it"
    if head is not None:
        for variable in head.variables():
            if not body:
                yield variable, "is in a fact, which has constants only"
            elif variable not in bound:
                yield variable, "is in the head, but no positive atom of the body binds it"
    for literal in body:
        if isinstance(literal, Comparison):
            for variable in literal.variables():
                if variable not in bound:
                    yield variable, "is compared, but no positive atom of the body binds it"
        elif isinstance(literal, Aggregate):
            yield from _mistakes_of_groups(literal)
        elif isinstance(literal, Negation):
            yield from _mistakes_inside(literal, bound)
    shared = {variable for literal in (body if head is None else (head, *body)) for variable in literal.variables()}
    for negation in negations:
        for variable in negation.local:
            if variable in shared:
                yield variable, "is local to a NOT EXISTS and occurs outside it too; give one of them another name"
    for literal in body:
        if isinstance(literal, Aggregate):
            for variable in literal.local:
                if variable in shared:
                    yield (
                        variable,
                        "is inside an AGGREGATE and outside it too; name it after ON if groups are meant to have one "
                        "value of it, else give one of them another name",
                    )


def _mistakes_of_groups(aggregate: Aggregate) -> Iterator[tuple[Variable, str]]:
    yield from _mistakes(None, aggregate.body)
    bound = bound_variables(aggregate.body)
    for variable in aggregate.groups:
        if variable not in bound:
            yield variable, "is named after ON, but nothing inside the AGGREGATE binds it"
    for one in aggregate.aggregations:
        for argument in one.arguments:
            for variable in Computation(argument).inputs():
                if variable not in bound:
                    yield variable, f"is an argument of {one.function}, but nothing inside the AGGREGATE binds it"
        if one.result in bound:
            yield one.result, "is a result of an AGGREGATE and occurs inside it, too; give one of them another name"


def _mistakes_inside(negation: Negation, bound: set[Variable]) -> Iterator[tuple[Variable, str]]:
    inside = bound_variables((*negation.atoms, *(test for test in negation.tests if isinstance(test, Computation))))
    for variable in negation.local:
        if variable not in inside:
            yield variable, "is local to a NOT EXISTS, but occurs in no atom inside it"
    for variable in negation.variables():
        if variable not in bound:
            yield (
                variable,
                "is in a negation, but no positive atom of the body binds it; for `no value at all` write "
                f"`_` or `NOT EXISTS ?{variable.name} IN (…)`",
            )


def _unsafe(what: str, place: str | None, variable: Variable, reason: str) -> UnsafeRule:
    name = "_" if _ANONYMOUS.fullmatch(variable.name) else f"?{variable.name}"
    return UnsafeRule(f"{place + ': ' if place else ''}the {what} is unsafe: the variable {name} {reason}")
