"""The words and signs of a Soufflé program, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from everlog.errors import SyntaxMistake

_DIRECTIVES: Final = (
    "comp|decl|functor|include|init|input|lattice|limitsize|number_type|once|output|override|plan|pragma|printsize|"
    "symbol_type|type"
)
_TOKEN: Final = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*[\s\S]*?\*/)
  | (?P<macro>(?<![^\n])[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<directive>\.(?:{_DIRECTIVES})(?![A-Za-z0-9_?]))
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*")
  | (?P<number>0x[0-9a-fA-F]+u?|0b[01]+u?|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+u?)
  | (?P<name>[A-Za-z_?][A-Za-z0-9_?]*)
  | (?P<sign>:-|<:|!=|<=|>=|->|/(?!\*)|[-+*%^.,;:(){{}}\[\]=<>!|@$&])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A word or sign; `kind` is `end` after the last one."""

    kind: str
    text: str
    start: int
    line: int
    column: int

    @property
    def stop(self) -> int:
        """Where the text after it begins."""
        return self.start + len(self.text)


def tokens_of(text: str, source: str) -> Iterator[Token]:
    """The tokens of a text, comments and lines of the preprocessor included, and an end; `source` names it in messages."""
    at, line, begin = 0, 1, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise SyntaxMistake(f"{source}:{line}:{at - begin + 1}: {_unknown(text, at)}")
        kind, word = str(found.lastgroup), found[0]
        if kind != "space":
            yield Token(kind, word, at, line, at - begin + 1)
        if "\n" in word:
            line += word.count("\n")
            begin = at + word.rindex("\n") + 1
        at = found.end()
    yield Token("end", "", at, line, at - begin + 1)


def _unknown(text: str, at: int) -> str:
    if text[at] == '"':
        return "a string that does not end in its line"
    if text.startswith("/*", at):
        return "a comment that does not end; it needs */"
    return f"{text[at]!r} is no part of Soufflé's language"
