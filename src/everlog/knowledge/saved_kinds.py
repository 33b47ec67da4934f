"""What a store says about what is kept for updates, besides the kinds of its relations (`engine/kept_kinds.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Final

from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, Comparison, Rule, Variable, parts
from everlog.datalog.values import identity
from everlog.planning.hidden_predicates import named_after

OLDER: Final = "older"
"""Said of what an earlier Everlog has stored, whose names mean something else now."""
BY_VALUE: Final = "compared-by-value"
"""Said of a store whose rules compare as `datalog/comparing.py` says."""
BY_TERM: Final = "compared-by-term"
"""Said of what an earlier Everlog has stored, to which `=` meant the same term, and dates had no order."""
BY_KIND: Final = "equal-numbers-by-kind"
"""Said of a store in which the least of equal numbers is an integer (`expressions/total_order.py`)."""
BY_TEXT: Final = "equal-numbers-by-text"
"""Said of what an earlier Everlog has stored, to which it was the one whose text is less."""
DECOMPOSED: Final = "decomposed"
"""Said of a store that names the rules which are decomposed, and whose derivations are not counted."""
TREE: Final = "tree-"
"""What the kinds begin with that say which rules these are."""
MODULE: Final = "module-"
"""What the kinds begin with that say for which modules there are backbones."""

CLOSED: Final = "closed-"
"""What the kinds begin with that name predicates whose facts follow from those of a backbone (`closed_predicates`)."""

_NUMBERED = re.compile(r"[^:]+:¬(key)?[0-9]{1,6}")
"""Relations about hidden predicates that were numbered instead of being named after what defines them."""

_NUMBERED_MODULES = "backbone"
"""A kind that said nothing about the modules whose backbones were stored."""


def stored_kinds(kinds: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    """The kinds of a store that says which it has, and has relations of some names."""
    known = frozenset(kinds)
    known |= frozenset() if BY_VALUE in known else {BY_TERM}
    known |= frozenset() if BY_KIND in known else {BY_TEXT}
    return known | {OLDER} if _NUMBERED_MODULES in known or any(map(_NUMBERED.fullmatch, names)) else known


def closed_predicates(kinds: Iterable[str]) -> frozenset[str]:
    """The predicates of a store of which backbones tell all facts, so that these need not be read."""
    return frozenset(kind.removeprefix(CLOSED) for kind in kinds if kind.startswith(CLOSED))


def compares(rules: Iterable[Rule]) -> bool:
    """Whether some rule compares values."""
    return any(isinstance(part, Comparison) for rule in rules for literal in rule.body for part in parts(literal))


def chooses(rules: Iterable[Rule]) -> bool:
    """Whether some rule asks for the least or greatest of some values, or for their order."""
    return any(rule.extreme is not None or rule.aggregates for rule in rules)


def tree_key(rule: Rule) -> str:
    """A name for a decomposed rule, whatever its variables are called."""
    return named_after(TREE, canonical_rule(rule))


@lru_cache(2**12)
def module_key(kind: str, heads: tuple[Atom, ...]) -> str:
    """A name for a module with some heads, and perhaps hidden steps, whatever their variables are called.

    What is kept for one is of use to no other.
    """
    said = (
        (atom.predicate, *("?" if isinstance(term, Variable) else repr(identity(term.value)) for term in atom.terms))
        for atom in heads
    )
    return f"{MODULE}{sha256(repr((kind, *said)).encode()).hexdigest()[:16]}"
