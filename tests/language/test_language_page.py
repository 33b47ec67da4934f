"""The reference of the language, and the page on constraints, are true: programs do what is said beneath them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.datalog.printer import print_term
from everlog.datalog.syntax import Constant
from oracles import naive

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [(DOCS / name).read_text(encoding="utf-8") for name in ("language.md", "constraints.md")]
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"^```([a-z]+)\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)
    if block[0] not in ("console", "python")
]
KINDS: dict[str, Literal["off", "rewrite"]] = {"datalog": "off", "rewrite": "rewrite"}
"""The kinds of blocks that are programs, and what they do with equality."""
PROGRAMS = [
    pytest.param(text, KINDS[kind], [block for block in BLOCKS[place + 1 : place + 3]], id=f"block-{place}")
    for place, (kind, text) in enumerate(BLOCKS)
    if kind in KINDS
]


def materialised(text: str, equality: Literal["off", "rewrite"]) -> KnowledgeBase:
    kb = KnowledgeBase(parse_program(text), engine="memory", equality=equality)
    kb.materialise()
    return kb


def test_blocks_are_of_known_kinds() -> None:
    assert len(PROGRAMS) > 12
    assert {kind for kind, _ in BLOCKS} == {*KINDS, "result", "refused", "goal", "answers"}
    beneath = [kind for kind, _ in BLOCKS]
    assert all(
        beneath[place + 1] in ("result", "refused", "goal") for place, kind in enumerate(beneath) if kind in KINDS
    )


@pytest.mark.parametrize(("text", "equality", "beneath"), PROGRAMS)
def test_a_program_does_what_is_said(
    text: str, equality: Literal["off", "rewrite"], beneath: list[tuple[str, str]]
) -> None:
    kind, said = beneath[0]
    if kind == "refused":
        with pytest.raises(EverlogError) as caught:
            materialised(text, equality)
        assert str(caught.value) == said
    elif kind == "result":
        kb, expected = materialised(text, equality), parse_program(said).facts
        names = {fact.predicate for fact in expected}
        assert {naive.fact(name, *row) for name in names for row in kb.rows(name)} == naive.facts(expected)
    else:
        rows = materialised(text, equality).query(said)
        assert "\n".join(", ".join(print_term(Constant(value)) for value in row) for row in rows) == beneath[1][1]
