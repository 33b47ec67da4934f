"""What follows by rules that compute, by definition: every rule tried on every fact of its stratum until none is new.

Expressions are pyoxigraph's (`sparql_oracle.py`), aggregates are loops over the matches of their bodies. `MIN` and `MAX`
are for numbers that differ in value. A head with one of them derives the best of all candidates, round by round.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache

from pyoxigraph import Literal, NamedNode

from everlog.datalog.calendar_values import decimal_text
from everlog.datalog.ntriples import write_term
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
    Extreme,
    Negation,
    Rule,
    Variable,
    parts,
    terms_of,
)
from everlog.datalog.values import XSD, Value
from oracles.naive import Fact, Facts, Key, Substitution, holds, instance_of, key, matches, value_of
from oracles.sparql_oracle import pyoxigraph_values


def materialise(rules: Sequence[Rule], explicit: Facts) -> Facts:
    """Everything that follows, stratum by stratum; in each, round by round, all that follows from what is known."""
    known = explicit
    ranks = _ranks(rules)
    for rank in sorted(set(ranks.values())):
        mine = [rule for rule in rules if ranks[rule.head.predicate] == rank]
        extremes = {rule.head.predicate: rule.extreme for rule in mine if rule.extreme is not None}
        numbers = _only_numbers(mine, extremes)
        derived: Facts = frozenset()
        while True:
            heads = frozenset(
                instance_of(rule.head, one) for rule in mine for one in instances(rule.body, known | derived)
            )
            candidates = (
                frozenset(one for one in some if one[0] not in numbers or _is_number(one, extremes[one[0]]))
                for some in (heads, known)
            )
            found = frozenset(_best(*candidates, extremes))
            if found == derived:
                break
            derived = found
        known |= derived
    return known


def _only_numbers(rules: Sequence[Rule], extremes: dict[str, Extreme]) -> set[str]:
    """The predicates with `MIN` or `MAX` whose recursion computes with the value, or compares it."""
    found: set[str] = set()
    for rule in rules:
        for atom in rule.positive:
            if rule.head.predicate in extremes and atom.predicate in extremes:
                value = atom.terms[extremes[atom.predicate].place]
                others = (one for one in rule.body if not isinstance(one, Atom | Negation))
                if any(value in one.variables() for one in others):
                    found |= {rule.head.predicate, atom.predicate}
    return found


def _is_number(fact: Fact, extreme: Extreme) -> bool:
    return not isinstance(value_of(fact[1][extreme.place]), str)


def _best(heads: Facts, given: Facts, extremes: dict[str, Extreme]) -> Iterator[Fact]:
    """What is derived, but for facts that others of their groups, derived or given, are better than."""
    groups: dict[object, list[Fact]] = {}
    for one in heads | {one for one in given if one[0] in extremes}:
        extreme = extremes.get(one[0])
        place = len(one[1]) if extreme is None else extreme.place
        groups.setdefault((one[0], one[1][:place], one[1][place + 1 :]), []).append(one)
    for (predicate, _, _), mine in groups.items():
        extreme = extremes.get(predicate)
        if extreme is None:
            yield from mine
        else:
            yield (min if extreme.function == "MIN" else max)(mine, key=lambda one: _order(one[1][extreme.place]))


def _order(keyed: Key) -> tuple[int, object, str]:
    """Numbers before strings, by their exact values; of equal ones integers, decimals, doubles."""
    value = value_of(keyed)
    if isinstance(value, str):
        return 1, value, ""
    exact = Fraction(value.value if isinstance(value, Literal) else value)
    kind = 0 if isinstance(value, int) else 1 if isinstance(value, Literal) else 2
    return 0, exact, f"{kind}{write_term(value)}"


def _ranks(rules: Sequence[Rule]) -> dict[str, int]:
    """Predicates by strata: above what they need the whole of, and not below what they need some of."""
    ranks = {rule.head.predicate: 0 for rule in rules}
    for _ in range(len(ranks) + 1):
        before = dict(ranks)
        for rule in rules:
            for literal in rule.body:
                whole = isinstance(literal, Negation | Aggregate)
                for atom in (part for part in parts(literal) if isinstance(part, Atom)):
                    least = ranks.get(atom.predicate, -1) + whole
                    ranks[rule.head.predicate] = max(ranks[rule.head.predicate], least)
        if ranks == before:
            return ranks
    raise AssertionError("the program is not stratified")


def instances(body: Sequence[BodyLiteral], known: Facts, given: Substitution | None = None) -> list[Substitution]:
    """The substitutions under which a body holds."""
    found = list(matches([one for one in body if isinstance(one, Atom)], known, dict(given or {})))
    for literal in body:
        if isinstance(literal, Aggregate):
            groups = list(_groups(literal, known))
            found = [{**one, **group} for one in found for group in groups if _agree(one, group)]
    waiting = [literal for literal in body if isinstance(literal, Computation)]
    while waiting:
        bound = found[0].keys() if found else {variable.name for one in waiting for variable in one.variables()}
        ready = next(one for one in waiting if all(variable.name in bound for variable in one.inputs()))
        found = [one for before in found if (one := _computed(ready, before)) is not None]
        waiting.remove(ready)
    found = [one for one in found if all(holds(c, one) for c in body if isinstance(c, Comparison))]
    return [one for one in found if not any(_fulfilled(c, known, one) for c in body if isinstance(c, Negation))]


def _agree(one: Substitution, other: Substitution) -> bool:
    return all(one[name] == value for name, value in other.items() if name in one)


def _fulfilled(negation: Negation, known: Facts, one: Substitution) -> bool:
    local = {variable.name for variable in negation.local}
    shared = {name: value for name, value in one.items() if name not in local}
    return bool(instances((*negation.atoms, *negation.tests), known, shared))


def _computed(computation: Computation, one: Substitution) -> Substitution | None:
    """A substitution with the result of a computation, if there is one, and it is the right one."""
    if computation.result is None:
        asked = _evaluated(_test(computation.expression), one)
        return one if asked == key(True) else None
    found = _evaluated(computation.expression, one)
    if found is None:
        return None
    if isinstance(computation.result, Constant):
        return one if found == key(computation.result.value) else None
    name = computation.result.name
    return {**one, name: found} if one.get(name, found) == found else None


def _test(expression: Expression) -> Expression:
    """The effective boolean value of an expression, as one."""
    return Call("!", (Call("!", (expression,)),))


def _evaluated(expression: Expression, one: Substitution) -> Key | None:
    names = tuple(sorted({term.name for term in terms_of(expression) if isinstance(term, Variable)}))
    return _value(expression, names, tuple(one[name] for name in names))


@cache
def _value(expression: Expression, names: tuple[str, ...], keys: tuple[Key, ...]) -> Key | None:
    variables = [Variable(name) for name in names]
    ((found,),) = pyoxigraph_values([expression], variables, [[value_of(one) for one in keys]])
    return None if found is None else key(found)


def _groups(aggregate: Aggregate, known: Facts) -> Iterator[Substitution]:
    """The groups of the matches of a body, each with its values; one without a value is left out."""
    names = [variable.name for variable in aggregate.groups]
    members: dict[tuple[Key, ...], list[Substitution]] = {} if names else {(): []}
    for one in instances(aggregate.body, known):
        members.setdefault(tuple(one[name] for name in names), []).append(one)
    for group, mine in members.items():
        found: Substitution = dict(zip(names, group, strict=True))
        for aggregation in aggregate.aggregations:
            value = _aggregated(aggregation, mine, bool(names))
            if value is None:
                break
            found[aggregation.result.name] = key(value)
        else:
            yield found


def _aggregated(one: Aggregation, members: Iterable[Substitution], nonempty: bool) -> Value | None:
    """The value of a group; members without a value of an argument are none, and a group may have to be `nonempty`."""
    rows = [tuple(_evaluated(argument, member) for argument in one.arguments) for member in members]
    rows = [row for row in rows if None not in row]
    if nonempty and not rows:
        return None
    if one.distinct:
        rows = list(dict.fromkeys(rows))
    values = [value_of(row[0]) for row in rows if row and row[0] is not None]
    if one.function == "COUNT":
        return len(rows)
    if one.function == "SUM":
        return _sum(values)
    if one.function == "AVG":
        total = _sum(values)
        if total is None or not values:
            return total
        ((found,),) = pyoxigraph_values([_quotient()], [Variable("a"), Variable("b")], [[total, len(values)]])
        return found
    if one.function in ("MIN", "MAX"):
        return (min if one.function == "MIN" else max)(values, key=float, default=None)  # type: ignore[arg-type]
    if one.function == "SAMPLE":
        return min(values, key=float, default=None)  # type: ignore[arg-type]
    if one.function in ("COUNT_MIN", "COUNT_MAX"):
        return values.count((min if one.function == "COUNT_MIN" else max)(values, default=None))  # type: ignore[type-var]
    if "_ARG" in one.function:
        outer, _, inner = one.function.partition("_ARG")
        chosen = [value_of(row[1]) for row in rows]  # type: ignore[arg-type]
        at = (min if inner == "MIN" else max)(chosen, default=None)  # type: ignore[type-var]
        mine = [value for value, other in zip(values, chosen, strict=True) if other == at]
        return (min if outer == "MIN" else max)(mine, default=None)  # type: ignore[type-var]
    if one.function == "GROUP_CONCAT":
        assert all(isinstance(value, str) for value in values)
        return one.separator.join(sorted(map(str, values)))
    raise AssertionError(one.function)


def _quotient() -> Expression:
    return Call("/", (Variable("a"), Variable("b")))


def _sum(values: Sequence[Value]) -> Value | None:
    numbers: list[int | float | Decimal] = []
    for value in values:
        if isinstance(value, Literal) and value.datatype.value == XSD + "decimal":
            numbers.append(Decimal(value.value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append(value)
        else:
            return None
    if any(isinstance(one, float) for one in numbers):
        return math.fsum(map(float, numbers))
    total = sum(numbers)
    if any(isinstance(one, Decimal) for one in numbers):
        return Literal(decimal_text(Decimal(total)), datatype=NamedNode(XSD + "decimal"))
    return int(total)
