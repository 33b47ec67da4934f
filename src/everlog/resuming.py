"""What a stored state goes on with: the modules that have stored something, and no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from everlog.materialisation import Materialisation
from everlog.planning.modules import Module
from everlog.planning.worth import LEFT_OUT_BEFORE, Verdicts
from everlog.saved_kinds import BACKBONE, module_key
from everlog.settings import Settings

Compiled: TypeAlias = Callable[[Settings, Verdicts | None], Materialisation]
"""Compiles the program of a state, with some settings and verdicts about modules."""


def resumed(compiled: Compiled, settings: Settings, kinds: frozenset[str]) -> Materialisation:
    """A materialisation, without facts yet, that fits the kinds of values that are stored."""
    without = replace(settings, modules="off")
    if BACKBONE not in kinds:
        return compiled(without, None)

    def left_out_before(modules: Sequence[Module]) -> list[str | None]:
        """Whatever the facts are now, what was decided about modules when everything was computed is what was stored."""
        stored = (module_key(module.kind, module.heads) in kinds for module in modules)
        return [None if known else LEFT_OUT_BEFORE for known in stored]

    found = compiled(settings, left_out_before)
    return found if found.fits(kinds) else compiled(without, None)
