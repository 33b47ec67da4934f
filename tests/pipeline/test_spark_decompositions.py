"""Decomposed rules on Spark: the programs and the checks of the memory engine, side by side, over updates and a store."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from on_spark import all_facts

import everlog
from batches import joined
from complex_rules import Rows, random_facts, random_program
from decomposed_rules import check_nodes, decomposed
from everlog import KnowledgeBase, parse_program
from everlog.datalog.syntax import Atom, Constant
from oracles import clingo_oracle
from oracles.exchange import facts_of, rows_of
from sequences import Sequence, Update
from strategies import Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = (41, 44, 61)
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


@pytest.mark.parametrize("counting", [False, True])
def test_updates(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counting: bool) -> None:
    """With and without counts of derivations; where they are counted, the second update is made by both engines."""
    monkeypatch.setattr("everlog.reasoning.modules.hypertree._DEAR", 1e9 if counting else 0)
    given = sequence(1 + counting)
    rules, explicit = given.case.program.rules, given.explicit()
    truth = [clingo_oracle.materialise(rules, facts) for facts in explicit]
    assert len({len(true - facts) for true, facts in zip(truth, explicit, strict=True)}) > 1, "updates do something"
    kb = KnowledgeBase(given.case.program, engine="spark", spark=spark, algorithm="dred", hypertree="cyclic")
    kb.add(rows_of(given.case.facts))
    report = kb.materialise()
    trees = [one for one in report.modules if one["kind"] == "hypertree"]
    assert len(trees) == len(decomposed(kb)) == 5
    assert all(node["facts"] for tree in trees for node in tree["nodes"])  # type: ignore[attr-defined]
    assert all_facts(kb) == truth[0]
    kb.update(add=rows_of(given.updates[0].add), delete=rows_of(given.updates[0].delete))
    assert all_facts(kb) == truth[1]
    check_nodes(kb)
    if counting:
        assert any(
            node.counts is not None for module in decomposed(kb) for node in module.nodes if hasattr(node, "counts")
        )
        kb.save(tmp_path / "store")
        for engine in ("memory", "spark"):
            opened = everlog.open(tmp_path / "store", engine=engine, spark=spark)
            opened.update(add=rows_of(given.updates[1].add), delete=rows_of(given.updates[1].delete))
            assert len(decomposed(opened)) == 5
            assert (facts_of(opened) if engine == "memory" else all_facts(opened)) == truth[2]
            check_nodes(opened)
