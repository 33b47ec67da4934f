"""The maintenance algorithms by name: what each needs to be kept, what it keeps right, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from everlog.engine.kept_kinds import NONRECURSIVE, RECURSIVE, TRACE
from everlog.errors import EverlogError
from everlog.reasoning.bfc import BFc
from everlog.reasoning.change import Change
from everlog.reasoning.counting import counting
from everlog.reasoning.dred import DRed
from everlog.reasoning.dredc import DRedc
from everlog.reasoning.fbf import FBF
from everlog.reasoning.modular import update
from everlog.reasoning.strategies import never, strategy

NAMES = ("auto", "dred", "fbf", "bf", "dredc", "bfc", "counting", "remat")
"""What a user may ask for; `fbf` may be followed by a strategy, as in `fbf:depth:3`."""


@dataclass(frozen=True)
class Algorithm:
    """A maintenance algorithm, ready to run."""

    name: str
    run: Callable[[Change], None]
    keeps: frozenset[str]
    """The kept state that it brings up to date."""
    needs: frozenset[str] = frozenset()
    """The kept state that it cannot do without."""


def algorithm(name: str) -> Algorithm:
    """The algorithm with a name; `auto` and `remat` are none."""
    counts = frozenset((NONRECURSIVE, RECURSIVE))
    few = frozenset((NONRECURSIVE,))
    kind, _, rest = name.partition(":")
    if kind == "fbf":
        return Algorithm(name, partial(update, partial(FBF, strategy=strategy(rest))), few)
    known = {
        "dred": Algorithm("dred", partial(update, DRed), counts),
        "bf": Algorithm("bf", partial(update, partial(FBF, strategy=never)), few),
        "dredc": Algorithm("dredc", partial(update, DRedc), counts, counts),
        "bfc": Algorithm("bfc", partial(update, BFc), few, few),
        "counting": Algorithm("counting", counting, counts | {TRACE}, frozenset((TRACE,))),
    }
    if name not in known:
        raise EverlogError(f"algorithm={name!r} is not supported; choose one of: {', '.join(NAMES)}")
    return known[name]


def needed(name: str) -> frozenset[str]:
    """What has to be kept so that updates can use an algorithm."""
    return frozenset() if name in ("auto", "remat") else algorithm(name).needs
