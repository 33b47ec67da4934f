"""Constraints that do not hold, each with facts that violate it.

A constraint derives a fact, such as `violation(axiom, x)`. What it is violated by is found by asking for the rule's body
again, about that fact alone: nothing is kept for it, and a violation that nobody looks at costs one fact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from everlog.datalog.constraints import SHAPE_VIOLATION, VIOLATION, is_violation
from everlog.datalog.printer import print_atom, print_rule, print_term
from everlog.datalog.substitution import Substitution, substitute_atom, substitute_literal
from everlog.datalog.syntax import Atom, BodyLiteral, Constant, Program, Rule, Term, Variable

Ask: TypeAlias = Callable[[Sequence[BodyLiteral]], Substitution | None]
"""Gives the variables of a goal values for which it holds, if it does."""

SHOWN = 10
"""Violations that a message lists."""


@dataclass(frozen=True)
class Violation:
    """A constraint that does not hold: the fact that says so, and facts that violate it together."""

    constraint: str
    fact: Atom
    facts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.constraint} is violated by {', '.join(self.facts)}"


def has_violation_rules(program: Program) -> bool:
    """Whether a program says by rules or facts which axiom of an ontology does not hold."""
    facts = (fact for fact in program.facts if fact.predicate == VIOLATION and len(fact.terms) == 2)
    return any(map(_names_an_axiom, program.rules)) or any(facts)


def _names_an_axiom(rule: Rule) -> bool:
    head = rule.head
    named = head.predicate == VIOLATION and len(head.terms) == 2 and isinstance(head.terms[0], Constant)
    return named and not rule.negative


def violations(program: Program, facts: Iterable[Atom], ask: Ask, most: int = SHOWN) -> list[Violation]:
    """Some of the violations that `facts` say there are; of every constraint one before a second of any."""
    rules = [rule for rule in program.rules if is_violation(rule.head)]
    return [_explained(program, rules, fact, ask) for fact in islice(_in_turns(facts, most), most)]


def summary(total: int, shown: Sequence[Violation]) -> list[str]:
    """Messages about violations: the first ones, and how many there are."""
    messages = [str(violation) for violation in shown]
    if total > len(shown):
        predicates = dict.fromkeys(violation.fact.predicate for violation in shown)
        listed = " and ".join(f"`{predicate}`" for predicate in predicates)
        messages.append(f"{total:,} violations in all: the predicate {listed} lists them")
    return messages


def _in_turns(facts: Iterable[Atom], most: int) -> Iterator[Atom]:
    seen: Counter[tuple[str, str | None]] = Counter()
    turns: list[list[Atom]] = []
    for fact in facts:
        which = fact.predicate, _text_at_the_beginning(fact)
        seen[which] += 1
        if seen[which] <= most:
            if seen[which] > len(turns):
                turns.append([])
            turns[seen[which] - 1].append(fact)
    for turn in turns:
        yield from sorted(turn, key=print_atom)


def _text_at_the_beginning(atom: Atom) -> str | None:
    """The text that names the constraint in `violation("no name", ?x)`."""
    first = atom.terms[0] if len(atom.terms) > 1 else None
    return first.value if isinstance(first, Constant) and isinstance(first.value, str) else None


def _explained(program: Program, rules: Iterable[Rule], fact: Atom, ask: Ask) -> Violation:
    if fact.predicate == SHAPE_VIOLATION:
        return Violation(_text_at_the_beginning(fact) or "", fact, (_shape_result(program, fact),))
    for rule in rules:
        atoms = _premises(rule, fact, ask)
        if atoms is not None:
            name = _text_at_the_beginning(rule.head) or f"`{print_rule(rule, program.prefixes)}`"
            return Violation(name, fact, tuple(print_atom(atom, program.prefixes) for atom in atoms or [fact]))
    return Violation(_text_at_the_beginning(fact) or fact.predicate, fact, (print_atom(fact, program.prefixes),))


def _shape_result(program: Program, fact: Atom) -> str:
    """The focus node of a result and, if there is another one, the value."""
    _, focus, value, _ = fact.terms
    about = print_term(focus, program.prefixes)
    return about if value in (focus, Constant("")) else f"{about} with {print_term(value, program.prefixes)}"


def _premises(rule: Rule, fact: Atom, ask: Ask) -> list[Atom] | None:
    """The facts from which a rule derives another one; None if it does not."""
    binding = _binding(rule.head, fact)
    if binding is None:
        return None
    if rule.aggregates:  # which may look at a large part of all facts, and would do so again
        known = [substitute_atom(atom, binding) for atom in rule.positive]
        return [atom for atom in known if not any(atom.variables())]
    body = tuple(substitute_literal(literal, binding) for literal in rule.body)
    values = ask(body)
    if values is None:
        return None
    return list(dict.fromkeys(substitute_atom(atom, values) for atom in body if isinstance(atom, Atom)))


def _binding(head: Atom, fact: Atom) -> Substitution | None:
    """The values of a head's variables in a fact of its form; None if the fact has another form."""
    if head.predicate != fact.predicate or len(head.terms) != len(fact.terms):
        return None
    found: dict[Variable, Term] = {}
    for term, value in zip(head.terms, fact.terms, strict=True):
        if (found.setdefault(term, value) if isinstance(term, Variable) else term) != value:
            return None
    return found
