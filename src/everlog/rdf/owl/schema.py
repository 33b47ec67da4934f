"""Subsumptions between class expressions, as the rules scm-* of OWL 2 RL find them.

The rules of a profile lose an axiom such as A ⊑ ∃p.Y, and with it what follows if ∃p.Y ⊑ B, or ∃p.Z ⊑ B with Y ⊑ Z. OWL 2
RL keeps class expressions as classes, so that a member of A is a member of ∃p.Y, hence of ∃p.Z, hence of B. Here the
subsumptions are found once, while translating; where an expression with ∃ or ∀ in a head lies below one in a body, rules
pass on the membership itself, as facts `member(expression, x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import TypeAlias, TypeVar

from everlog.rdf.owl import structure as owl

MOST_COMPARISONS = 2_000_000
"""Comparing expressions two by two ends here."""

Quantified: TypeAlias = owl.Some | owl.All
_Edges: TypeAlias = dict[owl.Expression, set[owl.Expression]]

T = TypeVar("T")


class TooManyExpressions(Exception):
    """More expressions than can be compared with each other."""


def subsumptions(
    axioms: Sequence[owl.Axiom], heads: Iterable[Quantified], bodies: Iterable[Quantified]
) -> Mapping[Quantified, tuple[Quantified, ...]]:
    """For expressions that stand in heads, those in bodies that they lie below."""
    edges: _Edges = {}
    for axiom in axioms:
        for sub, sup in _pairs(axiom):
            _add(edges, sub)
            _add(edges, sup)
            edges[sub].add(sup)
    for expression in (*heads, *bodies):
        _add(edges, expression)
    nodes = _Nodes(edges, _roles(axioms))
    wanted = {nodes.number[each] for each in bodies}
    # Below an expression that no body has, and no other expression, nothing is of use.
    inner = {nodes.number[part] for each in edges for part in _parts(each)}
    pairs = nodes.comparable(wanted | inner)
    below = nodes.closed()
    changed = True
    while changed:
        changed = False
        for first, second in pairs:
            if second not in nodes.above[first] and nodes.contained(first, second, below):
                nodes.above[first].add(second)
                changed = True
        if changed:
            below = nodes.closed()
    found = {head: sorted(wanted & below[nodes.number[head]]) for head in heads}
    return {head: tuple(nodes.quantified[each] for each in above) for head, above in found.items() if above}


def _add(edges: _Edges, expression: owl.Expression) -> None:
    """A node for an expression and its parts, with what its connective says."""
    if expression in edges:
        return
    edges[expression] = set()
    for part in _parts(expression):
        _add(edges, part)
        if isinstance(expression, owl.And):
            edges[expression].add(part)
        elif isinstance(expression, owl.Or):
            edges[part].add(expression)


def _pairs(axiom: owl.Axiom) -> Iterator[tuple[owl.Expression, owl.Expression]]:
    if isinstance(axiom, owl.SubClassOf):
        yield axiom.sub, axiom.sup
    elif isinstance(axiom, owl.EquivalentClasses):
        yield from permutations(axiom.classes, 2)
    elif isinstance(axiom, owl.DisjointUnion):
        yield from permutations((owl.Named(axiom.iri), owl.Or(axiom.classes)), 2)


def _parts(expression: owl.Expression) -> tuple[owl.Expression, ...]:
    match expression:
        case owl.And(operands) | owl.Or(operands):
            return operands
        case owl.Not(operand):
            return (operand,)
        case owl.Some(property, filler) | owl.All(property, filler):
            return () if property.data else (filler,)
        case owl.AtLeast(_, _, filler) | owl.AtMost(_, _, filler):
            return (filler,)
    return ()


def _roles(axioms: Iterable[owl.Axiom]) -> Mapping[owl.Property, set[owl.Property]]:
    """The properties above each property."""
    edges: dict[owl.Property, set[owl.Property]] = {}
    for axiom in axioms:
        if isinstance(axiom, owl.SubProperty) and len(axiom.chain) == 1:
            edges.setdefault(axiom.chain[0], set()).add(axiom.sup)
        elif isinstance(axiom, owl.EquivalentProperties):
            for one, other in permutations(axiom.properties, 2):
                edges.setdefault(one, set()).add(other)
        elif isinstance(axiom, owl.InverseProperties):
            for one, other in permutations((axiom.first, axiom.second)):
                edges.setdefault(one, set()).add(owl.Property(other.iri, not other.inverse))
    return {start: _reached(start, lambda each: edges.get(each, set())) for start in edges}


def _reached(start: T, above: Callable[[T], set[T]]) -> set[T]:
    seen, todo = {start}, [start]
    while todo:
        new = above(todo.pop()) - seen
        seen |= new
        todo += new
    return seen


class _Nodes:
    """The expressions as numbers: hashing a large expression over and over would take most of the time."""

    def __init__(self, edges: _Edges, roles: Mapping[owl.Property, set[owl.Property]]) -> None:
        self.number = {expression: number for number, expression in enumerate(edges)}
        self.above = [{self.number[each] for each in above} for above in edges.values()]
        self.quantified = {self.number[each]: each for each in edges if isinstance(each, owl.Some | owl.All)}
        fillers = dict(self.number)
        self._filler = {
            number: fillers.setdefault(each.filler, len(fillers)) for number, each in self.quantified.items()
        }
        self._roles = roles

    def comparable(self, targets: set[int]) -> list[tuple[int, int]]:
        """Pairs that scm-svf and scm-avf could relate: they share the property or the filler."""
        groups: dict[object, tuple[list[int], list[int]]] = {}
        for number, each in self.quantified.items():
            for key in ((type(each), each.property), (type(each), self._filler[number])):
                sources, sinks = groups.setdefault(key, ([], []))
                sources.append(number)
                if number in targets:
                    sinks.append(number)
        if sum(len(sources) * len(sinks) for sources, sinks in groups.values()) > MOST_COMPARISONS:
            raise TooManyExpressions
        return [pair for group in groups.values() for pair in product(*group) if pair[0] != pair[1]]

    def contained(self, first: int, second: int, below: Sequence[set[int]]) -> bool:
        """scm-svf1, scm-svf2, scm-avf1, scm-avf2."""
        p, q = self.quantified[first].property, self.quantified[second].property
        c, d = self._filler[first], self._filler[second]
        if p == q:
            return c == d or (c < len(below) and d in below[c])
        smaller, larger = (p, q) if isinstance(self.quantified[first], owl.Some) else (q, p)
        return c == d and larger in self._roles.get(smaller, ())

    def closed(self) -> list[set[int]]:
        """Everything above each expression, itself included."""
        return [_reached(start, self.above.__getitem__) for start in range(len(self.above))]
