"""What one request may take, and how it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RequestLimits:
    """Seconds include waiting for one's turn; rows are those of an answer, and of what a query finds on its way."""

    seconds: float = 60.0
    rows: int = 10_000_000
    memory: str = "2g"
    """What the solutions of one operator of a query may take."""
    body_bytes: int = 64 << 20
    streams: int = 100
    """How many may follow changes at a time."""
    connections: int = 256


@dataclass
class Refusal(Exception):
    """A request that is answered with an error: its status, and what is wrong."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


def busy(message: str) -> Refusal:
    """Refuses what may succeed later."""
    return Refusal(503, message, {"Retry-After": "1"})
