"""Linear rules whose step is more than an edge get a hidden relation for it, so that modules find them.

In `skip(?f, ?t) :- next(?f, ?v), not full(?v), skip(?v, ?t)` everything but the recursive atom leads from `?f` to `?v`. It
becomes the rule of a relation of its own, which is maintained like any other, and `skip` is reachability along it:

    ¬leads(?f, ?v) :- next(?f, ?v), not full(?v) .
    skip(?f, ?t)   :- ¬leads(?f, ?v), skip(?v, ?t) .

That goes for a rule with one atom of its stratum, whose variables are one of the head's and another one, if the other
literals connect that one with the other variable of the head, bind both, and do not mention the first: then a step
depends on nothing but its ends. What is an edge already, or a chain of edges, is left to modules as it is, and so are rules
that compute: a relation of steps would compute values that nobody asks for.

A rule is rewritten for the module that it is in, and for nothing else: `compiled_program.py` takes back what is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Negation, Rule
from everlog.planning.hidden_predicates import STEPS, named_after
from everlog.planning.modules.chain_rules import chain_rule
from everlog.planning.modules.module_rules import is_binary


@dataclass(frozen=True)
class Stepped:
    """A rule along a relation of steps, and the rule of that relation."""

    rule: Rule
    definition: Rule


def steps_of(rules: Iterable[Rule], inside: Callable[[Atom], bool]) -> dict[Rule, Stepped]:
    """What recursive rules of a stratum become, those that can; `inside` tells whether an atom belongs to it."""
    found = ((rule, stepped(rule, inside)) for rule in rules)
    return {rule: one for rule, one in found if one is not None}


def stepped(rule: Rule, inside: Callable[[Atom], bool]) -> Stepped | None:
    """A rule with a relation for its step, if it has one that is more than an edge, or a chain of edges."""
    mine = [atom for atom in rule.positive if inside(atom)]
    if len(mine) != 1 or len(rule.body) < 2 or not (is_binary(rule.head) and is_binary(mine[0])):
        return None
    head, recursive = set(rule.head.variables()), set(mine[0].variables())
    if len(head) != 2 or len(recursive) != 2 or len(head & recursive) != 1:
        return None
    if _is_chain(rule) or not all(isinstance(one, Atom | Negation | Comparison) for one in rule.body):
        return None
    (kept,), (start,), (end,) = head & recursive, recursive - head, head - recursive
    others = tuple(literal for literal in rule.body if literal is not mine[0])
    bound = {variable for literal in others if isinstance(literal, Atom) for variable in literal.variables()}
    mentioned = {variable for literal in others for variable in literal.variables()}
    if kept in mentioned or not bound.issuperset(mentioned | {start, end}):
        return None
    # Steps go the way that the head goes.
    first, _ = rule.head.variables()
    ends = (end, start) if first == end else (start, end)
    definition = canonical_rule(Rule(Atom(STEPS, ends), others))
    name = named_after(STEPS, definition)
    body = _in_place(rule.body, mine[0], Atom(name, ends))
    return Stepped(Rule(rule.head, body), Rule(Atom(name, definition.head.terms), definition.body))


def _is_chain(rule: Rule) -> bool:
    """Whether chains of edges can be made of a rule as it is."""
    return chain_rule(rule) is not None and all(map(is_binary, rule.positive))


def _in_place(body: Sequence[BodyLiteral], recursive: Atom, step: Atom) -> tuple[BodyLiteral, ...]:
    """The recursive atom and a step, in the order in which a rule begins with one of them."""
    return (recursive, step) if body[0] is recursive else (step, recursive)


def along_steps(rules: Sequence[Rule], steps: Mapping[Rule, Stepped]) -> list[Rule]:
    """Rules of which some go along relations of steps, and the rules of these."""
    definitions = dict.fromkeys(one.definition for rule in rules if (one := steps.get(rule)) is not None)
    return [*definitions, *(steps[rule].rule if rule in steps else rule for rule in rules)]


def is_filter(definition: Rule) -> bool:
    """Whether one atom has all that a step is about, so that steps are at most as many as its facts."""
    wanted = {variable for literal in definition.body for variable in literal.variables()}
    return any(wanted <= set(atom.variables()) for atom in definition.positive)
