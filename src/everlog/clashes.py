"""Equalities that contradict what is known: values that are no names, and what owl:differentFrom tells apart.

Numbers, booleans and RDF literals are what they are: an equality of two of them, or of one and a name, merges nothing. So
does, where equal names are rewritten, an equality of names that owl:differentFrom tells apart; rules for equality make them
equal all the same. All are reported with facts.
"""

from __future__ import annotations

import numpy as np

from everlog.datalog.printer import print_atom
from everlog.datalog.syntax import TRIPLE, Atom, Constant
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS
from everlog.engine.memory.engine import MemoryEngine, full_facts
from everlog.engine.memory.kinds import BLANK, STRING
from everlog.engine.memory.sets import Facts
from everlog.engine.memory.table import Ids, Table

SHOWN = 10
"""Clashes that are described; of the others only the number is."""


def clashes(engine: MemoryEngine, I: Facts, kept_apart: Ids | None = None) -> list[str]:
    """Messages about the facts of a materialisation, in which equal names have the same facts, or are one.

    `kept_apart` are pairs of names that owl:differentFrom tells apart, and that are equal but for that.
    """
    same = _ends(engine, I, SAME_AS)
    different = _ends(engine, I, DIFFERENT_FROM)
    same_as = engine.dictionary.encode_value(SAME_AS)
    kinds = engine.dictionary.order().kinds[same]
    names = (kinds >= STRING) & (kinds <= BLANK) & (same != same_as)
    values = same[:, (same[0] != same[1]) & ~names.all(axis=0)]
    excluded = _in_both(same, different) if kept_apart is None else kept_apart
    alone = np.setdiff1d(different[0, different[0] == different[1]], excluded)
    messages = [
        f"{_fact(engine, a, SAME_AS, b)} merges nothing: only names can be equal, and one of these is a value"
        for a, b in values.T[:SHOWN]
    ]
    messages += [
        f"owl:differentFrom and owl:sameAs exclude each other, but {_fact(engine, a, DIFFERENT_FROM, b)} and "
        f"{_fact(engine, a, SAME_AS, b)} hold{'' if kept_apart is None else ', and stay apart'}"
        for a, b in excluded.T[:SHOWN]
    ]
    messages += [f"{_fact(engine, a, DIFFERENT_FROM, a)} contradicts itself" for a in alone[:SHOWN]]
    rest = values.shape[1] + excluded.shape[1] + len(alone) - len(messages)
    return [*messages, f"{rest:,} more equalities contradict what is known"] if rest else messages


def _in_both(same: Ids, different: Ids) -> Ids:
    """Pairs of different names that are equal, each once."""
    equal = {frozenset(pair) for pair in same.T.tolist()} if different.shape[1] else set()
    pairs = {frozenset(pair): pair for pair in reversed(different.T.tolist()) if pair[0] != pair[1]}
    found = [pair for ends, pair in pairs.items() if ends in equal]
    return np.array(found[::-1], np.int32).reshape(-1, 2).T


def _ends(engine: MemoryEngine, I: Facts, verb: object) -> Ids:
    """The subjects and objects of the triples with a property."""
    table: Table | None = engine.relation(TRIPLE, 3).static({1: engine.dictionary.encode_value(verb)})
    assert table is not None
    found: Ids = full_facts(table, I.rows(table), 3)[[0, 2]]
    return found


def _fact(engine: MemoryEngine, subject: int, verb: object, object_: int) -> str:
    left, right = (Constant(engine.dictionary.value(int(one))) for one in (subject, object_))
    middle = Constant(engine.dictionary.value(engine.dictionary.encode_value(verb)))
    return print_atom(Atom(TRIPLE, (left, middle, right)))
