"""Relations that are closed, and that rules above ask about: these see all facts, though `I` has the backbone alone.

In an update, the closure is made again when its stratum is done. From then on `D` and `A` have the pairs by which it
differs, and `I` has all of them, until all strata are done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from everlog.engine.algebra import Closed, Engine, FactSet
from everlog.reasoning.modules.module import Backbone

AskedAbove = Mapping[int, Sequence[Backbone]]
"""The modules whose relations rules above ask about, by the index of their stratum."""

NOBODY_ASKS: Final[AskedAbove] = {}


def with_closures(engine: Engine, I: FactSet, modules: Sequence[Backbone]) -> FactSet:
    """A set with all facts of the relations of some modules that are closed."""
    closures = {module.atom: module.closed for module in modules if module.closed is not None}
    return engine.closing(I.base, {**I.closures, **closures}) if closures else I


def changed_pairs(engine: Engine, module: Backbone, then: Closed) -> tuple[FactSet, FactSet]:
    """The facts of a closed relation that came and that went since it was closed as it was then, listed."""
    assert module.closed is not None, "it is closed"
    nothing = engine.empty()
    before, after = (engine.closing(nothing, {module.atom: closed}) for closed in (then, module.closed))
    come, gone, *_ = engine.changed(before, after, (nothing, nothing), (nothing,) * 4)
    return nothing.plus(come), nothing.plus(gone)
