"""What a materialisation or an update did: numbers for people, and for `--stats`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """`added` and `deleted` count facts of the materialisation; `seconds` always has `total` and `reasoning`.

    Where equal constants are rewritten, `facts` has `representatives` besides: how many facts are stored.
    """

    engine: str
    algorithm: str
    facts: dict[str, int]
    derivations: dict[str, int]
    seconds: dict[str, float]
    rounds: int
    added: int = 0
    deleted: int = 0
    modules: list[dict[str, object]] = field(default_factory=list)
    left_out: list[dict[str, object]] = field(default_factory=list)
    """Modules that were found and are not used, and why."""
    peak_rss_bytes: int = 0
    warnings: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    """Why the algorithm was chosen, if it was not asked for."""
    strata: dict[int, float] = field(default_factory=dict)
    """Seconds by stratum, of an update."""
    state_bytes: int = 0
    """The memory of what is kept for updates besides the facts."""
    spark: dict[str, Any] | None = None
    """What Spark did, by round, if it was Spark that reasoned."""

    def stats(self) -> dict[str, object]:
        """The keys of `--stats`."""
        return {
            "facts": self.facts,
            "derivations": self.derivations,
            "seconds": self.seconds,
            "rounds": self.rounds,
            "engine": self.engine,
            "algorithm": self.algorithm,
            "modules": self.modules,
            "left_out": self.left_out,
            "peak_rss_bytes": self.peak_rss_bytes,
            "warnings": self.warnings,
            "reasons": self.reasons,
            "strata": self.strata,
            "state_bytes": self.state_bytes,
            **({} if self.spark is None else {"spark": self.spark}),
        }


def peak_rss_bytes() -> int:
    """The largest resident size of this process so far."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
