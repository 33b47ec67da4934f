"""Graphs and orders on Spark, as modules ask for them (`everlog.engine.algebra`).

Paths are found by linear recursion: in each round, which is a job, the pairs that came last take one more step. An order
is cut into ranges, each sorted by itself; neighbours across a cut are found from the least value of each range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import FactSet, Graphs, Neighbours, Paths
from everlog.engine.spark import limits, small_graphs
from everlog.engine.spark.cliques import SparkCliques
from everlog.engine.spark.ends import Ends, has_ends
from everlog.engine.spark.queries import DISTINCT, Table, fact_columns, own_keys, select
from everlog.engine.spark.sets import SparkFacts, Stored, covered, own
from everlog.engine.spark.skew import SHARE, shared

if TYPE_CHECKING:
    from everlog.engine.spark.engine import SparkEngine


class SparkGraphs(Graphs):
    """Makes graphs of one engine's facts."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    def binary(self, atom: Atom) -> bool:
        return has_ends(atom, 2)

    def unary(self, atom: Atom) -> bool:
        return has_ends(atom, 1)

    def paths(self, atom: Atom, step: Atom, backwards: bool = False) -> SparkPaths:
        return SparkPaths(self._engine, atom, step, backwards)

    def cliques(self, atom: Atom) -> SparkCliques:
        return SparkCliques(self._engine, atom)

    def neighbours(self, atom: Atom, item: Atom) -> SparkNeighbours:
        return SparkNeighbours(self._engine, atom, item)


class SparkPaths(Paths):
    """Paths from the facts of one atom along those of another, or of the same."""

    def __init__(self, engine: SparkEngine, atom: Atom, step: Atom, backwards: bool = False) -> None:
        self._engine = engine
        self._ends, self._steps = Ends(engine, atom, backwards), Ends(engine, step, backwards)
        self._last: tuple[FactSet, FactSet, Stored] | None = None

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> Stored:
        found = self._closure(X, T)
        found -= excluding
        return found

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> Stored:
        asked, start = own(facts).computed(), own(X).computed()
        if not asked:
            return asked
        if self._is_last(X, T) or len(asked) >= len(start):
            asked -= self._closure(X, T)
        else:
            asked -= self._led_to(self._with_sources(start, asked), own(T).computed())
        return asked

    def _is_last(self, X: FactSet, T: FactSet) -> bool:
        return self._last is not None and self._last[0] is X and self._last[1] is T

    def _closure(self, X: FactSet, T: FactSet) -> Stored:
        """All that `X` and `T` lead to; remembered, since an update asks about the same sets several times."""
        if self._last is None or not self._is_last(X, T):
            self._last = X, T, self._led_to(own(X).computed(), own(T).computed())
        return self._last[2]

    def _with_sources(self, start: Stored, asked: Stored) -> Stored:
        """The facts that paths to what is asked for can start with."""
        first, wanted = self._ends.near(start), self._ends.near(asked)
        if first is not None and wanted is not None:
            sources = {x for x, _ in wanted}
            return self._engine.local(frozenset(self._ends.fact(x, y) for x, y in first if x in sources))
        left, right = self._ends.table(start), self._ends.table(asked)
        if left is None or right is None:
            return self._engine.empty()
        rows = select(
            fact_columns(self._ends.keys("l.x", "l.y"), self._engine.width),
            f"{left} l LEFT SEMI JOIN {right} s ON l.x = s.x",
            hint="BROADCAST(s)" if len(asked) <= limits.SMALL else "",
        )
        return self._engine.stored(DISTINCT, rows=rows)

    def _led_to(self, start: Stored, T: Stored) -> Stored:
        near, steps = self._ends.near(start), self._steps.near(T)
        if near is not None and steps is not None:
            pairs = small_graphs.closure([(x, y) for x, y in near], [(x, y) for x, y in steps], limits.TINY)
            if pairs is not None:
                return self._engine.local(frozenset(self._ends.fact(*pair) for pair in pairs))
        found = Q = start
        while Q and T:
            Q = self._next(Q, T, found)
            found |= Q
        return found

    def _next(self, Q: Stored, T: Stored, found: Stored) -> Stored:
        """What one step leads to from the facts that came last, but for what was found."""
        left, right = self._ends.table(Q), self._steps.table(T)
        if left is None or right is None:
            return self._engine.empty()
        smaller, size = min(("l", len(Q)), ("s", len(T)), key=lambda one: one[1])
        same, hint = "l.y = s.x", f"BROADCAST({smaller})"
        if size > limits.SMALL:
            hint = ""
            ours, theirs = self._ends.hubs(Q, "y"), self._steps.hubs(T, "x")
            if ours or theirs:
                partitions = self._engine.partitions
                left = shared(left, "y", ["x", "y"], ours - theirs, theirs, partitions)
                right = shared(right, "x", ["x", "y"], theirs, ours - theirs, partitions)
                same += f" AND l.{SHARE} = s.{SHARE}"
        rows = select(
            fact_columns(self._ends.keys("l.x", "s.y"), self._engine.width),
            f"{left} l JOIN {right} s ON {same}",
            hint=hint,
        )
        facts = found.outside(DISTINCT, own_keys(self._engine.width), self._ends.wanted, None)
        return self._engine.stored(facts, covered(found), rows)


_RANGE: Final = "9223372036854775808D"
"""From here on a double is larger than any integer; below its negative, smaller."""

# A number is its whole part, towards zero, and the rest, which a double gives exactly; one that is larger or smaller than
# all integers comes after or before them. Strings come after numbers, and no string is the neighbour of a number.
_KEY: Final = f"""named_struct(
  'kind', int(v.s IS NOT NULL),
  'beyond', CASE WHEN v.d >= {_RANGE} THEN 1 WHEN v.d < -{_RANGE} THEN -1 ELSE 0 END,
  'whole', coalesce(v.i, CASE WHEN v.d < {_RANGE} AND v.d >= -{_RANGE} THEN bigint(v.d) END, 0L),
  'rest', coalesce(CASE WHEN v.d < {_RANGE} AND v.d >= -{_RANGE} THEN v.d - double(bigint(v.d)) ELSE v.d END, 0D) + 0D,
  'text', coalesce(v.s, ''))"""


class SparkNeighbours(Neighbours):
    """Values of a unary atom in their order: numbers by value, strings by code point, and other values in none."""

    def __init__(self, engine: SparkEngine, atom: Atom, item: Atom) -> None:
        self._engine = engine
        self._ends, self._items = Ends(engine, atom), Ends(engine, item)
        self._last: tuple[FactSet, Stored] | None = None

    def facts(self, P: FactSet, excluding: FactSet) -> Stored:
        found = self._pairs(P)
        found -= excluding
        return found

    def outside(self, P: FactSet, facts: FactSet) -> Stored:
        asked = own(facts).computed()
        asked -= self._pairs(P)
        return asked

    def _pairs(self, P: FactSet) -> Stored:
        """The facts of all neighbours; remembered, like paths."""
        if self._last is None or self._last[0] is not P:
            self._last = P, self._found(own(P).computed())
        return self._last[1]

    def _found(self, P: SparkFacts) -> Stored:
        items = self._items.table(P)
        if items is None:
            return self._engine.empty()
        ranked = self._engine.run(_in_ranges(items, self._engine.comparables(), P.about(), self._engine.partitions))
        view = ranked.view()
        keys = f"(SELECT DISTINCT k, part FROM {view})"
        least = f"(SELECT part, min(k) AS k FROM {keys} GROUP BY part)"
        after = select(["part", "lead(k) OVER (ORDER BY part) AS k"], least)
        following = select(["k", "part", "lead(k) OVER (PARTITION BY part ORDER BY k) AS next"], keys)
        steps = select(
            ["l.k", "coalesce(l.next, s.k) AS next"],
            f"{following} l LEFT JOIN {after} s ON l.part = s.part",
            hint="BROADCAST(s)",
        )
        rows = select(
            fact_columns(self._ends.keys("f.id", "t.id"), self._engine.width),
            f"{view} f JOIN {steps} n ON f.k = n.k JOIN {view} t ON t.k = n.next",
            ["n.k.kind = n.next.kind"],
        )
        return self._engine.stored(DISTINCT, rows=rows)


def _in_ranges(items: Table, values: Table, about: int, parts: int) -> Table:
    """Items as `id`, with the key `k` that they are ordered by, and the `part` of the order that they are in."""
    few = about <= limits.SMALL
    keyed = select(
        ["v.id", f"{_KEY} AS k"],
        f"{values} v JOIN {items} l ON v.id = l.x",
        ["(v.i IS NOT NULL OR v.d IS NOT NULL OR v.s IS NOT NULL)"],
        hint="BROADCAST(l)" if few else "",
    )
    if few:
        return select(["*", "0 AS part"], keyed)
    return select(["*", "spark_partition_id() AS part"], select(["*"], keyed, hint=f"REPARTITION_BY_RANGE({parts}, k)"))
