"""What follows by rules over integers that compute, by clingo: its arithmetic, `#count`, `#sum`, `#min` and `#max`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import clingo

from everlog.datalog.syntax import (
    Aggregate,
    Aggregation,
    Atom,
    BodyLiteral,
    Call,
    Comparison,
    Computation,
    Constant,
    Expression,
    Negation,
    Rule,
    Variable,
)
from oracles.naive import Facts, fact, value_of

_TESTS: Final = ("=", "!=", "<", "<=", ">", ">=")


def materialise(rules: Sequence[Rule], explicit: Facts) -> Facts:
    """Everything that follows, where all values are integers."""
    lines = [f"{name}({','.join(str(value_of(one)) for one in values)})." for name, values in explicit]
    for rule in rules:
        lines.append(f"{_atom(rule.head)} :- {', '.join(one for literal in rule.body for one in _literal(literal))}.")
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        models = [model.symbols(atoms=True) for model in handle]
    assert len(models) == 1, "a stratified program has one stable model"
    return frozenset(fact(symbol.name, *(argument.number for argument in symbol.arguments)) for symbol in models[0])


def _literal(literal: BodyLiteral) -> Iterator[str]:
    if isinstance(literal, Atom):
        yield _atom(literal)
    elif isinstance(literal, Comparison):
        yield f"{_term(literal.left)} {literal.operator} {_term(literal.right)}"
    elif isinstance(literal, Computation):
        if literal.result is None:
            yield _expression(literal.expression)
        else:
            yield f"{_term(literal.result)} = {_expression(literal.expression)}"
    elif isinstance(literal, Negation):
        (atom,) = literal.atoms
        yield f"not {_atom(atom, {one for one in literal.local})}"
    else:
        # A group has a member; other variables of the body are those of its members.
        inside = ", ".join(one for part in literal.body for one in _literal(part))
        if literal.groups:
            yield from (_renamed(one, literal) for part in literal.body for one in _literal(part))
        for aggregation in literal.aggregations:
            yield f"{_term(aggregation.result)} = {_aggregated(literal, aggregation)} : {inside} }}"


def _aggregated(aggregate: Aggregate, one: Aggregation) -> str:
    """The beginning of an aggregate, whose elements are members, or values where these are distinct."""
    members = [_term(variable) for variable in aggregate.local]
    values = [_expression(argument) for argument in one.arguments]
    if one.function == "COUNT":
        return f"#count {{ {','.join(values if one.distinct else members)}"
    return f"#{one.function.lower()} {{ {','.join(values if one.distinct else [*values, *members])}"


def _renamed(text: str, aggregate: Aggregate) -> str:
    """A literal of an aggregate's body for one member, whose variables are nobody else's."""
    for variable in aggregate.local:
        text = text.replace(_term(variable), f"M{_term(variable)}")
    return text


def _atom(atom: Atom, anonymous: set[Variable] | None = None) -> str:
    terms = ("_" if one in (anonymous or ()) else _term(one) for one in atom.terms)
    return f"{atom.predicate}({','.join(terms)})"


def _term(term: Expression) -> str:
    if isinstance(term, Constant):
        return str(term.value)
    assert isinstance(term, Variable)
    return f"V{term.name.strip('_')}_"


def _expression(expression: Expression) -> str:
    if not isinstance(expression, Call):
        return _term(expression)
    parts = [_expression(one) for one in expression.arguments]
    if expression.function == "ABS":
        return f"|{parts[0]}|"
    if len(parts) == 1:
        return f"({expression.function}{parts[0]})"
    text = f" {expression.function} ".join(parts)
    return text if expression.function in _TESTS else f"({text})"
