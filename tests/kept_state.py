"""What a knowledge base on the memory engine keeps for updates, as plain dictionaries, to be compared."""

from __future__ import annotations

from typing import Any

from everlog.engine.algebra import Annotation
from everlog.engine.memory.engine import full_facts
from everlog.engine.memory.sets import Valued, own
from everlog.knowledge import KnowledgeBase

Fact = tuple[Any, ...]
"""A predicate, and its arguments by kind and value."""


def _values(kb: KnowledgeBase, annotation: Annotation) -> dict[Fact, int]:
    """The values of all facts of `I` that have one."""
    state, found = kb._state, {}
    assert isinstance(annotation, Valued)
    assert state.materialisation is not None
    facts = own(state.materialisation.I)
    for table in facts.tables():
        rows = facts.rows(table)
        ids = full_facts(table, rows, state.engine.relations()[table.predicate].arity)
        values = annotation.of(table, rows.array())
        for column, value in zip(ids.T, values, strict=True):
            if value != 0:
                row = state.engine.dictionary.values(column)
                found[table.predicate, *((type(one).__name__, one) for one in row)] = int(value)
    return found


def counts(kb: KnowledgeBase) -> dict[str, dict[Fact, int]]:
    """`C_nr` and `C_r`, as far as they are kept."""
    assert kb._state.materialisation is not None
    kept = kb._state.materialisation.kept
    parts = {"nonrecursive": kept.nonrecursive, "recursive": kept.recursive}
    return {name: _values(kb, part) for name, part in parts.items() if part is not None}


def trace(kb: KnowledgeBase) -> dict[tuple[int, int], dict[Fact, int]]:
    """`N_i^s` by stratum and iteration; and as iteration 0 the stages."""
    assert kb._state.materialisation is not None
    kept = kb._state.materialisation.kept
    assert kept.trace is not None
    found = {}
    for place, iterations in enumerate(kept.trace.iterations):
        for i, counted in enumerate(iterations, start=1):
            found[place, i] = _values(kb, counted)
            assert sum(found[place, i].values()) == kept.trace.totals[place][i - 1]
        found[place, 0] = _values(kb, kept.trace.new[place])
        assert found[place, 0] == _values(kb, kept.trace.old[place])
    return {place: part for place, part in found.items() if part}
