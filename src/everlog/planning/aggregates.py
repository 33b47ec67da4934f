"""`AGGREGATE` becomes atoms of hidden predicates, each with a *grouping* rule of its own.

The matches of an aggregate's body are facts of a hidden predicate, its *members*, which rules derive like any others; a
body that is one atom without repeated variables has its own facts as members. A grouping rule has nothing but members in
its body and a group with its value in its head:

    ¬g(?p, ?n) :- AGGREGATE(¬m(?p, ?r) ON ?p BIND COUNT(?r) AS ?n)

Members are a set, so that what is `DISTINCT` are the members with nothing but the group and the arguments. `AVG` is a
quotient of a sum and a count. An expression is computed for the members, of which those without a value are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from everlog.datalog.stratify import stratify
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import (
    HIDDEN,
    Aggregate,
    Aggregation,
    Atom,
    BodyLiteral,
    Call,
    Computation,
    Constant,
    Rule,
    Variable,
    parts,
)
from everlog.planning.hidden_predicates import named_after

MEMBERS: Final = f"{HIDDEN}m"
GROUPED: Final = f"{HIDDEN}g"
"""How the hidden predicates of members and of groups start."""


def is_grouping(rule: Rule) -> bool:
    """Whether a rule says what the groups of some members have."""
    return rule.head.predicate.startswith(GROUPED)


def rewrite_aggregates(rules: Sequence[Rule]) -> Sequence[Rule]:
    """Rules without aggregates, and the rules of the hidden predicates in their place."""
    if not any(rule.aggregates and not is_grouping(rule) for rule in rules):
        return rules
    stratify(rules)  # what is refused is said in the words of the program
    defined: dict[Rule, None] = {}
    found = [rule if is_grouping(rule) else _rewritten(rule, defined) for rule in rules]
    return [*defined, *found]


def _rewritten(rule: Rule, defined: dict[Rule, None]) -> Rule:
    fresh = _fresh(rule)
    body: list[BodyLiteral] = []
    for literal in rule.body:
        if isinstance(literal, Aggregate):
            for aggregation in literal.aggregations:
                body += _grouped(literal, aggregation, fresh, defined)
        else:
            body.append(literal)
    return replace(rule, body=tuple(body))


def _fresh(rule: Rule) -> Iterator[Variable]:
    """Variables that a rule has not."""
    used = {variable for literal in (rule.head, *rule.body) for part in parts(literal) for variable in part.variables()}
    used |= {variable for literal in rule.body for variable in literal.variables()}
    return (variable for number in count() if (variable := Variable(f"v{number}")) not in used)


def _grouped(
    aggregate: Aggregate, one: Aggregation, fresh: Iterator[Variable], defined: dict[Rule, None]
) -> Iterator[BodyLiteral]:
    """What stands for one aggregation of an aggregate."""
    if one.function == "AVG":
        total, number = next(fresh), next(fresh)
        yield from _grouped(aggregate, replace(one, function="SUM", result=total), fresh, defined)
        yield from _grouped(aggregate, replace(one, function="COUNT", result=number), fresh, defined)
        none = Call("=", (number, Constant(0)))
        yield Computation(Call("IF", (none, Constant(0), Call("/", (total, number)))), one.result)
        return
    body = list(aggregate.body)
    arguments: list[Variable] = []
    for argument in one.arguments:
        if not isinstance(argument, Variable):
            body.append(Computation(argument, argument := next(fresh)))
        arguments.append(argument)
    groups = aggregate.groups
    if one.distinct and arguments:
        columns = tuple(dict.fromkeys([*groups, *arguments]))
    else:
        inner = Aggregate(tuple(body), groups, ())
        columns = (*groups, *inner.local)
    members = _members(tuple(body), columns, defined)
    plain = replace(one, arguments=tuple(arguments), distinct=False)
    rule = Rule(Atom(GROUPED, (*groups, one.result)), (Aggregate((members,), groups, (plain,)),))
    definition = canonical_rule(rule)
    head = Atom(named_after(GROUPED, definition), definition.head.terms)
    defined.setdefault(Rule(head, definition.body))
    yield Atom(head.predicate, (*groups, one.result))


def _members(body: tuple[BodyLiteral, ...], columns: tuple[Variable, ...], defined: dict[Rule, None]) -> Atom:
    """The atom whose facts are the matches of a body."""
    first, *others = body
    if not others and isinstance(first, Atom) and Counter(first.variables()) == Counter(columns):
        return first
    definition = canonical_rule(Rule(Atom(MEMBERS, columns), body))
    name = named_after(MEMBERS, definition)
    defined.setdefault(Rule(Atom(name, definition.head.terms), definition.body))
    return Atom(name, columns)
