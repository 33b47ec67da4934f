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
    """A line for every predicate of which two runs, of one system or of two, counted different facts."""
    found = []
    done = [(runs.system, run) for runs in systems for run in runs.outcomes if run.status == "ok"]
    for predicate in sorted({predicate for _, run in done for predicate in run.facts}):
        counts: dict[int | None, list[str]] = {}
        for system, run in done:
            counts.setdefault(run.facts.get(predicate), []).append(system)
        if len(counts) > 1:
            said = "; ".join(f"{', '.join(sorted(set(who)))}: {count}" for count, who in counts.items())
            found.append(f"{predicate}: {said}")
    return found
