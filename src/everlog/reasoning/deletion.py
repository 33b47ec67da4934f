"""Deletions from an r-materialisation: by FBF where no class of several names is involved, and by B/F≈ where one is.

A fact whose constants are alone stands for itself, and what follows from it is found as without equality, stratum by
stratum. If that is so for all facts that lose a derivation, whether they are deleted or not, no class is touched: one that
loses a reason is named by a fact `c ≈ c` that loses a derivation. It must be so for the facts that proofs are searched
through, too: explicit facts have other names than the classes that they are about. Otherwise the work is B/F≈'s. So is the
deletion of any explicit equality, since for a constant that is alone no rule proves `c ≈ c`.
"""

from __future__ import annotations

from contextlib import suppress

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet
from everlog.planning.compiled_program import CompiledStratum, compile_program
from everlog.planning.equality_rules import EQUALITIES, over_representatives
from everlog.reasoning.change import Change, Progress
from everlog.reasoning.equality.bf_equality import Deletion
from everlog.reasoning.equality.rewriting import RMaterialisation
from everlog.reasoning.fbf import FBF
from everlog.reasoning.kept import Kept
from everlog.reasoning.strategies import adaptive


class _Involved(Exception):
    """A fact that loses a derivation, or that one is proved by, mentions a class of several names."""


class Deletions:
    """Deletes from r-materialisations of one program; what is compiled for one is kept for the next."""

    def __init__(self) -> None:
        self._compiled: tuple[tuple[Rule, ...], tuple[CompiledStratum, ...]] | None = None

    def update(
        self, after: RMaterialisation, E: FactSet, minus: FactSet, plus: FactSet, progress: Progress
    ) -> dict[str, int]:
        """Brings what holds for `E` up to date with `(E ∖ minus) ∪ plus`; gives the rule instances considered by phase."""
        after.classes.separate((E - minus) | plus)
        phases = self.delete(after, E, minus, progress) if minus else {}
        inserting = after.engine.derivations
        after.add(plus, progress)
        return {**phases, "insertion": after.engine.derivations - inserting}

    def delete(self, before: RMaterialisation, E: FactSet, minus: FactSet, progress: Progress) -> dict[str, int]:
        """Brings `(π, I)` up to date with `E ∖ minus`; gives the rule instances considered by phase."""
        classes, equalities = before.classes, minus.within(EQUALITIES)
        if not classes.outdated(minus) and not classes.of(minus) and not equalities:
            with suppress(_Involved):
                return self._plain(before, E, minus, progress)
        deletion = Deletion(before, E - minus)
        deletion.run(minus)
        return deletion.phases

    def _plain(self, before: RMaterialisation, E: FactSet, minus: FactSet, progress: Progress) -> dict[str, int]:
        def alone(facts: FactSet) -> None:
            if before.classes.of(facts):
                raise _Involved

        rules = before.classes.rewritten(before.core)
        if self._compiled is None or self._compiled[0] is not rules:
            found = [made for rule in rules for made in over_representatives(rule)]
            self._compiled = rules, compile_program(found, before.compiler)
        change = Change(self._compiled[1], before.engine, E, before.I, minus, before.nothing, Kept(), progress, {})
        for stratum in change.touched():
            FBF(change, stratum, adaptive, alone).run()
        before.leave(change.D.common(before.I))  # rules also derive c ≈ c for a constant that is alone: it is not there
        return change.derivations
