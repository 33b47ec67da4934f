"""Axioms as formulas of form (163) of *Revisited*: B₁ ∧ … ∧ Bₘ → [∃y₁. H¹₁ ∧ …] ∨ … ∨ [∃yₗ. Hˡ₁ ∧ …].

A class expression stands in a body or in a head, and each connective moves its parts: a complement changes sides, a union
splits a body and widens a head, an intersection the other way round, ∃ in a body and ∀ in a head give body atoms with a
new variable, a nominal in a body replaces the variable. What is left in a head is a disjunction of conjunctions, some
with existential variables; no disjunct at all is a contradiction. Fillers of ∃ in a head that are not conjunctions of
atoms get a name of their own, defined by further formulas.

Literals are data, not individuals: no head says anything about one. A data range in a body is a comparison, as far as
comparisons reach; in a head it becomes its negation in the body. Where no comparison can decide, the formula says so in
`untested`, and the profiles decide what becomes of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, permutations

from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.substitution import substitute_atom, substitute_literal, substitute_term
from everlog.datalog.syntax import TRIPLE, Atom, Comparison, Constant, Operator, Term, Variable
from everlog.rdf.owl import dataranges
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.functional import FunctionalSyntax
from everlog.rdf.owl.schema import Quantified
from everlog.rdf.owl.vocabulary import (
    BOTTOM_DATA,
    BOTTOM_OBJECT,
    DIFFERENT_FROM,
    MEMBER,
    NEW,
    NOTHING,
    SAME_AS,
    SWRLB,
    THING,
    TOP_DATA,
    TOP_OBJECT,
    TYPE,
)

MOST_CLAUSES = 2_000
MOST_EQUALITIES = 8
"""≤ n becomes a disjunction of (n+1)·n/2 equalities; beyond this n it is given up."""

_BUILT_INS: Mapping[str, Operator] = {
    SWRLB + "greaterThan": ">",
    SWRLB + "greaterThanOrEqual": ">=",
    SWRLB + "lessThan": "<",
    SWRLB + "lessThanOrEqual": "<=",
    SWRLB + "equal": "=",
    SWRLB + "notEqual": "!=",
}


class NoFormulas(Exception):
    """An axiom without formulas that could be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Disjunct:
    atoms: tuple[Atom, ...]
    exists: tuple[Variable, ...] = ()
    literals: frozenset[Variable] = frozenset()
    """The existential variables that stand for literals."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A formula of form (163). `untested` names conditions of the body that no comparison can test."""

    body: tuple[Atom | Comparison, ...] = ()
    heads: tuple[Disjunct, ...] = ()
    untested: tuple[str, ...] = ()
    approximate: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    """What has no rule in OWL 2 RL, if that is asked."""


def type_atom(term: Term, iri: str) -> Atom:
    return Atom(TRIPLE, (term, Constant(NamedNode(TYPE)), Constant(NamedNode(iri))))


def triple(subject: Term, predicate: str, target: Term) -> Atom:
    return Atom(TRIPLE, (subject, Constant(NamedNode(predicate)), target))


@dataclass(frozen=True)
class _State(Clause):
    """A formula in the making: what is written, and expressions that still stand in its body or head."""

    below: tuple[tuple[Term, owl.Expression], ...] = ()
    above: tuple[tuple[Term, owl.Expression], ...] = ()

    def having(self, *literals: Atom | Comparison) -> _State:
        return replace(self, body=(*self.body, *literals))

    def implying(self, *alternatives: Atom) -> _State:
        return replace(self, heads=(*self.heads, *(Disjunct((atom,)) for atom in alternatives)))

    def unable(self, what: str) -> _State:
        """With a condition in the body that no comparison can test."""
        return replace(self, untested=(*self.untested, what))

    def with_below(self, *pairs: tuple[Term, owl.Expression]) -> _State:
        return replace(self, below=(*pairs, *self.below))

    def with_above(self, *pairs: tuple[Term, owl.Expression]) -> _State:
        return replace(self, above=(*pairs, *self.above))

    def substituted(self, variable: Variable, value: Term) -> _State:
        mapping = {variable: value}
        return replace(
            self,
            body=tuple(substitute_literal(each, mapping) for each in self.body),
            heads=tuple(
                replace(each, atoms=tuple(substitute_atom(atom, mapping) for atom in each.atoms)) for each in self.heads
            ),
            below=tuple((substitute_term(each, mapping), expression) for each, expression in self.below),
            above=tuple((substitute_term(each, mapping), expression) for each, expression in self.above),
        )


@dataclass
class Normaliser:
    """The formulas of axioms."""

    datatypes: Mapping[str, owl.Expression] = field(default_factory=dict[str, owl.Expression])
    """What the ontology defines its datatypes to be."""
    memberships: Mapping[Quantified, tuple[Quantified, ...]] = field(default_factory=dict)
    """Expressions of heads, with those of bodies above them: being in one is passed on as a fact `member`."""

    prefixes: Mapping[str, str] = field(default_factory=lambda: NO_PREFIXES)
    strict: bool = False
    """Whether to leave out, what is a rule but none of OWL 2 RL's."""

    def __post_init__(self) -> None:
        self._texts = FunctionalSyntax(self.prefixes)
        self._members = {each for above in self.memberships.values() for each in above}
        self.in_heads: dict[Quantified, None] = {}
        self.in_bodies: dict[Quantified, None] = {}

    def clauses(self, axiom: owl.Axiom) -> list[Clause]:
        """The formulas of an axiom, each once. An axiom without any says nothing that rules could use."""
        self._number = 0
        self._named: set[str] = set()
        self._states = list(self._start(axiom))
        found: dict[Clause, None] = {}
        for state in self._states:  # fillers with a name of their own add more
            for clause in self._expand(state):
                found.setdefault(clause)
                if len(found) > MOST_CLAUSES:
                    raise NoFormulas(f"it has more than {MOST_CLAUSES:,} formulas")
        return list(found)

    # --------------------------------------------------------------------------------------------- axioms

    def _start(self, axiom: owl.Axiom) -> Iterator[_State]:
        x, y = Variable("x"), Variable("y")
        match axiom:
            case owl.SubClassOf(sub, sup):
                yield _State(below=((x, sub),), above=((x, sup),))
            case owl.EquivalentClasses(classes):
                for sub, sup in permutations(classes, 2):
                    yield _State(below=((x, sub),), above=((x, sup),))
            case owl.DisjointClasses(classes):
                for one, other in combinations(classes, 2):
                    yield _State(below=((x, one), (x, other)))
            case owl.DisjointUnion(iri, classes):
                if self.strict:
                    raise NoFormulas("OWL 2 RL has no disjoint unions")
                yield from self._start(owl.EquivalentClasses((owl.Named(iri), owl.Or(classes))))
                yield from self._start(owl.DisjointClasses(classes))
            case owl.SubProperty(chain, implied):
                places = [x, *(Variable(f"y{n}") for n in range(1, len(chain))), y]
                state = _State()
                for property, start, end in zip(chain, places, places[1:], strict=False):
                    state = _role(state, property, start, end)
                yield from _role_above(state, implied, x, y)
            case owl.EquivalentProperties(properties):
                for p, q in permutations(properties, 2):
                    yield from _role_above(_role(_State(), p, x, y), q, x, y)
            case owl.DisjointProperties(properties):
                for p, q in combinations(properties, 2):
                    yield _role(_role(_State(), p, x, y), q, x, y)
            case owl.InverseProperties(first, second):
                yield from _role_above(_role(_State(), first, x, y), second, y, x)
                yield from _role_above(_role(_State(), second, x, y), first, y, x)
            case owl.Domain(property, expression):
                yield _role(_State(above=((x, expression),)), property, x, y)
            case owl.Range(property, target):
                yield _role(_State(above=((y, target),)), property, x, y)
            case owl.Characteristic():
                yield from self._characteristic(axiom)
            case owl.HasKey(keyed, properties):
                yield self._key(keyed, properties)
            case owl.DatatypeDefinition():
                return
            case owl.ClassAssertion(owl.Named(iri), individual):
                yield _State().implying(type_atom(individual, iri))
            case owl.ClassAssertion(member_of, individual):
                yield _State(above=((individual, member_of),))
            case owl.PropertyAssertion(property, subject, target, negative):
                if negative:
                    yield _role(_State(), property, subject, target)
                else:
                    yield from _role_above(_State(), property, subject, target)
            case owl.SameIndividual(individuals):
                for a, b in combinations(individuals, 2):
                    yield _State().implying(triple(a, SAME_AS, b))
            case owl.DifferentIndividuals(individuals):
                for a, b in combinations(individuals, 2):
                    yield _State().implying(triple(a, DIFFERENT_FROM, b))
            case owl.SwrlRule(body, head):
                yield from self._swrl(body, head)

    def _characteristic(self, axiom: owl.Characteristic) -> Iterator[_State]:
        p = axiom.property
        x, y, z = Variable("x"), Variable("y"), Variable("z")
        match axiom.kind:
            case "Functional":
                state = _role(_role(_State(), p, x, y), p, x, z)
                # Different literals are never the same: there it is a condition instead.
                yield state.having(Comparison("!=", y, z)) if p.data else state.implying(triple(y, SAME_AS, z))
            case "InverseFunctional":
                yield _role(_role(_State(), p, y, x), p, z, x).implying(triple(y, SAME_AS, z))
            case "Reflexive":
                yield from _role_above(self._beyond(_State(), "reflexivity"), p, x, x)
            case "Irreflexive":
                yield _role(_State(), p, x, x)
            case "Symmetric":
                yield from _role_above(_role(_State(), p, x, y), p, y, x)
            case "Asymmetric":
                yield _role(_role(_State(), p, x, y), p, y, x)
            case "Transitive":
                yield from _role_above(_role(_role(_State(), p, x, y), p, y, z), p, x, z)

    def _key(self, keyed: owl.Expression, properties: Sequence[owl.Property]) -> _State:
        x, y = Variable("x"), Variable("y")
        state = _State()
        for number, property in enumerate(properties, 1):
            shared = Variable(f"k{number}")
            state = _role(_role(state, property, x, shared), property, y, shared)
        return state.with_below((x, keyed), (y, keyed)).implying(triple(x, SAME_AS, y))

    def _swrl(self, body: Sequence[owl.RuleAtom], head: Sequence[owl.RuleAtom]) -> Iterator[_State]:
        states = [_State()]
        for atom in body:
            states = [after for state in states for after in _rule_body(state, atom)]
        for state in states:
            if not head:
                yield state
            for atom in head:
                first, second = atom.arguments[0], atom.arguments[-1]
                match atom.predicate:
                    case "same":
                        yield state.implying(triple(first, SAME_AS, second))
                    case "different":
                        yield state.implying(triple(first, DIFFERENT_FROM, second))
                    case str() as builtin:
                        raise NoFormulas(f"a built-in in the head of a rule ({self._texts.iri(builtin)}) is no fact")
                    case owl.Property() as property:
                        yield from _role_above(state, property, first, second)
                    case expression:
                        yield state.with_above((first, expression))

    # ---------------------------------------------------------------------------------------- expressions

    def _new(self) -> Variable:
        self._number += 1
        return Variable(f"n{self._number}")

    def _beyond(self, state: _State, what: str) -> _State:
        return replace(state, beyond=(*state.beyond, what)) if self.strict else state

    def _expand(self, state: _State) -> Iterator[Clause]:
        """The formulas of a state, its expressions taken apart one after the other."""
        if state.below:
            (term, expression), rest = state.below[0], replace(state, below=state.below[1:])
            for after in self._below(rest, term, expression):
                yield from self._expand(after)
        elif state.above:
            (term, expression), rest = state.above[0], replace(state, above=state.above[1:])
            for after in self._above(rest, term, expression):
                yield from self._expand(after)
        else:
            clause = _finished(state)
            if clause is not None:
                yield clause

    def _below(self, state: _State, term: Term, expression: owl.Expression) -> Iterator[_State]:
        match expression:
            case owl.Named(iri):
                if iri != NOTHING:
                    yield state if iri == THING else state.having(type_atom(term, iri))
            case owl.And(operands):
                yield state.with_below(*((term, each) for each in operands))
            case owl.Or(operands):
                for operand in operands:
                    yield state.with_below((term, operand))
            case owl.Not(operand):
                yield state.with_above((term, operand))
            case owl.OneOf(members):
                for member in members:
                    yield _unified(state, term, member)
            case owl.Some(property, filler):
                yield from self._member_below(state, term, expression)
                successor = self._new()
                yield _role(state, property, term, successor).with_below((successor, filler))
            case owl.All(property, filler):
                yield from self._member_below(state, term, expression)
                yield from self._some_above(state, term, 1, property, owl.Not(filler))
            case owl.HasValue(property, value):
                yield _role(state, property, term, value)
            case owl.HasSelf(property):
                yield _role(self._beyond(state, "a self-restriction"), property, term, term)
            case owl.AtLeast(number, property, filler):
                if number > MOST_EQUALITIES:
                    raise NoFormulas(f"at least {number} different values in a condition need too many equalities")
                if number:
                    state = self._beyond(state, "a minimal cardinality in a body")
                yield self._several(state, term, number, property, filler)
            case owl.AtMost(number, property, filler):
                yield state.with_above((term, owl.AtLeast(number + 1, property, filler)))
            case owl.Datatype(iri) if iri in self.datatypes:
                yield state.with_below((term, self.datatypes[iri]))
            case owl.Datatype() | owl.Restricted():
                test = dataranges.inside(term, expression)
                if test is None:
                    yield state.unable(self._texts.expression(expression, data=True))
                else:
                    comparisons, notes = test
                    yield replace(state.having(*comparisons), approximate=(*state.approximate, *notes))

    def _member_below(self, state: _State, term: Term, expression: Quantified) -> Iterator[_State]:
        self.in_bodies.setdefault(expression)
        if expression in self._members:
            yield state.having(self._member(term, expression))

    def _member_above(self, state: _State, term: Term, expression: Quantified) -> Iterator[_State]:
        self.in_heads.setdefault(expression)
        for above in self.memberships.get(expression, ()):
            yield state.implying(self._member(term, above))

    def _member(self, term: Term, expression: Quantified) -> Atom:
        return Atom(MEMBER, (Constant(self._texts.expression(expression)), term))

    def _several(
        self, state: _State, term: Term, number: int, property: owl.Property, filler: owl.Expression
    ) -> _State:
        """Some values of a property in a body, with a head that two of them are equal; literals just differ."""
        successors = [self._new() for _ in range(number)]
        for successor in successors:
            state = _role(state, property, term, successor).with_below((successor, filler))
        if property.data:
            # In one order of the many, which is enough, since all of them are alike.
            return state.having(*(Comparison("<", one, other) for one, other in pairwise(successors)))
        return state.implying(*(triple(one, SAME_AS, other) for one, other in combinations(successors, 2)))

    def _above(self, state: _State, term: Term, expression: owl.Expression) -> Iterator[_State]:
        match expression:
            case owl.Named(iri):
                if iri != THING:
                    yield state if iri == NOTHING else state.implying(type_atom(term, iri))
            case owl.And(operands):
                for operand in operands:
                    yield state.with_above((term, operand))
            case owl.Or(operands):
                yield state.with_above(*((term, each) for each in operands))
            case owl.Not(operand):
                yield state.with_below((term, operand))
            case owl.OneOf(members):
                state = self._beyond(state, "an enumeration in a head")
                if all(isinstance(member.value, NamedNode | BlankNode) for member in members):
                    yield state.implying(*(triple(term, SAME_AS, member) for member in members))
                else:
                    yield from _negated(state, dataranges.outside_members(term, members), "an enumeration of literals")
            case owl.Some(property, filler):
                yield from self._member_above(state, term, expression)
                yield from self._some_above(state, term, 1, property, filler)
            case owl.All(property, filler):
                yield from self._member_above(state, term, expression)
                successor = self._new()
                yield _role(state, property, term, successor).with_above((successor, filler))
            case owl.HasValue(property, value):
                yield from _role_above(state, property, term, value)
            case owl.HasSelf(property):
                yield from _role_above(self._beyond(state, "a self-restriction"), property, term, term)
            case owl.AtLeast(number, property, filler):
                if number:
                    yield from self._some_above(state, term, number, property, filler)
            case owl.AtMost(number, property, filler):
                if number > MOST_EQUALITIES:
                    equalities = number * (number + 1) // 2
                    raise NoFormulas(f"at most {number} values need a disjunction of {equalities} equalities")
                yield self._several(state, term, number + 1, property, filler)
            case owl.Datatype(iri) if iri in self.datatypes:
                yield state.with_above((term, self.datatypes[iri]))
            case owl.Datatype() | owl.Restricted():
                tests = dataranges.outside(term, expression)
                yield from _negated(state, tests, self._texts.expression(expression, data=True))

    def _some_above(
        self, state: _State, term: Term, number: int, property: owl.Property, filler: owl.Expression
    ) -> Iterator[_State]:
        if property.iri in (BOTTOM_OBJECT, BOTTOM_DATA) or filler == owl.Named(NOTHING):
            yield state
        elif number == 1 and isinstance(filler, owl.OneOf):
            state = self._beyond(state, "an enumeration in a head")
            yield state.implying(*(_role_atom(property, term, each) for each in filler.members))
        elif number > MOST_EQUALITIES:
            raise NoFormulas(f"at least {number} values are too many to make up")
        else:
            exists = tuple(self._new() for _ in range(number))
            atoms: list[Atom] = []
            for successor in exists:
                atoms.append(_role_atom(property, term, successor))
                if not property.data:
                    atoms += self._described(successor, filler)
            if not property.data:
                atoms += [triple(one, DIFFERENT_FROM, other) for one, other in combinations(exists, 2)]
            literals = frozenset(exists if property.data else ())
            yield replace(state, heads=(*state.heads, Disjunct(tuple(atoms), exists, literals)))

    def _described(self, term: Variable, filler: owl.Expression) -> Iterator[Atom]:
        """Atoms that say that a new individual is in a class expression."""
        match filler:
            case owl.Named(iri):
                if iri != THING:
                    yield type_atom(term, iri)
            case owl.And(operands):
                for operand in operands:
                    yield from self._described(term, operand)
            case owl.HasValue(property, value) if property.iri not in (TOP_OBJECT, TOP_DATA):
                yield _role_atom(property, term, value)
            case owl.HasSelf(property) if property.iri != TOP_OBJECT:
                yield _role_atom(property, term, term)
            case _:
                text = FunctionalSyntax().expression(filler)
                name = f"{NEW}class-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"
                yield type_atom(term, name)
                if name not in self._named:
                    self._named.add(name)
                    x = Variable("x")
                    self._states.append(_State(below=((x, owl.Named(name)),), above=((x, filler),)))


def _negated(state: _State, tests: Sequence[Sequence[Comparison]] | None, what: str) -> Iterator[_State]:
    """A data range of a head, as its negation in the body; each test is a way to be outside of it."""
    if tests is None:
        yield state.unable(f"not {what}")
    for test in tests or ():
        yield replace(
            state.having(*test), approximate=(*state.approximate, f"{what} is tested as far as comparisons go")
        )


def _role_atom(property: owl.Property, start: Term, end: Term) -> Atom:
    return triple(end, property.iri, start) if property.inverse else triple(start, property.iri, end)


def _role(state: _State, property: owl.Property, start: Term, end: Term) -> _State:
    """A property in a body."""
    if property.iri in (TOP_OBJECT, TOP_DATA):
        return state
    if property.iri in (BOTTOM_OBJECT, BOTTOM_DATA):
        return state.with_below((start, owl.Named(NOTHING)))
    return state.having(_role_atom(property, start, end))


def _role_above(state: _State, property: owl.Property, start: Term, end: Term) -> Iterator[_State]:
    """A property in a head."""
    if property.iri in (BOTTOM_OBJECT, BOTTOM_DATA):
        yield state
    elif property.iri not in (TOP_OBJECT, TOP_DATA):
        yield state.implying(_role_atom(property, start, end))


def _unified(state: _State, term: Term, member: Constant) -> _State:
    if isinstance(term, Variable):
        return state.substituted(term, member)
    return state if term == member else state.having(triple(term, SAME_AS, member))


def _rule_body(state: _State, atom: owl.RuleAtom) -> Iterator[_State]:
    first, second = atom.arguments[0], atom.arguments[-1]
    match atom.predicate:
        case "same":
            yield state.having(triple(first, SAME_AS, second))
            # Nothing is told to be the same as itself, so that case is a formula of its own.
            yield state.having(Comparison("is", first, second))
        case "different":
            yield state.having(triple(first, DIFFERENT_FROM, second))
        case str() as builtin:
            operator = _BUILT_INS.get(builtin)
            if operator is None or len(atom.arguments) != 2:
                yield state.unable(f"the built-in {builtin.removeprefix(SWRLB)}")
            else:
                yield state.having(Comparison(operator, first, second))
        case owl.Property() as property:
            yield _role(state, property, first, second)
        case expression:
            yield state.with_below((first, expression))


# Finishing


def _merged(state: _State) -> _State | None:
    """The formula with one term for those that it says are the same; None if that can never be."""
    for each in state.body:
        if isinstance(each, Comparison) and each.operator == "is":
            rest = replace(state, body=tuple(other for other in state.body if other != each))
            left, right = each.terms if isinstance(each.left, Variable) else (each.right, each.left)
            if isinstance(left, Variable):
                return _merged(rest.substituted(left, right))
            return _merged(rest) if left == right else None
    return state


def _finished(unmerged: _State) -> Clause | None:
    """The formula, without what is said twice; None for one that says nothing."""
    state = _merged(unmerged)
    if state is None:
        return None
    body = list(dict.fromkeys(state.body))
    heads: list[Disjunct] = []
    for disjunct in state.heads:
        if any(_is_equality(atom) and atom.terms[0] == atom.terms[2] for atom in disjunct.atoms):
            return None
        atoms = tuple(atom for atom in dict.fromkeys(disjunct.atoms) if atom not in body)
        if not atoms:
            return None
        heads.append(replace(disjunct, atoms=atoms))
    heads = list(dict.fromkeys(heads))
    if len(heads) == 1:
        # No reflexive equalities: they are known without saying. With more disjuncts the profiles see to it.
        body += equalities_apart(heads[0].atoms)
    bound = {variable for each in body if isinstance(each, Atom) for variable in each.variables()}
    for equality in (each for each in body if isinstance(each, Comparison) and each.operator == "="):
        if any(isinstance(term, Constant) or term in bound for term in equality.terms):
            bound.update(equality.variables())
    used = {variable for each in body for variable in each.variables()}
    used |= {v for disjunct in heads for atom in disjunct.atoms for v in atom.variables() if v not in disjunct.exists}
    free = sorted(used - bound, key=lambda variable: variable.name)
    return Clause(
        (*(type_atom(variable, THING) for variable in free), *dict.fromkeys(body)),
        tuple(heads),
        tuple(dict.fromkeys(state.untested)),
        tuple(dict.fromkeys(state.approximate)),
        tuple(dict.fromkeys(state.beyond)),
    )


def equalities_apart(atoms: Sequence[Atom]) -> list[Comparison]:
    """Conditions that keep equalities in a head from being reflexive."""
    pairs = [(atom.terms[0], atom.terms[2]) for atom in atoms if _is_equality(atom)]
    return [Comparison("!=", *pair) for pair in pairs if any(isinstance(term, Variable) for term in pair)]


def _is_equality(atom: Atom) -> bool:
    return atom.predicate == TRIPLE and atom.terms[1] == Constant(NamedNode(SAME_AS))
