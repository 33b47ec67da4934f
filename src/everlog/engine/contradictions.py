"""What is said about equalities that contradict what is known, whichever engine finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from everlog.datalog.printer import print_atom
from everlog.datalog.syntax import TRIPLE, Atom, Constant
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value

SHOWN: Final = 10
"""Contradictions of each kind that are described; of the others only the number is."""

CONTRADICTORY: Final = "everything was computed anew, since equalities contradict owl:differentFrom"

Pairs = Sequence[tuple[int, int]]


class Contradiction(Exception):
    """An update would merge what owl:differentFrom tells apart: which equality is left out, starting again decides."""


def messages(
    values: Pairs, excluded: Pairs, alone: Sequence[int], value_of: Callable[[int], Value], kept_apart: bool
) -> list[str]:
    """Messages about pairs that are equal and no names, pairs that are equal and different, and what differs from itself.

    Constants are ids, of which only those that are shown are looked up. `kept_apart` tells whether different names that are
    equal stay two.
    """

    def fact(left: int, verb: Value, right: int) -> str:
        return print_atom(Atom(TRIPLE, tuple(map(Constant, (value_of(left), verb, value_of(right))))))

    found = [
        f"{fact(a, SAME_AS, b)} merges nothing: only names can be equal, and one of these is a value"
        for a, b in values[:SHOWN]
    ]
    stay = ", and stay apart" if kept_apart else ""
    found += [
        f"owl:differentFrom and owl:sameAs exclude each other, but {fact(a, DIFFERENT_FROM, b)} and "
        f"{fact(a, SAME_AS, b)} hold{stay}"
        for a, b in excluded[:SHOWN]
    ]
    found += [f"{fact(a, DIFFERENT_FROM, a)} contradicts itself" for a in alone[:SHOWN]]
    rest = len(values) + len(excluded) + len(alone) - len(found)
    return [*found, f"{rest:,} more equalities contradict what is known"] if rest else found
