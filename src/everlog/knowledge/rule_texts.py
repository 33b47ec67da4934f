"""Rules as people wrote them, of rules as they are evaluated: without hidden predicates, and with what they are for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from everlog.datalog.printer import print_goal, print_rule
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import HIDDEN, Aggregate, Atom, Program, Rule, Term, Variable
from everlog.planning.aggregates import MEMBERS, is_grouping
from everlog.planning.compiled_program import prepared
from everlog.planning.hidden_predicates import STEPS, spelled_out


class RuleTexts:
    """The texts of a program's rules, some of which are hidden ones that others need."""

    def __init__(self, rules: Iterable[Rule], program: Program) -> None:
        self._hidden = {rule.head.predicate: rule for rule in rules if is_hidden(rule)}
        self._written = {canonical_rule(prepared([rule])[-1]): rule for rule in program.rules if rule.aggregates}
        self._prefixes = program.prefixes

    def written(self, rule: Rule) -> Rule:
        """A rule that is not hidden, as it was written, or nearly so."""
        return self._written.get(canonical_rule(rule)) or spelled_out(rule, self._hidden)

    def text(self, rule: Rule) -> str:
        """A rule as it is shown; of a hidden one, what it finds."""
        if is_grouping(rule):
            return print_goal([_grouped(rule, self._hidden)], self._prefixes)
        if is_hidden(rule):
            return print_goal(rule.body, self._prefixes)
        return print_rule(self.written(rule), self._prefixes)


def _grouped(rule: Rule, hidden: Mapping[str, Rule]) -> Aggregate:
    """The aggregate of a rule about groups, with what its members are in their place."""
    (aggregate,) = rule.aggregates
    (members,) = aggregate.body
    assert isinstance(members, Atom), "members are facts"
    if members.predicate not in hidden:
        return aggregate
    definition = hidden[members.predicate]
    values = dict(zip(definition.head.terms, members.terms, strict=True))

    def named(term: Term) -> Term:
        return values.get(term) or (Variable(f"m{term.name}") if isinstance(term, Variable) else term)

    return replace(aggregate, body=tuple(literal.mapped(named) for literal in definition.body))


def is_hidden(rule: Rule) -> bool:
    """Whether a rule only finds what a negation or an aggregate is about, or what a module steps along."""
    return rule.head.predicate.startswith(HIDDEN)


def purpose(rule: Rule) -> str:
    """What a hidden rule is for; nothing if it is a rule of the program."""
    if not is_hidden(rule):
        return ""
    if rule.head.predicate.startswith(STEPS):
        return "steps"
    return "aggregate" if rule.head.predicate.startswith(MEMBERS) else "negation"
