"""Modules: found where the papers declare them, and right over sequences of updates whatever they are mixed with."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program, Rule
from everlog.engine.algebra import FactSet
from everlog.engine.memory import tuning
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.knowledge.base import KnowledgeBase
from everlog.planning.compiled_program import compile_program
from everlog.planning.modules.module_rules import KINDS
from everlog.reasoning.modular import Added
from everlog.reasoning.modules.module import Backbone
from oracles import naive
from oracles.exchange import facts_of
from support.maintenance import MODES, Truth, check_backbones, check_sequence
from support.module_programs import PROGRAMS, patterned, some_facts

DATA = Path(os.environ.get("EVERLOG_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))

ALGORITHMS = ["dred", "fbf", "bf", "dredc", "bfc", "auto"]


@cache
def from_scratch(rules: tuple[Rule, ...], explicit: naive.Facts) -> naive.Facts:
    return naive.materialise(rules, explicit)


def truth(program: Program, kb: KnowledgeBase) -> naive.Facts:
    return from_scratch(program.rules, facts_of(kb, "explicit"))


WAYS = ["as a whole", "step by step", "by visits", "visited first", "where they lie"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_sequences_of_updates(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way goes with each algorithm, by turns: with half of them in every sequence."""
    if way == "step by step":
        monkeypatch.setattr(Backbone, "_limit", lambda self: 100_000)
    if way == "visited first":
        monkeypatch.setattr(tuning, "VISIT_COST", 0.0)
    if way == "by visits":
        monkeypatch.setattr(tuning, "GRAPH_BYTES", 0)
        monkeypatch.setattr(tuning, "PAIRS_AT_A_TIME", 8)
    if way == "where they lie":
        monkeypatch.setattr(Backbone, "_few", lambda self, facts: False)
        monkeypatch.setattr(tuning, "VISITED_PAIRS", 0)
        monkeypatch.setattr(tuning, "VISIT_COST", 1e9)
        monkeypatch.setattr(tuning, "SHARED_TUPLES", 2)
        monkeypatch.setattr(tuning, "LISTED_ROWS", 2)
    program = parse_program(PROGRAMS[name])
    for seed in range(2):
        for algorithm in ALGORITHMS[(seed + WAYS.index(way)) % 2 :: 2]:
            random = Random(f"{name} {seed}")
            nodes = random.randint(2, 7)
            mode = random.choice(["levels", "single"])
            kb = KnowledgeBase(program, algorithm=algorithm, stratification=mode, workers=1, checked=True)
            kb.add(some_facts(random, 14, nodes))
            kb.materialise()
            for _ in range(3):
                kb.update(add=some_facts(random, 4, nodes), delete=some_facts(random, 6, nodes))
                assert facts_of(kb) == truth(program, kb), (name, seed, algorithm, mode)
                check_backbones(kb)


@pytest.mark.parametrize("hypertree", ["auto", "all"])
def test_random_programs(hypertree: str) -> None:
    """Some of the rules form modules, beside others that feed and use the same relations."""
    for seed in range(3):
        truth = Truth(patterned(Random(f"{hypertree} {seed}")))
        for number, algorithm in enumerate(ALGORITHMS):
            modules = "auto" if (seed + number) % 3 == 0 else ",".join(KINDS)
            mode = MODES[(seed + number) % 2]
            check_sequence(truth, algorithm, mode, modules=modules, hypertree=hypertree, checked=True)


def test_examples_20_to_22() -> None:
    """*Modular*, Examples 20–22: the backbone as facts come and go; by the counts, which are the paper's oracle."""
    program = parse_program("r(?x, ?y) :- s(?x, ?y) . r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .")
    kb = KnowledgeBase(program, algorithm="dredc", workers=1, stratification="single")
    kb.add({"s": [("b", "c")], "r": [("c", "d"), ("d", "e")]})
    kb.materialise()
    [module] = kb.reasoner.materialisation.modules[1]  # type: ignore[union-attr]

    def backbone() -> set[tuple[object, ...]]:
        engine = kb.reasoner.engine
        return set(kb.reasoner.backend.rows(engine.columns(as_memory_facts(module.X), "r"), 2))

    closure = {("b", "c"), ("b", "d"), ("b", "e"), ("c", "d"), ("c", "e"), ("d", "e")}
    assert set(kb.rows("r")) == closure
    assert backbone() == {("b", "c"), ("c", "d"), ("d", "e")}  # (23)
    kb.update(add={"s": [("a", "c"), ("c", "e")]})
    assert set(kb.rows("r")) == closure | {("a", "c"), ("a", "d"), ("a", "e")}  # (25)
    assert backbone() == {("a", "c"), ("b", "c"), ("c", "d"), ("d", "e")}  # (26)
    kb.update(delete={"r": [("d", "e")], "s": [("a", "c")]})
    assert set(kb.rows("r")) == {("b", "c"), ("b", "d"), ("b", "e"), ("c", "d"), ("c", "e")}
    assert backbone() == {("b", "c"), ("c", "d"), ("c", "e")}  # (28), and what (29) adds to it


def test_a_failed_update_leaves_backbones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = parse_program(PROGRAMS["stc"])
    kb = KnowledgeBase(program, workers=1)
    kb.add({"e": [(1, 2), (2, 3), (4, 5)]})
    kb.materialise()
    before = facts_of(kb)

    def broken(self: Added, now: FactSet, Δ: FactSet) -> FactSet:
        if self.modules:  # which have deleted what they are to delete
            raise OSError("no room")
        return Δ - Δ

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no room"):
        patch.setattr(Added, "add", broken)
        kb.update(delete={"e": [(1, 2)]}, add={"e": [(3, 4)]})
    assert facts_of(kb) == before
    check_backbones(kb)
    kb.update(delete={"e": [(1, 2)]}, add={"e": [(3, 4)]})
    assert facts_of(kb) == truth(program, kb)


@pytest.mark.parametrize(
    ("rules", "kinds"),
    [
        ("r(?a, ?c) :- r(?b, ?c), r(?a, ?b) .", ["tc"]),
        ("r(?a, ?c) :- r(?a, ?b), r(?b, ?c) . r(?u, ?v) :- r(?v, ?u) .", ["stc"]),
        ("[?a, p, ?c] :- [?a, p, ?b], [?b, p, ?c] . [?a, q, ?b] :- [?b, q, ?a] .", ["tc"]),
        ("r(?a, ?c) :- r(?a, ?b), s(?b, ?c) . r(?a, ?b) :- s(?a, ?b) .", ["reach"]),
        ("r(?a, ?c) :- s(?a, ?b), r(?b, ?c) .", ["reach"]),
        ("r(?a, ?c) :- r(?a, ?b), r(?b, ?c), s(?a, ?c) .", []),
        ("r(?a, ?c) :- r(?a, ?b), r(?c, ?b) .", []),
        ("r(?a, ?c) :- r(?a, ?b), s(?b, ?c) . s(?a, ?b) :- r(?a, ?b) .", ["rch"]),
        ("r(?a, ?c) :- r(?a, ?b), r(?b, ?c), ?a != ?c .", []),
        ("r(?a, ?c) :- p(?a), p(?c), ?a < ?c, NOT EXISTS ?b IN (p(?b), ?a < ?b, ?b < ?c) .", ["seq"]),
        ("r(?a, ?c) :- p(?a, ?k), p(?c, ?l), ?k < ?l, NOT EXISTS ?b, ?m IN (p(?b, ?m), ?k < ?m, ?m < ?l) .", ["seq"]),
        (
            "r(?a, ?c) :- [?a, p, ?k], [?c, p, ?l], ?k < ?l, NOT EXISTS ?b, ?m IN ([?b, p, ?m], ?k < ?m, ?m < ?l) .",
            ["seq"],
        ),
        ("r(?a, ?c) :- p(?a, ?k), p(?c, ?l), ?k < ?l, NOT EXISTS ?b, ?m IN (p(?b, ?m), ?k < ?m, ?b < ?l) .", []),
        ("r(?a, ?c) :- p(?a, ?k), p(?c, ?l), ?a < ?c, NOT EXISTS ?b, ?m IN (p(?b, ?m), ?k < ?m, ?m < ?l) .", []),
        ("[?a, n, ?c] :- [?a, a, k], [?c, a, k], ?c > ?a, NOT EXISTS ?b IN ([?b, a, k], ?c > ?b, ?a < ?b) .", ["seq"]),
        ("r(?a, ?c) :- p(?a), p(?c), ?a < ?c, NOT EXISTS ?b IN (p(?b), ?a < ?b, ?b <= ?c) .", []),
        ("r(?a, ?c) :- p(?a), p(?c), ?a < ?c, NOT EXISTS ?b IN (q(?b), ?a < ?b, ?b < ?c) .", []),
        ("r(?a, 1) :- r(?a, ?b), r(?b, 1) .", []),
        ("r(?a, ?c) :- r(?a, ?b), s(?b, ?c) . r(?a, ?c) :- r(?a, ?b), u(?b, ?c) .", ["rch"]),
    ],
)
def test_what_is_found(rules: str, kinds: list[str]) -> None:
    assert sorted(found(parse_program(rules)).elements()) == kinds


def found(program: Program) -> Counter[str]:
    engine = MemoryEngine(workers=1)
    strata = compile_program(program.rules, MemoryCompiler(engine), "levels", KINDS)
    return Counter(module.kind for stratum in strata for module in stratum.modules)


@pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no data at {DATA}")
@pytest.mark.parametrize(("name", "tc", "stc"), [("LUBM_LE", 1, 2), ("Claros_LE", 27, 2)])
def test_what_the_paper_declared_is_found(name: str, tc: int, stc: int) -> None:
    """*Modular*, Table 3."""
    program = parse_program((DATA / "programs" / f"{name}.dlog").read_text(encoding="utf-8"))
    assert found(program) == {"tc": tc, "stc": stc}


@pytest.mark.parametrize("algorithm", ["auto", "dred", "dredc"])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_path_through_a_fact_that_was_deleted_before_it(algorithm: str, backwards: bool) -> None:
    """`t(1, 3)` is deleted a round before `t(0, 1)`, and still follows: what both led to was not looked at."""
    kb = KnowledgeBase(
        parse_program("t(?x, ?y) :- e(?x, ?y) . " + "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) ."),
        algorithm=algorithm,
        modules="tc",
        stratification="single",
        workers=1,
    )
    kb.materialise()
    turned = (lambda pair: pair[::-1]) if backwards else (lambda pair: pair)
    for given in ({"t": [turned((2, 3))]}, {"t": [turned((1, 2))]}, {"e": [turned((0, 1))]}, {"t": [turned((1, 3))]}):
        kb.update(add=given)
    report = kb.update(delete={"e": [turned((0, 1))], "t": [turned((1, 3))]})
    assert sorted(kb.rows("t")) == sorted(map(turned, [(1, 2), (1, 3), (2, 3)]))
    assert report.deleted == 4
    check_backbones(kb)


def test_a_fact_is_not_entered_twice_between_two_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows from the backbone holds before the closure is computed, also after deletions in several rounds."""
    monkeypatch.setattr(Backbone, "_few", lambda self, facts: False)
    program = parse_program(
        "t(?x, ?y) :- e(?x, ?y) . s(?x, ?y) :- t(?x, ?y), not b(?x) . t(?x, ?y) :- s(?y, ?x) . "
        "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) ."
    )
    kb = KnowledgeBase(program, algorithm="dredc", stratification="single", workers=1)
    kb.add({"e": [(3, 3), (3, 4), (4, 1)], "t": [(1, 3)]})
    kb.materialise()
    kb.update(add={"t": [(3, 1)]}, algorithm="fbf:budget:5")
    kb.update(delete={"t": [(3, 1)]}, algorithm="auto")
    assert facts_of(kb) == from_scratch(program.rules, facts_of(kb, "explicit"))


def test_rows_that_lie_beside_those_that_a_module_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many rows those are sought that there is no path for; parts that came sorted may lie outside of them."""
    monkeypatch.setattr(tuning, "VISITED_PAIRS", 0)
    monkeypatch.setattr(tuning, "VISITED_SOURCES_SHARE", 1000)
    monkeypatch.setattr(tuning, "VISIT_COST", 1e9)
    monkeypatch.setattr(tuning, "SHARED_TUPLES", 2)
    monkeypatch.setattr(Backbone, "_few", lambda self, facts: False)
    kb = KnowledgeBase(parse_program(PROGRAMS["tc"]), algorithm="dred", modules="tc", workers=1)
    kb.add({"e": [(2, 4)]})
    kb.materialise()
    adding = [[(3, 8), (9, 4), (8, 3)], [(0, 3), (3, 0), (3, 2)], [(4, 3)]]
    for edges in adding:
        kb.update(add={"e": edges})
    for edge in [(2, 4), (4, 3), (3, 8), (0, 3)]:
        kb.update(delete={"e": [edge]})
        assert facts_of(kb) == from_scratch(kb.program.rules, facts_of(kb, "explicit"))
