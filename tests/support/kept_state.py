"""What a knowledge base on the memory engine keeps for updates, by fact, to be compared with the truth."""

from __future__ import annotations

from everlog.engine.algebra import Annotation
from everlog.engine.memory.facts.annotations import RowAnnotation
from everlog.engine.memory.facts.rows import full_facts
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.knowledge.base import KnowledgeBase
from everlog.reasoning.kept import Kept
from oracles import naive
from oracles.naive import Fact


def kept(kb: KnowledgeBase) -> Kept:
    assert kb.reasoner.materialisation is not None
    return kb.reasoner.materialisation.kept


def values(kb: KnowledgeBase, annotation: Annotation) -> dict[Fact, int]:
    """The values of all facts of the materialisation that have one, those of hidden predicates too."""
    state, found = kb.reasoner, {}
    assert isinstance(annotation, RowAnnotation)
    assert state.materialisation is not None
    facts = as_memory_facts(state.materialisation.I)
    for table in facts.tables():
        rows = facts.rows(table)
        ids = full_facts(table, rows, state.engine.relations()[table.predicate].arity)
        for column, value in zip(ids.T, annotation.of(table, rows.array()), strict=True):
            if value != 0:
                found[naive.fact(table.predicate, *state.engine.dictionary.values(column))] = int(value)
    return found


def counts(kb: KnowledgeBase, recursive: bool) -> dict[Fact, int] | None:
    """`C_nr` or `C_r`, if it is kept; facts without such a derivation are left out."""
    annotation = kept(kb).recursive if recursive else kept(kb).nonrecursive
    return None if annotation is None else values(kb, annotation)


def trace(kb: KnowledgeBase) -> dict[Fact, dict[int, int]] | None:
    """The counts of each fact by iteration, if they are kept."""
    known = kept(kb).trace
    if known is None:
        return None
    found: dict[Fact, dict[int, int]] = {}
    for place, iterations in enumerate(known.iterations):
        for number, annotation in enumerate(iterations, start=1):
            counted = values(kb, annotation)
            assert sum(counted.values()) == known.totals[place][number - 1]
            for fact, count in counted.items():
                found.setdefault(fact, {})[number] = count
    return found


def stages(kb: KnowledgeBase) -> dict[Fact, int]:
    """The first iteration of each fact, as the trace has them for the next update."""
    known = kept(kb).trace
    assert known is not None
    found: dict[Fact, int] = {}
    for old, new in zip(known.old, known.new, strict=True):
        before, after = values(kb, old), values(kb, new)
        assert before == after, "between updates the old stages are the new ones"
        assert not found.keys() & after.keys()
        found |= after
    return found
