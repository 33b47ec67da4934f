"""A knowledge base in a new engine, without the rows of facts that are gone, as if many of them were."""

from __future__ import annotations

from everlog import KnowledgeBase
from everlog.knowledge.engine_choice import Engine


def compact(kb: KnowledgeBase) -> None:
    """Goes on with nothing but what is kept, as after an update that leaves more rows behind than facts."""
    kb.restore(kb.reasoner.compacted(), kb.arities, Engine("memory"))
