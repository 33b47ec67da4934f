"""What a query may take: time, solutions at any one time, and the memory that these need."""

from __future__ import annotations

from dataclasses import dataclass, field

from everlog import clock
from everlog.errors import EverlogError
from everlog.sparql.solutions import Solutions


class QueryTooLarge(EverlogError):
    """A query that was given up, since it took more than it was allowed."""


@dataclass
class Limits:
    """None is no limit."""

    seconds: float | None = None
    rows: int | None = None
    begun: float = field(default_factory=clock.now)

    def check(self, found: Solutions) -> None:
        """Gives the query up if its time is over, or if some solutions are too many."""
        self.check_rows(found.length)

    def check_rows(self, rows: int) -> None:
        if self.rows is not None and rows > self.rows:
            raise QueryTooLarge(
                f"the query was given up: it has more than {self.rows:,} solutions on the way (rows); "
                "ask for less, or allow more"
            )
        if self.seconds is not None and clock.now() - self.begun > self.seconds:
            raise QueryTooLarge(
                f"the query was given up after {self.seconds:g} seconds (seconds); ask for less, or allow more"
            )
