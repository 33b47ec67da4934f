"""`NOT EXISTS` becomes a negated atom of a hidden predicate.

`not A` with no variable of its own stays as it is. A single atom with own variables is projected: `not edge(?x, _)`
becomes `not h(?x)` with `h(?x) :- edge(?x, _)`. A conjunction, or one with comparisons on the rule's variables, is
*guarded* by the rule's own positive atoms, so that the hidden relation holds only what the rule asks about: without the
guard it could be unsafe or enormous. A guard must come from a lower stratum than the head, or the hidden predicate would
depend on the head that it is negated for; where no such atoms bind all variables, the rule is refused.

Module detection looks at rules before this rewriting. Names of hidden predicates start with `HIDDEN`, which no program
can write. The rest of a name is made of what defines the predicate: rules that ask the same share one, and a program that
is compiled again in the same engine, or opened from a store, cannot give a name to anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count
from typing import Final

from everlog.datalog.printer import print_literal, print_rule
from everlog.datalog.safety import bound_variables
from everlog.datalog.stratify import stratify
from everlog.datalog.substitution import Pattern, canonical_rule, pattern, substitute_literal
from everlog.datalog.syntax import HIDDEN, Atom, BodyLiteral, Comparison, Computation, Negation, Rule, Test, Variable
from everlog.errors import EverlogError

NEGATED: Final = f"{HIDDEN}n"
KEYED: Final = f"{HIDDEN}key"
STEPS: Final = f"{HIDDEN}leads"
"""How the hidden predicates of negations start, those of keys (`planning/equality_rules.py`), and those of steps
(`planning/modules/step_relations.py`)."""

Levels = Mapping[Pattern, int]


def rewrite_negation(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules whose negations are single atoms without variables of their own, with the rules of hidden predicates."""
    if all(is_plain(negation) for rule in rules for negation in rule.negative):
        return tuple(rules)
    levels = {pattern(atom): stratum.index for stratum in stratify(rules) for atom in stratum.patterns}
    hidden: dict[Rule, Atom] = {}

    def plain(rule: Rule, literal: BodyLiteral) -> BodyLiteral:
        if isinstance(literal, Negation) and not is_plain(literal):
            return Negation((_hide(rule, literal, levels, hidden),))
        return literal

    result = [replace(rule, body=tuple(plain(rule, literal) for literal in rule.body)) for rule in rules]
    defining = [Rule(head, definition.body) for definition, head in hidden.items()]
    return (*defining, *result)


def is_plain(negation: Negation) -> bool:
    """Whether a negation needs no hidden predicate."""
    return len(negation.atoms) == 1 and not negation.local and not negation.tests


def _hide(rule: Rule, negation: Negation, levels: Levels, hidden: dict[Rule, Atom]) -> Atom:
    """The atom to negate instead; its defining rule is added to `hidden` unless there is one like it."""
    shared = tuple(dict.fromkeys(negation.variables()))
    inner = {variable for atom in negation.atoms for variable in atom.variables()}
    tested = {variable for test in negation.tests for variable in test.variables()}
    body: tuple[BodyLiteral, ...] = (*negation.atoms, *negation.tests)
    if len(negation.atoms) != 1 or not tested <= inner:
        body = (*_guard(rule, negation, shared, inner, levels), *body)
    definition = canonical_rule(Rule(Atom(HIDDEN, shared), body))
    known = hidden.setdefault(definition, Atom(named_after(NEGATED, definition), definition.head.terms))
    return Atom(known.predicate, shared)


def spelled_out(rule: Rule, definitions: Mapping[str, Rule]) -> Rule:
    """A rule, for people, with what defines hidden predicates in the place of their negated atoms and of steps."""
    used = {variable for literal in (rule.head, *rule.body) for variable in literal.variables()}
    body = [part for literal in rule.body for part in _connecting(literal, definitions, used)]
    return replace(rule, body=tuple(_negated(literal, definitions) for literal in body))


def _connecting(literal: BodyLiteral, definitions: Mapping[str, Rule], used: set[Variable]) -> Iterator[BodyLiteral]:
    """What connects the ends of a step, or a literal that is none; its variables are others than those that are used."""
    if not isinstance(literal, Atom) or not literal.predicate.startswith(STEPS) or literal.predicate not in definitions:
        yield literal
        return
    definition = definitions[literal.predicate]
    names = dict(zip(definition.head.variables(), literal.terms, strict=True))
    for part in definition.body:
        for variable in part.variables():
            if variable not in names:
                free = (Variable(f"v{number}") for number in count())
                names[variable] = own = next(one for one in free if one not in used)
                used.add(own)
        yield substitute_literal(part, names)


def _negated(literal: BodyLiteral, definitions: Mapping[str, Rule]) -> BodyLiteral:
    """What a negated atom of a hidden predicate stands for, or another literal."""
    definition = definitions.get(literal.atoms[0].predicate) if isinstance(literal, Negation) else None
    if definition is None or not isinstance(literal, Negation):
        return literal
    arguments = dict(zip(definition.head.variables(), literal.atoms[0].terms, strict=True))
    body = [substitute_literal(part, arguments) for part in definition.body]
    atoms = tuple(part for part in body if isinstance(part, Atom))
    tests = tuple(part for part in body if isinstance(part, Comparison | Computation))
    inner = dict.fromkeys(variable for part in body for variable in part.variables())
    return Negation(atoms, tuple(one for one in inner if one not in arguments.values()), tests)


def named_after(start: str, *definition: object) -> str:
    """A name for a hidden predicate that nothing with another definition has; it starts as it is told to.

    A definition is made of rules, atoms, and other values whose `repr` says all about them.
    """
    return f"{start}{sha256(repr(definition).encode()).hexdigest()[:12]}"


def _guard(
    rule: Rule, negation: Negation, shared: Sequence[Variable], inner: set[Variable], levels: Levels
) -> tuple[BodyLiteral, ...]:
    level = levels[pattern(rule.head)]
    atoms = [
        atom for atom in rule.positive if levels[pattern(atom)] < level and not set(shared).isdisjoint(atom.variables())
    ]
    bound = bound_variables((*atoms, *negation.atoms, *rule.computations, *negation.computations))
    free = [variable for variable in shared if variable not in bound]
    if free:
        names = ", ".join(repr(variable) for variable in free)
        raise EverlogError(
            f"{print_literal(negation)} cannot be decided in the rule {print_rule(rule)} : {names} is bound only by atoms "
            "that depend on the head; bind it by an atom that does not"
        )
    tests: tuple[Test, ...] = (*rule.computations, *rule.comparisons)
    return (*atoms, *(test for test in tests if bound.issuperset(test.variables())))
