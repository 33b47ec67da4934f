"""Explanations as text: a tree of facts and of the rules between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from everlog.datalog.printer import print_atom, print_literal, print_rule, print_term
from everlog.datalog.syntax import Atom, Call, Comparison, Computation, Constant
from everlog.explaining.proof import (
    REASONED,
    Absent,
    Chained,
    Condition,
    Derived,
    Failed,
    Given,
    Group,
    Node,
    Path,
    Reasoned,
    Renamed,
    Tested,
    Unexplored,
)

if TYPE_CHECKING:
    from everlog.explaining.explanation import Explanation

_ABOVE = "as above"
_DEEPER = "…"
_GIVEN = "given"


def shown(fact: Atom, prefixes: Mapping[str, str]) -> str:
    """A fact as a goal has it."""
    return print_atom(fact, prefixes)


def remarks(explanation: Explanation) -> Iterator[str]:
    """What there is to say besides the proofs."""
    if explanation.answers > 1:
        yield f"the first of {explanation.answers:,} facts that match"
    if not explanation.is_least():
        yield "a limit has ended the search: this is the best that was found so far"


def explanation_text(explanation: Explanation) -> str:
    """All proofs, or why there is none."""
    if not explanation.holds:
        return "\n".join(why_not_lines(explanation))
    blocks = ["\n".join(proof_lines(one, explanation.prefixes)) for one in explanation.proofs]
    if len(blocks) > 1:
        blocks = [f"proof {number}\n{block}" for number, block in enumerate(blocks, 1)]
    said = "".join(f"({one})\n" for one in remarks(explanation))
    return said + "\n\n".join(blocks)


def proof_lines(root: Node, prefixes: Mapping[str, str]) -> Iterator[str]:
    """A proof as lines; what is needed several times is shown once."""
    seen: set[int] = set()
    stack: list[tuple[Condition, str, str]] = [(root, "", "")]
    while stack:
        node, lead, below = stack.pop()
        said = note(node, seen)
        yield f"{lead}{condition_text(node, prefixes)}{f'  {said}' if said else ''}"
        if isinstance(node, REASONED) and node.conditions and id(node) not in seen:
            seen.add(id(node))
            yield f"{below}└─ {reason(node, prefixes)}"
            below += "   "
            inner = [(one, f"{below}├─ ", f"{below}│  ") for one in node.conditions[:-1]]
            inner += [(one, f"{below}└─ ", f"{below}   ") for one in node.conditions[-1:]]
            stack += reversed(inner)


def note(node: Condition, seen: set[int]) -> str:
    """What is said behind a node that has no conditions to show."""
    if isinstance(node, Given):
        return _GIVEN if node.source is None else f"{_GIVEN} ({node.source})"
    if isinstance(node, Unexplored):
        return _DEEPER
    if isinstance(node, Chained) and not node.conditions:
        return "one name"
    return _ABOVE if id(node) in seen else ""


def reason(node: Reasoned, prefixes: Mapping[str, str]) -> str:
    """What makes a fact follow from others: a rule, or equalities."""
    if isinstance(node, Derived):
        return print_rule(node.rule, prefixes) + ("" if node.origin is None else f"  {node.origin}")
    if isinstance(node, Path):
        rules = " ".join(print_rule(rule, prefixes) for rule in node.rules)
        return f"a path of {len(node.conditions):,} by {rules}"
    return "in other names, which are equal" if isinstance(node, Renamed) else "equal, as these are"


def condition_text(node: Condition, prefixes: Mapping[str, str]) -> str:
    """What a node says, in a line."""
    if isinstance(node, Absent):
        return f"{print_literal(node.negation, prefixes)}  absent"
    if isinstance(node, Tested):
        return f"{test_text(node.test, prefixes)}  holds"
    if isinstance(node, Group):
        return group_text(node, prefixes)
    return shown(node.fact, prefixes)


def test_text(test: Comparison | Computation, prefixes: Mapping[str, str]) -> str:
    """A comparison of two values, or an expression with its value."""
    if isinstance(test, Comparison) or test.result is None:
        return print_literal(test, prefixes)
    asked = print_literal(Computation(Call("=", (test.expression, test.result))), prefixes)
    return asked.removeprefix("FILTER(").removesuffix(")")


def group_text(group: Group, prefixes: Mapping[str, str]) -> str:
    """What a group has, and its first members."""
    values = ", ".join(f"?{name} = {print_term(Constant(one), prefixes)}" for name, one in group.values.items())
    members = "; ".join(", ".join(shown(atom, prefixes) for atom in member) for member in group.members)
    more = "; …" if group.size > len(group.members) else ""
    number = "1 member" if group.size == 1 else f"{group.size:,} members"
    inside = f": {members}{more}" if members else ""
    return f"{print_literal(group.aggregate, prefixes)}  group with {values} of {number}{inside}"


def why_not_lines(explanation: Explanation) -> Iterator[str]:
    """Why a fact does not hold."""
    prefixes = explanation.prefixes
    yield f"{shown(explanation.fact, prefixes)} does not hold"
    if not explanation.why_not:
        yield "└─ it is not given, and no rule derives such a fact"
    for number, one in enumerate(explanation.why_not, 1):
        last = number == len(explanation.why_not)
        yield f"{'└─ ' if last else '├─ '}{print_rule(one.rule, prefixes)}"
        lead = "   " if last else "│  "
        yield from (f"{lead}├─ {print_literal(held, prefixes)}  holds" for held in one.held)
        yield f"{lead}└─ {print_literal(one.failing, prefixes)}  {failure(one)}"


def failure(one: Failed) -> str:
    """What is wrong with the condition that fails."""
    if not one.held:
        return "fails"
    return "fails" if one.matches == 1 else f"fails, and so it does for all {one.matches:,} ways to get there"
