"""Explanations as HTML: a tree that can be folded, without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Final

from everlog.datalog.printer import print_literal, print_rule
from everlog.explaining.proof import REASONED, Condition, Node, nodes
from everlog.explaining.proof_text import condition_text, failure, note, reason, remarks, shown

if TYPE_CHECKING:
    from everlog.explaining.explanation import Explanation

_OPEN: Final = 200
"""Up to so many nodes are unfolded at first."""
_STYLE: Final = (
    "<style>.everlog-proof{font-family:monospace}.everlog-proof ul{list-style:none;margin:0;padding-left:1.5em}"
    ".everlog-proof .rule,.everlog-proof .note{color:#777}</style>"
)


def page(explanation: Explanation) -> str:
    """A document of its own."""
    title = escape(shown(explanation.fact, explanation.prefixes))
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    return f"{head}<body>{explanation_html(explanation)}</body></html>"


def explanation_html(explanation: Explanation) -> str:
    """What a notebook shows."""
    said = "".join(f'<p class="note">{escape(one)}</p>' for one in remarks(explanation))
    if explanation.holds:
        trees = "".join(f"<ul>{_tree(one, explanation.prefixes)}</ul>" for one in explanation.proofs)
    else:
        trees = _why_not(explanation)
    return f'{_STYLE}<div class="everlog-proof">{said}{trees}</div>'


def _tree(root: Node, prefixes: Mapping[str, str]) -> str:
    """A proof as items of a list; what is needed several times is shown in full once, where it is first needed."""
    ordered = list(nodes(root))
    unfolded = " open" if len(ordered) <= _OPEN else ""
    pieces: list[str] = []
    shown_before: set[int] = set()
    stack: list[Condition | str] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            pieces.append(node)
            continue
        text = escape(condition_text(node, prefixes))
        seen = id(node) in shown_before
        if not isinstance(node, REASONED) or not node.conditions or seen:
            pieces.append(f'<li>{text} <span class="note">{escape(note(node, shown_before))}</span></li>')
            continue
        shown_before.add(id(node))
        rule = escape(reason(node, prefixes))
        pieces.append(f'<li><details{unfolded}><summary>{text} <span class="rule">{rule}</span></summary><ul>')
        stack.append("</ul></details></li>")
        stack += reversed(node.conditions)
    return "".join(pieces)


def _why_not(explanation: Explanation) -> str:
    prefixes = explanation.prefixes
    items = []
    for one in explanation.why_not:
        held = "".join(f"<li>{escape(print_literal(part, prefixes))} holds</li>" for part in one.held)
        fails = f"<li>{escape(print_literal(one.failing, prefixes))} <b>{failure(one)}</b></li>"
        items.append(f"<li>{escape(print_rule(one.rule, prefixes))}<ul>{held}{fails}</ul></li>")
    nothing = "" if items else "<li>it is not given, and no rule derives such a fact</li>"
    return f"<p>{escape(shown(explanation.fact, prefixes))} does not hold</p><ul>{''.join(items)}{nothing}</ul>"
