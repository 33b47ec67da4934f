"""What counts as little: the sizes at which the Spark engine goes another way. Modules look here when they decide."""

from __future__ import annotations

TINY = 2_000
"""Operations on sets of up to this many facts happen on the driver, without a job."""

FEW = 20_000
"""Up to this many facts are broadcast to rows that are looked up among them."""

SMALL = 200_000
"""Bindings that come from up to this many facts are broadcast to what they are matched with."""

SAMPLE = 20_000
"""About so many facts of a run are looked at to find hubs."""

HUB = 0.01
"""A value that this part of a run has is a hub."""

MANY = 4_000_000
"""Of more rows no hash table is made."""

PARTITION = 50_000
"""For this many facts there is a partition, but never more of them than the session has."""

INTERPRETED = 200_000
"""While an engine has up to this many facts, Spark generates no code for its jobs."""

RUNS = 8
"""From this many runs on, a set that grows merges some."""
