"""Blank nodes of programs. A store has its own names for blank nodes, `_:everlog<id>`; a stored program uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyoxigraph import BlankNode

from everlog.datalog.syntax import Constant, Program, Rule, Term


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

    def renamed(rule: Rule) -> Rule:
        return replace(rule, head=rule.head.mapped(term), body=tuple(literal.mapped(term) for literal in rule.body))

    return replace(
        program,
        rules=tuple(map(renamed, program.rules)),
        facts=tuple(fact.mapped(term) for fact in program.facts),
        origins={renamed(rule): origin for rule, origin in program.origins.items()},
    )
