"""The kinds of relations that are kept for updates besides facts; a relation is called `kind:predicate`.

`hidden:p` has the facts of a hidden predicate, `nonrecursive:p` and `recursive:p` have the facts of `p` with a count,
`trace:p` has them with the place of a stratum, an iteration, and a count, and `backbones:p` has those in the backbone of a
module, with its number. `classes` has the constants that others represent, with these. So they can be stored, and changed,
like facts.
"""

from __future__ import annotations

from typing import Final

NONRECURSIVE: Final = "nonrecursive"
RECURSIVE: Final = "recursive"
TRACE: Final = "trace"
HIDDEN_FACTS: Final = "hidden"
BACKBONE: Final = "backbones"
CLASSES: Final = "classes"


def kind_of(name: str) -> str:
    """The kind of a relation."""
    return name.partition(":")[0]
