"""Updates that are odd, mixed or interrupted: what a user may do, and what must not go wrong on the way."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from random import Random

import pytest
from hypothesis import Phase, given, settings

from everlog import KnowledgeBase, parse_program
from everlog.errors import EverlogError
from everlog.knowledge import choice
from everlog.reasoning.change import Change
from oracles.exchange import facts_of, rows_of
from support import kept_state
from support.cramped import cramped
from support.maintenance import ALGORITHMS, MODES, Mode, Truth, apply, assert_right, check_kept, check_sequence
from support.sequences import Sequence, Update, sequences
from support.strategies import Case

property_test = settings(deadline=None, derandomize=True, phases=[Phase.generate])

REACH = parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    lonely(?x) :- node(?x), not reach(?x, ?x) .
    """
)
RING = {"edge": [(n, (n + 1) % 5) for n in range(5)], "node": [(n,) for n in range(6)]}


def ring(algorithm: str = "auto", mode: Mode = "levels", modules: str = "auto") -> KnowledgeBase:
    kb = KnowledgeBase(REACH, algorithm=algorithm, stratification=mode, modules=modules)
    kb.add(RING)
    kb.materialise()
    return kb


def fresh(kb: KnowledgeBase) -> KnowledgeBase:
    """The same explicit facts, materialised from the beginning."""
    other = KnowledgeBase(kb.program)
    other.add({name: kb.facts(name, "explicit") for name in kb.arities})
    other.materialise()
    return other


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("algorithm", ["auto", "remat", *ALGORITHMS])
class TestOddUpdates:
    def test_deleting_what_only_follows_changes_nothing(self, algorithm: str, mode: Mode) -> None:
        kb = ring(algorithm, mode)
        before = facts_of(kb)
        report = kb.update(delete={"reach": [(0, 3), (2, 2)], "edge": [(0, 4)], "nobody": [(1,)]})
        assert facts_of(kb) == before
        assert (report.added, report.deleted) == (0, 0)
        assert any("not explicit" in warning for warning in report.warnings)

    def test_adding_what_follows_makes_it_explicit(self, algorithm: str, mode: Mode) -> None:
        kb = ring(algorithm, mode)
        before = facts_of(kb)
        report = kb.update(add={"reach": [(0, 3)]})
        assert (report.added, report.deleted) == (0, 0)
        assert facts_of(kb) == before
        assert kb.rows("reach", "explicit") == [(0, 3)]
        kb.update(delete={"edge": RING["edge"]})
        assert kb.rows("reach") == [(0, 3)]

    def test_a_fact_that_is_deleted_and_added_stays(self, algorithm: str, mode: Mode) -> None:
        kb = ring(algorithm, mode)
        report = kb.update(add={"edge": [(0, 1), (4, 5)]}, delete={"edge": [(0, 1), (4, 5)]})
        assert report.deleted == 0
        assert sorted(kb.rows("edge")) == sorted([*RING["edge"], (4, 5)])

    def test_everything_goes_and_comes_back(self, algorithm: str, mode: Mode) -> None:
        kb = ring(algorithm, mode)
        before = facts_of(kb)
        report = kb.update(delete=RING)
        assert not facts_of(kb)
        assert (report.added, report.deleted, report.facts["total"]) == (0, len(before), 0)
        report = kb.update(add=RING)
        assert facts_of(kb) == before
        assert (report.added, report.deleted) == (len(before), 0)

    def test_nothing_to_do(self, algorithm: str, mode: Mode) -> None:
        kb = ring(algorithm, mode)
        before = facts_of(kb)
        report = kb.update()
        assert (report.added, report.deleted) == (0, 0)
        assert facts_of(kb) == before
        if algorithm != "remat":
            assert sum(report.derivations.values()) == 0

    def test_facts_of_a_predicate_that_no_rule_knows(self, algorithm: str, mode: Mode) -> None:
        kb = ring(algorithm, mode)
        kb.update(add={"other": [("a", 1)]})
        assert kb.rows("other") == [("a", 1)]
        kb.update(delete={"other": [("a", 1)]})
        assert kb.rows("other") == []


@pytest.mark.parametrize("algorithm", ["dredc", "bfc", "counting"])
def test_an_algorithm_whose_counts_were_not_kept_is_refused(algorithm: str) -> None:
    kb = ring("dred")
    before = facts_of(kb)
    with pytest.raises(EverlogError, match=f"is made with the algorithm {algorithm} has them"):
        kb.update(delete={"edge": [(0, 1)]}, algorithm=algorithm)
    assert facts_of(kb) == before
    kb.update(delete={"edge": [(0, 1)]})
    assert len(kb.rows("edge")) == 4


@pytest.mark.parametrize("algorithm", ["dredc", "counting"])
def test_counts_that_another_algorithm_drops_are_missed_by_no_update_and_come_back(algorithm: str) -> None:
    kb = ring(algorithm)
    counted = kb.reasoner.kept_kinds()
    assert "were dropped" in kb.update(delete={"edge": [(0, 1)]}, algorithm="fbf").warnings[0]
    report = kb.update(add={"edge": [(0, 1)]})
    assert report.algorithm == "fbf"
    assert f"dropped the counts that {algorithm} needs" in report.reasons[0]
    assert kb.update(delete={"edge": [(1, 2)]}, algorithm="auto").algorithm in ("fbf", "dredc")
    kb.update(algorithm="remat")
    assert kb.reasoner.kept_kinds() == counted
    report = kb.update(add={"edge": [(1, 2)]})
    assert (report.algorithm, report.reasons) == (algorithm, [])
    assert facts_of(kb) == facts_of(ring(algorithm))


@pytest.mark.parametrize("name", ["dread", "fbf:depth", "fbf:depth:x", "fbf:budget:-1", "fbf:3", "bf:never"])
def test_what_is_no_algorithm_is_refused(name: str) -> None:
    with pytest.raises(EverlogError, match="choose one of"):
        KnowledgeBase(REACH, algorithm=name)
    kb = ring()
    with pytest.raises(EverlogError, match="choose one of"):
        kb.update(algorithm=name)


@settings(property_test, max_examples=16)
@given(sequences(updates=6))
def test_algorithms_take_turns_and_nothing_kept_goes_stale(sequence: Sequence) -> None:
    """Any algorithm after any other: what is kept stays right, or is gone and the report says so."""
    truth, random = Truth(sequence), Random(repr(sequence))
    mode = random.choice(MODES)
    kb = KnowledgeBase(
        sequence.case.program, algorithm=random.choice(ALGORITHMS), stratification=mode, workers=1, modules="off"
    )
    kb.add(rows_of(sequence.case.facts))
    kb.materialise()
    for number, update in enumerate(sequence.updates):
        kept = kept_state.kept(kb).names()
        possible = ["auto", *(name for name in ALGORITHMS if _needs(name) <= kept)]
        report = apply(kb, update, algorithm=random.choice(possible))
        lost = kept - kept_state.kept(kb).names()
        assert sum("dropped" in warning for warning in report.warnings) == len(lost)
        assert facts_of(kb) == truth.materialised[number + 1]
        check_kept(kb, truth.ground(mode), truth.explicit[number + 1], f"after {number + 1}")


def _needs(name: str) -> frozenset[str]:
    from everlog.reasoning.algorithms import algorithm

    return algorithm(name).needs


def interrupted(last: int) -> Callable[[Change, str], AbstractContextManager[None]]:
    """`Change.phase` as it is, up to some call."""
    original, calls = Change.phase, count(1)

    def phase(self: Change, name: str) -> AbstractContextManager[None]:
        if next(calls) == last:
            raise KeyboardInterrupt
        return original(self, name)

    return phase


@settings(property_test, max_examples=14)
@given(sequences())
def test_an_update_that_fails_leaves_everything_as_it_was(sequence: Sequence) -> None:
    """A phase of an update is interrupted; afterwards the same update goes through."""
    truth, random = Truth(sequence), Random(repr(sequence))
    algorithm, mode = random.choice(ALGORITHMS), random.choice(MODES)
    kb = KnowledgeBase(sequence.case.program, algorithm=algorithm, stratification=mode, workers=1, modules="off")
    kb.add(rows_of(sequence.case.facts))
    kb.materialise()
    for number, update in enumerate(sequence.updates):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Change, "phase", interrupted(random.randint(1, 5)))
            try:
                apply(kb, update)
            except KeyboardInterrupt:
                assert facts_of(kb) == truth.materialised[number]
                assert facts_of(kb, "explicit") == truth.explicit[number]
                check_kept(kb, truth.ground(mode), truth.explicit[number], f"after a failure in {number + 1}")
        apply(kb, update)
        assert facts_of(kb) == truth.materialised[number + 1]
        check_kept(kb, truth.ground(mode), truth.explicit[number + 1], f"after {number + 1}")


@settings(property_test, max_examples=8)
@given(sequences())
def test_small_blocks_and_threads(sequence: Sequence) -> None:
    """Blocks of two bindings, sinks that are full at two heads, two threads."""
    with cramped(2):
        assert_right(sequence, [(name, "levels") for name in ("dred", "fbf", "dredc", "bfc", "counting")], workers=2)


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An `auto` that may consider nothing."""
    for name in ("_FREE", "_INSTANCES", "_SECONDS", "_COUNTED_SECONDS"):
        monkeypatch.setattr(choice, name, 0)


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("kept", ["auto", "dredc", "counting"])
def test_giving_up_is_starting_again(kept: str) -> None:
    kb = ring(kept)
    names = kept_state.kept(kb).names()
    report = kb.update(delete={"edge": [(0, 1)]}, algorithm="auto")
    assert report.algorithm == "remat"
    assert any("given up" in reason for reason in report.reasons)
    assert kept_state.kept(kb).names() == names
    fresh = KnowledgeBase(REACH)
    fresh.add({**RING, "edge": RING["edge"][1:]})
    fresh.materialise()
    assert facts_of(kb) == facts_of(fresh)


@pytest.mark.parametrize("modules", ["auto", "off"])
def test_starting_again_gives_memory_back_at_once(modules: str) -> None:
    """Large tables that wait for Python to look for circles fill the memory of a machine."""
    kb = KnowledgeBase(REACH, modules=modules)
    kb.add(RING)
    kb.materialise()
    kb.update(delete={"edge": [(0, 1)]}, algorithm="dred")  # makes indexes
    state = kb.reasoner
    gone = [weakref.ref(table) for relation in state.engine.relations().values() for table in relation.tables()]
    assert gone
    del state
    gc.collect()
    gc.disable()
    try:
        kb.update(add={"edge": [(0, 1)]}, algorithm="remat")
        assert [table() for table in gone] == [None] * len(gone)
    finally:
        gc.enable()


@pytest.mark.usefixtures("_impatient")
def test_what_spread_too_far_is_not_tried_again_soon() -> None:
    kb = ring("dredc")
    said = []
    for _ in range(3):
        report = kb.update(delete={"edge": [(0, 1), (1, 2)]}, algorithm="auto")
        said.append(" ".join(report.reasons))
        kb.update(add={"edge": [(0, 1), (1, 2)]}, algorithm="dredc")
    assert "given up" in said[0]
    assert "deleting 2 facts spread too far the last time" in said[1]
    assert "given up" in said[2], "after a while it is tried again"
    assert kept_state.kept(kb).names() == {"nonrecursive", "recursive"}


def test_a_rule_with_too_many_instances_is_given_up_whatever_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_FREE", 0)
    monkeypatch.setattr(choice, "_RULES_SECONDS", 1e9)
    kb = KnowledgeBase("p(?x) :- q(?x, ?y) .")
    kb.add({"q": [(number, number % 5) for number in range(500)]})
    kb.materialise()
    rule = "near(?x, ?z) :- q(?x, ?y), q(?z, ?y) ."
    assert "given up" in " ".join(kb.change_rules(add=rule).reasons)
    assert kb.size("near") == 50_000
    assert facts_of(kb) == facts_of(fresh(kb))
    few = kb.change_rules(add="few(?x) :- q(?x, ?y), q(?y, ?x) .")
    assert few.algorithm != "remat" and kb.size("few") == 5


def test_a_rule_that_takes_long_is_given_up_however_few_instances_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase("p(?x) :- q(?x, ?y) .")
    kb.add({"q": [(number, number % 5) for number in range(500)]})
    kb.materialise()
    few = "few(?x) :- q(?x, ?y), q(?y, ?x) ."
    assert kb.change_rules(add=few).algorithm != "remat", "nobody minds where starting again is as quick"
    kb.change_rules(delete=few)
    monkeypatch.setattr(choice, "_QUICK", 0.0)
    monkeypatch.setattr(choice, "_RULES_TOO_LONG", 0.0)
    assert "given up" in " ".join(kb.change_rules(add=few).reasons)
    assert facts_of(kb) == facts_of(fresh(kb))
    monkeypatch.setattr(choice, "_RULES_TOO_LONG", 1e9)
    known = kb.reasoner.materialisation
    assert known is not None and known.cost is not None and 0 < known.cost.whole < math.inf
    assert kb.change_rules(delete="p(?x) :- q(?x, ?y) .").algorithm != "remat"
    after = kb.reasoner.materialisation
    assert after is not None and after.cost == known.cost, "what starting again took is known until it is done again"


@pytest.mark.usefixtures("_impatient")
def test_additions_that_spread_too_far_are_not_tried_for_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_ADDING_SECONDS", 0)
    monkeypatch.setattr(choice, "_UNTRIED", 2)
    kb = ring()
    said = []
    for number in range(4):
        report = kb.update(add={"edge": [(10 + number, 0), (20 + number, 0)]})
        said.append(" ".join(report.reasons))
    assert "given up" in said[0] and "given up" in said[3]
    assert all("adding 2 facts spread too far the last time" in one for one in said[1:3])
    assert facts_of(kb) == facts_of(fresh(kb))


def test_a_large_part_of_the_facts_is_not_deleted_one_by_one() -> None:
    """Following what each led to takes longer than computing what is left, unless modules derive most of it."""
    kb = KnowledgeBase("p(?x) :- q(?x) .")
    kb.add({"q": [(number,) for number in range(6_000)]})
    kb.materialise()
    assert kb.update(delete={"q": [(number,) for number in range(1_100)]}).algorithm == "fbf"
    report = kb.update(delete={"q": [(number,) for number in range(1_100, 2_200)]})
    assert report.algorithm == "remat" and "a large part" in " ".join(report.reasons)
    assert set(kb.rows("p")) == {(number,) for number in range(2_200, 6_000)}

    chains = KnowledgeBase("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .", modules="tc")
    edges = [(12 * chain + step, 12 * chain + step + 1) for chain in range(400) for step in range(10)]
    chains.add({"path": edges})
    chains.materialise()
    assert chains.update(delete={"path": edges[: len(edges) // 4]}).algorithm == "fbf"
    assert chains.size("path") == 300 * 55


@pytest.mark.parametrize("waits", [False, True])
def test_modules_wait_where_rules_depend_on_them(waits: bool) -> None:
    closure = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), path(?y, ?z) ."
    more = "path(?y, ?x) :- path(?x, ?y), back(?x) ." if waits else "far(?x, ?y) :- path(?x, ?y), back(?x) ."
    kb = KnowledgeBase(f"{closure} {more}", modules="tc")
    kb.add({"edge": RING["edge"], "back": [(0,)]})
    kb.materialise()
    known = kb.reasoner.materialisation
    assert known.only_grows and known.module_list() and known.modules_wait == waits


def test_frequent_updates_are_counted_for() -> None:
    """`auto` counts derivations after a while, unless modules derive most; what is computed anew starts without them."""
    algorithms = {}
    for modules in ("auto", "off"):
        kb = ring(modules=modules)
        used = algorithms[modules] = []
        for _ in range(2):
            for edge in RING["edge"]:
                used.append(kb.update(delete={"edge": [edge]}).algorithm)
                kb.update(add={"edge": [edge]})
    assert set(algorithms["auto"]) == {"fbf"}
    assert algorithms["off"][0] == "fbf" and algorithms["off"][-1] == "dredc"
    assert kept_state.kept(kb).names() == {"nonrecursive", "recursive"}
    counted = kb.update(add={"edge": [RING["edge"][0]]})
    assert counted.state_bytes > 0
    kb.update(algorithm="remat")
    assert not kept_state.kept(kb).names()


@pytest.mark.usefixtures("_impatient")
@settings(property_test, max_examples=16)
@given(sequences())
def test_giving_up_again_and_again(sequence: Sequence) -> None:
    truth = Truth(sequence)
    for mode in MODES:
        check_sequence(truth, "auto", mode)


@settings(property_test, max_examples=12)
@given(sequences())
def test_bf_is_fbf_that_never_aborts(sequence: Sequence) -> None:
    truth = Truth(sequence)
    for mode in MODES:
        recorded = truth.recorded("bf", mode)
        assert [one.numbers() for one in truth.recorded("fbf:never", mode)] == [one.numbers() for one in recorded]


def test_many_sets_that_are_too_large_to_be_listed() -> None:
    """An update in which nearly every set is large, so that more sets are tested than a table has bits."""
    program = parse_program(
        """
        e(?z, ?w) :- ?w = ?x, e(?x, ?w), t(?z, rdf:type, ?z) .
        t(?z, ?z, ?x) :- e(?x, ?x), e(?y, ?w), e(?y, ?z) .
        u(?x) :- t(?w, ?x, ?y), not (t(?x, ?y, rdf:type), t(?w, ?w, ?w), ?w <= ?y),
                 NOT EXISTS ?l, ?m IN (t(?l, ?m, ?x)) .
        """
    )
    updates = [
        ("t(1, 2.5, rdf:type) .", ""),
        (
            "e(b, b) . t(rdf:type, rdf:type, b) . t(1, 1, b) . t(b, rdf:type, b) . t(b, 1, 2.5) . e(new, rdf:type) .",
            "",
        ),
        ("", "e(1, 1) . t(1, 2.5, rdf:type) ."),
        ("t(1, 2.5, rdf:type) . t(2.5, new, b) .", "t(1, 1, b) . t(b, 1, 2.5) . e(new, rdf:type) ."),
    ]
    facts = parse_program("e(rdf:type, rdf:type) . e(1, 1) . e(1, b) .").facts
    steps = tuple(Update(parse_program(add).facts, parse_program(delete).facts) for add, delete in updates)
    with cramped(2):
        for algorithm in ALGORITHMS:
            check_sequence(Truth(Sequence(Case(program, facts), steps)), algorithm, "single", workers=2)
