"""Subsumptions between class expressions, as the rules scm-* of OWL 2 RL find them.

The rules of a profile lose an axiom such as A ⊑ ∃p.Y, and with it what follows if ∃p.Y ⊑ B, or ∃p.Z ⊑ B with Y ⊑ Z. OWL 2
RL keeps class expressions as classes, so that a member of A is a member of ∃p.Y, hence of ∃p.Z, hence of B. Here the
subsumptions are found once, while translating; where an expression with ∃ or ∀ in a head lies below one in a body, rules
pass on the membership itself, as facts `member(expression, x)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import TypeAlias

from everlog.rdf.owl.structure import (
    All,
    And,
    AtLeast,
    AtMost,
    Axiom,
    DisjointUnion,
    EquivalentClasses,
    EquivalentProperties,
    Expression,
    InverseProperties,
    Named,
    Not,
    Or,
    Property,
    Some,
    SubClassOf,
    SubProperty,
)

MOST_COMPARISONS = 2_000_000
"""Comparing expressions two by two ends here."""

Quantified: TypeAlias = Some | All
_Edges: TypeAlias = dict[Expression, set[Expression]]


class TooManyExpressions(Exception):
    """More expressions than can be compared with each other."""


def subsumptions(
    axioms: Sequence[Axiom], heads: Iterable[Quantified], bodies: Iterable[Quantified]
) -> Mapping[Quantified, tuple[Quantified, ...]]:
    """For expressions that stand in heads, those in bodies that they lie below."""
    edges = _stated(axioms)
    for expression in (*heads, *bodies):
        _add(edges, expression)
    quantified = [each for each in edges if isinstance(each, Some | All)]
    pairs = _comparable(quantified)
    above = _roles(axioms)
    below = _closed(edges)
    changed = True
    while changed:
        changed = False
        for first, second in pairs:
            if second not in edges[first] and _contained(first, second, below, above):
                edges[first].add(second)
                changed = True
        if changed:
            below = _closed(edges)
    wanted = set(bodies)
    found = {
        head: tuple(
            each for each in quantified if each in wanted and isinstance(each, Some | All) and each in below[head]
        )
        for head in heads
    }
    return {head: each for head, each in found.items() if each}


def _add(edges: _Edges, expression: Expression) -> None:
    """A node for an expression and its parts, with what its connective says."""
    if expression in edges:
        return
    edges[expression] = set()
    for part in _parts(expression):
        _add(edges, part)
        if isinstance(expression, And):
            edges[expression].add(part)
        elif isinstance(expression, Or):
            edges[part].add(expression)


def _stated(axioms: Sequence[Axiom]) -> _Edges:
    edges: _Edges = {}
    for axiom in axioms:
        for sub, sup in _pairs(axiom):
            _add(edges, sub)
            _add(edges, sup)
            edges[sub].add(sup)
    return edges


def _pairs(axiom: Axiom) -> Iterator[tuple[Expression, Expression]]:
    if isinstance(axiom, SubClassOf):
        yield axiom.sub, axiom.sup
    elif isinstance(axiom, EquivalentClasses):
        yield from permutations(axiom.classes, 2)
    elif isinstance(axiom, DisjointUnion):
        yield from permutations((Named(axiom.iri), Or(axiom.classes)), 2)


def _parts(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case And(operands) | Or(operands):
            return operands
        case Not(operand):
            return (operand,)
        case Some(property, filler) | All(property, filler):
            return () if property.data else (filler,)
        case AtLeast(_, _, filler) | AtMost(_, _, filler):
            return (filler,)
    return ()


def _roles(axioms: Iterable[Axiom]) -> Mapping[Property, set[Property]]:
    """The properties above each property."""
    edges: dict[Property, set[Property]] = {}
    for axiom in axioms:
        if isinstance(axiom, SubProperty) and len(axiom.chain) == 1:
            edges.setdefault(axiom.chain[0], set()).add(axiom.sup)
        elif isinstance(axiom, EquivalentProperties):
            for one, other in permutations(axiom.properties, 2):
                edges.setdefault(one, set()).add(other)
        elif isinstance(axiom, InverseProperties):
            for one, other in permutations((axiom.first, axiom.second)):
                edges.setdefault(one, set()).add(Property(other.iri, not other.inverse))
    closed: dict[Property, set[Property]] = {}
    for start in edges:
        seen, todo = {start}, [start]
        while todo:
            new = edges.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        closed[start] = seen
    return closed


def _comparable(quantified: Sequence[Quantified]) -> list[tuple[Quantified, Quantified]]:
    """Pairs that scm-svf and scm-avf could relate: they share the property or the filler."""
    groups: dict[object, list[Quantified]] = {}
    for each in quantified:
        groups.setdefault((type(each), each.property), []).append(each)
        groups.setdefault((type(each), "filler", each.filler), []).append(each)
    if sum(len(group) ** 2 for group in groups.values()) > MOST_COMPARISONS:
        raise TooManyExpressions
    return list(dict.fromkeys(pair for group in groups.values() for pair in permutations(group, 2)))


def _contained(
    first: Quantified,
    second: Quantified,
    below: Mapping[Expression, set[Expression]],
    above: Mapping[Property, set[Property]],
) -> bool:
    """scm-svf1, scm-svf2, scm-avf1, scm-avf2."""
    p, q, c, d = first.property, second.property, first.filler, second.filler
    if p == q:
        return d in below.get(c, ())
    smaller, larger = (p, q) if isinstance(first, Some) else (q, p)
    return c == d and larger in above.get(smaller, ())


def _closed(edges: _Edges) -> dict[Expression, set[Expression]]:
    """Everything above each expression, itself included."""
    closed = {}
    for start in edges:
        seen, todo = {start}, [start]
        while todo:
            new = edges[todo.pop()] - seen
            seen |= new
            todo += new
        closed[start] = seen
    return closed
