"""An evaluator that is too simple to be wrong: facts are ground atoms in Python sets, and every rule tries every fact.

It knows the package's syntax and nothing else. Negation is evaluated by the alternating fixpoint (Van Gelder 1989), which
needs no stratification: on a stratified program its two ends meet in the materialisation.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from everlog.datalog.syntax import Atom, Comparison, Constant, Negation, Rule, Term, Variable
from everlog.datalog.values import Value

Facts = frozenset[Atom]
Substitution = dict[Variable, Constant]
Some = tuple[Collection[Atom], Collection[Atom]]

ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def fact(predicate: str, *values: Value) -> Atom:
    return Atom(predicate, tuple(map(Constant, values)))


def materialise(rules: Sequence[Rule], explicit: Iterable[Atom]) -> Facts:
    """Everything that follows from some facts by a program with stratified negation."""
    explicit = frozenset(explicit)
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
    equalities = [comparison for comparison in rule.comparisons if comparison.operator == "="]
    found = []
    for matched in matches(rule.positive, positive, {}):
        one = _with_equalities(equalities, matched)
        if (
            all(holds(comparison, one) for comparison in rule.comparisons)
            and not any(_is_fulfilled(negation, negative, one) for negation in rule.negative)
            and all(_meets(rule, condition, one) for condition in some)
        ):
            found.append(one)
    return found


def matches(atoms: Sequence[Atom], facts: Facts, one: Substitution) -> Iterator[Substitution]:
    """The extensions of a substitution under which all atoms are facts."""
    if not atoms:
        yield one
        return
    for candidate in _by_predicate(facts).get(atoms[0].predicate, ()):
        extended = _unified(atoms[0], candidate, one)
        if extended is not None:
            yield from matches(atoms[1:], facts, extended)


@lru_cache(maxsize=16)
def _by_predicate(facts: Facts) -> dict[str, list[Atom]]:
    groups: dict[str, list[Atom]] = {}
    for one in facts:
        groups.setdefault(one.predicate, []).append(one)
    return groups


def instance_of(atom: Atom, one: Substitution) -> Atom:
    return Atom(atom.predicate, tuple(_value(term, one) for term in atom.terms))


def holds(comparison: Comparison, one: Substitution) -> bool:
    """`=` and `!=` are identity; the others order numbers by value and strings by code point, and nothing else."""
    left, right = _value(comparison.left, one), _value(comparison.right, one)
    if comparison.operator in ("=", "!="):
        return (left == right) == (comparison.operator == "=")
    kinds = {_kind(left.value), _kind(right.value)}
    return kinds in ({"number"}, {"string"}) and ORDERS[comparison.operator](left.value, right.value)


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "other"
    return "number" if isinstance(value, int | float) else "string" if isinstance(value, str) else "other"


def _value(term: Term, one: Substitution) -> Constant:
    return one[term] if isinstance(term, Variable) else term


def _unified(atom: Atom, candidate: Atom, one: Substitution) -> Substitution | None:
    if atom.predicate != candidate.predicate or len(atom.terms) != len(candidate.terms):
        return None
    extended = dict(one)
    for term, value in zip(atom.terms, candidate.terms, strict=True):
        known = extended.setdefault(term, value) if isinstance(term, Variable) else term
        if known != value:
            return None
    return extended


def _with_equalities(equalities: Sequence[Comparison], one: Substitution) -> Substitution:
    """A substitution extended to the variables that equalities bind."""
    extended = dict(one)
    for _ in equalities:
        for equality in equalities:
            for here, there in ((equality.left, equality.right), (equality.right, equality.left)):
                if isinstance(here, Variable) and (isinstance(there, Constant) or there in extended):
                    extended.setdefault(here, _value(there, extended))
    return extended


def _is_fulfilled(negation: Negation, facts: Facts, one: Substitution) -> bool:
    """Whether the inside of a negation holds for some values of its local variables."""
    shared = {variable: value for variable, value in one.items() if variable not in negation.local}
    return any(
        all(holds(comparison, inner) for comparison in negation.comparisons)
        for inner in matches(negation.atoms, facts, shared)
    )


def _meets(rule: Rule, condition: Some, one: Substitution) -> bool:
    P, N = condition
    return any(instance_of(atom, one) in P for atom in rule.positive) or any(
        instance_of(negation.atoms[0], one) in N for negation in rule.negative
    )
