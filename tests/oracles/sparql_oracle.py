"""Expressions as pyoxigraph evaluates them, for many rows with one query."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store

from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import Constant, Expression, Variable
from everlog.datalog.values import XSD, Value, canonical_double, normalise

_SIGNS = {"+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">=", "&&", "||", "!"}


def sparql(expression: Expression) -> str:
    """An expression as SPARQL has it."""
    if isinstance(expression, Variable):
        return f"?{expression.name}"
    if isinstance(expression, Constant):
        return write_term(expression.value)
    name, parts = expression.function, [sparql(argument) for argument in expression.arguments]
    if name in ("IN", "NOT IN"):
        return f"({parts[0]} {name} ({', '.join(parts[1:])}))"
    if name in _SIGNS:
        return f"({name} {parts[0]})" if len(parts) == 1 else f"({f' {name} '.join(parts)})"
    return f"{f'<{name}>' if ':' in name else name}({', '.join(parts)})"


def pyoxigraph_values(
    expressions: Sequence[Expression], variables: Sequence[Variable], rows: Sequence[Sequence[Value | None]]
) -> list[list[Value | None]]:
    """For each expression its values in all rows, where None is a variable without one, or an error."""
    store = Store()
    for place, row in enumerate(rows):
        subject = NamedNode(f"row:{place}")
        store.add(Quad(subject, NamedNode("row:is"), Literal(place)))
        store.extend(
            Quad(subject, NamedNode(f"row:{variable.name}"), _term(value))
            for variable, value in zip(variables, row, strict=True)
            if value is not None
        )
    columns = " ".join(f"({sparql(expression)} AS ?r{place})" for place, expression in enumerate(expressions))
    patterns = " ".join(f"OPTIONAL {{ ?row <row:{one.name}> ?{one.name} }}" for one in variables)
    found = store.query(f"SELECT ?place {columns} WHERE {{ ?row <row:is> ?place {patterns} }}")
    results: list[list[Value | None]] = [[None] * len(rows) for _ in expressions]
    for solution in found:
        for place, result in enumerate(results):
            result[int(solution["place"].value)] = _value(solution[f"r{place}"])
    return results


def pyoxigraph_aggregates(function: str, rows: Sequence[tuple[int, Value]], count: int) -> list[Value | None]:
    """An aggregate of values by group, where None is an error; each group has rows."""
    data = " ".join(f"({group} {write_term(value)})" for group, value in rows)
    found = Store().query(
        f"SELECT ?group ({function}(?value) AS ?result) WHERE {{ VALUES (?group ?value) {{ {data} }} }} GROUP BY ?group"
    )
    results: list[Value | None] = [None] * count
    for solution in found:
        results[int(solution["group"].value)] = _value(solution["result"])
    return results


def _term(value: Value) -> NamedNode | BlankNode | Literal:
    if isinstance(value, bool | str):
        return Literal(value)
    if isinstance(value, int):
        return Literal(str(value), datatype=NamedNode(XSD + "integer"))
    return Literal(canonical_double(value), datatype=NamedNode(XSD + "double")) if isinstance(value, float) else value


def _value(term: NamedNode | BlankNode | Literal | None) -> Value | None:
    """A result in the form that Everlog has; pyoxigraph writes numbers in other ways."""
    if term is None or not isinstance(term, Literal):
        return term
    if term.datatype.value == XSD + "double":
        return float(term.value)
    if term.datatype.value == XSD + "float":
        return Literal(canonical_double(float(term.value)), datatype=term.datatype)
    return normalise(term)
