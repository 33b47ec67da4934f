"""What a materialisation or an update did: numbers for people, and for `--stats`."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from everlog.knowledge.rule_profile import Profile
from everlog.wording import counted


@dataclass(frozen=True, repr=False)
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
    """Seconds by stratum; rules that equality depends on, where equal names are rewritten, are in none."""
    state_bytes: int = 0
    """The memory of what is kept for updates besides the facts."""
    spark: dict[str, Any] | None = None
    """What Spark did, by round, if it was Spark that reasoned."""
    profile: Profile | None = None
    """What rules took, if they were measured."""

    def __repr__(self) -> str:
        changed = f"{self.added:,} added, {self.deleted:,} deleted, " if self.added or self.deleted else ""
        warned = f", {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        facts = f"{counted(self.facts['total'], 'fact')} ({self.facts['explicit']:,} explicit)"
        return f"<Report: {facts}, {changed}{self.algorithm}, {self.seconds['total']:.2f} s{warned}>"

    def _repr_html_(self) -> str:
        """A notebook shows the numbers as a table, and warnings below it."""
        numbers = {
            **{f"facts, {name}": f"{number:,}" for name, number in self.facts.items()},
            "added": f"{self.added:,}",
            "deleted": f"{self.deleted:,}",
            "algorithm": self.algorithm,
            "engine": self.engine,
            **{f"seconds, {name}": f"{seconds:.3f}" for name, seconds in self.seconds.items()},
        }
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in numbers.items())
        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        return f"<table>{rows}</table><ul>{warnings}</ul>"

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
            **({} if self.profile is None else {"profile": self.profile.stats()}),
        }


def peak_rss_bytes() -> int:
    """The largest resident size of this process so far."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
