"""Paths that automata accept, on Spark: the product of a graph with the automata's states.

A product node is one number, `state + states · node`. So the edges of the product are pairs, and so are the matches: a
source and the product node that it leads to. They are facts of two relations that nobody else knows, and what matches lead
on to is found as paths are. An update asks about the sources that it concerns only: those of facts that are in question,
and those from which a way leads along what has changed, which is found by going backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Final

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Variable
from everlog.engine.algebra import Chains, FactSet, Moves
from everlog.engine.recent_results import Recent
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.row_indexes import Rows
from everlog.engine.spark.facts.sets import ComputedFacts, computed
from everlog.engine.spark.facts.sql_text import Table, broadcast, select, union
from everlog.engine.spark.graphs.atom_columns import AtomColumns
from everlog.engine.spark.graphs.paths import SparkPaths

_PAIR: Final = (Variable("x"), Variable("y"))
_MATCH, _STEP = Atom("¬match", _PAIR), Atom("¬step", _PAIR)
"""Called like the hidden predicates of rules: no user can have such names, and nobody is shown them."""


class SparkChains(Chains):
    """Facts of some heads over the facts of some letters."""

    def __init__(
        self, engine: SparkEngine, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]
    ) -> None:
        self._engine = engine
        self._heads = [AtomColumns(engine, atom) for atom in heads]
        self._letters = [AtomColumns(engine, atom, turned) for atom in letters for turned in (False, True)]
        self._match, self._step = AtomColumns(engine, _MATCH), AtomColumns(engine, _STEP)
        self._paths = SparkPaths(engine, _MATCH, _STEP)
        self._delta: list[tuple[int, int, int]] = []
        """Letters with the states that they lead from and to."""
        self._begin: list[int] = []
        self._finals: list[list[int]] = []
        self._states = 0
        for one, finals in moves:
            first = self._states
            self._begin.append(first)
            self._finals.append([first + state for state in sorted(finals)])
            self._delta += [
                (letter, first + state, first + after)
                for state, moved in enumerate(one)
                for letter, after in moved.items()
            ]
            self._states += len(one)
        self._recent, self._product = Recent[ComputedFacts](), Recent[ComputedFacts]()

    # ------------------------------------------------------------------------------------ what is asked

    def facts(self, X: FactSet, T: FactSet, excluding: FactSet) -> ComputedFacts:
        found = self._all(X, T)
        found -= excluding
        return found

    def through(self, X: FactSet, T: FactSet, changed: FactSet, excluding: FactSet) -> ComputedFacts | None:
        new = computed(changed)
        if tuning.CHAIN_CHANGE_SHARE * len(new) > len(computed(X)) + len(computed(T)):
            return None
        steps = self._steps(X, T)
        found = self._accepted(self._paths.led_to(self._begun(steps, self._leading_to(steps, new)), steps))
        found -= excluding
        return found

    def outside(self, X: FactSet, T: FactSet, facts: FactSet) -> ComputedFacts:
        asked = computed(facts)
        asked -= X
        if not asked:
            return asked
        if self._recent.known(X, T) is not None or len(asked) >= len(computed(X)):
            asked -= self._all(X, T)
        else:
            steps = self._steps(X, T)
            asked -= self._accepted(self._paths.led_to(self._begun(steps, self._first_ends(asked)), steps))
        return asked

    def around(self, X: FactSet, T: FactSet, changed: FactSet, facts: FactSet) -> ComputedFacts:
        asked, near = computed(facts), self._leading_to(self._steps(X, T), computed(changed))
        sources, local = self._match.local(near), asked.local()
        if sources is not None and local is not None:
            found = []
            for begin, head in zip(self._begin, self._heads, strict=True):
                pairs = head.values(local)
                found.append(head.made(pairs[np.isin(begin + self._states * pairs[:, 0], sources[:, 1])]))
            return self._engine.local(reduce(or_, found))
        wanted = self._match.table(near)
        parts = [
            head.rows("l.x", "l.y", f"{table} l LEFT SEMI JOIN {wanted} s ON {begin} + {self._states}L * l.x = s.y")
            for begin, head in zip(self._begin, self._heads, strict=True)
            if (table := head.table(asked)) is not None
        ]
        return self._made(parts if wanted is not None else [])

    # ------------------------------------------------------------------------------------ the product

    def _all(self, X: FactSet, T: FactSet) -> ComputedFacts:
        """The facts of all heads."""

        def found() -> ComputedFacts:
            steps = self._steps(X, T)
            return self._accepted(self._paths.led_to(self._begun(steps), steps))

        return self._recent.of(found, X, T)

    def _steps(self, X: FactSet, T: FactSet) -> ComputedFacts:
        """The edges of the product."""
        return self._product.of(lambda: self._moved(computed(X).united(computed(T))), X, T)

    def _moved(self, facts: ComputedFacts) -> ComputedFacts:
        """The edges that some facts give the product."""
        local = facts.fetched(tuning.DRIVER_FACTS)
        if local is not None:
            letters = [letter.values(local) for letter in self._letters]
            edges = [
                letters[letter] * self._states + np.array([[before, after]]) for letter, before, after in self._delta
            ]
            return self._local(self._step, np.concatenate(edges))
        tables = [
            select([f"{number} AS letter", "x", "y"], table)
            for number, letter in enumerate(self._letters)
            if (table := letter.table(facts)) is not None
        ]
        if not tables:
            return self._engine.empty()
        delta = self._engine.few(["letter", "q", "r"], list(np.array(self._delta, np.int64).T.copy()))
        before, after = f"d.q + {self._states}L * l.x", f"d.r + {self._states}L * l.y"
        joined = f"{union(tables)} l JOIN {delta.view()} d ON d.letter = l.letter"
        return self._engine.distinct(self._step.rows(before, after, joined, hint="BROADCAST(d)"))

    def _begun(self, steps: ComputedFacts, near: ComputedFacts | None = None) -> ComputedFacts:
        """The matches of one step from a first state; `near` has the product nodes that matter."""
        pairs, places = self._step.local(steps), None if near is None else self._match.local(near)
        if pairs is not None and (near is None or places is not None):
            first = np.isin(pairs[:, 0] % self._states, self._begin)
            if places is not None:
                first &= np.isin(pairs[:, 0], places[:, 1])
            begun = pairs[first]
            begun[:, 0] //= self._states
            return self._local(self._match, begun)
        table = self._step.table(steps)
        if table is None:
            return self._engine.empty()
        begin = ", ".join(map(str, self._begin))
        tables, hint = f"{table} l", ""
        if near is not None:
            wanted_here = self._match.table(near)
            if wanted_here is None:
                return self._engine.empty()
            tables += f" LEFT SEMI JOIN {wanted_here} s ON l.x = s.y"
            hint = broadcast("s", len(near))
        first_state = f"pmod(l.x, {self._states}L) IN ({begin})"
        return self._made([self._match.rows(f"l.x DIV {self._states}L", "l.y", tables, [first_state], hint)])

    def _leading_to(self, steps: ComputedFacts, changed: ComputedFacts) -> ComputedFacts:
        """The product nodes from which a way leads along some facts, as matches of no source."""
        back, seeds = self._turned(steps), self._moved(changed)
        pairs = self._step.local(seeds)
        if pairs is not None:
            start = self._local(self._match, _from_nowhere(pairs[:, 0]))
        else:
            table = self._step.table(seeds)
            start = self._made([] if table is None else [self._match.rows("0L", "l.x", f"{table} l")])
        return self._paths.led_to(start, back)

    def _turned(self, steps: ComputedFacts) -> ComputedFacts:
        """The edges of the product with their ends swapped, to go backwards."""
        pairs = self._step.local(steps)
        if pairs is not None:
            return self._local(self._step, pairs[:, ::-1])
        table = self._step.table(steps)
        return self._made([] if table is None else [self._step.rows("l.y", "l.x", f"{table} l")])

    def _first_ends(self, asked: ComputedFacts) -> ComputedFacts:
        """The product nodes at which paths for some facts begin, as matches of no source."""
        local = asked.local()
        if local is not None:
            ends = zip(self._begin, self._heads, strict=True)
            places = [begin + self._states * head.values(local)[:, 0] for begin, head in ends]
            return self._local(self._match, _from_nowhere(np.concatenate(places)))
        parts = [
            self._match.rows("0L", f"{begin} + {self._states}L * l.x", f"{table} l")
            for begin, head in zip(self._begin, self._heads, strict=True)
            if (table := head.table(asked)) is not None
        ]
        return self._made(parts)

    def _accepted(self, matches: ComputedFacts) -> ComputedFacts:
        """The facts of matches that ended in a final state."""
        pairs, size = self._match.local(matches), self._states
        if pairs is not None:
            ended = pairs // np.array([[1, size]])
            found = [
                head.made(ended[np.isin(pairs[:, 1] % size, finals)])
                for head, finals in zip(self._heads, self._finals, strict=True)
            ]
            return self._engine.local(reduce(or_, found))
        table = self._match.table(matches)
        if table is None:
            return self._engine.empty()
        parts = [
            head.rows(
                "l.x", f"l.y DIV {size}L", f"{table} l", [f"pmod(l.y, {size}L) IN ({', '.join(map(str, finals))})"]
            )
            for head, finals in zip(self._heads, self._finals, strict=True)
            if finals
        ]
        return self._made(parts)

    # ------------------------------------------------------------------------------------ making facts

    def _local(self, ends: AtomColumns, pairs: Rows) -> ComputedFacts:
        return self._engine.local(ends.made(pairs))

    def _made(self, parts: Sequence[Table]) -> ComputedFacts:
        """The facts of some tables, each once."""
        return self._engine.distinct(union(parts)) if parts else self._engine.empty()


def _from_nowhere(places: NDArray[np.int64]) -> Rows:
    """Matches of no source at some product nodes."""
    return np.stack([np.zeros_like(places), places], axis=1)
