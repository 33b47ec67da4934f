"""Names of files for predicates, and back.

A predicate may be any string, an IRI for instance; a file name may not. What is no letter, digit, `-`, `.` or `_` is
written as `%XX`, byte by byte, and so is a leading `.` or `_`: Spark takes such files for its own and does not look at
them. Two predicates never share a name, on file systems that tell capitals from small letters.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from everlog.errors import EverlogError

_LONGEST = 240
"""Bytes that most file systems grant a name (255), without room for a suffix."""


def file_stem(predicate: str) -> str:
    """The name of a predicate's files, without a suffix.

    >>> file_stem("reach"), file_stem("<http://a/b>"), file_stem("_x")
    ('reach', '%3Chttp%3A%2F%2Fa%2Fb%3E', '%5Fx')
    """
    stem = "".join(character if character.isalnum() else quote(character, safe="-._") for character in predicate)
    stem = stem.replace("~", "%7E")
    if stem[:1] in (".", "_"):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if not stem:
        stem = "%"
    if len(stem.encode()) > _LONGEST:
        raise EverlogError(
            f"the predicate {predicate[:60]}… is too long to be the name of a file ({len(predicate)} characters)"
        )
    return stem


def predicate_of(stem: str) -> str:
    """The predicate that a file's name, without its suffix, stands for.

    >>> predicate_of("reach"), predicate_of("%3Chttp%3A%2F%2Fa%2Fb%3E")
    ('reach', '<http://a/b>')
    """
    return "" if stem == "%" else unquote(stem)
