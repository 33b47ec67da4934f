"""Facts of Python values as files of ids, as those who write them take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import everlog
from everlog.datalog.values import Value
from everlog.store.publishing.fact_files import FiledFacts


def filed(folder: Path, facts: Mapping[str, Sequence[tuple[Value, ...]]]) -> FiledFacts:
    """Facts by predicate, as files in a folder."""
    kb = everlog.KnowledgeBase(everlog.parse_program(""))
    kb.add(facts)
    kb.materialise()
    return kb.filed(facts, folder)
