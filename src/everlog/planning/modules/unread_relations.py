"""Relations that no rule asks about but those that close them, or only as joins can be told without a list of its facts.

Their facts need not be derived for any other rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

from everlog.datalog.substitution import REMEMBERED
from everlog.datalog.syntax import Aggregate, Atom, BodyLiteral, Constant, Negation, Rule, Term, Variable
from everlog.planning.compiled_program import CompiledStratum
from everlog.planning.modules.module_rules import Module, meets

_CLOSED: Final = ("tc", "stc", "reach")


def is_unread(module: Module, rules: Collection[Rule]) -> bool:
    """Whether a module's relation is one that can be closed, and no other rule of a program asks about it."""
    if module.kind not in _CLOSED or not module.grounded:
        return False
    return next(_asking(module, rules), None) is None


def is_told_above(module: Module, strata: Iterable[CompiledStratum], rules: Collection[Rule]) -> bool:
    """Whether a module's relation is one that can be closed, and others ask about it only when all of it is known.

    These are ordinary rules of higher strata, and each has an end of the pairs that it asks for before it asks.
    """
    if module.kind not in _CLOSED or not module.grounded:
        return False
    above, below = set[Rule](), True
    for stratum in strata:
        if not below:
            above.update(stratum.rules.rules)
        below = below and module not in stratum.modules
    return all(rule in above and _tells_ends(rule, module.atom) for rule in _asking(module, rules))


def _asking(module: Module, rules: Iterable[Rule]) -> Iterator[Rule]:
    """The rules, but for the module's own, that ask about its relation."""
    own = frozenset(module.rules)
    return (rule for rule in rules if _asks(rule, module.atom) and rule not in own)


@lru_cache(REMEMBERED)
def _asks(rule: Rule, relation: Atom) -> bool:
    return any(meets(atom, relation) for atom in asked_atoms(rule.body))


def _tells_ends(rule: Rule, relation: Atom) -> bool:
    """Whether a rule is about a relation alone where it asks for it, and binds one end of it by something else."""
    asked = [atom for atom in asked_atoms(rule.body) if meets(atom, relation)]
    if not all(_is_about(atom, relation) for atom in asked):
        return False
    left = [atom for atom in rule.positive if meets(atom, relation)]
    bound = {variable for atom in rule.positive if atom not in left for variable in atom.variables()}
    while left:
        told = [
            atom for atom in left if any(term in bound or isinstance(term, Constant) for term in _ends(atom, relation))
        ]
        if not told:
            return False
        left = [atom for atom in left if atom not in told]
        bound.update(variable for atom in told for variable in atom.variables())
    return True


def _ends(atom: Atom, relation: Atom) -> list[Term]:
    return [term for term, place in zip(atom.terms, relation.terms, strict=True) if isinstance(place, Variable)]


def _is_about(atom: Atom, relation: Atom) -> bool:
    """Whether an atom is about one relation alone."""
    pairs = zip(atom.terms, relation.terms, strict=True)
    return all(isinstance(fixed, Variable) or term == fixed for term, fixed in pairs)


def asked_atoms(literals: Iterable[BodyLiteral]) -> Iterator[Atom]:
    """The atoms that a body asks about, whatever they are in."""
    for literal in literals:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negation):
            yield from literal.atoms
        elif isinstance(literal, Aggregate):
            yield from asked_atoms(literal.body)
