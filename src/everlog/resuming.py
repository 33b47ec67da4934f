"""What a stored state goes on with: the modules that have stored something, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from everlog.materialisation import Materialisation
from everlog.planning.worth import LEFT_OUT_BEFORE, Verdicts, refusing
from everlog.saved_kinds import BACKBONE
from everlog.settings import Settings

Compiled: TypeAlias = Callable[[Settings, Verdicts | None], Materialisation]
"""Compiles the program of a state, with some settings and verdicts about modules."""


def resumed(compiled: Compiled, settings: Settings, kinds: frozenset[str]) -> Materialisation:
    """A materialisation, without facts yet, that fits the kinds of values that are stored."""
    without = replace(settings, modules="off")
    # Whatever the facts are now, what was decided about modules when everything was computed is what was stored.
    found = compiled(settings if BACKBONE in kinds else without, refusing({}))
    if not found.backbones() or found.fits(kinds):
        return found
    # Modules that were left out have stored nothing; where there are others there is nothing to go on with.
    unknown = [module for key, module in found.keys().items() if key not in kinds]
    left = refusing({(module.kind, module.heads): LEFT_OUT_BEFORE for module in unknown})
    found = compiled(settings, left)
    return found if found.fits(kinds) else compiled(without, None)
