"""An evaluator that is too simple to be wrong: facts are tuples in Python sets, and every rule tries every fact.

It knows the package's syntax and nothing else. Negation is evaluated by the alternating fixpoint (Van Gelder 1989), which
needs no stratification: on a stratified program its two ends meet in the materialisation. Values are keyed by their type,
since `1 == 1.0 == True` in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, TypeAlias

from pyoxigraph import Literal

from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Rule, Term, Variable
from everlog.datalog.values import XSD, Value

Key: TypeAlias = tuple[str, object]
Fact: TypeAlias = tuple[str, tuple[Key, ...]]
"""A predicate and its arguments."""
Facts: TypeAlias = frozenset[Fact]
Substitution: TypeAlias = dict[str, Key]
"""The values of variables by name."""
Some: TypeAlias = tuple[Collection[Fact], Collection[Fact]]

ORDERS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def key(value: Value) -> Key:
    return type(value).__name__, repr(value) if isinstance(value, float) else value


def value_of(keyed: Key) -> Value:
    kind, value = keyed
    return float(value) if kind == "float" else value  # type: ignore[arg-type, return-value]


def fact(predicate: str, *values: Value) -> Fact:
    return predicate, tuple(map(key, values))


def facts(atoms: Iterable[Atom]) -> Facts:
    return frozenset(instance_of(atom, {}) for atom in atoms)


def materialise(rules: Sequence[Rule], explicit: Facts) -> Facts:
    """Everything that follows from some facts by a program with stratified negation."""
    certain: Facts = frozenset()
    while True:
        possible = _closure(rules, explicit, absent_from=certain)
        more = _closure(rules, explicit, absent_from=possible)
        if more == certain:
            assert certain == possible, "the program is not stratified"
            return certain
        certain = more


def _closure(rules: Sequence[Rule], explicit: Facts, absent_from: Facts) -> Facts:
    """What follows when exactly the facts outside of a set count as absent."""
    known = explicit
    while True:
        heads = {instance_of(rule.head, one) for rule in rules for one in instances(rule, known, absent_from)}
        if heads <= known:
            return known
        known |= heads


def instances(rule: Rule, positive: Facts, negative: Facts, some: Sequence[Some] = ()) -> list[Substitution]:
    """`inst_r[I⁺, I⁻ : P₁, N₁ : …]` (*Revisited*, 65): the distinct substitutions, by definition."""
    found = []
    for matched in matches(rule.positive, positive, {}):
        one = _with_equalities(rule.comparisons, matched)
        if (
            all(holds(comparison, one) for comparison in rule.comparisons)
            and not any(_is_fulfilled(negation, negative, one) for negation in rule.negative)
            and all(_meets(rule, condition, one) for condition in some)
        ):
            found.append(one)
    return found


def matches(atoms: Sequence[Atom], among: Facts, one: Substitution) -> Iterator[Substitution]:
    """The extensions of a substitution under which all atoms are facts."""
    if not atoms:
        yield one
        return
    for arguments in _by_predicate(among).get(atoms[0].predicate, ()):
        extended = dict(one)
        for term, value in zip(_terms(atoms[0]), arguments, strict=True):
            if (extended.setdefault(term, value) if isinstance(term, str) else term) != value:
                break
        else:
            yield from matches(atoms[1:], among, extended)


@lru_cache(maxsize=16)
def _by_predicate(among: Facts) -> dict[str, list[tuple[Key, ...]]]:
    groups: dict[str, list[tuple[Key, ...]]] = {}
    for predicate, arguments in among:
        groups.setdefault(predicate, []).append(arguments)
    return groups


@cache
def _terms(atom: Atom) -> tuple[str | Key, ...]:
    return tuple(term.name if isinstance(term, Variable) else key(term.value) for term in atom.terms)


def instance_of(atom: Atom, one: Substitution) -> Fact:
    return atom.predicate, tuple(one[term] if isinstance(term, str) else term for term in _terms(atom))


def holds(comparison: Comparison, one: Substitution) -> bool:
    """Values of one kind are compared by what they stand for; of all others, a term equals itself and has no order.

    `is not`, of rules that Everlog makes, tells terms apart.
    """
    left, right = _value(comparison.left, one), _value(comparison.right, one)
    if comparison.operator == "is not":
        return left != right
    if comparison.operator == "!=":
        return not holds(replace(comparison, operator="="), one)
    if comparison.operator == "=" and left == right:
        return True
    (kind, mine), (other, theirs) = _measure(left), _measure(right)
    return kind == other != "" and ORDERS[comparison.operator](mine, theirs)


@cache
def _measure(keyed: Key) -> tuple[str, Any]:
    """The kind that a value is compared within, none if it is the empty one, and what stands for it in Python."""
    value = value_of(keyed)
    if isinstance(value, str | bool):
        return type(value).__name__, value
    if isinstance(value, int | float):
        return "number", value
    if not isinstance(value, Literal) or not value.datatype.value.startswith(XSD):
        return "", None
    name, text = value.datatype.value.removeprefix(XSD), value.value
    try:
        if name in ("decimal", "integer", "byte", "long"):
            return "number", int(number) if (number := Decimal(text)) == int(number) else float(number)
        if name in ("double", "float"):
            return "number", float(text)
        if name == "boolean":
            return "bool", {"1": True, "0": False, "true": True, "false": False}[text]
        if name == "time":
            return name, _in_utc(datetime.combine(date(1972, 12, 31), time.fromisoformat(text)))
        if name == "date":
            zone = text[10:].replace("Z", "+00:00")
            return name, _in_utc(datetime.fromisoformat(f"{text[:10]}T00:00:00{zone}"))
        if name == "dateTime":
            return name, _in_utc(datetime.fromisoformat(text))
    except (ValueError, KeyError, ArithmeticError):
        pass
    return "", None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _value(term: Term, one: Substitution) -> Key:
    return key(term.value) if isinstance(term, Constant) else one[term.name]


def _with_equalities(comparisons: Sequence[Comparison], one: Substitution) -> Substitution:
    """A substitution extended to the variables that equalities bind."""
    extended = dict(one)
    for _ in comparisons:
        for sides in ((c.left, c.right) for c in comparisons if c.operator == "="):
            for here, there in (sides, sides[::-1]):
                if isinstance(here, Variable) and (isinstance(there, Constant) or there.name in extended):
                    extended.setdefault(here.name, _value(there, extended))
    return extended


def _is_fulfilled(negation: Negation, among: Facts, one: Substitution) -> bool:
    """Whether the inside of a negation holds for some values of its local variables."""
    local = {variable.name for variable in negation.local}
    shared = {name: value for name, value in one.items() if name not in local}
    return any(
        all(holds(comparison, inner) for comparison in negation.tests)
        for inner in matches(negation.atoms, among, shared)
    )


def _meets(rule: Rule, condition: Some, one: Substitution) -> bool:
    P, N = condition
    return any(instance_of(atom, one) in P for atom in rule.positive) or any(
        instance_of(negation.atoms[0], one) in N for negation in rule.negative
    )
