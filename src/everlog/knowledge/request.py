"""An update as a knowledge base asks a state for it: what changes, and how the rules are to be evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from everlog.datalog.syntax import Program
from everlog.knowledge.settings import Settings
from everlog.reasoning.change import Progress

Facts = TypeVar("Facts")
"""Some facts as ids, in whatever form an engine has them."""


@dataclass(frozen=True)
class Request(Generic[Facts]):
    """Explicit facts to be added and deleted; a fact that is both is added."""

    added: Sequence[Facts]
    deleted: Sequence[Facts]
    program: Program
    settings: Settings
    progress: Progress
    started: float
    """When the work began, by `perf_counter`."""
