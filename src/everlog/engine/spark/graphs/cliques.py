"""Cliques on Spark: the facts that connect everything that some of them connect, by connected components.

Every node of a component is labelled with its least node. New edges connect components, so their own components are found
between labels: what an update adds costs what it adds, however large the components are.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Cliques, FactSet
from everlog.engine.recent_results import Recent
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.runs import Run
from everlog.engine.spark.facts.sets import ComputedFacts, SparkFacts, as_spark_facts, computed
from everlog.engine.spark.facts.sql_text import Table, broadcast, select, union
from everlog.engine.spark.graphs.atom_columns import AtomColumns
from everlog.engine.spark.graphs.components import components, nodes_of


class SparkCliques(Cliques):
    """Connected components of the facts of an atom."""

    def __init__(self, engine: SparkEngine, atom: Atom) -> None:
        self._engine = engine
        self._ends = AtomColumns(engine, atom)
        self._recent = Recent[Run]()

    def _labels(self, X: FactSet) -> Run | None:
        """The nodes of `X` with their labels; None if there are none."""
        facts = computed(X)
        pairs = self._ends.table(facts)
        return None if pairs is None else self._recent.of(lambda: components(self._engine, pairs, len(facts)), X)

    def joined(self, X: FactSet, more: FactSet, excluding: FactSet) -> ComputedFacts:
        labels, edges, known = self._labels(X), computed(more), as_spark_facts(excluding)
        pairs = self._ends.table(edges)
        if pairs is None:
            return self._engine.empty()
        merged = components(self._engine, self._between_labels(pairs, labels, len(edges)), len(edges))
        members = self._engine.run(_members(merged, labels))
        both = f"{members.view()} a JOIN {members.view()} b ON a.new = b.new"
        apart = "a.old < 0 OR a.old != b.old"
        rows = self._ends.rows("a.id", "b.id", both, [apart], broadcast("b", members.rows))
        return self._engine.distinct(rows, known, self._ends.wanted)

    def _between_labels(self, pairs: Table, labels: Run | None, at_most: int) -> Table:
        """Pairs with labels in the place of nodes that have one."""
        if labels is None:
            return pairs
        found = f"{labels.view()} l LEFT SEMI JOIN {nodes_of(pairs)} n ON l.a0 = n.node"
        known = select(["l.a0", "l.a1"], found, hint=broadcast("n", at_most))
        joins = f"{pairs} e LEFT JOIN {known} p ON e.x = p.a0 LEFT JOIN {known} q ON e.y = q.a0"
        columns = ["coalesce(p.a1, e.x) AS x", "coalesce(q.a1, e.y) AS y"]
        return select(columns, joins, hint=broadcast("p, q", at_most))

    def outside(self, X: FactSet, facts: FactSet) -> ComputedFacts:
        asked, labels = computed(facts), self._labels(X)
        pairs = self._ends.table(asked)
        if pairs is None or labels is None:
            return asked
        asked -= self._made(self._labelled(pairs, labels, asked), ["label_x = label_y"])
        return asked

    def around(self, X: FactSet, edges: FactSet, facts: FactSet) -> ComputedFacts:
        asked, labels, gone = computed(facts), self._labels(X), computed(edges)
        pairs, near = self._ends.table(asked), self._ends.table(gone)
        if pairs is None or labels is None or near is None:
            return self._engine.empty()
        view = labels.view()
        touched = f"(SELECT DISTINCT a1 AS label FROM {view} l LEFT SEMI JOIN {nodes_of(near)} n ON l.a0 = n.node)"
        found = f"{view} l LEFT SEMI JOIN {touched} n ON l.a1 = n.label"
        of_them = self._engine.run(select(["l.a0", "l.a1"], found, hint=broadcast("n", len(gone))))
        return self._made(self._labelled(pairs, of_them, asked)) if of_them.rows else self._engine.empty()

    def _labelled(self, pairs: Table, labels: Run, asked: SparkFacts) -> Table:
        """Those of some pairs whose ends have labels, with these."""
        hint = broadcast("l", asked.at_most())
        for end in ("x", "y"):
            joined = f"{labels.view()} n JOIN {pairs} l ON n.a0 = l.{end}"
            pairs = select(["l.*", f"n.a1 AS label_{end}"], joined, hint=hint)
        return pairs

    def _made(self, pairs: Table, conditions: Sequence[str] = ()) -> ComputedFacts:
        """The facts of those pairs that some conditions hold for."""
        return self._engine.distinct(self._ends.rows("l.x", "l.y", f"{pairs} l", conditions))


def _members(merged: Run, labels: Run | None) -> Table:
    """The nodes of all components that are connected now: `id`, the `old` label (-1 if it has none) and the `new` one."""
    if labels is None:
        return select(["a0 AS id", "-1L AS old", "a1 AS new"], merged.view())
    hint = broadcast("m", merged.rows)
    joined = f"{labels.view()} n JOIN {merged.view()} m ON n.a1 = m.a0"
    known = select(["n.a0 AS id", "n.a1 AS old", "m.a1 AS new"], joined, hint=hint)
    # A node that has no label is its own; so is the least one of a component, which has one.
    of_them = select(["n.a0"], f"{labels.view()} n LEFT SEMI JOIN {merged.view()} m ON n.a0 = m.a0", hint=hint)
    alone = f"{merged.view()} m LEFT ANTI JOIN {of_them} n ON n.a0 = m.a0"
    return union([known, select(["m.a0 AS id", "-1L AS old", "m.a1 AS new"], alone)])
