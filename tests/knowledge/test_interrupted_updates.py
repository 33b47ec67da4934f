"""A knowledge base that is interrupted is as before or as after, and goes on as if nothing had been."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from random import Random
from time import monotonic
from typing import Any

import pytest

from everlog import EverlogError, KnowledgeBase, interrupts, parse_program
from everlog.engine.memory.facts import sets
from everlog.knowledge.reasoner import Reasoner
from oracles import naive
from oracles.exchange import facts_of, rows_of
from support import equalities
from support.cramped import cramped
from support.interrupting import anew, asked_at, interrupted_at_every_look, shaken, state_of, tiny
from support.module_programs import patterned
from support.sequences import made

pytestmark = [
    pytest.mark.usefixtures("python_handles_interrupts"),
    pytest.mark.skipif(
        threading.current_thread() is not threading.main_thread(), reason="signals are the main thread's"
    ),
]

Rows = dict[str, list[tuple[Any, ...]]]


class Case:
    """A program, facts and updates, with what follows."""

    def __init__(self, kind: str, seed: int, options: dict[str, Any]) -> None:
        self.options = options
        if kind == "equality":
            case = equalities.random_case(seed, updates=4)
            self.options = {**options, "equality": "rewrite"}
            self.program, self.facts = case.program, equalities.rows(case.facts)
            self.updates = [(equalities.rows(add), equalities.rows(delete)) for add, delete in case.updates]
        else:
            sequence = (made if kind == "web" else patterned)(Random(seed))
            self.program, self.facts = sequence.case.program, rows_of(sequence.case.facts)
            self.updates = [(rows_of(one.add), rows_of(one.delete)) for one in sequence.updates]

    def made(self) -> KnowledgeBase:
        kb = KnowledgeBase(self.program, engine="memory", **self.options)
        kb.add(self.facts)
        return kb

    def follows(self, kb: KnowledgeBase) -> bool:
        """Whether its facts are what follows from those that are explicit."""
        if self.options.get("equality") == "rewrite":
            return state_of(kb) == anew(kb, self.program, self.options)
        return facts_of(kb) == naive.materialise(self.program.rules, facts_of(kb, "explicit"))


MODULES = "tc,stc,reach,rch,seq"
WAYS: list[tuple[str, dict[str, Any]]] = [
    *(("web", {"algorithm": name, "modules": "off"}) for name in ("fbf", "bf", "dred", "dredc", "bfc", "counting")),
    ("web", {"algorithm": "remat"}),
    ("modules", {"modules": MODULES}),
    ("modules", {"modules": MODULES, "algorithm": "dredc"}),
    ("modules", {"hypertree": "all", "modules": "off"}),
    ("modules", {"hypertree": "cyclic", "modules": "auto"}),
    ("equality", {}),
    ("equality", {"algorithm": "fbf"}),
]


@pytest.mark.parametrize(("kind", "options"), WAYS, ids=str)
def test_at_every_look(kind: str, options: dict[str, Any]) -> None:
    """With threads and many pieces, only some looks: there are hundreds."""
    looks = 0
    for seed, size, workers, stride in ((11, tiny, 3, 13), (12, nullcontext, 1, 2)):
        case = Case(kind, seed, {**options, "workers": workers})
        with size():
            kb = case.made()
            interrupted_at_every_look(kb, kb.materialise, stride=stride)
            kb.materialise()
            for number, (add, delete) in enumerate(case.updates[:2]):

                def update(kb: KnowledgeBase = kb, add: Rows = add, delete: Rows = delete) -> None:
                    kb.update(add=add, delete=delete)

                looks += interrupted_at_every_look(kb, update, stride=stride)
                assert case.follows(kb), f"{seed}, {number}"
    assert looks > 30


def test_by_signals_at_random_moments() -> None:
    """For some seconds; `SystemError` of a kernel, facts twice and the like are failures, too."""
    random, until, hits, number = Random(5), monotonic() + 5, 0, 0
    while monotonic() < until:
        number += 1
        kind, options = random.choice(WAYS)
        size, workers = random.choice([(nullcontext, 1), (nullcontext, 3), (cramped, 3), (tiny, 3)])
        case = Case(kind, 100 + number, {**options, "workers": workers})
        with size():
            try:
                kb = case.made()
                kb.materialise()
            except EverlogError:
                continue
            for add, delete in case.updates:
                before = facts_of(kb, "explicit")

                def update(kb: KnowledgeBase = kb, add: Rows = add, delete: Rows = delete) -> None:
                    kb.update(add=add, delete=delete)

                for _ in range(3):
                    hits += shaken(random, update, random.choice([0.001, 0.003, 0.01]))
                    assert case.follows(kb), f"{number}: {kind} {options}"
                    if facts_of(kb, "explicit") != before:
                        break
                update()
                assert case.follows(kb), f"{number}: {kind} {options}"
    assert hits > 10


# ---------------------------------------------------------------------------------------- other methods

PROGRAM = parse_program("""
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    lonely(?x) :- node(?x), not edge(?x, ?x) .
""")
FACTS: Rows = {"edge": [(n, n + 1) for n in range(15)], "node": [(n,) for n in range(20)]}


@pytest.fixture
def kb() -> KnowledgeBase:
    kb = KnowledgeBase(PROGRAM, engine="memory", workers=3)
    kb.add(FACTS)
    kb.materialise()
    return kb


def test_facts_are_added_all_or_none() -> None:
    with tiny():
        kb = KnowledgeBase(PROGRAM, engine="memory", workers=1)
        assert interrupted_at_every_look(kb, lambda: kb.add(FACTS)) > 10
        kb.add(FACTS)
        kb.materialise()
        assert kb.size("reach") == 15 * 16 // 2


def test_reading_can_be_interrupted(kb: KnowledgeBase) -> None:
    before = state_of(kb)
    with tiny():
        for read in (
            lambda: kb.rows("reach"),
            lambda: kb.facts("reach"),
            lambda: kb.size("reach", "derived"),
            lambda: kb.query("reach(1, ?x), node(?x)"),
            lambda: kb.changes("reach"),
        ):
            assert interrupted_at_every_look(kb, read) >= 1
    assert state_of(kb) == before
    kb.update(add={"edge": [(40, 0)]})
    assert kb.size("reach") == 16 * 17 // 2


def test_an_update_that_counts_is_followed_by_the_interrupt(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was to be added is there, all of it, and the interrupt is raised all the same."""
    report = Reasoner._report

    def late(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return report(*arguments)

    monkeypatch.setattr(Reasoner, "_report", late)
    kb.add({"edge": [(40, 41)]})
    with pytest.raises(KeyboardInterrupt):
        kb.update(delete={"edge": [(0, 1)]}, add={"new": [("a", "b", "c")]})
    monkeypatch.undo()
    assert (40, 41) in kb.rows("reach") and (0, 1) not in kb.rows("reach")
    assert kb.rows("new") == [("a", "b", "c")] and "new" in kb.predicates()
    kb.update(delete={"edge": [(40, 41)]})
    assert (40, 41) not in kb.rows("reach"), "it is not pending any more"


def test_pending_facts_are_not_forgotten(kb: KnowledgeBase) -> None:
    kb.add({"edge": [(50, 51)]})
    with asked_at(3), pytest.raises(KeyboardInterrupt):
        kb.update()
    kb.update()
    assert (50, 51) in kb.rows("reach")
    kb.update(delete={"edge": [(50, 51)]})
    assert (50, 51) not in kb.rows("reach")


def test_who_asks_twice_gets_out_and_has_to_start_again(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "PATIENCE", 0.0)

    def impatient(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it went on")

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(sets.ComputedFacts, "united", impatient)
        kb.update(add={"edge": [(60, 61)]})
    for use in (lambda: kb.rows("edge"), lambda: kb.update(), lambda: kb.add({}), lambda: kb.query("edge(?x, ?y)")):
        with pytest.raises(EverlogError, match="interrupted in the middle of an update; make it, or open it, again"):
            use()


def test_a_progress_callback_is_interrupted_where_it_is(kb: KnowledgeBase) -> None:
    before = state_of(kb)

    def stop(*arguments: int) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it went on")

    with pytest.raises(KeyboardInterrupt):
        kb.update(add={"edge": [(40, 41)]}, progress=stop)
    assert state_of(kb) == before
    kb.update(add={"edge": [(40, 41)]})
    assert (40, 41) in kb.rows("reach")


def test_a_progress_callback_reads_what_was_there_before(kb: KnowledgeBase) -> None:
    before, seen = state_of(kb), []

    def read(*arguments: int) -> None:
        seen.append((state_of(kb), kb.query("reach(0, ?x), node(?x)")))

    report = kb.update(delete={"edge": [(3, 4)]}, add={"edge": [(40, 0)]}, algorithm="fbf", progress=read)
    assert seen and all(one == (before, seen[0][1]) for one in seen)
    assert report.rounds == len(seen)
    assert facts_of(kb) == naive.materialise(PROGRAM.rules, facts_of(kb, "explicit"))


def test_a_progress_callback_changes_nothing(kb: KnowledgeBase) -> None:
    def change(*arguments: int) -> None:
        kb.update(add={"edge": [(70, 71)]})

    before = state_of(kb)
    with pytest.raises(EverlogError, match="an update is not possible from code that is called in the middle of"):
        kb.update(add={"edge": [(40, 41)]}, progress=change)
    assert state_of(kb) == before


def test_where_constants_are_rewritten_a_progress_callback_reads_nothing() -> None:
    kb = KnowledgeBase(parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k) ."), engine="memory", equality="rewrite")
    kb.add({"key": [("a", 1), ("b", 1)]})
    with pytest.raises(EverlogError, match="is not possible from code that is called in the middle of materialising"):
        kb.materialise(progress=lambda *_: kb.rows("key"))
    kb.materialise()
    assert len(kb.rows("key")) == 2


def test_another_knowledge_base_in_a_progress_callback(kb: KnowledgeBase) -> None:
    other = KnowledgeBase(PROGRAM, engine="memory")
    other.add(FACTS)

    def note(stratum: int, number: int, new: int) -> None:
        other.materialise()
        other.update(add={"edge": [(100 + number, 200)]})

    kb.update(add={"edge": [(40, 0)]}, progress=note)
    for one in (kb, other):
        assert facts_of(one) == naive.materialise(PROGRAM.rules, facts_of(one, "explicit"))


@pytest.fixture(autouse=True)
def nothing_is_left(python_handles_interrupts: None) -> Iterator[None]:
    yield
    requests = interrupts._requests
    assert not requests.blocks and not requests.pending and not requests.lifted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
