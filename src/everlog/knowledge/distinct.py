"""The facts of a knowledge base in the memory engine where equal constants would be rewritten, and none are equal.

Most data is like that, most of the time. Every constant then represents itself: the rules that equality depends on and
those above are one ordinary program, in which no equality holds, and an update is that of an ordinary materialisation. If
it derives an equality it is undone, before it derives many, and made where constants are rewritten; from there nobody comes
back before everything is computed anew, or read. What one of them knows goes to the other as if it had been stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everlog.datalog.syntax import Program, Rule
from everlog.datalog.values import SAME_AS
from everlog.engine.algebra import FactSet
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.knowledge.equated import EquatedState
from everlog.knowledge.materialisation import Difference, Materialisation
from everlog.knowledge.report import Report
from everlog.knowledge.request import Request
from everlog.knowledge.settings import Settings
from everlog.knowledge.state import Batch, MemoryState
from everlog.planning.equality_rules import EQUALITIES, asking, asks_what_occurs, with_keys, without_reflexive_heads
from everlog.planning.hidden_predicates import is_plain
from everlog.reasoning.algorithms import NONRECURSIVE, RECURSIVE, TRACE, needed


class _Equal(Exception):
    """There is an equality."""


class DistinctState(EquatedState):
    """`E` and `I` have the same names."""

    _equalities = 0
    """How many rows equalities had before an update: those of facts that are gone."""
    _clashing: Sequence[str] = ()
    """What the last update found to be different from itself."""

    @classmethod
    def of(cls, state: EquatedState, program: Program, settings: Settings) -> DistinctState | None:
        """The same facts as those of another state, if nothing is equal there and nothing is to be counted.

        It is left to the other state where predicates are hidden whose names or facts depend on all that is known.
        """
        counted = state.kept_kinds() & {NONRECURSIVE, RECURSIVE, TRACE}
        if settings.algorithm != "auto" or settings.checked or counted or state.classes.members:
            return None
        hidden = (not is_plain(negation) for rule in program.rules for negation in rule.negative)
        if any(hidden) or asks_what_occurs(program.rules) or state._I.within(EQUALITIES):
            return None
        return cls.like(state)

    def _given(self) -> FactSet:
        return self._E

    def _rules(self, program: Program, settings: Settings) -> Sequence[Rule]:
        return [made for rule in with_keys(asking(program.rules, {})) for made in without_reflexive_heads(rule)]

    def _not_explicit(self, deleted: Sequence[Batch]) -> list[str]:
        return MemoryState._not_explicit(self, deleted)

    def _resumed(self, program: Program, settings: Settings) -> Materialisation:
        return MemoryState._resumed(self, program, settings)

    def _changed(self, request: Request[Batch]) -> tuple[MemoryState, Report]:
        if request.settings.algorithm == "remat":
            return self._started_again(request, [])
        self._equalities = self.engine.property_table(SAME_AS).n
        try:
            state, report = MemoryState._changed(self, request)
        except _Equal:
            return self._rewritten(request)
        if state is self:
            facts = {**report.facts, "representatives": report.facts["total"]}
            report = replace(report, facts=facts, warnings=[*report.warnings, *self._clashing])
        return state, report

    def _rewritten(self, request: Request[Batch]) -> tuple[MemoryState, Report]:
        """The update where constants are rewritten; no derivations are counted there yet."""
        after = EquatedState.like(self)
        after.is_new = False
        if needed(request.settings.algorithm):
            request = replace(request, settings=replace(request.settings, algorithm="auto"))
        state, report = after._changed(request)
        return state, replace(report, reasons=[*report.reasons, "names became equal, and are rewritten from now on"])

    def _watch(self) -> None:
        # Where there is a row there may be no fact yet, but who made it is about to say so; there could be a row a pair.
        if self.engine.property_table(SAME_AS).n > self._equalities:
            raise _Equal

    def _accept(self, I: FactSet, difference: Difference) -> None:
        if difference.added.within(EQUALITIES):
            raise _Equal
        self._clashing = self._clashes(as_memory_facts(I), self.classes)
