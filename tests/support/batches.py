"""Many sequences of updates as one: their predicates are renamed apart, so that none knows of the others.

What follows from one does not depend on the rest, and strata, counts and traces are those of the parts side by side. A
batch costs an engine with slow rounds hardly more than a single sequence.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Negation, Program, Rule
from support.sequences import Sequence, Update
from support.strategies import Case


def joined(parts: list[Sequence]) -> Sequence:
    """One sequence of updates; the first part keeps its triples, those of the others become plain facts."""
    renamed = [_renamed(part, number) for number, part in enumerate(parts)]
    rules = tuple(rule for part in renamed for rule in part.case.program.rules)
    facts = tuple(fact for part in renamed for fact in part.case.program.facts)
    given = tuple(fact for part in renamed for fact in part.case.facts)
    updates = [
        Update(tuple(a for one in together for a in one.add), tuple(a for one in together for a in one.delete))
        for together in zip_longest(*(part.updates for part in renamed), fillvalue=Update())
    ]
    return Sequence(Case(Program(rules, facts), given), tuple(updates))


def _renamed(part: Sequence, number: int) -> Sequence:
    def atom(one: Atom) -> Atom:
        kept = one.predicate == TRIPLE and number == 0
        return one if kept else replace(one, predicate=f"{one.predicate}_{number}")

    def literal(one: BodyLiteral) -> BodyLiteral:
        if isinstance(one, Negation):
            return replace(one, atoms=tuple(map(atom, one.atoms)))
        return atom(one) if isinstance(one, Atom) else one

    program = part.case.program
    rules = tuple(Rule(atom(rule.head), tuple(map(literal, rule.body))) for rule in program.rules)
    case = Case(Program(rules, tuple(map(atom, program.facts))), tuple(map(atom, part.case.facts)))
    updates = (Update(tuple(map(atom, one.add)), tuple(map(atom, one.delete))) for one in part.updates)
    return Sequence(case, tuple(updates))
