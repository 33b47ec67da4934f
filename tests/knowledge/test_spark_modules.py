"""Modules on Spark: all kinds of programs side by side, over updates, and through a store that either engine opens.

Where sets are small enough for the driver, every call of a module is checked against its bounds.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import everlog
from everlog import KnowledgeBase, parse_program
from everlog.datalog.syntax import Atom, Constant
from everlog.engine.spark import tuning
from oracles import naive
from oracles.exchange import facts_of, rows_of
from support.batches import joined
from support.chain_programs import CHAINS
from support.module_programs import PROGRAMS, some_facts
from support.on_spark import all_facts
from support.sequences import Sequence, Update
from support.strategies import Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def atoms(random: Random, most: int, nodes: int) -> tuple[Atom, ...]:
    found = some_facts(random, most, nodes)
    return tuple(Atom(name, tuple(map(Constant, row))) for name, rows in found.items() for row in rows)


def sequence(seed: int, updates: int, *names: str) -> Sequence:
    """Some programs as one, with facts and updates."""
    random = Random(seed)
    parts = []
    for name in names:
        nodes = random.randint(3, 5)
        given = atoms(random, 14, nodes)
        changes = [Update(atoms(random, 4, nodes), atoms(random, 6, nodes)) for _ in range(updates)]
        program = parse_program({**CHAINS, **PROGRAMS}[name])
        parts.append(Sequence(Case(program, given), tuple(changes)))
    return joined(parts)


def test_updates(spark: SparkSession, tmp_path: Path) -> None:
    """The second update is made by both engines, from a store."""
    given = sequence(5, 2, "stc beside tc", "reach by a filtered step")
    rules, explicit = given.case.program.rules, given.explicit()
    kb = KnowledgeBase(given.case.program, engine="spark", spark=spark, algorithm="dredc", checked=True)
    kb.add(rows_of(given.case.facts))
    report = kb.materialise()
    assert {one["kind"] for one in report.modules} == {"tc", "stc", "reach"}
    assert all_facts(kb) == naive.materialise(rules, explicit[0])
    first, second = given.updates
    kb.update(add=rows_of(first.add), delete=rows_of(first.delete))
    assert all_facts(kb) == naive.materialise(rules, explicit[1])
    kb.save(tmp_path / "store")
    for engine in ("memory", "spark"):
        opened = everlog.open(tmp_path / "store", engine=engine, spark=spark)
        report = opened.update(add=rows_of(second.add), delete=rows_of(second.delete))
        assert report.engine == engine and report.algorithm == "dredc" and len(report.modules) == 3
        found = facts_of(opened) if engine == "memory" else all_facts(opened)
        assert found == naive.materialise(rules, explicit[2])


@pytest.mark.parametrize("large", [False, True])
def test_chains_and_keys(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    """Chains, forced where they would not pay, beside neighbours by keys, through a store that both engines go on with."""
    if large:
        monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    names = ("fed by what follows",) if large else ("steps on both sides", "a relation above another", "seq by keys")
    given = sequence(7, 1 if large else 2, *names)
    rules, explicit = given.case.program.rules, given.explicit()
    options = {"spark": spark, "stratification": "single", "modules": "tc,reach,rch,seq"}
    # Where every set is in jobs, those of the checks would take longest by far.
    kb = KnowledgeBase(given.case.program, engine="spark", **options, checked=not large)
    kb.add(rows_of(given.case.facts))
    kinds = [one["kind"] for one in kb.materialise().modules]
    assert kinds.count("rch") == (1 if large else 2)
    assert kinds.count("seq") == (0 if large else 2)
    assert all_facts(kb) == naive.materialise(rules, explicit[0])
    first, *rest = given.updates
    kb.update(add=rows_of(first.add), delete=rows_of(first.delete))
    assert all_facts(kb) == naive.materialise(rules, explicit[1])
    for second in rest:
        kb.save(tmp_path / "store")
        for engine in ("memory", "spark"):
            opened = everlog.open(tmp_path / "store", engine=engine, spark=spark)
            report = opened.update(add=rows_of(second.add), delete=rows_of(second.delete))
            assert report.engine == engine and [one["kind"] for one in report.modules] == kinds
            found = facts_of(opened) if engine == "memory" else all_facts(opened)
            assert found == naive.materialise(rules, explicit[2])


def test_without_counts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every set in jobs, and triples."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    given = sequence(3, 1, "triples", "seq fed by what follows")
    rules, explicit = given.case.program.rules, given.explicit()
    kb = KnowledgeBase(given.case.program, engine="spark", spark=spark, algorithm="dred")
    kb.add(rows_of(given.case.facts))
    assert [one["kind"] for one in kb.materialise().modules] == ["tc", "stc", "seq"]
    kb.update(add=rows_of(given.updates[0].add), delete=rows_of(given.updates[0].delete))
    assert all_facts(kb) == naive.materialise(rules, explicit[1])
