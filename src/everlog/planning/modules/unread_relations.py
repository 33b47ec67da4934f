"""Relations that no rule asks about but those that close them: their facts need not be derived for any other rule."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from everlog.datalog.syntax import Aggregate, Atom, BodyLiteral, Negation, Rule
from everlog.planning.modules.module_rules import Module, meets

_CLOSED: Final = ("tc", "stc", "reach")


def is_unread(module: Module, rules: Collection[Rule]) -> bool:
    """Whether a module's relation is one that can be closed, and no other rule of a program asks about it."""
    if module.kind not in _CLOSED or not module.grounded:
        return False
    others = (rule for rule in rules if rule not in module.rules)
    return not any(meets(atom, module.atom) for rule in others for atom in asked_atoms(rule.body))


def asked_atoms(literals: Iterable[BodyLiteral]) -> Iterator[Atom]:
    """The atoms that a body asks about, whatever they are in."""
    for literal in literals:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negation):
            yield from literal.atoms
        elif isinstance(literal, Aggregate):
            yield from asked_atoms(literal.body)
