"""Where no two names are equal yet, updates are those of an ordinary materialisation, until one derives an equality."""

from __future__ import annotations

from typing import Any

import pytest

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.values import SAME_AS
from oracles import clingo_oracle
from oracles.equality import materialise
from oracles.exchange import facts_of
from reasoning.test_equality_interrupted import interrupted_everywhere
from reasoning.test_equality_restored import Shelf
from support.equalities import EqualityCase, if_defined, r_materialisation, random_case, rewritten, rows

KEYS = "?x = ?y :- key(?x, ?k), key(?y, ?k) ."
PATHS = "path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(?x, ?y) :- edge(?x, ?y) ."
ROADS = PATHS.replace("path", "road")


def is_distinct(kb: Any) -> bool:
    return bool(kb.reasoner.phase == "apart")


def without_equalities(case: EqualityCase) -> EqualityCase | None:
    """The case with fewer facts in the beginning, so few that nothing is equal to anything else."""
    facts = sorted((fact for fact in case.facts if SAME_AS not in map(str, fact[1])), key=repr)
    while True:
        kb: Any = if_defined(case, frozenset(facts))
        if kb is None or (not facts and kb.reasoner.classes.members):
            return None
        if not kb.reasoner.classes.members and not kb.clashes():
            return EqualityCase(case.text, frozenset(facts), case.updates)
        del facts[len(facts) // 2 :]


def test_random_updates_that_may_make_names_equal() -> None:
    """As from scratch, as by rules, and in all sections of a store; some names become equal, and some never do."""
    stayed = changed = 0
    for seed in range(8000, 8040):
        case = without_equalities(random_case(seed, updates=4, typed=seed % 2 == 0))
        if case is None:
            continue
        kb = rewritten(case)
        explicit, shelf = case.facts, Shelf(kb)
        for number, (add, delete) in enumerate(case.updates):
            if number == 2:
                kb = shelf.opened(kb, case)
            was = is_distinct(kb)
            kb.update(add=rows(add), delete=rows(delete))
            explicit = (explicit - delete) | add
            stayed, changed = stayed + is_distinct(kb), changed + (was and not is_distinct(kb))
            shelf.follow(kb)
            anew = rewritten(case, explicit)
            assert facts_of(kb) == facts_of(anew), f"{seed}, after {number}\n{case}"
            assert facts_of(kb, "derived") == facts_of(anew, "derived"), f"{seed}, after {number}\n{case}"
            assert r_materialisation(kb) == r_materialisation(anew), f"{seed}, after {number}\n{case}"
            assert kb.clashes() == anew.clashes()
        assert facts_of(kb) == materialise(case.program, explicit, clingo_oracle.materialise)
    assert stayed > 20 and changed > 5


def made(text: str, **facts: list[tuple[object, ...]]) -> Any:
    kb = KnowledgeBase(parse_program(text), engine="memory", equality="rewrite", workers=1)
    kb.add(facts)
    kb.materialise()
    return kb


def test_an_equality_and_its_end() -> None:
    kb = made(KEYS + PATHS, key=[("a", 1), ("b", 2)], edge=[("a", "x"), ("x", "y")])
    report = kb.update(add={"key": [("c", 3)], "edge": [("y", "z")]})
    assert is_distinct(kb)
    assert (report.added, report.facts["representatives"], report.facts["total"]) == (5, 12, 12)
    report = kb.update(add={"key": [("b", 1)]})
    assert not is_distinct(kb) and sorted(kb.rows("path"))[3:6] == [("b", "x"), ("b", "y"), ("b", "z")]
    assert (report.facts["total"], report.facts["representatives"]) == (20, 13)
    kb.update(delete={"key": [("b", 1)]})
    assert kb.update(delete={"edge": [("x", "y")]}).deleted == 5
    assert not is_distinct(kb), "it is not made anew with every class that ends"
    kb.update(algorithm="remat")
    kb.update(add={"edge": [("x", "y")]})
    assert is_distinct(kb) and kb.size("path") == 6


def test_modules_keep_what_they_know() -> None:
    """Also where the strata, and with them the modules, come in another order."""
    edges = [("a", "b"), ("b", "c"), ("c", "d")]
    text = f"{KEYS} key(?x, ?y) :- road(?x, ?y), far(?y) . {ROADS} {PATHS}"
    kb = made(text, edge=edges, key=[("a", 1)])
    kb.update(add={"edge": [("d", "e")]})
    assert is_distinct(kb) and [module.kind for module in kb.reasoner.materialisation.module_list()]
    shelf = Shelf(kb)
    for update in ({"delete": {"edge": [("b", "c")]}}, {"add": {"key": [("e", 1)]}}, {"add": {"edge": [("b", "c")]}}):
        kb.update(**update)
        shelf.follow(kb)
        anew = made(text, **{name: kb.rows(name, "explicit") for name in kb.predicates()})
        assert facts_of(kb) == facts_of(anew)
        assert r_materialisation(kb) == r_materialisation(anew)


def test_who_is_different_is_reported() -> None:
    kb = made(f"{KEYS} [?x, owl:differentFrom, ?y] :- far(?x, ?y) .", key=[("a", 1)], far=[("a", "b")])
    assert kb.update(add={"key": [("b", 2)]}).warnings == []
    report = kb.update(add={"far": [("b", "b")]})
    assert report.warnings == kb.clashes() and "b, owl:differentFrom, b" in report.warnings[0]
    assert is_distinct(kb)
    assert len(kb.update(add={"key": [("b", 1)]}).warnings) == len(kb.clashes()) == 1
    assert not is_distinct(kb)


@pytest.mark.parametrize(
    "text",
    [
        "p(?x) :- [?x, owl:sameAs, ?y] .",
        "p(?x) :- [?x, ?v, ?y], ?v = owl:sameAs .",
        "p(?x) :- q(?x), NOT EXISTS ?y IN (r(?x, ?y), s(?y)) .",
    ],
)
def test_where_hidden_predicates_depend_on_everything(text: str) -> None:
    kb = made(f"{KEYS} {text}", q=[("a",), ("b",)], r=[("a", "c")])
    kb.update(delete={"t": [("d",)]})
    kb.update(add={"s": [("c",)], "t": [("d",)]})
    assert not is_distinct(kb)
    anew = made(f"{KEYS} {text}", **{name: kb.rows(name, "explicit") for name in kb.predicates()})
    assert facts_of(kb) == facts_of(anew)


def test_named_algorithms_are_those_of_rewriting() -> None:
    kb = KnowledgeBase(parse_program(KEYS), engine="memory", equality="rewrite", algorithm="dredc")
    kb.add({"key": [("a", 1)]})
    kb.materialise()
    kb.update(add={"key": [("b", 2)]})
    assert not is_distinct(kb)


@pytest.mark.parametrize("algorithm", ["auto", "bf"])
@pytest.mark.parametrize("opened", [False, True])
def test_a_large_class_at_once(opened: bool, algorithm: str) -> None:
    """All pairs of it would be derived by rules, if nobody stopped them."""
    kb = made(KEYS, key=[(f"a{number}", number) for number in range(100)], p=[("a1",)])
    kb.update(add={"p": [("a2",)]})
    assert is_distinct(kb)
    if opened:  # then nobody knows what computing everything takes
        kb = Shelf(kb).opened(kb, EqualityCase(KEYS, frozenset(), ()))
    report = kb.update(add={"key": [(f"b{number}", 7) for number in range(1500)]}, algorithm=algorithm)
    assert not is_distinct(kb) and kb.size("key") == 99 + 1501
    assert sum(report.derivations.values()) < 100_000
    assert kb.reasoner.engine.property_table(SAME_AS).n < 1_000_000, "of over two million pairs"
    assert opened or any("became equal" in reason for reason in report.reasons)


def test_interrupted_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{KEYS} {PATHS} r(?x) :- path(?x, ?y), not q(?y) ."
    kb = made(text, key=[("a", 1), ("b", 2)], edge=[("a", "x"), ("x", "y")], q=[("y",)])
    for update in ({"delete": {"edge": [("x", "y")]}}, {"add": {"key": [("b", 1)]}}):
        assert interrupted_everywhere(monkeypatch, kb, {"edge": [("f", "g")]}, **update) > 5
        anew = made(text, **{name: kb.rows(name, "explicit") for name in kb.predicates()})
        assert r_materialisation(kb) == r_materialisation(anew) and facts_of(kb) == facts_of(anew)
    assert not is_distinct(kb)
