"""Explains facts of a knowledge base, and has the proofs checked by definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from everlog.datalog.syntax import Atom, Constant, Program
from everlog.explaining.explainer import Explainer
from everlog.explaining.explanation import Explanation
from everlog.explaining.proof import Node
from everlog.explaining.proof_search import Limits
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.explained import ProofFacts
from oracles import naive
from oracles.exchange import facts_of
from oracles.naive import Fact
from oracles.proofs import World, height
from support.on_spark import all_facts, decoded


def explained(kb: KnowledgeBase, fact: Fact, **options: Any) -> Explanation:
    return kb.explain(fact[0], tuple(map(naive.value_of, fact[1])), **options)


def explained_together(kb: KnowledgeBase, facts: Sequence[Fact], paths: bool = True) -> list[Node]:
    """Proofs of least height that one search has found: on Spark many facts take hardly more jobs than one."""
    held = ProofFacts().of(kb.reasoner, kb.program, kb.settings)
    atoms = [Atom(name, tuple(Constant(naive.value_of(value)) for value in values)) for name, values in facts]
    return Explainer(held, Limits(600, 1_000_000), None, kb.program, paths).least_of_each(atoms)


def check_all(kb: KnowledgeBase, program: Program, chosen: Iterable[Fact] | None = None) -> int:
    """Checks the least proof of every fact, or of some, and gives their number."""
    on_spark = kb.reasoner.backend.name == "spark"
    world = World(program.rules, decoded(kb, kb.reasoner.E) if on_spark else facts_of(kb, "explicit"))
    assert all_facts(kb) == world.facts
    heights = world.heights()
    facts = sorted(world.facts if chosen is None else chosen, key=repr)
    together = [explained_together(kb, facts, paths) for paths in (True, False)] if on_spark else None
    for number, fact in enumerate(facts):
        folded = explained(kb, fact).proof if together is None else together[0][number]
        assert folded is not None
        assert world.check(folded)[0] == fact
        found = explained(kb, fact, paths=False).proof if together is None else together[1][number]
        assert found is not None
        tree = world.check(found)
        assert tree[0] == fact
        assert height(tree) == heights[fact], (tree, heights[fact])
    return len(facts)
