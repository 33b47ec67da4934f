"""Relational rules as SQL, stratum by stratum: relations that depend on each other are one stratum.

In a recursive query of SQL the relation's name means what the last round added. A rule with one recursive atom can be
written down as it is. A rule with several would lose the pairs of an old fact and a new one, *silently*; so it becomes
one branch per recursive atom: that atom in the last round, the others in DuckDB's `recurring.step`, all rounds so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from benchmarks.encoding import NotExpressible
from benchmarks.relational import Relation, Relational
from everlog.datalog.strongly_connected import components
from everlog.datalog.syntax import (
    Atom,
    Call,
    Comparison,
    Constant,
    Expression,
    Extreme,
    Negation,
    Rule,
    Term,
    Variable,
)

LAST_ROUND: Final = "step"


@dataclass(frozen=True)
class SqlStratum:
    """Relations that are derived together, and their rules."""

    relations: tuple[Relation, ...]
    rules: tuple[Rule, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(relation.name for relation in self.relations)

    def recursive(self, rule: Rule) -> list[int]:
        """The places of the atoms that the rule's stratum derives."""
        return [at for at, atom in enumerate(rule.positive) if atom.predicate in self.names]

    def extreme(self, relation: Relation) -> Extreme | None:
        """What a relation keeps of its candidates, if it is not all."""
        return next(
            (rule.extreme for rule in self.rules if rule.extreme and rule.head.predicate == relation.name), None
        )


def strata(work: Relational) -> list[SqlStratum]:
    """In an order in which each depends on those before."""
    derived = [relation for relation in work.relations if relation.derived]
    place = {relation.name: at for at, relation in enumerate(derived)}
    below: list[list[int]] = [[] for _ in derived]
    for rule in work.rules:
        negated = (atom for negation in rule.negative for atom in negation.atoms)
        below[place[rule.head.predicate]] += [
            place[atom.predicate] for atom in chain(rule.positive, negated) if atom.predicate in place
        ]
    component = components(len(derived), below)
    return [
        SqlStratum(
            tuple(relation for relation, of in zip(derived, component, strict=True) if of == number),
            tuple(rule for rule in work.rules if component[place[rule.head.predicate]] == number),
        )
        for number in range(max(component, default=-1) + 1)
    ]


def only_stratum(work: Relational) -> SqlStratum:
    """That of a program with one derived relation."""
    found = strata(work)
    if len(found) != 1 or len(found[0].relations) != 1:
        count = sum(len(stratum.relations) for stratum in found)
        raise NotExpressible(f"{count} derived relations; a recursive query has one")
    return found[0]


def recursive_query(stratum: SqlStratum) -> str:
    """A query for all facts of the stratum's one relation, whose explicit facts are in the table of its name."""
    columns, start, steps = branches(stratum)
    extreme = stratum.extreme(stratum.relations[0])
    if extreme is not None:
        return _refined(stratum.relations[0], extreme, start, list(chain(*steps)))
    query = " UNION ".join(start)
    if not steps and len(start) == 1:
        query = f"SELECT DISTINCT * FROM ({query})"  # there is no UNION to do so
    if not steps:
        return query
    query = f"({query}) UNION (SELECT * FROM ({' UNION ALL '.join(chain(*steps))}))"
    return f"WITH RECURSIVE {LAST_ROUND}({columns}) AS ({query}) SELECT {columns} FROM {LAST_ROUND}"


def branches(stratum: SqlStratum) -> tuple[str, list[str], list[list[str]]]:
    """The columns, the queries that start, and for each recursive rule those that go on, one for each recursive atom."""
    if len(stratum.relations) != 1:
        raise NotExpressible(f"{len(stratum.relations)} relations that depend on each other; a recursive query has one")
    (relation,) = stratum.relations
    columns = ", ".join(columns_of(relation))
    start = [f"SELECT {columns} FROM {relation.name}"] if relation.rows else []
    steps: list[list[str]] = []
    for rule in stratum.rules:
        recursive = stratum.recursive(rule)
        if recursive:
            steps.append([select(rule, _in_rounds(relation.name, driver)) for driver in recursive])
        else:
            start.append(select(rule, lambda at, atom: atom.predicate))
    return columns, start, steps


def columns_of(relation: Relation) -> list[str]:
    return [f"a{position}" for position in range(relation.arity)]


def _in_rounds(name: str, driver: int) -> Callable[[int, Atom], str]:
    """The `driver` is the recursive atom that is matched in the last round, the others are in all rounds."""

    def table(at: int, atom: Atom) -> str:
        if atom.predicate != name:
            return atom.predicate
        return LAST_ROUND if at == driver else f"recurring.{LAST_ROUND}"

    return table


def _refined(relation: Relation, extreme: Extreme, start: list[str], steps: list[str]) -> str:
    """A query whose rows are kept by their key: a better value takes the place of the one before."""
    names = columns_of(relation)
    value = names[extreme.place]
    keys = [name for name in names if name != value]
    best = f"{extreme.function.lower()}(s.{value}) AS {value}"
    shown = ", ".join(best if name == value else f"s.{name}" for name in names)
    grouped = f"GROUP BY {', '.join(f's.{key}' for key in keys)}"
    first = f"SELECT {shown} FROM ({' UNION ALL '.join(start)}) s {grouped}"
    if not steps:
        return first
    same = " AND ".join(f"b.{key} = s.{key}" for key in keys)
    better = f"s.{value} {'<' if extreme.function == 'MIN' else '>'} b.{value}"
    on = (
        f"SELECT {shown} FROM ({' UNION ALL '.join(steps)}) s LEFT JOIN recurring.{LAST_ROUND} b ON {same} "
        f"WHERE b.{value} IS NULL OR {better} {grouped}"
    )
    columns = ", ".join(names)
    return (
        f"WITH RECURSIVE {LAST_ROUND}({columns}) USING KEY ({', '.join(keys)}) AS ({first} UNION {on}) "
        f"SELECT {columns} FROM {LAST_ROUND}"
    )


def select(rule: Rule, table: Callable[[int, Atom], str]) -> str:
    """One rule as a query, in which the atom at a place is matched in the table that is given for it."""
    sources: list[str] = []
    where: list[str] = []
    place: dict[Variable, str] = {}
    for at, atom in enumerate(rule.positive):
        sources.append(f"{table(at, atom)} t{at}")
        where.extend(_conditions(atom, f"t{at}", place))
    for computation in rule.computations:
        if not isinstance(computation.result, Variable) or computation.result in place:
            raise NotExpressible("a value that is computed and looked up")
        place[computation.result] = _expression(computation.expression, place)
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


def _expression(expression: Expression, place: Mapping[Variable, str]) -> str:
    """Sums, differences and products of whole numbers; what else there is would mean other things in SQL."""
    if isinstance(expression, Call):
        if expression.function not in ("+", "-", "*") or len(expression.arguments) != 2:
            raise NotExpressible(f"{expression.function} in an expression")
        left, right = (_expression(argument, place) for argument in expression.arguments)
        return f"({left} {expression.function} {right})"
    return _term(expression, place)


def _negation(negation: Negation, place: dict[Variable, str]) -> str:
    inner = {variable: where for variable, where in place.items() if variable not in negation.local}
    conditions: list[str] = []
    for at, atom in enumerate(negation.atoms):
        conditions.extend(_conditions(atom, f"n{at}", inner))
    conditions.extend(_comparison(test, inner) for test in negation.tests if isinstance(test, Comparison))
    tables = ", ".join(f"{atom.predicate} n{at}" for at, atom in enumerate(negation.atoms))
    return f"NOT EXISTS (SELECT 1 FROM {tables} WHERE {' AND '.join(conditions) or 'true'})"


def _term(term: Term, place: Mapping[Variable, str]) -> str:
    if isinstance(term, Constant):
        return str(term.value)
    if term not in place:
        raise NotExpressible(f"{term!r} is bound by an equality alone")
    return place[term]
