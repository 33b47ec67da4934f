"""Equalities that contradict what is known: values that are no names, and what owl:differentFrom tells apart.

Numbers, booleans and RDF literals are what they are: an equality of two of them, or of one and a name, merges nothing. Two
names that owl:differentFrom tells apart are merged all the same, as nobody could say which of the equalities that lead from
one to the other is wrong. Both are reported with facts.
"""

from __future__ import annotations

from collections.abc import Iterator

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


def clashes(engine: MemoryEngine, I: Facts) -> list[str]:
    """Messages about the facts of a materialisation, in which equal names have the same facts, or are one."""
    same = _ends(engine, I, SAME_AS)
    different = _ends(engine, I, DIFFERENT_FROM)
    same_as = engine.dictionary.encode_value(SAME_AS)
    kinds = engine.dictionary.order().kinds[same]
    names = (kinds >= STRING) & (kinds <= BLANK) & (same != same_as)
    apart = same[:, (same[0] != same[1]) & ~names.all(axis=0)]
    merged = different[:, different[0] == different[1]]
    messages = [
        f"{_fact(engine, a, SAME_AS, b)} merges nothing: only names can be equal, and one of these is a value"
        for a, b in apart.T[:SHOWN]
    ]
    messages += list(_merged(engine, np.unique(merged[0])[:SHOWN], different))
    rest = apart.shape[1] + merged.shape[1] - len(messages)
    return [*messages, f"{rest:,} more equalities contradict what is known"] if rest else messages


def _merged(engine: MemoryEngine, names: Ids, different: Ids) -> Iterator[str]:
    for name in names:
        others = different[1][(different[0] == name) & (different[1] != name)]
        facts = [_fact(engine, name, DIFFERENT_FROM, others[0] if len(others) else name)]
        facts += [_fact(engine, name, SAME_AS, others[0])] if len(others) else []
        yield f"owl:differentFrom and owl:sameAs exclude each other, but {' and '.join(facts)} hold"


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
