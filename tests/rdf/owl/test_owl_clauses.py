"""Formulas against the direct semantics of OWL 2: an axiom holds in an interpretation exactly if its formulas do.

Interpretations are finite and random, and every constant names itself; what a formula calls a new class is what the axiom
says that it is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import combinations, permutations, product

import pytest
from pyoxigraph import NamedNode

from everlog.datalog.syntax import Atom, Comparison, Constant, Term, Variable
from everlog.rdf.owl.clauses import Clause, NoFormulas, Normaliser
from everlog.rdf.owl.functional import FunctionalSyntax
from everlog.rdf.owl.structure import (
    All,
    And,
    AtLeast,
    AtMost,
    Axiom,
    Characteristic,
    ClassAssertion,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    Domain,
    EquivalentClasses,
    EquivalentProperties,
    Expression,
    HasKey,
    HasSelf,
    HasValue,
    InverseProperties,
    Kind,
    Named,
    Not,
    OneOf,
    Or,
    Property,
    PropertyAssertion,
    Range,
    RuleAtom,
    SameIndividual,
    Some,
    SubClassOf,
    SubProperty,
    SwrlRule,
)
from everlog.rdf.owl.vocabulary import (
    BOTTOM_OBJECT,
    DIFFERENT_FROM,
    NOTHING,
    SAME_AS,
    THING,
    TOP_OBJECT,
    TYPE,
)

DOMAIN = [Constant(NamedNode(f"http://ex.org/{name}")) for name in "abc"]
CLASSES = [f"http://ex.org/C{n}" for n in range(3)]
PROPERTIES = [f"http://ex.org/p{n}" for n in range(2)]
KINDS: list[Kind] = [
    "Functional",
    "InverseFunctional",
    "Reflexive",
    "Irreflexive",
    "Symmetric",
    "Asymmetric",
    "Transitive",
]


class Interpretation:
    """Which individuals are in which class, and which pairs in which property."""

    def __init__(self, choose: random.Random) -> None:
        density = choose.random()
        self.classes = {name: {d for d in DOMAIN if choose.random() < density} for name in CLASSES}
        self.classes |= {THING: set(DOMAIN), NOTHING: set()}
        pairs = list(product(DOMAIN, DOMAIN))
        self.properties = {name: {pair for pair in pairs if choose.random() < density} for name in PROPERTIES}
        self.properties |= {TOP_OBJECT: set(pairs), BOTTOM_OBJECT: set()}

    def pairs(self, property: Property) -> set[tuple[Constant, Constant]]:
        found = self.properties[property.iri]
        return {(b, a) for a, b in found} if property.inverse else found

    def extension(self, expression: Expression) -> set[Constant]:
        everything = set(DOMAIN)
        match expression:
            case Named(iri):
                return self.classes[iri]
            case And(operands):
                return everything.intersection(*map(self.extension, operands))
            case Or(operands):
                return set().union(*map(self.extension, operands))
            case Not(operand):
                return everything - self.extension(operand)
            case OneOf(members):
                return set(members)
            case Some(property, filler):
                return {d for d in DOMAIN if self.successors(d, property) & self.extension(filler)}
            case All(property, filler):
                return {d for d in DOMAIN if self.successors(d, property) <= self.extension(filler)}
            case HasValue(property, value):
                return {d for d in DOMAIN if value in self.successors(d, property)}
            case HasSelf(property):
                return {d for d in DOMAIN if d in self.successors(d, property)}
            case AtLeast(number, property, filler):
                return {d for d in DOMAIN if len(self.successors(d, property) & self.extension(filler)) >= number}
            case AtMost(number, property, filler):
                return {d for d in DOMAIN if len(self.successors(d, property) & self.extension(filler)) <= number}
        raise AssertionError(expression)

    def successors(self, individual: Constant, property: Property) -> set[Constant]:
        return {b for a, b in self.pairs(property) if a == individual}

    def satisfies(self, axiom: Axiom) -> bool:
        match axiom:
            case SubClassOf(sub, sup):
                return self.extension(sub) <= self.extension(sup)
            case EquivalentClasses(classes):
                return all(self.extension(a) == self.extension(b) for a, b in combinations(classes, 2))
            case DisjointClasses(classes):
                return not any(self.extension(a) & self.extension(b) for a, b in combinations(classes, 2))
            case DisjointUnion(iri, classes):
                union = EquivalentClasses((Named(iri), Or(classes)))
                return self.satisfies(union) and self.satisfies(DisjointClasses(classes))
            case SubProperty(chain, above):
                composed = {(d, d) for d in DOMAIN}
                for property in chain:
                    composed = {(a, c) for a, b in composed for x, c in self.pairs(property) if b == x}
                return composed <= self.pairs(above)
            case EquivalentProperties(properties):
                return all(self.pairs(p) == self.pairs(q) for p, q in combinations(properties, 2))
            case DisjointProperties(properties):
                return not any(self.pairs(p) & self.pairs(q) for p, q in combinations(properties, 2))
            case InverseProperties(first, second):
                return self.pairs(first) == {(b, a) for a, b in self.pairs(second)}
            case Domain(property, expression):
                return {a for a, _ in self.pairs(property)} <= self.extension(expression)
            case Range(property, target):
                return {b for _, b in self.pairs(property)} <= self.extension(target)
            case Characteristic(kind, property):
                return self.characteristic(kind, self.pairs(property))
            case HasKey(keyed, properties):
                return all(
                    any(not self.successors(a, p) & self.successors(b, p) for p in properties)
                    for a, b in permutations(self.extension(keyed), 2)
                )
            case ClassAssertion(member_of, individual):
                return individual in self.extension(member_of)
            case PropertyAssertion(property, subject, value, negative):
                return ((subject, value) in self.pairs(property)) != negative
            case SameIndividual(individuals):
                return len(set(individuals)) == 1
            case DifferentIndividuals(individuals):
                return len(set(individuals)) == len(individuals)
            case SwrlRule():
                return self.rule(axiom)
        raise AssertionError(axiom)

    def characteristic(self, kind: str, pairs: set[tuple[Constant, Constant]]) -> bool:
        match kind:
            case "Functional":
                return len({a for a, _ in pairs}) == len(pairs)
            case "InverseFunctional":
                return len({b for _, b in pairs}) == len(pairs)
            case "Reflexive":
                return all((d, d) in pairs for d in DOMAIN)
            case "Irreflexive":
                return not any((d, d) in pairs for d in DOMAIN)
            case "Symmetric":
                return pairs == {(b, a) for a, b in pairs}
            case "Asymmetric":
                return not any((b, a) in pairs for a, b in pairs)
        return all((a, d) in pairs for a, b in pairs for c, d in pairs if b == c)

    def rule(self, rule: SwrlRule) -> bool:
        variables = sorted(
            {t for atom in (*rule.body, *rule.head) for t in atom.arguments if isinstance(t, Variable)}, key=str
        )
        for values in product(DOMAIN, repeat=len(variables)):
            binding: dict[Term, Constant] = dict(zip(variables, values, strict=True))
            if all(self.holds(atom, binding) for atom in rule.body) and not all(
                self.holds(atom, binding) for atom in rule.head
            ):
                return False
        return True

    def holds(self, atom: RuleAtom, binding: Mapping[Term, Constant]) -> bool:
        values = [binding.get(term, term) for term in atom.arguments]
        if isinstance(atom.predicate, Property):
            return (values[0], values[1]) in self.pairs(atom.predicate)
        if isinstance(atom.predicate, str):
            return (values[0] == values[1]) == (atom.predicate == "same")
        return values[0] in self.extension(atom.predicate)


# ---------------------------------------------------------------------------------------------------- formulas


def models(interpretation: Interpretation, clause: Clause) -> bool:
    """Whether a formula holds, by trying all bindings."""
    assert not (clause.untested or clause.approximate or clause.beyond)
    for binding in bindings(interpretation, list(clause.body), {}):
        free = {v for each in clause.heads for atom in each.atoms for v in atom.variables() if v not in each.exists}
        for values in product(DOMAIN, repeat=len(free - set(binding))):
            whole = {**binding, **dict(zip(sorted(free - set(binding), key=str), values, strict=True))}
            if not any(
                next(bindings(interpretation, list(each.atoms), whole), None) is not None for each in clause.heads
            ):
                return False
    return True


def bindings(
    interpretation: Interpretation, literals: list[Atom | Comparison], binding: dict[Variable, Constant]
) -> Iterator[dict[Variable, Constant]]:
    if not literals:
        yield binding
        return
    # Comparisons last: their variables are bound then.
    literals = sorted(literals, key=lambda each: isinstance(each, Comparison))
    first, rest = literals[0], literals[1:]
    new = sorted({v for v in first.variables() if v not in binding}, key=str)
    for values in product(DOMAIN, repeat=len(new)):
        whole = {**binding, **dict(zip(new, values, strict=True))}
        if true(interpretation, first, whole):
            yield from bindings(interpretation, rest, whole)


def true(interpretation: Interpretation, literal: Atom | Comparison, binding: Mapping[Variable, Constant]) -> bool:
    def value(term: Term) -> Constant:
        return binding[term] if isinstance(term, Variable) else term

    if isinstance(literal, Comparison):
        return (value(literal.left) == value(literal.right)) == (literal.operator == "=")
    subject, predicate, target = map(value, literal.terms)
    name = predicate.value.value  # type: ignore[union-attr]
    if name == TYPE:
        return subject in interpretation.classes[target.value.value]  # type: ignore[union-attr]
    if name in (SAME_AS, DIFFERENT_FROM):
        return (subject == target) == (name == SAME_AS)
    return (subject, target) in interpretation.properties[name]


class Described(Normaliser):
    """Remembers what the new classes are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.new: dict[str, Expression] = {}

    def clauses(self, axiom: Axiom) -> list[Clause]:
        self.new = {}
        return super().clauses(axiom)

    def _described(self, term: Variable, filler: Expression) -> Iterator[Atom]:
        for atom in super()._described(term, filler):
            name = getattr(getattr(atom.terms[2], "value", None), "value", "")
            if name.startswith("urn:everlog:new:") and not isinstance(filler, And):
                self.new.setdefault(name, filler)
            yield atom


# ------------------------------------------------------------------------------------------------ random axioms


class Axioms:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def property(self) -> Property:
        names = [*PROPERTIES * 4, TOP_OBJECT, BOTTOM_OBJECT]
        return Property(self.random.choice(names), self.random.random() < 0.2)

    def properties(self, least: int = 2) -> tuple[Property, ...]:
        return tuple(self.property() for _ in range(self.random.randint(least, 3)))

    def expression(self, depth: int = 2) -> Expression:
        if not depth or self.random.random() < 0.25:
            return Named(self.random.choice([*CLASSES * 3, THING, NOTHING]))
        inner = self.expression(depth - 1)
        match self.random.randint(0, 9):
            case 0:
                return And((inner, self.expression(depth - 1)))
            case 1:
                return Or((inner, self.expression(depth - 1)))
            case 2:
                return Not(inner)
            case 3:
                return OneOf(tuple(self.random.sample(DOMAIN, self.random.randint(1, 2))))
            case 4 | 5:
                return Some(self.property(), inner)
            case 6:
                return All(self.property(), inner)
            case 7:
                return self.random.choice([HasValue(self.property(), DOMAIN[0]), HasSelf(self.property())])
            case 8:
                return AtLeast(self.random.randint(0, 2), self.property(), inner)
        return AtMost(self.random.randint(0, 2), self.property(), inner)

    def individuals(self) -> tuple[Constant, ...]:
        return tuple(self.random.sample(DOMAIN, 2))

    def axiom(self) -> Axiom:
        classes = (self.expression(1), self.expression(1))
        match self.random.randint(0, 20):
            case 0:
                return EquivalentClasses(classes)
            case 1:
                return DisjointClasses((*classes, self.expression(1)))
            case 2:
                return DisjointUnion(CLASSES[0], classes)
            case 3:
                return SubProperty(self.properties(1), self.property())
            case 4:
                return EquivalentProperties(self.properties())
            case 5:
                return DisjointProperties(self.properties())
            case 6:
                return InverseProperties(self.property(), self.property())
            case 7:
                return Domain(self.property(), self.expression())
            case 8:
                return Range(self.property(), self.expression())
            case 9 | 10 | 11:
                return Characteristic(self.random.choice(KINDS), self.property())
            case 12:
                return HasKey(self.expression(1), self.properties(1))
            case 13:
                return ClassAssertion(self.expression(), DOMAIN[0])
            case 14:
                return PropertyAssertion(self.property(), *self.individuals(), negative=self.random.random() < 0.5)
            case 15:
                return self.random.choice(
                    [SameIndividual(self.individuals()), DifferentIndividuals(self.individuals())]
                )
            case 16:
                return self.rule()
        return SubClassOf(self.expression(), self.expression())

    def rule(self) -> SwrlRule:
        terms: list[Term] = [Variable("v"), Variable("w"), DOMAIN[1]]

        def atom() -> RuleAtom:
            a, b = self.random.choice(terms), self.random.choice(terms)
            kinds = [RuleAtom(self.property(), (a, b)), RuleAtom(self.expression(1), (a,)), RuleAtom("same", (a, b))]
            return self.random.choice([*kinds, RuleAtom("different", (a, b))])

        return SwrlRule(tuple(atom() for _ in range(self.random.randint(1, 2))), (atom(),))


@pytest.mark.parametrize("batch", range(4))
def test_formulas_mean_what_the_axiom_means(batch: int) -> None:
    tried = satisfied = 0
    for seed in range(250 * batch, 250 * batch + 250):
        axiom = Axioms(seed).axiom()
        normaliser = Described()
        text = FunctionalSyntax().axiom(axiom)
        try:
            clauses = normaliser.clauses(axiom)
        except NoFormulas:
            continue
        choose = random.Random(seed)
        for _ in range(6):
            interpretation = Interpretation(choose)
            for name, filler in normaliser.new.items():
                interpretation.classes[name] = interpretation.extension(filler)
            expected = interpretation.satisfies(axiom)
            assert all(models(interpretation, clause) for clause in clauses) == expected, f"seed {seed}: {text}"
            tried += 1
            satisfied += expected
    assert tried > 1_000
    assert tried // 10 < satisfied < tried * 9 // 10
