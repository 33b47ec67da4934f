"""Subsumptions between class expressions, as the rules scm-* of OWL 2 RL find them.

The rules of a profile lose an axiom such as A ⊑ ∃p.Y, and with it what follows if ∃p.Y ⊑ B, or ∃p.Z ⊑ B with Y ⊑ Z. OWL 2
RL keeps class expressions as classes and derives A ⊑ B through them. Here that is done once, while translating: the
result is rules A → B for named classes whose way leads through an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations

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
    HasValue,
    InverseProperties,
    Named,
    Not,
    OneOf,
    Or,
    Property,
    Some,
    SubClassOf,
    SubProperty,
)
from everlog.rdf.owl.vocabulary import NOTHING, THING

MOST_EXPRESSIONS = 4_000
"""Comparing expressions two by two ends here."""

Edges = dict[Expression, dict[Expression, tuple[Axiom, ...]]]


def shortcuts(axioms: Sequence[Axiom]) -> Iterator[tuple[str, str, tuple[Axiom, ...]]]:
    """Pairs of classes A ⊑ B by way of an anonymous expression, with the axioms on the way."""
    edges = _stated(axioms)
    expressions = sorted((e for e in edges if not isinstance(e, Named)), key=repr)
    if not expressions or len(expressions) > MOST_EXPRESSIONS:
        return
    roles = _roles(axioms)
    below = {expression: _reachable(edges, expression) for expression in edges}
    changed = True
    while changed:
        changed = False
        for first, second in _comparable(expressions):
            if second not in edges[first] and _contained(first, second, below, roles):
                edges[first][second] = ()
                changed = True
        if changed:
            below = {expression: _reachable(edges, expression) for expression in edges}
    for name in sorted((e for e in edges if isinstance(e, Named)), key=lambda e: e.iri):
        yield from _through(edges, name)


def _stated(axioms: Sequence[Axiom]) -> Edges:
    edges: Edges = {}

    def node(expression: Expression) -> None:
        if expression in edges:
            return
        edges[expression] = {}
        for part in _parts(expression):
            node(part)
            if isinstance(expression, And):
                edges[expression].setdefault(part, ())
            elif isinstance(expression, Or):
                edges[part].setdefault(expression, ())

    def edge(sub: Expression, sup: Expression, axiom: Axiom) -> None:
        node(sub)
        node(sup)
        edges[sub].setdefault(sup, (axiom,))

    for axiom in axioms:
        if isinstance(axiom, SubClassOf):
            edge(axiom.sub, axiom.sup, axiom)
        elif isinstance(axiom, EquivalentClasses):
            for sub, sup in permutations(axiom.classes, 2):
                edge(sub, sup, axiom)
        elif isinstance(axiom, DisjointUnion):
            edge(Named(axiom.iri), Or(axiom.classes), axiom)
            edge(Or(axiom.classes), Named(axiom.iri), axiom)
    return edges


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
            for one, other in ((axiom.first, axiom.second), (axiom.second, axiom.first)):
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


def _comparable(expressions: Sequence[Expression]) -> Iterator[tuple[Expression, Expression]]:
    for first, second in combinations(expressions, 2):
        if type(first) is type(second) and isinstance(first, Some | All | HasValue):
            yield first, second
            yield second, first


def _contained(
    first: Expression,
    second: Expression,
    below: Mapping[Expression, set[Expression]],
    roles: Mapping[Property, set[Property]],
) -> bool:
    """scm-hv, scm-svf1, scm-svf2, scm-avf1, scm-avf2."""

    def within(one: Property, other: Property) -> bool:
        return one == other or other in roles.get(one, ())

    def under(one: Expression, other: Expression) -> bool:
        return one == other or other in below.get(one, ())

    match first, second:
        case HasValue(p, a), HasValue(q, b):
            return a == b and within(p, q)
        case Some(p, c), Some(q, d):
            return (p == q and under(c, d)) or (c == d and within(p, q))
        case All(p, c), All(q, d):
            return (p == q and under(c, d)) or (c == d and within(q, p))
    return False


def _reachable(edges: Edges, start: Expression) -> set[Expression]:
    seen, todo = {start}, [start]
    while todo:
        for each in edges[todo.pop()]:
            if each not in seen:
                seen.add(each)
                todo.append(each)
    return seen


def _through(edges: Edges, start: Named) -> Iterator[tuple[str, str, tuple[Axiom, ...]]]:
    """Named classes above a class, first reached through an expression that rules cannot follow."""
    ways: dict[tuple[Expression, bool], tuple[Axiom, ...]] = {(start, False): ()}
    todo: list[tuple[Expression, bool]] = [(start, False)]
    while todo:
        place = todo.pop(0)
        expression, anonymous = place
        for each, axioms in edges[expression].items():
            lost = isinstance(each, Some | Or | AtLeast | All | HasValue | AtMost | OneOf | Not)
            if isinstance(each, Named) and (each == start or each.iri in (THING, NOTHING)):
                continue
            after = (each, lost or (anonymous and not isinstance(each, Named)))
            way = (*ways[place], *(axiom for axiom in axioms if axiom not in ways[place]))
            if isinstance(each, Named) and anonymous:
                yield start.iri, each.iri, way
                continue
            if after not in ways:
                ways[after] = way
                todo.append(after)
