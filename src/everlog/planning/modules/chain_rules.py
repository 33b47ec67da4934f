"""Regular chain rules among the rules of a stratum (*Modular* §9), and the automata of the relations that they derive.

A chain rule is `R(x₀, xₙ) :- S₁(x₀, x₁), …, Sₙ(xₙ₋₁, xₙ)`, where an atom may also stand for its step backwards. Of the
chain rules of a stratum as many are taken as are regular together, in the order of the program: a rule that would put a
relation above itself stays with the other rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from everlog.datalog.substitution import REMEMBERED
from everlog.datalog.syntax import Atom, Rule, Variable
from everlog.planning.modules.automata import Letter, TooLarge, Word, automata, regular_form

Relation = tuple[object, ...]
"""A relation as a key: its predicate, and what stands at the places that are no variables."""


@dataclass(frozen=True)
class ChainRule:
    rule: Rule
    head: Relation
    word: Word[Relation]

    @property
    def recursive(self) -> bool:
        """Whether its head is among its letters."""
        return any(letter.relation == self.head for letter in self.word)


@dataclass(frozen=True)
class Chains:
    """Some heads, the relations that are their letters, and an automaton over letters for each head.

    A move of an automaton has the number of a letter, twice that of its relation, and one more if it is read backwards.
    """

    heads: tuple[Atom, ...]
    letters: tuple[Atom, ...]
    inside: tuple[bool, ...]
    """Which letters are relations of the stratum, and not of a lower one."""
    moves: tuple[tuple[Mapping[int, int], ...], ...]
    finals: tuple[frozenset[int], ...]

    def letters_inside(self, inside: bool) -> list[Atom]:
        """The letters that are relations of the stratum, or the others."""
        return [atom for atom, mine in zip(self.letters, self.inside, strict=True) if mine is inside]


def relation_of(atom: Atom) -> tuple[Relation, Variable, Variable] | None:
    """The relation of an atom with two different variables and otherwise constants, and the variables."""
    variables = list(atom.variables())
    if len(variables) != 2 or variables[0] == variables[1]:
        return None
    return relation_key(atom), variables[0], variables[1]


def relation_key(atom: Atom) -> Relation:
    return (atom.predicate, *(None if isinstance(term, Variable) else term for term in atom.terms))


@lru_cache(REMEMBERED)
def chain_rule(rule: Rule) -> ChainRule | None:
    """The rule as a chain from the first variable of its head to the second, if it is one."""
    head = relation_of(rule.head)
    if head is None or len(rule.positive) != len(rule.body):
        return None
    left = [relation_of(atom) for atom in rule.positive]
    relation, at, end = head
    seen, word = {at}, []
    while left:
        next_one = [(number, pair) for number, pair in enumerate(left) if pair is not None and at in pair[1:]]
        if len(next_one) != 1:
            return None
        number, (other, first, second) = next_one[0]
        word.append(Letter(other, backwards=first != at))
        at = second if first == at else first
        if at in seen:
            return None
        seen.add(at)
        del left[number]
    return ChainRule(rule, relation, tuple(word)) if at == end else None


def regular(rules: Iterable[ChainRule]) -> tuple[list[ChainRule], list[Relation]]:
    """As many of some rules as are regular together, and their heads, lower ones first."""
    below: dict[Relation, set[Relation]] = {}
    taken: list[ChainRule] = []

    def leads_to(start: Relation, end: Relation) -> bool:
        return start == end or any(leads_to(other, end) for other in below.get(start, ()))

    for one in rules:
        needed = regular_form(one.head, one.word)
        if needed is None or any(leads_to(other, one.head) for other in needed):
            continue
        below.setdefault(one.head, set()).update(needed)
        taken.append(one)
    order: list[Relation] = []

    def visit(relation: Relation) -> None:
        if relation in below and relation not in order:
            for other in sorted(below[relation], key=repr):
                visit(other)
            order.append(relation)

    for relation in below:
        visit(relation)
    return taken, order


def chains(rules: Sequence[ChainRule], inside: Callable[[Atom], bool]) -> tuple[Chains, tuple[ChainRule, ...]] | None:
    """The automata of some rules, and those rules that are in them; None if there is nothing, or too much."""
    known = _automata(tuple(one.rule for one in rules))
    if known is None:
        return None
    plan, taken = known
    mine = {one.head for one in taken}
    found = tuple(relation_key(atom) in mine or inside(atom) for atom in plan.letters)
    return replace(plan, inside=found), taken


@lru_cache(REMEMBERED)
def _automata(rules: tuple[Rule, ...]) -> tuple[Chains, tuple[ChainRule, ...]] | None:
    """The same, where nobody has said yet which letters are relations of the stratum."""
    taken, order = regular(one for rule in rules if (one := chain_rule(rule)) is not None)
    if not taken:
        return None
    words: dict[Relation, list[Word[Relation]]] = {}
    atoms: dict[Relation, Atom] = {}
    for one in taken:
        words.setdefault(one.head, []).append(one.word)
        for atom in (one.rule.head, *one.rule.positive):
            atoms.setdefault(relation_key(atom), atom)
    try:
        made = automata(words, order)
    except TooLarge:
        return None
    numbers = {relation: number for number, relation in enumerate(atoms)}

    def numbered(moves: Mapping[Letter[Relation], int]) -> Mapping[int, int]:
        return {2 * numbers[letter.relation] + letter.backwards: after for letter, after in moves.items()}

    plan = Chains(
        tuple(atoms[relation] for relation in order),
        tuple(atoms.values()),
        (),
        tuple(tuple(map(numbered, made[relation].moves)) for relation in order),
        tuple(made[relation].finals for relation in order),
    )
    return plan, tuple(taken)
