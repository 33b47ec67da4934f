"""Decomposed rules on Spark: the programs and the checks of the memory engine, side by side, over updates."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from everlog import KnowledgeBase, parse_program
from everlog.datalog.syntax import Atom, Constant
from everlog.planning.decomposition.join_tree import JoinTree
from everlog.reasoning.modules.hypertree import Hypertree, Joined
from everlog.reasoning.modules.unkept_decomposition import Passing
from oracles import clingo_oracle
from oracles.exchange import rows_of
from support.batches import joined
from support.complex_rules import Rows, random_facts, random_program
from support.decomposed_rules import check_nodes, decomposed
from support.on_spark import all_facts
from support.sequences import Sequence, Update
from support.strategies import Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = (44, 61)
"""Rules that are recursive and not, with tests at the root, whose nodes are reduced or joined as they are."""


def atoms(rows: Rows) -> tuple[Atom, ...]:
    return tuple(Atom(name, tuple(map(Constant, row))) for name, some in rows.items() for row in some)


def sequence() -> Sequence:
    """Some programs as one, with facts and an update."""
    parts = []
    for seed in SEEDS:
        random = Random(seed)
        given = atoms(random_facts(random, 3, 300))
        change = Update(atoms(random_facts(random, 4, 20)), atoms(random_facts(random, 3, 60)))
        parts.append(Sequence(Case(parse_program(random_program(Random(seed))), given), (change,)))
    return joined(parts)


def made(tree: JoinTree, *others: Any) -> Hypertree | Passing:
    """What a rule of several nodes is made that does not depend on itself."""
    return (Hypertree if tree.recursive or len(tree.nodes) < 2 else Passing)(tree, *others)


def test_updates(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """One rule keeps no nodes; of others derivations are counted: to look for them is what DRed does all the time."""
    monkeypatch.setattr("everlog.reasoning.modules.hypertree._DEAR", 1e9)
    monkeypatch.setattr("everlog.reasoning.modules.make_modules.Hypertree", made)
    given = sequence()
    before, after = (clingo_oracle.materialise(given.case.program.rules, facts) for facts in given.explicit())
    kb = KnowledgeBase(given.case.program, engine="spark", spark=spark, algorithm="dred", hypertree="cyclic")
    kb.add(rows_of(given.case.facts))
    trees = [one for one in kb.materialise().modules if one["kind"] == "hypertree"]
    assert sorted(tree["kept"] for tree in trees) == [False, True, True]
    assert all(node["facts"] for tree in trees if tree["kept"] for node in tree["nodes"])  # type: ignore[attr-defined]
    assert all_facts(kb) == before
    report = kb.update(add=rows_of(given.updates[0].add), delete=rows_of(given.updates[0].delete))
    assert min(report.added, report.deleted) > 0
    assert all_facts(kb) == after
    nodes = [node for module in decomposed(kb) for node in module.nodes]
    assert any(isinstance(node, Joined) and node.counts is not None for node in nodes)
    check_nodes(kb)
