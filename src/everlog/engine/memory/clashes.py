"""Equalities that contradict what is known: values that are no names, and what owl:differentFrom tells apart.

Numbers, booleans and RDF literals are what they are: an equality of two of them, or of one and a name, merges nothing. So
does, where equal names are rewritten, an equality of names that owl:differentFrom tells apart; rules for equality make them
equal all the same. All are reported with facts.
"""

from __future__ import annotations

import numpy as np

from everlog.datalog.values import DIFFERENT_FROM, SAME_AS
from everlog.engine.contradictions import messages
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import MemoryFacts
from everlog.engine.memory.facts.table import Ids


def clashes(engine: MemoryEngine, I: MemoryFacts, kept_apart: Ids | None = None) -> list[str]:
    """Messages about the facts of a materialisation, in which equal names have the same facts, or are one.

    `kept_apart` are pairs of names that owl:differentFrom tells apart, and that are equal but for that.
    """
    same, different = engine.ends(SAME_AS, I), engine.ends(DIFFERENT_FROM, I)
    values = same[:, (same[0] != same[1]) & ~engine.different_names(same)]
    excluded = _in_both(same, different) if kept_apart is None else kept_apart
    alone = np.setdiff1d(engine.loops(DIFFERENT_FROM, I), excluded)
    return messages(
        values.T.tolist(), excluded.T.tolist(), alone.tolist(), engine.dictionary.value, kept_apart is not None
    )


def _in_both(same: Ids, different: Ids) -> Ids:
    """Pairs of different names that are equal, each once."""
    equal = {frozenset(pair) for pair in same.T.tolist()} if different.shape[1] else set()
    pairs = {frozenset(pair): pair for pair in reversed(different.T.tolist()) if pair[0] != pair[1]}
    found = [pair for ends, pair in pairs.items() if ends in equal]
    return np.array(found[::-1], np.int32).reshape(-1, 2).T
