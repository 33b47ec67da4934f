"""How experiments take time: the processor's, of a process in which one thread works.

On an idle machine that is what a clock on the wall says, to a few per cent; on a busy one it does not count what others
took. What reads from disk or has several threads cannot be measured so, and is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import process_time
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from everlog import KnowledgeBase
    from everlog.knowledge.report import Report

T = TypeVar("T")

WORKERS: Final = 1
"""Threads of the engine in what is measured so."""


def materialising(kb: KnowledgeBase, facts: Mapping[str, pa.Table]) -> tuple[Report, float]:
    """What the materialisation of a knowledge base with these facts reports, and the seconds of reasoning.

    The planning of rules, which has nothing to do with facts, is not counted; its share is taken from the report.
    """
    kb.add(facts)
    report, seconds = timed(kb.materialise)
    return report, seconds * (1 - report.seconds["planning"] / report.seconds["total"])


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What some work comes to, and its seconds."""
    begun = process_time()
    result = work()
    return result, process_time() - begun
