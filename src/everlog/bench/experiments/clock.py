"""How experiments take time: the processor's, of a process in which one thread works.

On an idle machine that is what a clock on the wall says, to a few per cent; on a busy one it does not count what others
took. What reads from disk or has several threads cannot be measured so, and is not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from time import process_time
from typing import TYPE_CHECKING, Final, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from everlog import KnowledgeBase
    from everlog.report import Report

T = TypeVar("T")

WORKERS: Final = 1
"""Threads of the engine in what is measured so."""


def materialising(
    make: Callable[[], KnowledgeBase], facts: Mapping[str, pa.Table], planned: Hashable
) -> tuple[KnowledgeBase, Report, float]:
    """A knowledge base with these facts, what its materialisation reports, and the seconds of reasoning.

    What has nothing to do with facts, the planning of rules, is not counted: it is what a materialisation of none takes.
    That is measured once for all knowledge bases with the same program and options, which is what `planned` has.
    """
    if planned not in _PLANNING:
        _PLANNING[planned] = min(timed(make().materialise)[1] for _ in range(2))
    kb = make()
    kb.add(facts)
    report, seconds = timed(kb.materialise)
    return kb, report, max(seconds - _PLANNING[planned], 0.001)


_PLANNING: Final[dict[Hashable, float]] = {}


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What some work comes to, and its seconds."""
    begun = process_time()
    result = work()
    return result, process_time() - begun
