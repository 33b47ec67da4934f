"""Parsers that are kept, and names outside of ASCII, of which the grammars take every character."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from lark import Lark, Token, Tree

from everlog.datalog import grammars
from everlog.datalog.grammars import misplaced_character
from everlog.datalog.reader import parse_program
from everlog.errors import SyntaxMistake
from everlog.sparql.query_reader import read_query

# PN_CHARS_BASE of Turtle and SPARQL, and what PN_CHARS has besides it, above ASCII.
LETTERS = re.compile(
    "[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff]"
)
MARKS = re.compile("[\u00b7\u0300-\u036f\u203f-\u2040]")


def misplaced(name: str) -> int | None:
    return misplaced_character(Tree("names", [Token("PNAME", name, start_pos=0)]), ["PNAME"])


def test_every_character() -> None:
    # One name for each character that is a name's by the recommendation, and one for all others.
    characters = [chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
    letters = [one for one in characters if LETTERS.match(one)]
    marks = [one for one in characters if MARKS.match(one)]
    assert misplaced("".join(letters)) is None
    assert misplaced("a" + "".join(marks)) is None
    assert all(misplaced(mark) == 0 and misplaced(f"x:{mark}") == 2 and misplaced(f"_:{mark}") == 2 for mark in marks)
    others = set(characters).difference(letters, marks)
    assert all(misplaced(f"a{one}") == 1 for one in others)


@pytest.mark.parametrize(
    "text, place",
    [
        ("@prefix e: <http://e/> . p(e:a×b) .", "1:31"),
        ("@prefix e: <http://e/> .\np(e:·b) .", "2:5"),
        ("p(_:a→b) .", "1:6"),
    ],
)
def test_a_program_with_a_character_that_no_name_has(text: str, place: str) -> None:
    with pytest.raises(SyntaxMistake, match=f"<program>:{place}: '.' cannot stand in a name; write the IRI in"):
        parse_program(text)


def test_names_of_a_program() -> None:
    program = parse_program("@prefix é: <http://e/> . p(é:añ·b, _:\u4e2d\u0300) .")
    assert [str(term.value) for term in program.facts[0].terms] == ["<http://e/añ·b>", "_:\u4e2d\u0300"]


@pytest.mark.parametrize("query", ["?×", "é:\u0300", "_:÷", "?a\u2003"])
def test_a_query_with_a_character_that_no_name_has(query: str) -> None:
    with pytest.raises(SyntaxMistake, match="cannot stand in a name"):
        read_query(f"PREFIX é: <http://e/> SELECT * {{ ?x ?y {query} }}", None)
    read_query("PREFIX é: <http://e/> SELECT * { ?ñ\u0300 é:\u4e2d· _:é }", None)


def test_a_kept_parser_is_used_and_one_that_is_damaged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    kept = folder / f"rules.{sys.implementation.cache_tag}.parser"
    monkeypatch.setattr(grammars, "_FOLDER", folder)
    text = "p(?x) :- q(?x), not r(?x) ."
    trees = []

    def parser() -> Lark:
        return grammars.kept_grammar("everlog.datalog", "rules", start=["program", "goal"])

    for damage in (None, None, b"", b"oops"):
        if damage is not None:
            kept.write_bytes(damage)
        trees.append(parser().parse(text, start="program"))
        assert len(kept.read_bytes()) > 10_000
    assert trees == [trees[0]] * 4
    monkeypatch.setattr(grammars, "_FOLDER", Path("/proc/none"))  # where nothing can be written
    assert parser().parse(text, start="program") == trees[0]
