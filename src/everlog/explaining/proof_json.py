"""Explanations as values of JSON: nodes in a list, each once, which name the others by their places.

`finalConclusion` and `inferences` are the form that Nemo and Evee exchange proofs in: each inference has a conclusion, the
name of a rule, and premises, all as texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from everlog.datalog.printer import print_literal, print_rule, print_term
from everlog.datalog.syntax import Constant
from everlog.explaining.proof import (
    REASONED,
    Absent,
    Condition,
    Derived,
    Failed,
    Given,
    Group,
    Node,
    Path,
    Tested,
    height,
    nodes,
    premises,
)
from everlog.explaining.proof_text import reason, shown, test_text

if TYPE_CHECKING:
    from everlog.explaining.explanation import Explanation

_ASSERTED: Final = "Asserted Conclusion"
"""What Evee calls the rule of what is given."""


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """All of an explanation."""
    prefixes = explanation.prefixes
    proofs = [proof_json(one, prefixes) for one in explanation.proofs]
    return {
        "fact": shown(explanation.fact, prefixes),
        "holds": bool(proofs),
        "answers": explanation.answers,
        "complete": explanation.is_least(),
        "proofs": proofs,
        "whyNot": [_failed(one, prefixes) for one in explanation.why_not],
    }


def proof_json(root: Node, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """One proof: its nodes, those that are needed before those that need them, and its inferences."""
    ordered = list(nodes(root))
    places = {id(node): place for place, node in enumerate(ordered)}
    return {
        "height": height(root),
        "conclusion": places[id(root)],
        "nodes": [_node(node, places, prefixes) for node in ordered],
        **exchanged(root, prefixes),
    }


def exchanged(root: Node, prefixes: Mapping[str, str]) -> dict[str, Any]:
    """A proof as other tools read it."""
    inferences = [
        {
            "conclusion": shown(node.fact, prefixes),
            "ruleName": reason(node, prefixes) if isinstance(node, REASONED) else _ASSERTED,
            "premises": [shown(one.fact, prefixes) for one in dict.fromkeys(premises(node))],
        }
        for node in nodes(root)
    ]
    return {"finalConclusion": shown(root.fact, prefixes), "inferences": inferences}


def _node(node: Node, places: Mapping[int, int], prefixes: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": type(node).__name__.lower(), "fact": shown(node.fact, prefixes)}
    if isinstance(node, Given) and node.source is not None:
        found["source"] = node.source
    if isinstance(node, Derived):
        found["rule"] = print_rule(node.rule, prefixes)
        if node.origin is not None:
            found["origin"] = node.origin
        found["substitution"] = {
            name: print_term(Constant(value), prefixes) for name, value in node.substitution.items()
        }
    if isinstance(node, Path):
        found["rules"] = [print_rule(rule, prefixes) for rule in node.rules]
    if isinstance(node, REASONED):
        found["conditions"] = [_condition(one, places, prefixes) for one in node.conditions]
    return found


def _condition(one: Condition, places: Mapping[int, int], prefixes: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(one, Absent):
        return {"kind": "absent", "pattern": print_literal(one.negation, prefixes)}
    if isinstance(one, Tested):
        return {"kind": "tested", "test": test_text(one.test, prefixes)}
    if isinstance(one, Group):
        return {
            "kind": "group",
            "aggregate": print_literal(one.aggregate, prefixes),
            "values": {name: print_term(Constant(value), prefixes) for name, value in one.values.items()},
            "size": one.size,
            "members": [[shown(atom, prefixes) for atom in member] for member in one.members],
        }
    return {"kind": "fact", "node": places[id(one)]}


def _failed(one: Failed, prefixes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rule": print_rule(one.rule, prefixes),
        "held": [print_literal(held, prefixes) for held in one.held],
        "failing": print_literal(one.failing, prefixes),
        "matches": one.matches,
    }
