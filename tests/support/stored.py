"""Sets of the oracles' facts in a memory engine, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import numpy as np

from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.annotations import CountedFacts
from everlog.engine.memory.facts.rows import full_facts, listed
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts
from everlog.engine.memory.facts.table import Ids, Table
from oracles.naive import Fact, fact, value_of


def stored(engine: MemoryEngine, facts: Iterable[Fact]) -> ComputedFacts:
    """The set of some facts."""
    groups: dict[str, list[tuple[object, ...]]] = {}
    for predicate, keys in facts:
        groups.setdefault(predicate, []).append(tuple(map(value_of, keys)))
    found = engine.empty()
    for predicate, rows in groups.items():
        columns = [engine.dictionary.encode_values(column) for column in zip(*rows, strict=True)]
        ids = np.array(columns, np.int32) if columns else np.empty((0, 1), np.int32)
        found |= engine.insert(predicate, ids)
    return found


def disguised(engine: MemoryEngine, facts: frozenset[Fact], others: frozenset[Fact], random: Random) -> MemoryFacts:
    """The set of some facts, perhaps as a view over sets that have other facts as well."""
    more, half = (frozenset(one for one in some if random.random() < 0.5) for some in (others - facts, facts))
    ways = [
        lambda: stored(engine, facts),
        lambda: stored(engine, facts | more) - stored(engine, more),
        lambda: stored(engine, half) | stored(engine, facts - half),
        lambda: stored(engine, facts | more) & stored(engine, facts | (others - more)),
    ]
    return random.choice(ways)()


def facts_in(engine: MemoryEngine, facts: MemoryFacts) -> frozenset[Fact]:
    """The facts of a set; each has one row."""
    found = [one for table in facts.tables() for one in _facts(engine, table, facts.rows(table).array())]
    assert len(found) == len(set(found)) == len(facts)
    return frozenset(found)


def multiplicities(engine: MemoryEngine, counted: CountedFacts) -> Counter[Fact]:
    found: Counter[Fact] = Counter()
    for table, (rows, counts) in counted.parts().items():
        order = np.argsort(rows)
        for one, count in zip(_facts(engine, table, rows[order]), counts[order], strict=True):
            assert one not in found and count > 0
            found[one] = int(count)
    return found


def _facts(engine: MemoryEngine, table: Table, rows: Ids) -> list[Fact]:
    arity = len(table.positions) + len(table.fixed)
    columns = full_facts(table, listed(table, rows), arity)
    if arity == 0:
        return [fact(table.predicate)] * len(rows)
    values = (engine.dictionary.values(column) for column in columns)
    return [fact(table.predicate, *row) for row in zip(*values, strict=True)]
