"""Explains facts of a knowledge base, and has the proofs checked by definition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from everlog.datalog.syntax import Program
from everlog.explaining.explanation import Explanation
from everlog.knowledge.base import KnowledgeBase
from oracles import naive
from oracles.exchange import facts_of
from oracles.naive import Fact
from oracles.proofs import World, height
from support.on_spark import all_facts, decoded


def explained(kb: KnowledgeBase, fact: Fact, **options: Any) -> Explanation:
    return kb.explain(fact[0], tuple(map(naive.value_of, fact[1])), **options)


def check_all(kb: KnowledgeBase, program: Program, chosen: Iterable[Fact] | None = None) -> int:
    """Checks the least proof of every fact, or of some, and gives their number."""
    on_spark = kb.reasoner.backend.name == "spark"
    world = World(program.rules, decoded(kb, kb.reasoner.E) if on_spark else facts_of(kb, "explicit"))
    assert all_facts(kb) == world.facts
    heights = world.heights()
    facts = sorted(world.facts if chosen is None else chosen, key=repr)
    for fact in facts:
        folded = explained(kb, fact)
        assert folded.proof is not None
        assert world.check(folded.proof)[0] == fact
        found = explained(kb, fact, paths=False)
        assert found.proof is not None
        assert found.is_least()
        tree = world.check(found.proof)
        assert tree[0] == fact
        assert height(tree) == heights[fact], (tree, heights[fact])
    return len(facts)
