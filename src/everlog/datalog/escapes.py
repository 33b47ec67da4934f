"""The escapes of Turtle strings and IRIs, in both directions.

A mistake is a `EscapeError` that knows its offset in the text, so that the reader can point at it.
"""

from __future__ import annotations

import re
from typing import Final

SIMPLE: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]?))")
# Line separators are escaped too: a printed rule stays on one line in every editor.
_UNPRINTABLE: Final = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]')
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class EscapeError(ValueError):
    """An escape that means nothing; `offset` is where its backslash stands."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def unescape_string(text: str) -> str:
    r"""The string that the inside of a quoted string stands for.

    >>> unescape_string(r"caf\u00E9\n") == "café\n"
    True
    """
    return _unescape(text, SIMPLE, r"\t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX")


def unescape_iri(text: str) -> str:
    """The same for the inside of `<…>`, where only numeric escapes exist."""
    return _unescape(text, {}, r"\uXXXX \UXXXXXXXX")


def _unescape(text: str, simple: dict[str, str], known: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        short, long, letter = match.groups()
        if letter is not None:
            if letter not in simple:
                raise EscapeError(f"'\\{letter}' is not an escape; the escapes here are {known}", match.start())
            return simple[letter]
        code = int(short or long, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise EscapeError(f"'{match[0]}' is no Unicode character", match.start())
        return chr(code)

    return _ESCAPE.sub(character, text)


def escape_string(text: str) -> str:
    """The inside of a double-quoted string that stands for `text`."""
    return _UNPRINTABLE.sub(lambda match: _SHORT.get(match[0]) or f"\\u{ord(match[0]):04X}", text)
