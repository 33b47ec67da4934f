"""What a knowledge base asks a reasoner for: what changes, and how the rules are to be evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from everlog.datalog.syntax import Program
from everlog.engine.backend import Batch, Measured, Progress
from everlog.knowledge.settings import Settings

if TYPE_CHECKING:
    from everlog.knowledge.refusals import Guard


@dataclass(frozen=True)
class Request(Generic[Batch]):
    """Explicit facts to be added and deleted; a fact that is both is added."""

    added: Sequence[Batch]
    deleted: Sequence[Batch]
    program: Program
    settings: Settings
    asked: str | None
    """The algorithm that was asked for; if none was, it is that of the settings as long as what it needs is kept."""
    work: Measured
    started: float
    """When the work began, by `perf_counter`."""
    profiled: bool = False
    """Whether rules are to be measured."""
    guard: Guard | None = None
    """What looks at an update before it counts, and may refuse it."""
    earlier: Program | None = None
    """The program before, if rules come or go."""

    @property
    def algorithm(self) -> str:
        """The name of the algorithm to be used."""
        return self.settings.algorithm if self.asked is None else self.asked

    @property
    def progress(self) -> Progress:
        """To be called after each round."""
        return self.work.progress
