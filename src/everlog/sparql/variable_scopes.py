"""Which variables a pattern has: those in scope (section 18.2.1), those always bound, and all that are mentioned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from everlog.datalog.syntax import Term, Variable, terms_of
from everlog.sparql.query_tree import (
    Basic,
    Distinct,
    Extend,
    Filter,
    Formula,
    Group,
    InGraph,
    Inline,
    Join,
    LeftJoin,
    Minus,
    Ordered,
    PathPattern,
    Pattern,
    Project,
    Slice,
    Union,
)


def is_written(variable: Variable) -> bool:
    """Whether a query writes the variable: it is no blank node, and the translation did not make it."""
    return not variable.name.startswith(("_:", "#"))


def in_scope(pattern: Pattern) -> dict[Variable, None]:
    """The variables that a pattern may bind, in the order of their first occurrence, with blank nodes."""
    return dict.fromkeys(_scope(pattern))


def _scope(pattern: Pattern) -> Iterator[Variable]:
    match pattern:
        case Basic(triples):
            yield from _variables(term for triple in triples for term in triple)
        case PathPattern(subject, _, target):
            yield from _variables((subject, target))
        case Join(left, right) | LeftJoin(left, right, _):
            yield from _scope(left)
            yield from _scope(right)
        case Union(patterns):
            for one in patterns:
                yield from _scope(one)
        case Minus(left, _):
            yield from _scope(left)
        case Filter(inner, _) | Ordered(inner, _) | Distinct(inner) | Slice(inner, _, _):
            yield from _scope(inner)
        case Extend(inner, variable, _):
            yield from _scope(inner)
            yield variable
        case InGraph(graph, inner):
            yield from _variables((graph,))
            yield from _scope(inner)
        case Inline(variables, _) | Project(_, variables):
            yield from variables
        case Group(_, keys, aggregations, _):
            yield from keys
            yield from (one.result for one in aggregations)


def always_bound(pattern: Pattern) -> frozenset[Variable]:
    """Variables that every solution of a pattern binds."""
    match pattern:
        case Basic() | PathPattern():
            return frozenset(_scope(pattern))
        case Inline(variables, rows):
            return frozenset(one for at, one in enumerate(variables) if all(row[at] is not None for row in rows))
        case Join(left, right):
            return always_bound(left) | always_bound(right)
        case LeftJoin(left, _, _) | Minus(left, _):
            return always_bound(left)
        case Union(patterns):
            return frozenset.intersection(*map(always_bound, patterns))
        case Filter(inner, _) | Ordered(inner, _) | Distinct(inner) | Slice(inner, _, _) | Extend(inner, _, _):
            return always_bound(inner)
        case InGraph(graph, inner):
            return always_bound(inner) | frozenset(_variables((graph,)))
        case Project(inner, variables):
            return always_bound(inner) & frozenset(variables)
        case Group(inner, keys, _, _):
            return always_bound(inner) & frozenset(keys)


def is_closed(pattern: Pattern) -> bool:
    """Whether a pattern means the same whatever variables are bound around it: a join with what is around suffices."""
    match pattern:
        case Basic(triples):
            return bool(triples)
        case PathPattern():
            return True
        case Inline():
            return True
        case Join(left, right):
            return is_closed(left) and is_closed(right)
        case Union(patterns):
            return all(map(is_closed, patterns))
        case Filter(inner, condition):
            return is_closed(inner) and not condition.exists and mentioned_by(condition) <= always_bound(inner)
        case _:
            return False


def mentioned(pattern: Pattern) -> frozenset[Variable]:
    """All variables that somebody outside may have bound: of a subquery, those that it projects."""
    match pattern:
        case Join(left, right) | Minus(left, right):
            return mentioned(left) | mentioned(right)
        case LeftJoin(left, right, condition):
            return mentioned(left) | mentioned(right) | (mentioned_by(condition) if condition else frozenset())
        case Union(patterns):
            return frozenset[Variable]().union(*map(mentioned, patterns))
        case Filter(inner, condition):
            return mentioned(inner) | mentioned_by(condition)
        case Extend(inner, variable, formula):
            return mentioned(inner) | mentioned_by(formula) | {variable}
        case InGraph(graph, inner):
            return mentioned(inner) | frozenset(_variables((graph,)))
        case Ordered(inner, keys):
            return mentioned(inner).union(*(mentioned_by(key) for key, _ in keys))
        case Distinct(inner) | Slice(inner, _, _):
            return mentioned(inner)
        case Group(inner, _, _, arguments):
            return mentioned(inner).union(*(mentioned_by(one) for some in arguments for one in some))
        case Project(inner, variables):
            return mentioned(inner) & frozenset(variables)
        case _:
            return frozenset(_scope(pattern))


def mentioned_by(formula: Formula) -> frozenset[Variable]:
    """The variables of an expression, with those of patterns in it."""
    own = frozenset(_variables(terms_of(formula.expression))) - {variable for variable, _ in formula.exists}
    return own.union(*(mentioned(pattern) for _, pattern in formula.exists))


def _variables(terms: Iterable[Term]) -> Iterator[Variable]:
    return (term for term in terms if isinstance(term, Variable))
