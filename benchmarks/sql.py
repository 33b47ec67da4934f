"""Relational rules as one recursive query of DuckDB's SQL, for programs with one derived relation.

In a recursive query of SQL the relation's name means what the last round added. A rule with one recursive atom can be
written down as it is. A rule with several would lose the pairs of an old fact and a new one, *silently*; so it becomes
one branch per recursive atom: that atom in the last round, the others in DuckDB's `recurring.step`, all rounds so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from benchmarks.encoding import NotExpressible
from benchmarks.relational import Relation, Relational
from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Rule, Term, Variable

LAST_ROUND: Final = "step"


def only_derived(work: Relational) -> Relation:
    derived = [relation for relation in work.relations if relation.derived]
    if len(derived) != 1:
        raise NotExpressible(f"{len(derived)} derived relations; a recursive query has one")
    return derived[0]


def recursive_query(work: Relational) -> str:
    """A query for all facts of the one derived relation, whose explicit facts are in the table of its name."""
    columns, start, steps = branches(work)
    query = " UNION ".join(start)
    if not steps and len(start) == 1:
        query = f"SELECT DISTINCT * FROM ({query})"  # there is no UNION to do so
    if steps:
        query = f"({query}) UNION (SELECT * FROM ({' UNION ALL '.join(chain(*steps))}))"
    return f"WITH RECURSIVE {LAST_ROUND}({columns}) AS ({query}) SELECT {columns} FROM {LAST_ROUND}"


def branches(work: Relational) -> tuple[str, list[str], list[list[str]]]:
    """The columns, the queries that start, and for each recursive rule those that go on, one for each recursive atom."""
    relation = only_derived(work)
    columns = ", ".join(f"a{position}" for position in range(relation.arity))
    start = [f"SELECT {columns} FROM {relation.name}"] if relation.rows else []
    steps: list[list[str]] = []
    for rule in work.rules:
        recursive = [at for at, atom in enumerate(rule.positive) if atom.predicate == relation.name]
        if any(atom.predicate == relation.name for negation in rule.negative for atom in negation.atoms):
            raise NotExpressible("a negation of the derived relation")
        if recursive:
            steps.append([select(rule, relation, driver) for driver in recursive])
        else:
            start.append(select(rule, relation, None))
    return columns, start, steps


def select(rule: Rule, derived: Relation, driver: int | None) -> str:
    """One rule as a query; the `driver` is the recursive atom that is matched in the last round."""
    sources: list[str] = []
    where: list[str] = []
    place: dict[Variable, str] = {}
    for at, atom in enumerate(rule.positive):
        table = atom.predicate
        if table == derived.name:
            table = LAST_ROUND if at == driver else f"recurring.{LAST_ROUND}"
        sources.append(f"{table} t{at}")
        where.extend(_conditions(atom, f"t{at}", place))
    where.extend(_comparison(comparison, place) for comparison in rule.comparisons)
    where.extend(_negation(negation, place) for negation in rule.negative)
    head = ", ".join(f"{_term(term, place)} AS a{at}" for at, term in enumerate(rule.head.terms))
    condition = f" WHERE {' AND '.join(where)}" if where else ""
    return f"SELECT {head} FROM {', '.join(sources)}{condition}"


def _conditions(atom: Atom, alias: str, place: dict[Variable, str]) -> Iterator[str]:
    """The equalities that an atom asks for; a variable seen first is entered into `place`."""
    for at, term in enumerate(atom.terms):
        here = f"{alias}.a{at}"
        if isinstance(term, Variable) and term not in place:
            place[term] = here
        else:
            yield f"{here} = {_term(term, place)}"


def _comparison(comparison: Comparison, place: dict[Variable, str]) -> str:
    operator = "<>" if comparison.operator == "!=" else comparison.operator
    return f"{_term(comparison.left, place)} {operator} {_term(comparison.right, place)}"


def _negation(negation: Negation, place: dict[Variable, str]) -> str:
    inner = {variable: where for variable, where in place.items() if variable not in negation.local}
    conditions: list[str] = []
    for at, atom in enumerate(negation.atoms):
        conditions.extend(_conditions(atom, f"n{at}", inner))
    conditions.extend(_comparison(test, inner) for test in negation.tests if isinstance(test, Comparison))
    tables = ", ".join(f"{atom.predicate} n{at}" for at, atom in enumerate(negation.atoms))
    return f"NOT EXISTS (SELECT 1 FROM {tables} WHERE {' AND '.join(conditions) or 'true'})"


def _term(term: Term, place: dict[Variable, str]) -> str:
    if isinstance(term, Constant):
        return str(term.value)
    if term not in place:
        raise NotExpressible(f"{term!r} is bound by an equality alone")
    return place[term]
