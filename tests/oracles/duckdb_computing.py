"""What follows by rules that compute and are not recursive, by DuckDB: a table per predicate, a query per rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import duckdb

from everlog.datalog.syntax import (
    Aggregate,
    Aggregation,
    Atom,
    BodyLiteral,
    Comparison,
    Computation,
    Constant,
    Expression,
    Negation,
    Rule,
    Variable,
    parts,
)
from oracles.naive import Facts, fact, value_of

_FUNCTIONS: Final = {
    "STR": "CAST({} AS VARCHAR)",
    "IF": "CASE WHEN {} THEN {} ELSE {} END",
    "UCASE": "upper({})",
    "STRLEN": "length({})",
    "&&": "({} AND {})",
}

Places = dict[Variable, str]
"""Where a query has the values of variables."""


def materialise(rules: Sequence[Rule], explicit: Facts) -> Facts:
    """Everything that follows from facts about integers; rules come in an order in which each has what it needs."""
    with duckdb.connect() as connection:
        by_head: dict[str, list[Rule]] = {}
        for rule in rules:
            by_head.setdefault(rule.head.predicate, []).append(rule)
        widths = {name: len(values) for name, values in explicit}
        widths |= {atom.predicate: len(atom.terms) for rule in rules for atom in _atoms(rule)}
        for name, width in widths.items():
            if name not in by_head:
                columns = ", ".join(f"a{place} BIGINT" for place in range(width))
                connection.execute(f"CREATE TABLE {name} ({columns})")
        for name, values in explicit:
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join(str(value_of(one)) for one in values)})")
        for name, mine in by_head.items():
            connection.execute(f"CREATE TABLE {name} AS {' UNION '.join(map(_query, mine))}")
        rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in {*widths, *by_head}}
        return frozenset(fact(name, *row) for name, some in rows.items() for row in some)


def _atoms(rule: Rule) -> Iterator[Atom]:
    return (part for literal in rule.body for part in parts(literal) if isinstance(part, Atom))


def _query(rule: Rule) -> str:
    place, tables, conditions = _joined(rule.body)
    head = ", ".join(f"{_expression(term, place)} AS a{number}" for number, term in enumerate(rule.head.terms))
    return f"SELECT DISTINCT {head} FROM {', '.join(tables)} WHERE {' AND '.join(['true', *conditions])}"


def _joined(body: Sequence[BodyLiteral]) -> tuple[Places, list[str], list[str]]:
    """Where variables have their values, the tables, and what must hold of them."""
    place: Places = {}
    tables: list[str] = []
    conditions: list[str] = []
    for number, literal in enumerate(body):
        if isinstance(literal, Atom):
            tables.append(f"{literal.predicate} t{number}")
            conditions += _matched(literal.terms, f"t{number}", place)
        elif isinstance(literal, Aggregate):
            tables.append(f"({_grouped(literal)}) t{number}")
            conditions += _matched(tuple(literal.variables()), f"t{number}", place)
    for literal in body:
        if isinstance(literal, Computation):
            text = _expression(literal.expression, place)
            if isinstance(literal.result, Variable) and literal.result not in place:
                place[literal.result] = text
            else:
                conditions.append(text if literal.result is None else f"{text} = {_expression(literal.result, place)}")
    for literal in body:
        if isinstance(literal, Comparison):
            conditions.append(
                f"{_expression(literal.left, place)} {literal.operator} {_expression(literal.right, place)}"
            )
        elif isinstance(literal, Negation):
            (atom,) = literal.atoms
            inner = {variable: where for variable, where in place.items() if variable not in literal.local}
            inside = " AND ".join(["true", *_matched(atom.terms, "absent", inner)])
            conditions.append(f"NOT EXISTS (SELECT 1 FROM {atom.predicate} absent WHERE {inside})")
    return place, tables, conditions


def _matched(terms: Sequence[Expression], table: str, place: Places) -> Iterator[str]:
    """The equalities that a row asks for; a variable seen first is entered into `place`."""
    for number, term in enumerate(terms):
        here = f"{table}.a{number}"
        if isinstance(term, Variable) and term not in place:
            place[term] = here
        else:
            yield f"{here} = {_expression(term, place)}"


def _grouped(aggregate: Aggregate) -> str:
    place, tables, conditions = _joined(aggregate.body)
    groups = [place[variable] for variable in aggregate.groups]
    values = [_aggregated(one, place) for one in aggregate.aggregations]
    columns = ", ".join(f"{text} AS a{number}" for number, text in enumerate([*groups, *values]))
    by = f" GROUP BY {', '.join(groups)}" if groups else ""
    return f"SELECT {columns} FROM {', '.join(tables)} WHERE {' AND '.join(['true', *conditions])}{by}"


def _aggregated(one: Aggregation, place: Places) -> str:
    if not one.arguments:
        return "count(*)"
    (argument,) = (_expression(argument, place) for argument in one.arguments)
    if one.function == "GROUP_CONCAT":
        return f"string_agg({argument}, '{one.separator}' ORDER BY {argument})"
    text = f"{one.function}({'DISTINCT ' if one.distinct else ''}{argument})"
    return f"coalesce({text}, 0)" if one.function == "SUM" else text


def _expression(expression: Expression, place: Places) -> str:
    if isinstance(expression, Constant):
        return f"'{expression.value}'" if isinstance(expression.value, str) else str(expression.value)
    if isinstance(expression, Variable):
        return place[expression]
    parts = [_expression(one, place) for one in expression.arguments]
    if expression.function in _FUNCTIONS:
        return _FUNCTIONS[expression.function].format(*parts)
    if expression.function.isalpha():
        return f"{expression.function}({', '.join(parts)})"
    return f"({expression.function}{parts[0]})" if len(parts) == 1 else f"({f' {expression.function} '.join(parts)})"
