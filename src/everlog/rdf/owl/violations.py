"""Contradictions, with the facts that cause them.

A rule of `profiles.py` derives `violation(axiom, x)`. The facts are found by asking for the rule's body again, about that
x alone: nothing is kept for it, and a contradiction that nobody looks at costs one fact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from everlog.datalog.printer import print_atom, print_goal
from everlog.datalog.substitution import substitute_literal
from everlog.datalog.syntax import Atom, Constant, Program, Rule, Term, Variable
from everlog.datalog.values import Value
from everlog.rdf.owl.vocabulary import VIOLATION

__all__ = ["SHOWN", "VIOLATION", "Violation", "has_violation_rules", "summary", "violations"]

Query: TypeAlias = Callable[[str], list[tuple[Value, ...]]]
"""Answers a goal."""

SHOWN = 10
"""Violations that a message lists."""


@dataclass(frozen=True)
class Violation:
    """An axiom that does not hold, and facts that contradict it together."""

    axiom: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.axiom} is violated by {', '.join(self.facts)}"


def has_violation_rules(program: Program) -> bool:
    """Whether a program says by rules or facts which axiom does not hold; a user's predicate may have that name, too."""
    facts = (fact for fact in program.facts if fact.predicate == VIOLATION and len(fact.terms) == 2)
    return any(map(_names_an_axiom, program.rules)) or any(facts)


def _names_an_axiom(rule: Rule) -> bool:
    head = rule.head
    named = head.predicate == VIOLATION and len(head.terms) == 2 and isinstance(head.terms[0], Constant)
    return named and not rule.negative


def violations(program: Program, rows: Iterable[Sequence[Value]], query: Query, most: int = SHOWN) -> list[Violation]:
    """Some of the violations that `rows` of the predicate names; of every axiom one before a second of any."""
    found: list[Violation] = []
    for axiom, about in _in_turns(rows, most):
        found += _explained(program, axiom, about, query)
        if len(found) >= most:
            break
    return found[:most]


def summary(total: int, shown: Sequence[Violation]) -> list[str]:
    """Messages about violations: the first ones, and how many there are."""
    messages = [str(violation) for violation in shown]
    if total > len(shown):
        messages.append(f"{total:,} violations in all: the predicate `{VIOLATION}` lists the axioms and individuals")
    return messages


def _in_turns(rows: Iterable[Sequence[Value]], most: int) -> Iterator[tuple[str, Value]]:
    seen: Counter[str] = Counter()
    pairs: list[tuple[int, str, str, Value]] = []
    for axiom, about in rows:
        text = str(axiom)
        seen[text] += 1
        if seen[text] <= most:
            pairs.append((seen[text], text, str(about), about))
    for _, axiom, _, about in sorted(pairs, key=lambda pair: pair[:3]):
        yield axiom, about


def _explained(program: Program, axiom: str, about: Value, query: Query) -> list[Violation]:
    rules = (rule for rule in program.rules if _names_an_axiom(rule) and rule.head.terms[0] == Constant(axiom))
    causes = (_facts(program, rule, about, query) for rule in rules)
    return [Violation(axiom, facts) for facts in islice(filter(None, causes), 1)]


def _facts(program: Program, rule: Rule, about: Value, query: Query) -> tuple[str, ...]:
    individual = rule.head.terms[1]
    binding: dict[Variable, Term] = {individual: Constant(about)} if isinstance(individual, Variable) else {}
    if not binding and individual != Constant(about):
        return ()
    body = tuple(substitute_literal(literal, binding) for literal in rule.body)
    answers = query(print_goal(body, program.prefixes))
    if not answers:
        return ()
    named = (variable for literal in body for variable in literal.variables() if not variable.name.startswith("_"))
    variables = dict.fromkeys(named)
    values = dict(zip(variables, map(Constant, answers[0]), strict=True))
    atoms = [substitute_literal(literal, values) for literal in body if isinstance(literal, Atom)]
    return tuple(dict.fromkeys(print_atom(atom, program.prefixes) for atom in atoms))
