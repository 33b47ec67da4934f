"""`MIN` and `MAX` in heads become candidates of a hidden predicate and a *choice* of the best ones.

    dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) .

becomes a rule for candidates, which is evaluated like any other, and one that chooses, which no rule engine evaluates:

    ¬best(?y, ?v) :- dist(?x, ?d), edge(?x, ?y, ?w), BIND(?d + ?w AS ?v) .
    dist(?y, MIN(?v)) :- ¬best(?y, ?v) .

All rules of such a relation give candidates, with `MIN` in their heads or without. Candidates are never kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from everlog.datalog.extremes import CANDIDATES, is_choice
from everlog.datalog.printer import print_rule
from everlog.datalog.stratify import stratify
from everlog.datalog.syntax import QUAD, TRIPLE, Atom, Extreme, Rule, Variable
from everlog.errors import EverlogError
from everlog.planning.hidden_predicates import named_after
from everlog.planning.monotonicity import Relation, check_recursion, relation_of

_PROPERTY: Final = 1
"""Where triples have their property."""


def check_minima(rules: Sequence[Rule]) -> dict[Relation, Extreme]:
    """The relations whose facts have a least or greatest value; refuses what is not well defined."""
    extremes: dict[Relation, Extreme] = {}
    first: dict[Relation, Rule] = {}
    for rule in rules:
        if rule.extreme is not None and not is_choice(rule):
            relation = relation_of(rule.head)
            if relation is None or (rule.head.predicate in (TRIPLE, QUAD) and rule.extreme.place == _PROPERTY):
                raise EverlogError(
                    f"the head of `{print_rule(rule)}` has {rule.extreme.function} of triples with any property: name one"
                )
            known = extremes.setdefault(relation, rule.extreme)
            first.setdefault(relation, rule)
            if known != rule.extreme:
                raise EverlogError(
                    f"`{print_rule(first[relation])}` and `{print_rule(rule)}` do not agree on what is kept: all rules of "
                    "a predicate have MIN, or MAX, in the same place"
                )
    if not extremes:
        return extremes
    # All facts of a relation belong together, whatever constants its atoms have.
    whole = [*rules, *(_choice(rules, relation, extreme) for relation, extreme in extremes.items())]
    stratify(whole)  # what is refused is said in the words of the program
    for rule in rules:
        if relation_of(rule.head) is None and any(predicate == rule.head.predicate for predicate, _ in extremes):
            one = next(known for (predicate, _), known in first.items() if predicate == rule.head.predicate)
            raise EverlogError(
                f"the rule `{print_rule(rule)}` may derive triples with any property, also of those that "
                f"`{print_rule(one)}` keeps the best of: name the property"
            )
    recursions = check_recursion(whole, extremes)
    return {relation: replace(extreme, **recursions[relation]._asdict()) for relation, extreme in extremes.items()}


def rewrite_minima(rules: Sequence[Rule], extremes: dict[Relation, Extreme]) -> Sequence[Rule]:
    """Rules without `MIN` and `MAX` in heads, but for those that choose."""
    if not extremes:
        return rules
    choices = {relation: _choice(rules, relation, extreme) for relation, extreme in extremes.items()}

    def candidate(rule: Rule) -> Rule:
        relation = relation_of(rule.head)
        choice = None if relation is None else choices.get(relation)
        if choice is None or is_choice(rule):
            return rule
        return Rule(Atom(choice.positive[0].predicate, rule.head.terms), rule.body)

    return [*choices.values(), *map(candidate, rules)]


def _choice(rules: Sequence[Rule], relation: Relation, extreme: Extreme) -> Rule:
    """The rule that chooses the best facts of a relation."""
    size = next(len(rule.head.terms) for rule in rules if relation_of(rule.head) == relation)
    terms = tuple(
        relation[1] if relation[1] is not None and place == _PROPERTY else Variable(str(place)) for place in range(size)
    )
    name = named_after(CANDIDATES, *relation, extreme)
    return Rule(Atom(relation[0], terms), (Atom(name, terms),), extreme)
