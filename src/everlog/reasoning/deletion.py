"""Deletions from an r-materialisation: by FBF where no class of several names is involved, and by B/F≈ where one is.

A fact whose constants are alone stands for itself, and what follows from it is found as without equality, stratum by
stratum. If that is so for all facts that lose a derivation, whether they are deleted or not, no equality is among them: an
instance of a rule that derives one has body facts that mention both of its ends. Otherwise the work is B/F≈'s.
"""

from __future__ import annotations

from contextlib import suppress

from everlog.engine.algebra import Classes, FactSet
from everlog.planning.equality import finding
from everlog.planning.program import CompiledStratum, compile_program
from everlog.reasoning.algorithms import algorithm
from everlog.reasoning.bf_equality import Deletion
from everlog.reasoning.change import Change, Progress
from everlog.reasoning.kept import Kept
from everlog.reasoning.rewriting import RMaterialisation


class _Involved(Exception):
    """A fact that loses a derivation mentions a class of several names."""


class _Watched(Change):
    """An update that ends where classes begin."""

    classes: Classes

    def lost(self, stratum: CompiledStratum) -> FactSet:
        return self._alone(super().lost(stratum))

    def delete(self, stratum: CompiledStratum, Δ: FactSet) -> FactSet:
        return self._alone(super().delete(stratum, Δ))

    def _alone(self, facts: FactSet) -> FactSet:
        if self.classes.of(facts):
            raise _Involved
        return facts


class Deletions:
    """Deletes from r-materialisations of one program; what is compiled for one is kept for the next."""

    def __init__(self) -> None:
        self._compiled: tuple[list[object], tuple[CompiledStratum, ...]] | None = None

    def delete(self, before: RMaterialisation, E: FactSet, minus: FactSet, progress: Progress) -> dict[str, int]:
        """Brings `(π, I)` up to date with `E ∖ minus`; gives the rule instances considered by phase."""
        if not before.classes.outdated(minus) and not before.classes.of(minus):
            with suppress(_Involved):
                return self._plain(before, E, minus, progress)
        deletion = Deletion(before, E - minus)
        deletion.run(minus)
        return deletion.phases

    def _plain(self, before: RMaterialisation, E: FactSet, minus: FactSet, progress: Progress) -> dict[str, int]:
        strata = self._strata(before)
        change = _Watched(strata, before.engine, E, before.I, minus, before.nothing, Kept(), progress, {})
        change.classes = before.classes
        algorithm("fbf").run(change)
        I = before.I
        I -= change.D
        before.I = I
        before.touch(change.D)
        return change.derivations

    def _strata(self, before: RMaterialisation) -> tuple[CompiledStratum, ...]:
        rules: list[object] = [before.classes.rewritten(rule) for rule in before.core_rules()]
        if self._compiled is None or self._compiled[0] != rules:
            found = [made for rule in before.core_rules() for made in finding(before.classes.rewritten(rule))]
            self._compiled = rules, compile_program(found, before.compiler)
        return self._compiled[1]
