"""Rules that connect things by paths: transitive and symmetric relations, reachability, regular chains.

They are those that modules are made of (`planning/modules`). An automaton says which steps, by facts of some relations,
make a fact of a head. A step by a relation that the rules themselves derive is a fact that has another reason: it is
given, or derived by another rule; and only modules are taken whose other rules do not depend on what they derive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from everlog.datalog.substitution import substitute_atom, substitute_literal
from everlog.datalog.syntax import Atom, BodyLiteral, Constant, Rule, Term, Variable
from everlog.planning.compiled_program import found_modules
from everlog.planning.modules.module_rules import Module, meets

Moves = Sequence[Mapping[int, int]]
"""For each state, the first being the start, what letters lead to: twice the number of a relation, one more backwards."""


@dataclass(frozen=True)
class Source:
    """Where steps by a relation come from: the ends of a step, and a body that has it."""

    letter: int
    ends: tuple[Term, Term]
    body: tuple[BodyLiteral, ...]
    given: bool
    """Whether the body is about given facts."""


@dataclass(frozen=True)
class PathRules:
    """Some rules, by their numbers; their heads, each with an automaton; and the relations that steps are made of."""

    rules: frozenset[int]
    heads: tuple[tuple[Atom, Moves, frozenset[int]], ...]
    letters: tuple[Atom, ...]
    sources: tuple[Source, ...]


def path_rules(rules: Sequence[Rule]) -> list[PathRules]:
    """All rules of a program that connect things by paths."""
    numbers = {rule: number for number, rule in enumerate(rules)}
    found = []
    for module in found_modules(rules, kinds=("tc", "stc", "reach", "rch"), steps=False):
        if module.grounded and all(rule in numbers for rule in module.rules):
            own = frozenset(numbers[rule] for rule in module.rules)
            letters, inside, heads = _automata(module)
            others = [rule for number, rule in enumerate(rules) if number not in own]
            sources = [one for at, atom in enumerate(letters) for one in sources_of(at, atom, inside[at], others)]
            found.append(PathRules(own, heads, letters, tuple(sources)))
    return found


def _automata(
    module: Module,
) -> tuple[tuple[Atom, ...], Sequence[bool], tuple[tuple[Atom, Moves, frozenset[int]], ...]]:
    """The relations of steps, whether the module derives them, and the heads with their automata."""
    plan, end = module.chains, frozenset({1})
    if plan is not None:
        return plan.letters, plan.inside, tuple(zip(plan.heads, plan.moves, plan.finals, strict=True))
    if module.kind in ("tc", "stc"):
        step = {0: 1, 1: 1} if module.kind == "stc" else {0: 1}
        return (module.atom,), (True,), ((module.atom, (step, step), end),)
    moves: Moves = ({2: 0, 0: 1}, {}) if module.backwards else ({0: 1}, {2: 1})
    return (module.atom, module.step), (True, False), ((module.atom, moves, end),)


def ends(atom: Atom) -> tuple[int, int]:
    """The places of the two variables of a relation."""
    first, second = (place for place, term in enumerate(atom.terms) if isinstance(term, Variable))
    return first, second


def sources_of(number: int, atom: Atom, inside: bool, others: Sequence[Rule]) -> Iterator[Source]:
    """Where steps by a relation come from: facts, given ones if some rules are `inside`, and then what others derive."""
    first, second = ends(atom)
    yield Source(number, (atom.terms[first], atom.terms[second]), (atom,), inside)
    for rule in others if inside else ():
        if meets(rule.head, atom):
            fixed: dict[Variable, Term] = {
                term: wanted
                for term, wanted in zip(rule.head.terms, atom.terms, strict=True)
                if isinstance(term, Variable) and isinstance(wanted, Constant)
            }
            head = substitute_atom(rule.head, fixed)
            if not rule.aggregates:
                body = tuple(substitute_literal(literal, fixed) for literal in rule.body)
                yield Source(number, (head.terms[first], head.terms[second]), body, False)
            elif not fixed:
                yield Source(number, (head.terms[first], head.terms[second]), rule.body, False)
