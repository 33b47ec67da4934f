"""The same work for systems that know only relations over integers.

Every predicate becomes one relation; `triple` becomes one per property and one, unary, per class of `rdf:type`, as one
would model RDF for a Datalog engine. Peers are thereby spared both the dictionary and the wide relation. What such a
split cannot say (a variable as property, a class that is computed) is `NotExpressible`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from pyoxigraph import NamedNode

from benchmarks.encoding import Codes, Columns, NotExpressible, encode
from benchmarks.workload import Instance
from everlog.datalog.syntax import (
    TRIPLE,
    Aggregate,
    Atom,
    BodyLiteral,
    Comparison,
    Computation,
    Constant,
    Negation,
    Program,
    Rule,
    Term,
    Test,
    Variable,
)
from everlog.datalog.values import RDF_TYPE, Value


@dataclass(frozen=True)
class Relation:
    """`predicate` is what the workload calls it; several relations may be parts of one predicate."""

    name: str
    arity: int
    predicate: str
    derived: bool
    columns: Columns

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0


@dataclass(frozen=True)
class Relational:
    """Rules whose predicates are the relations' names and whose constants are integers, and the explicit facts."""

    rules: tuple[Rule, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True)
class _Part:
    """What a relation holds: a predicate, or the triples with one property, or those with one class."""

    predicate: str
    term: Value | None = None
    is_class: bool = False


def relational(program: Program, instance: Instance) -> Relational:
    """The instance over relations, or `NotExpressible`."""
    if program.facts:
        raise NotExpressible(f"a fact of {program.facts[0].predicate} stands in the program")
    encoded, codes = encode(instance.facts)
    explicit = dict(_parts(encoded, codes))
    rewriting = _Rewriting(codes)
    rules = tuple(rewriting.rule(rule) for rule in program.rules)
    for part, columns in explicit.items():
        rewriting.name(part, len(columns))
    derived = {rule.head.predicate for rule in rules}
    relations = tuple(
        Relation(name, rewriting.arities[name], part.predicate, name in derived, explicit.get(part, ()))
        for part, name in rewriting.names.items()
    )
    return Relational(rules, relations)


def _parts(encoded: Mapping[str, Columns], codes: Codes) -> Iterator[tuple[_Part, Columns]]:
    for predicate, columns in encoded.items():
        if predicate == TRIPLE:
            yield from _split(columns, codes)
        else:
            yield _Part(predicate), columns


def _split(columns: Columns, codes: Codes) -> Iterator[tuple[_Part, Columns]]:
    subject, prop, obj = columns
    for code in np.flatnonzero(np.bincount(prop)).tolist():
        rows = prop == code
        s, o = subject[rows], obj[rows]
        if codes.value(code) != RDF_TYPE:
            yield _Part(TRIPLE, codes.value(code)), (s, o)
            continue
        for of in np.flatnonzero(np.bincount(o)).tolist():
            yield _Part(TRIPLE, codes.value(of), is_class=True), (s[o == of],)


class _Rewriting:
    """Rewrites rules, and gives each part a name when it is first seen; a name is an identifier in every language."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self.names: dict[_Part, str] = {}
        self.arities: dict[str, int] = {}

    def name(self, part: _Part, arity: int) -> str:
        if part not in self.names:
            words = part.term.value if isinstance(part.term, NamedNode) else part.predicate
            stem = "r_" + re.sub(r"\W", "_", re.split(r"[#/]", words)[-1], flags=re.ASCII)
            taken = stem.lower() in map(str.lower, self.arities)  # SQL does not tell small letters from capital ones
            self.names[part] = f"{stem}_{len(self.names)}" if taken else stem
            self.arities[self.names[part]] = arity
        return self.names[part]

    def rule(self, rule: Rule) -> Rule:
        return Rule(self._atom(rule.head), tuple(self._literal(literal) for literal in rule.body), rule.extreme)

    def _literal(self, literal: BodyLiteral) -> BodyLiteral:
        if isinstance(literal, Atom):
            return self._atom(literal)
        if isinstance(literal, Negation):
            return replace(
                literal,
                atoms=tuple(self._atom(atom) for atom in literal.atoms),
                tests=tuple(self._comparison(each) for each in literal.tests),
            )
        if isinstance(literal, Aggregate):
            raise NotExpressible("an aggregate")
        if isinstance(literal, Computation) and self._codes.texts is None and literal.result is not None:
            return literal.mapped(self._term)
        return self._comparison(literal)

    def _comparison(self, comparison: Test) -> Comparison:
        if not isinstance(comparison, Comparison):
            raise NotExpressible("an expression: codes stand for its values")
        if comparison.operator not in ("=", "!=") and self._codes.texts is not None:
            raise NotExpressible("an order between terms: their codes have another")
        return replace(comparison, left=self._term(comparison.left), right=self._term(comparison.right))

    def _atom(self, atom: Atom) -> Atom:
        part, terms = _Part(atom.predicate), atom.terms
        if atom.predicate == TRIPLE:
            part, terms = self._triple(atom)
        return Atom(self.name(part, len(terms)), tuple(self._term(term) for term in terms))

    def _triple(self, atom: Atom) -> tuple[_Part, tuple[Term, ...]]:
        subject, prop, obj = atom.terms
        if isinstance(prop, Variable):
            raise NotExpressible("a triple whose property is a variable ranges over all relations")
        if prop.value != RDF_TYPE:
            return _Part(TRIPLE, prop.value), (subject, obj)
        if isinstance(obj, Variable):
            raise NotExpressible("a triple whose class is a variable ranges over all classes")
        return _Part(TRIPLE, obj.value, is_class=True), (subject,)

    def _term(self, term: Term) -> Term:
        return Constant(self._codes.code(term.value)) if isinstance(term, Constant) else term
