"""`REGEX` and `REPLACE`: patterns as XPath has them, matched by Python's `re`.

A pattern is read and written anew for Python, so that it means there what XPath says: `$` is the very end, `x` knows no
comments, a class can be subtracted from another, `\\p{Lu}` is a category of characters, and what is special to Python is
malformed. `\\w` and `\\s` are Python's, and word boundaries are allowed. Beyond what XPath says nothing is matched.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Final

from everlog.datalog.values import Value
from everlog.expressions.text_functions import like, text

_FLAGS: Final = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.NOFLAG, "q": re.NOFLAG}
_CATEGORY: Final = r"\\(?P<category>[pP])\{(?P<name>[A-Z][a-z]?)\}"
_ESCAPE: Final = r"(?P<escape>\\[nrt\\|.?*+(){}\-\[\]^$dDsSwW])"
_OUTSIDE: Final = re.compile(
    rf"{_CATEGORY}|{_ESCAPE}|(?P<special>\\[bB1-9]|\(\?:|\((?!\?)|[|).^])|(?P<end>\$)"
    r"|(?P<count>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?![*+?{]))|(?P<opening>\[\^?)|(?P<plain>[^\\()\[\]{}*+?|.^$])"
)
_INSIDE: Final = re.compile(
    rf"{_CATEGORY}|{_ESCAPE}|(?P<closing>\])|(?P<subtracted>-\[\^?)|(?P<hyphen>-)|(?P<plain>[^\\\[\]])"
)
_REPLACEMENT: Final = re.compile(r"\\(?P<escaped>[\\$])|\$(?P<group>[0-9]+)|(?P<plain>[^\\$]+)")


def matches(value: Value, pattern: Value, flags: Value = "") -> bool | None:
    """Whether a string matches a pattern somewhere."""
    said = text(value)
    found = compiled(pattern, flags) if isinstance(pattern, str) and isinstance(flags, str) else None
    return None if said is None or found is None else found.search(said) is not None


def replaced(value: Value, pattern: Value, replacement: Value, flags: Value = "") -> Value | None:
    """A string with all matches replaced; a pattern that matches nothing at all is an error, as XPath says."""
    said = text(value)
    if said is None or not isinstance(pattern, str) or not isinstance(replacement, str) or not isinstance(flags, str):
        return None
    found = compiled(pattern, flags)
    if found is None or found.search("") is not None:
        return None
    parts = [replacement] if "q" in flags else _parts(replacement, found.groups)
    if parts is None:
        return None
    return like(
        value,
        found.sub(lambda match: "".join(one if isinstance(one, str) else match[one] or "" for one in parts), said),
    )


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: str) -> re.Pattern[str] | None:
    """A pattern for Python, or None if it is malformed."""
    if not set(flags) <= _FLAGS.keys():
        return None
    options = re.NOFLAG
    for flag in flags:
        options |= _FLAGS[flag]
    try:
        return re.compile(re.escape(pattern) if "q" in flags else _translated(pattern, flags), options)
    except (re.error, ValueError, OverflowError, RecursionError):
        return None


def _translated(pattern: str, flags: str) -> str:
    """A pattern as Python writes it."""
    written: list[str] = []
    place = 0
    while place < len(pattern):
        if "x" in flags and pattern[place] in " \t\n\r":
            place += 1
            continue
        found = _OUTSIDE.match(pattern, place)
        if found is None:
            raise ValueError(f"malformed at {place}")
        place = found.end()
        if found["opening"]:
            inside, place = _class(pattern, place, negated=found["opening"] == "[^")
            written.append(inside)
        elif found["end"]:
            written.append("$" if "m" in flags else r"\Z")
        elif found["name"]:
            written.append(f"[{_characters(found['name'], found['category'] == 'P')}]")
        else:
            written.append(re.escape(found["plain"]) if found["plain"] else found[0])
    return "".join(written)


def _class(pattern: str, place: int, negated: bool) -> tuple[str, int]:
    """A class of characters whose inside begins at a place, as Python writes it, and where it ends."""
    items: list[str] = []
    while (found := _INSIDE.match(pattern, place)) is not None:
        place = found.end()
        if found["closing"] or found["subtracted"]:
            if not items:
                break
            written = f"[{'^' if negated else ''}{''.join(items)}]"
            if found["closing"]:
                return written, place
            without, place = _class(pattern, place, negated=found["subtracted"] == "-[^")
            if pattern[place : place + 1] != "]":
                break
            return f"(?:(?!{without}){written})", place + 1
        if found["hyphen"]:
            items.append("-" if items and pattern[place : place + 1] != "]" else r"\-")
        elif found["name"]:
            items.append(_characters(found["name"], found["category"] == "P"))
        else:
            items.append(re.escape(found["plain"]) if found["plain"] else found[0])
    raise ValueError(f"a class of characters is malformed at {place}")


@lru_cache(maxsize=64)
def _characters(category: str, others: bool) -> str:
    """The characters of a category such as `Lu` or `L`, or all others, as ranges within a class."""
    if not any(name.startswith(category) for name, _, _ in _categories()):
        raise ValueError(f"there is no category {category}")
    return "".join(
        f"{re.escape(chr(first))}-{re.escape(chr(last))}"
        for name, first, last in _categories()
        if name.startswith(category) != others
    )


@lru_cache(maxsize=1)
def _categories() -> list[tuple[str, int, int]]:
    """All characters as ranges of one category each."""
    grouped = groupby(range(sys.maxunicode + 1), lambda code: unicodedata.category(chr(code)))
    return [(name, (codes := list(group))[0], codes[-1]) for name, group in grouped]


def _parts(replacement: str, groups: int) -> list[str | int] | None:
    """What a replacement consists of: texts, and numbers of groups; None if it is malformed.

    `$12` is the twelfth group if there are so many, else the first one and a 2; a group that there is not is empty.
    """
    parts: list[str | int] = []
    place = 0
    while place < len(replacement):
        found = _REPLACEMENT.match(replacement, place)
        if found is None:
            return None
        place = found.end()
        if digits := found["group"]:
            while len(digits) > 1 and int(digits) > groups:
                digits, place = digits[:-1], place - 1
            parts.append(int(digits) if int(digits) <= groups else "")
        else:
            parts.append(found["escaped"] or found["plain"])
    return parts
