"""The kinds of relations that a store keeps for updates besides facts; `saved.py` says what is in them."""

from __future__ import annotations

from typing import Final

HIDDEN_FACTS: Final = "hidden"
BACKBONE: Final = "backbone"
CLASSES: Final = "classes"


def kind_of(name: str) -> str:
    """What a relation holds."""
    return name.partition(":")[0]
