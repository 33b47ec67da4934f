"""The decomposed rules of a knowledge base, in either engine, and whether their nodes are right."""

from __future__ import annotations

from everlog.engine.algebra import FactSet
from everlog.knowledge.base import KnowledgeBase
from everlog.reasoning.modules.hypertree import Atomic, Hypertree, Joined


def decomposed(kb: KnowledgeBase) -> list[Hypertree]:
    assert kb.reasoner.materialisation is not None
    return [module for module in kb.reasoner.materialisation.module_list() if isinstance(module, Hypertree)]


def check_nodes(kb: KnowledgeBase) -> None:
    """Instantiations, and the numbers of their derivations where they are kept, are those from scratch."""
    materialisation = kb.reasoner.materialisation
    assert materialisation is not None
    for module in decomposed(kb):
        for node in module.nodes:
            if isinstance(node, Atomic):
                assert node.facts(materialisation.I)[1] == len(materialisation.I.within(node._region))
                continue
            assert isinstance(node, Joined)
            derived = node._rules.apply_counted(materialisation.I)
            assert same(derived.support(), node.inst)
            if node.counts is not None:
                counted = node.counts.counted(node.inst)
                assert not counted - derived
                assert not derived - counted


def same(one: FactSet, other: FactSet) -> bool:
    return not one - other and not other - one
