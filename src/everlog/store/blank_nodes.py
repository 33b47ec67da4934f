"""Blank nodes of programs. A store has its own names for blank nodes, `_:everlog<id>`; a stored program uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyoxigraph import BlankNode

from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Program, Rule, Term


def blank_nodes(program: Program) -> set[str]:
    """The labels of the blank nodes in a program."""
    found: set[str] = set()

    def noted(label: str) -> str:
        found.add(label)
        return label

    _renamed(program, noted)
    return found


def renamed_blank_nodes(program: Program, names: Mapping[str, str]) -> Program:
    """The program with other labels for its blank nodes."""
    return _renamed(program, lambda label: names.get(label, label))


def _renamed(program: Program, name: Callable[[str], str]) -> Program:
    def term(given: Term) -> Term:
        if isinstance(given, Constant) and isinstance(given.value, BlankNode):
            return Constant(BlankNode(name(given.value.value)))
        return given

    def atom(given: Atom) -> Atom:
        return Atom(given.predicate, tuple(map(term, given.terms)))

    def comparison(given: Comparison) -> Comparison:
        return Comparison(given.operator, term(given.left), term(given.right))

    def literal(given: BodyLiteral) -> BodyLiteral:
        if isinstance(given, Atom):
            return atom(given)
        if isinstance(given, Comparison):
            return comparison(given)
        return Negation(tuple(map(atom, given.atoms)), given.local, tuple(map(comparison, given.comparisons)))

    return replace(
        program,
        rules=tuple(Rule(atom(rule.head), tuple(map(literal, rule.body))) for rule in program.rules),
        facts=tuple(map(atom, program.facts)),
    )
