"""Which files the facts of predicates came from, for explanations.

A fact does not know its file: what is known of a predicate is a list of names, one of which it is. Whatever else facts
come from is `ELSEWHERE`, and where there are many files nobody is helped by a list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

ELSEWHERE: Final = ""
PROGRAM: Final = "the program"
_MOST: Final = 3


def known_files(known: Mapping[str, tuple[str, ...]], more: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """The names of the files that facts of predicates came from, with those of more facts.

    >>> known_files({"p": ("a.csv",)}, {"p": ["/data/b.csv"], "q": ["a.csv"]})
    {'p': ('a.csv', 'b.csv'), 'q': ('a.csv',)}
    """
    found = dict(known)
    for predicate, files in more.items():
        names = dict.fromkeys([*known.get(predicate, ()), *(file.rstrip("/").rpartition("/")[2] for file in files)])
        found[predicate] = tuple(names) if names and len(names) <= _MOST and ELSEWHERE not in names else (ELSEWHERE,)
    return found


def named_files(files: Iterable[str]) -> str | None:
    """Where a fact comes from, if that can be said."""
    names = list(files)
    return " or ".join(names) if names and ELSEWHERE not in names else None
