"""Grammars that Lark parses by, and names outside of ASCII.

Lark keeps a parser beside compiled Python if it can: making one takes longer than reading most texts. And Python takes
long to compile a class of characters that lists Unicode's ranges, as Turtle's names do, and Lark many of them. So the
grammars admit every character outside of ASCII in names, and those that were found are held against the ranges here.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Collection
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

_FOLDER: Final = Path(__file__).parent / "__pycache__"
# Pairs of a first character and the one behind the last, above ASCII.
_LETTERS: Final = (
    *(0xC0, 0xD7, 0xD8, 0xF7, 0xF8, 0x300, 0x370, 0x37E, 0x37F, 0x2000, 0x200C, 0x200E, 0x2070, 0x2190),
    *(0x2C00, 0x2FF0, 0x3001, 0xD800, 0xF900, 0xFDD0, 0xFDF0, 0xFFFE, 0x10000, 0xF0000),
)
_MARKS: Final = (0xB7, 0xB8, 0x300, 0x370, 0x203F, 0x2041)


def kept_grammar(package: str, name: str, **options: Any) -> Lark:
    """The parser of a grammar that lies in a package."""
    from lark import Lark  # importing everlog stays quick

    text = files(package).joinpath(f"{name}.lark").read_text(encoding="utf-8")
    with suppress(OSError):
        _FOLDER.mkdir(exist_ok=True)
    kept = str(_FOLDER / f"{name}.{sys.implementation.cache_tag}.parser")
    return Lark(text, parser="lalr", lexer="contextual", cache=kept, **options)


def misplaced_character(tree: Tree[Token], kinds: Collection[str]) -> int | None:
    """Where the first character is, among tokens of some kinds, that no name may have there; None if there is none."""
    found = (_misplaced(token) for token in tree.scan_values(lambda token: getattr(token, "type", "") in kinds))
    return min((offset for offset in found if offset is not None), default=None)


def _misplaced(token: Token) -> int | None:
    if not token.isascii():
        # Behind a prefix, the `_:` of a label or the `?` of a variable a name begins, and no mark begins one.
        begins = {0, token.find(":") + 1, 1 if token[0] in "?$" else 0}
        for place, character in enumerate(token):
            if character.isascii() or _lies_in(character, _LETTERS):
                continue
            if place in begins or not _lies_in(character, _MARKS):
                return (token.start_pos or 0) + place
    return None


def _lies_in(character: str, ranges: tuple[int, ...]) -> bool:
    return bisect_right(ranges, ord(character)) % 2 == 1
