"""Paths on Spark, found by linear recursion: in each round, which is a job, the pairs that came last take one more step."""

from __future__ import annotations

import numpy as np

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import FactSet, Paths
from everlog.engine.recent_results import Recent
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.sets import ComputedFacts, computed
from everlog.engine.spark.facts.sql_text import broadcast
from everlog.engine.spark.graphs import small_graphs
from everlog.engine.spark.graphs.atom_columns import AtomColumns
from everlog.engine.spark.joins.hubs import SHARE, shared


class SparkPaths(Paths):
    """Paths from the facts of one atom along those of another, or of the same."""

    def __init__(self, engine: SparkEngine, atom: Atom, step: Atom, backwards: bool = False) -> None:
        self._engine = engine
        self._ends, self._steps = AtomColumns(engine, atom, backwards), AtomColumns(engine, step, backwards)
        self._recent = Recent[ComputedFacts]()

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> ComputedFacts:
        found = self._closure(X, T)
        found -= excluding
        return found

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> ComputedFacts:
        asked, start = computed(facts), computed(X)
        if not asked:
            return asked
        if self._recent.known(X, T) is not None or len(asked) >= len(start):
            asked -= self._closure(X, T)
        else:
            asked -= self.led_to(self._with_sources(start, asked), computed(T))
        return asked

    def _closure(self, X: FactSet, T: FactSet) -> ComputedFacts:
        """All that `X` and `T` lead to."""
        return self._recent.of(lambda: self.led_to(computed(X), computed(T)), X, T)

    def _with_sources(self, start: ComputedFacts, asked: ComputedFacts) -> ComputedFacts:
        """The facts that paths to what is asked for can start with."""
        first, wanted = self._ends.local(start), self._ends.local(asked)
        if first is not None and wanted is not None:
            return self._engine.local(self._ends.made(first[np.isin(first[:, 0], wanted[:, 0])]))
        left, right = self._ends.table(start), self._ends.table(asked)
        if left is None or right is None:
            return self._engine.empty()
        tables, hint = f"{left} l LEFT SEMI JOIN {right} s ON l.x = s.x", broadcast("s", len(asked))
        return self._engine.distinct(self._ends.rows("l.x", "l.y", tables, hint=hint))

    def led_to(self, start: ComputedFacts, T: ComputedFacts) -> ComputedFacts:
        """What steps lead on to from some facts, these included."""
        if len(start) + len(T) <= tuning.DRIVER_FACTS:
            edges = [ends.local(facts, tuning.DRIVER_FACTS) for ends, facts in ((self._ends, start), (self._steps, T))]
            if edges[0] is not None and edges[1] is not None:
                pairs = small_graphs.closure(edges[0], edges[1], tuning.GRAPH_PAIRS)
                if pairs is not None:
                    return self._engine.local(self._ends.made(pairs))
        found = Q = start
        while Q and T:
            Q = self._next(Q, T, found)
            found |= Q
        return found

    def _next(self, Q: ComputedFacts, T: ComputedFacts, found: ComputedFacts) -> ComputedFacts:
        """What one step leads to from the facts that came last, but for what was found."""
        left, right = self._ends.table(Q), self._steps.table(T)
        if left is None or right is None:
            return self._engine.empty()
        smaller, size = min(("l", len(Q)), ("s", len(T)), key=lambda one: one[1])
        same, hint = "l.y = s.x", f"BROADCAST({smaller})"
        if size > tuning.BROADCAST_JOIN_FACTS:
            hint = ""
            ours, theirs = self._ends.hubs(Q, "y"), self._steps.hubs(T, "x")
            if ours or theirs:
                partitions = self._engine.partitions
                left = shared(left, "y", ["x", "y"], ours - theirs, theirs, partitions)
                right = shared(right, "x", ["x", "y"], theirs, ours - theirs, partitions)
                same += f" AND l.{SHARE} = s.{SHARE}"
        rows = self._ends.rows("l.x", "s.y", f"{left} l JOIN {right} s ON {same}", hint=hint)
        return self._engine.distinct(rows, found, self._ends.wanted)
