"""Decomposed rules on Spark: the programs and the checks of the memory engine, side by side, over updates."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from on_spark import all_facts

from batches import joined
from complex_rules import Rows, random_facts, random_program
from decomposed_rules import check_nodes, decomposed
from everlog import KnowledgeBase, parse_program
from everlog.datalog.syntax import Atom, Constant
from everlog.reasoning.modules.hypertree import Joined
from oracles import clingo_oracle
from oracles.exchange import rows_of
from sequences import Sequence, Update
from strategies import Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = (44, 61)
"""Rules that are recursive and not, with tests at the root, whose nodes are reduced or joined as they are."""


def atoms(rows: Rows) -> tuple[Atom, ...]:
    return tuple(Atom(name, tuple(map(Constant, row))) for name, some in rows.items() for row in some)


def sequence(updates: int) -> Sequence:
    """Some programs as one, with facts and updates."""
    parts = []
    for seed in SEEDS:
        random = Random(seed)
        given = atoms(random_facts(random, 3, 300))
        changes = [
            Update(atoms(random_facts(random, 4, 20)), atoms(random_facts(random, 3, 60))) for _ in range(updates)
        ]
        parts.append(Sequence(Case(parse_program(random_program(Random(seed))), given), tuple(changes)))
    return joined(parts)


def test_updates(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivations of instantiations are looked for in the first update, and counted in the second."""
    given = sequence(2)
    rules, explicit = given.case.program.rules, given.explicit()
    truth = [clingo_oracle.materialise(rules, facts) for facts in explicit]
    assert len({len(true - facts) for true, facts in zip(truth, explicit, strict=True)}) > 1, "updates do something"
    kb = KnowledgeBase(given.case.program, engine="spark", spark=spark, algorithm="dred", hypertree="cyclic")
    kb.add(rows_of(given.case.facts))
    trees = [one for one in kb.materialise().modules if one["kind"] == "hypertree"]
    assert len(trees) == len(decomposed(kb)) == 3
    assert all(node["facts"] for tree in trees for node in tree["nodes"])  # type: ignore[attr-defined]
    for update, dear, true in zip(given.updates, (0, 1e9), truth[1:], strict=True):
        monkeypatch.setattr("everlog.reasoning.modules.hypertree._DEAR", dear)
        kb.update(add=rows_of(update.add), delete=rows_of(update.delete))
        assert all_facts(kb) == true
    nodes = [node for module in decomposed(kb) for node in module.nodes]
    assert any(isinstance(node, Joined) and node.counts is not None for node in nodes)
    check_nodes(kb)
