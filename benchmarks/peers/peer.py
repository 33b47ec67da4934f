"""What it takes to measure a system.

`measure` loads a job's facts, reasons, counts the result, and says how long the first two took; it raises `Absent` (or
`ImportError`) where the system is not installed. Counting is not timed. `timed` says in words what the reasoning time
covers, since systems differ in what they do while they load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.job import Form, Job
from benchmarks.relational import Relational


class Absent(Exception):
    """The system is not installed; the message says what is missing."""


@dataclass(frozen=True)
class Measurement:
    version: str
    load_seconds: float
    reasoning_seconds: float
    facts: Mapping[str, int]
    """Facts per result predicate, explicit ones included."""
    processor_seconds: float | None = None
    """What reasoning took of the processors, all threads together; None where that is not known."""
    sums: Mapping[str, int] = field(default_factory=dict)
    """Of relations with a minimum or maximum, the sum of these: their facts are as many whatever the values are."""
    derivations: int | None = None
    other_seconds: Mapping[str, float] = field(default_factory=dict)
    """What the system says of its time beside; recorded, not compared."""
    settings: Mapping[str, str] = field(default_factory=dict)
    repeated_seconds: float = 0.0
    repeated_processor_seconds: float = 0.0
    """What was done once more, to be measured, and is no part of the process's work."""


@dataclass(frozen=True)
class Peer:
    name: str
    form: Form
    timed: str
    measure: Callable[[Job, Mapping[str, str]], Measurement]
    translate: Callable[[Relational], str] | None = None
    """The program in the system's language; Everlog takes the workload as it is."""
    loads_while_reasoning: bool = False
    """Its reasoning time cannot be told from its loading, so only the sum of both is compared."""
