"""Ground atoms as rows for a knowledge base, and its rows as facts of the oracles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from everlog import KnowledgeBase
from everlog.datalog.syntax import Atom
from everlog.datalog.values import Value
from oracles.naive import Facts, fact

Rows = dict[str, list[tuple[Value, ...]]]


def rows_of(facts: Iterable[Atom]) -> Rows:
    """Facts as `KnowledgeBase.add` takes them."""
    rows: Rows = {}
    for one in facts:
        rows.setdefault(one.predicate, []).append(tuple(term.value for term in one.terms))
    return rows


def facts_of(kb: KnowledgeBase, which: Literal["all", "explicit", "derived"] = "all") -> Facts:
    """All facts of a knowledge base; each occurs once."""
    found = [fact(predicate, *row) for predicate in kb.predicates() for row in kb.rows(predicate, which)]
    assert len(set(found)) == len(found), "a fact occurs twice"
    return frozenset(found)
