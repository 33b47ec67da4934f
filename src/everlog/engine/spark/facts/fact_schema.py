"""The columns of facts: `p`, the number of the relation, and `a0`, `a1`, … with ids.

All facts have all columns; those that a fact has no argument for hold `PADDING`.
"""

from __future__ import annotations

from typing import Final

RELATION: Final = "p"
COUNT: Final = "n"
"""How often a fact occurs in a multiset, or its annotation."""

PADDING: Final = -1


def arguments(width: int) -> list[str]:
    return [f"a{place}" for place in range(width)]


def columns(width: int) -> list[str]:
    """All columns of facts with at most so many arguments."""
    return [RELATION, *arguments(width)]


def schema(width: int) -> str:
    return ", ".join(f"{name} bigint" for name in columns(width))
