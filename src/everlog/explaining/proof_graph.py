"""Explanations as graphs for Graphviz: facts are boxes, rules are the ellipses between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from everlog.explaining.proof import REASONED, Given, Node, nodes, premises
from everlog.explaining.proof_text import condition_text, reason, shown

if TYPE_CHECKING:
    from everlog.explaining.explanation import Explanation


def explanation_dot(explanation: Explanation) -> str:
    """All proofs, as one graph with a part for each."""
    lines = ["digraph explanation {", "  rankdir=BT;", '  node [fontname="sans-serif"];']
    for number, proof in enumerate(explanation.proofs):
        lines += _part(proof, f"p{number}_", explanation.prefixes)
    return "\n".join([*lines, "}"])


def _part(root: Node, start: str, prefixes: Mapping[str, str]) -> Iterator[str]:
    ordered = list(nodes(root))
    places = {id(node): f"{start}{place}" for place, node in enumerate(ordered)}
    for node in ordered:
        name, fact = places[id(node)], _quoted(shown(node.fact, prefixes))
        style = ', style=filled, fillcolor="#e8f0e0"' if isinstance(node, Given) else ""
        yield f"  {name} [shape=box, label={fact}{style}];"
        if not isinstance(node, REASONED) or not node.conditions:
            continue
        yield f"  {name}r [shape=ellipse, label={_quoted(reason(node, prefixes))}];"
        yield f"  {name}r -> {name};"
        yield from (f"  {places[id(one)]} -> {name}r;" for one in dict.fromkeys(premises(node)))
        others = [one for one in node.conditions if id(one) not in places]
        for place, one in enumerate(others):
            yield f"  {name}c{place} [shape=plaintext, label={_quoted(condition_text(one, prefixes))}];"
            yield f"  {name}c{place} -> {name}r;"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
