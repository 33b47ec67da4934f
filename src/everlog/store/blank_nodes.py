"""Blank nodes of programs. A store has its own names for blank nodes, `_:everlog<id>`; a stored program uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyoxigraph import BlankNode

from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Program, Rule, Term


def blank_nodes(program: Program) -> set[str]:
    """The labels of the blank nodes in a program."""
    found: set[str] = set()
    renamed_blank_nodes(program, _Seen(found))
    return found


def renamed_blank_nodes(program: Program, names: Mapping[str, str]) -> Program:
    """The program with other labels for its blank nodes."""

    def term(given: Term) -> Term:
        if isinstance(given, Constant) and isinstance(given.value, BlankNode):
            return Constant(BlankNode(names.get(given.value.value, given.value.value)))
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


class _Seen(dict[str, str]):
    """Names every label after itself, and notes it."""

    def __init__(self, found: set[str]) -> None:
        super().__init__()
        self._found = found

    def get(self, label: str, default: object = None) -> str:
        self._found.add(label)
        return label
