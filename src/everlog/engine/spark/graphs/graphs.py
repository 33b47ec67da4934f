"""Graphs and orders on Spark, as modules ask for them (`everlog.engine.algebra`)."""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.syntax import Atom, Rule, Variable
from everlog.engine.algebra import Graphs, Moves
from everlog.engine.spark.best_facts import SparkBestFacts
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.graphs.chains import SparkChains
from everlog.engine.spark.graphs.cliques import SparkCliques
from everlog.engine.spark.graphs.neighbours import SparkNeighbours
from everlog.engine.spark.graphs.paths import SparkPaths
from everlog.engine.spark.grouped_facts import SparkGroups


class SparkGraphs(Graphs):
    """Makes graphs of one engine's facts."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    def paths(self, atom: Atom, step: Atom, backwards: bool = False) -> SparkPaths:
        return SparkPaths(self._engine, atom, step, backwards)

    def cliques(self, atom: Atom) -> SparkCliques:
        return SparkCliques(self._engine, atom)

    def best_facts(self, rule: Rule) -> SparkBestFacts:
        return SparkBestFacts(self._engine, rule)

    def groups(self, rule: Rule) -> SparkGroups:
        return SparkGroups(self._engine, rule)

    def chains(self, heads: Sequence[Atom], letters: Sequence[Atom], moves: Sequence[Moves]) -> SparkChains:
        return SparkChains(self._engine, heads, letters, moves)

    def neighbours(self, atom: Atom, item: Atom) -> SparkNeighbours:
        return SparkNeighbours(self._engine, atom, item)

    def keyed_neighbours(self, atom: Atom, item: Atom, key: Variable) -> SparkNeighbours:
        return SparkNeighbours(self._engine, atom, item, key)
