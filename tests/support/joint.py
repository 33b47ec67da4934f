"""Many random questions as one: predicates are renamed apart, so that one job on Spark answers all of them.

A job costs about the same however little it does. A disagreement is traced back by the number at the end of its predicate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Aggregate, Atom, BodyLiteral, Negation, Program, Rule
from oracles import naive
from oracles.naive import Fact, Facts
from support.computing_programs import Computing, Rows
from support.strategies import VALUES, Case, Writer

__all__ = ["VALUES", "Question", "joint_case", "joint_computing", "joint_questions"]


def renamed_atom(atom: Atom, number: int) -> Atom:
    return Atom(f"{atom.predicate} {number}", atom.terms)


def renamed_rule(rule: Rule, number: int) -> Rule:
    def literal(one: BodyLiteral) -> BodyLiteral:
        if isinstance(one, Atom):
            return renamed_atom(one, number)
        if isinstance(one, Negation):
            return Negation(tuple(renamed_atom(atom, number) for atom in one.atoms), one.local, one.tests)
        if isinstance(one, Aggregate):
            return replace(one, body=tuple(literal(inner) for inner in one.body))
        return one

    return replace(rule, head=renamed_atom(rule.head, number), body=tuple(literal(one) for one in rule.body))


def joint_case(cases: Iterable[Case]) -> Case:
    """Programs with their facts, as one program."""
    rules: list[Rule] = []
    facts: list[Atom] = []
    given: list[Atom] = []
    for number, case in enumerate(cases):
        rules += (renamed_rule(rule, number) for rule in case.program.rules)
        facts += (renamed_atom(atom, number) for atom in case.program.facts)
        given += (renamed_atom(atom, number) for atom in case.facts)
    return Case(Program(tuple(rules), tuple(facts)), tuple(given))


def joint_computing(cases: Sequence[Computing]) -> Computing:
    """Programs that compute, with their facts and updates, as one."""

    def together(parts: Iterable[Rows]) -> Rows:
        return {f"{name} {number}": rows for number, part in enumerate(parts) for name, rows in part.items()}

    rules = [renamed_rule(rule, number) for number, case in enumerate(cases) for rule in case.program.rules]
    updates = zip(*(case.updates for case in cases), strict=True)
    return Computing(
        Program(tuple(rules)),
        together(case.facts for case in cases),
        tuple((together(add for add, _ in some), together(delete for _, delete in some)) for some in updates),
    )


@dataclass(frozen=True)
class Question:
    """Rules, `I⁺` and `I⁻` at random, with conditions `P ⊆ I⁺`, `N ∩ I⁻ = ∅`, facts to ask about, and all facts."""

    rules: list[Rule]
    positive: Facts
    negative: Facts
    conditions: list[tuple[Facts, Facts]]
    asked: Facts
    all: Facts

    def heads(self) -> list[Fact]:
        """The heads of all instances, by the definition."""
        return [
            naive.instance_of(rule.head, one)
            for rule in self.rules
            for one in naive.instances(rule, self.positive, self.negative, self.conditions)
        ]

    def bodies(self) -> list[Fact]:
        """The positive body facts of the instances whose heads are asked for, and how many instances there are."""
        return [
            naive.instance_of(atom, one)
            for rule in self.rules
            for one in naive.instances(rule, self.positive, self.negative)
            if naive.instance_of(rule.head, one) in self.asked
            for atom in rule.positive
        ]


def question(random: Random, conditions: int, number: int) -> Question:
    writer = Writer(random)
    written = [writer.plain_rule() for _ in range(random.randint(1, 3))]
    rules = list({canonical_rule(rule): rule for rule in written}.values())

    def some(facts: Collection[Fact]) -> Facts:
        density = random.choice([0.0, 0.1, 0.5, 1.0])
        return frozenset(one for one in sorted(facts, key=repr) if random.random() < density)

    def renamed(atoms: Iterable[Atom]) -> Facts:
        return naive.facts(renamed_atom(atom, number) for atom in atoms)

    everything = renamed(writer.vocabulary.atoms())
    positive, negative = renamed(writer.facts(0.5)), renamed(writer.facts(0.3))
    return Question(
        [renamed_rule(rule, number) for rule in rules],
        positive,
        negative,
        [(some(positive), some(everything - negative)) for _ in range(conditions)],
        some(everything),
        everything,
    )


def joint_questions(seed: int, size: int, conditions: int) -> Question:
    """Several questions with the same number of conditions, as one."""
    random = Random(seed)
    questions: list[Question] = []
    while len(questions) < size:
        one = question(random, conditions, len(questions))
        if one.asked.intersection(one.heads()):  # the others are about nothing
            questions.append(one)
    everything: Facts = frozenset().union(*(one.all for one in questions))
    return Question(
        [rule for one in questions for rule in one.rules],
        frozenset().union(*(one.positive for one in questions)),
        frozenset().union(*(one.negative for one in questions)),
        [
            (
                frozenset().union(*(one.conditions[place][0] for one in questions)),
                frozenset().union(*(one.conditions[place][1] for one in questions)),
            )
            for place in range(conditions)
        ],
        frozenset().union(*(one.asked for one in questions)),
        everything,
    )
