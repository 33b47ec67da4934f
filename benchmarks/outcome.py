"""What runs of a system came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["ok", "absent", "not expressible", "error", "timeout"]


@dataclass(frozen=True)
class Outcome:
    """One process. Without `status` ok only `reason` and the process's own cost mean anything."""

    status: Status
    process_seconds: float
    peak_bytes: int
    reason: str = ""
    version: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    load_seconds: float = 0.0
    reasoning_seconds: float = 0.0
    facts: Mapping[str, int] = field(default_factory=dict)
    derivations: int | None = None
    other_seconds: Mapping[str, float] = field(default_factory=dict)
    processor_seconds: float | None = None
    """Of reasoning, on all processors."""
    process_processor_seconds: float = 0.0
    """Of the whole process and what it waited for."""
    sums: Mapping[str, int] = field(default_factory=dict)
    repeated_seconds: float = 0.0
    repeated_processor_seconds: float = 0.0
    """What the process did once more; `process_seconds` are without it."""


@dataclass(frozen=True)
class SystemRuns:
    """All runs of one system on one workload; a system is not asked again after a run that was not ok."""

    system: str
    timed: str
    outcomes: tuple[Outcome, ...]
    loads_while_reasoning: bool = False

    @property
    def last(self) -> Outcome:
        return self.outcomes[-1]

    @property
    def status(self) -> Status:
        return self.last.status

    @property
    def reasoning(self) -> tuple[float, float, float]:
        """Median, least and greatest reasoning seconds."""
        seconds = [outcome.reasoning_seconds for outcome in self.outcomes]
        return median(seconds), min(seconds), max(seconds)

    @property
    def processor(self) -> float | None:
        """The median of what reasoning took of the processors, where it is known."""
        known = [one.processor_seconds for one in self.outcomes if one.processor_seconds is not None]
        return median(known) if known else None

    @property
    def process_processor(self) -> float:
        return median(outcome.process_processor_seconds for outcome in self.outcomes)

    @property
    def load(self) -> float:
        return median(outcome.load_seconds for outcome in self.outcomes)

    @property
    def load_and_reasoning(self) -> float:
        return median(outcome.load_seconds + outcome.reasoning_seconds for outcome in self.outcomes)

    @property
    def process(self) -> float:
        return median(outcome.process_seconds for outcome in self.outcomes)

    @property
    def peak_bytes(self) -> int:
        return max(outcome.peak_bytes for outcome in self.outcomes)


def disagreements(systems: tuple[SystemRuns, ...]) -> list[str]:
    """A line for every predicate of which two runs, of one system or of two, counted different facts.

    Where a predicate keeps minima or maxima, their sums are compared, too.
    """
    done = [(runs.system, run) for runs in systems for run in runs.outcomes if run.status == "ok"]
    counts = _differing("", [(system, run.facts) for system, run in done])
    return counts + _differing(" (sum)", [(system, run.sums) for system, run in done])


def _differing(what: str, found: list[tuple[str, Mapping[str, int]]]) -> list[str]:
    lines = []
    for predicate in sorted({predicate for _, numbers in found for predicate in numbers}):
        counts: dict[int | None, list[str]] = {}
        for system, numbers in found:
            counts.setdefault(numbers.get(predicate), []).append(system)
        if len(counts) > 1:
            said = "; ".join(f"{', '.join(sorted(set(who)))}: {count}" for count, who in counts.items())
            lines.append(f"{predicate}{what}: {said}")
    return lines
