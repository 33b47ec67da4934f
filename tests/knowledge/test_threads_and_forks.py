"""A knowledge base that several threads use, and one in a process that was forked."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from everlog import EverlogError, KnowledgeBase, parse_program
from oracles import naive
from oracles.exchange import facts_of
from support.cramped import cramped
from support.forking import in_fork

PROGRAM = parse_program("""
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    far(?x, ?y) :- reach(?x, ?y), not edge(?x, ?y) .
""")


def made(edges: int = 12, **options: Any) -> KnowledgeBase:
    kb = KnowledgeBase(PROGRAM, engine="memory", workers=3, **options)
    kb.add({"edge": [(n, n + 1) for n in range(edges)]})
    kb.materialise()
    return kb


def is_right(kb: KnowledgeBase) -> bool:
    return facts_of(kb) == naive.materialise(PROGRAM.rules, facts_of(kb, "explicit"))


def together(*jobs: Callable[[], None]) -> None:
    """Runs jobs on threads of their own; raises what one of them raises."""
    failures: list[BaseException] = []

    def caught(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=caught, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "somebody waits for ever"
    if failures:
        raise failures[0]


# ---------------------------------------------------------------------------------------- threads


def test_readers_wait_for_an_update() -> None:
    kb = made(modules="off")
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(60):
                change = {"edge": [(12, 13)]}
                kb.update(**({"delete": change} if number % 2 else {"add": change}))
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            assert len({*kb.rows("reach")}) in (12 * 13 // 2, 13 * 14 // 2)
            assert kb.size("reach", "derived") in (12 * 13 // 2, 13 * 14 // 2)
            assert len(kb.query("far(?x, ?y)")) in (11 * 12 // 2, 12 * 13 // 2)

    with cramped():
        together(write, read, read)
        assert is_right(kb)


def test_several_threads_that_change_it() -> None:
    kb = made(edges=4)

    def change(own: int) -> None:
        for number in range(10):
            kb.update(add={"edge": [(own, own + number)]})
            kb.add({"edge": [(own, own + 50 + number)]})
            kb.update(delete={"edge": [(own, own + number)]})

    together(*(lambda own=own: change(own) for own in (100, 200, 300)))  # type: ignore[misc]
    kb.update()
    assert is_right(kb)
    assert kb.size("edge") == 4 + 3 * 10


def test_knowledge_bases_on_threads_of_their_own() -> None:
    def work() -> None:
        kb = made(edges=8)
        for number in range(8):
            kb.update(add={"edge": [(8 + number, 0)]}, delete={"edge": [(number, number + 1)]})
            assert is_right(kb)

    with cramped():
        together(work, work, work)


# ---------------------------------------------------------------------------------------- forks


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


@needs_fork
def test_a_forked_process_goes_on() -> None:
    with cramped():
        kb = made()
        kb.update(add={"edge": [(20, 0)]})
        assert kb.reasoner.engine._pool is not None, "threads are at work here"

        def work() -> None:
            kb.update(add={"edge": [(12, 20)]}, delete={"edge": [(3, 4)]})
            assert is_right(kb)
            assert len(kb.query("edge(12, ?x)")) == 1

        in_fork(work)
        kb.update(add={"edge": [(12, 21)]})
        assert is_right(kb) and (12, 20) not in kb.rows("edge")


@needs_fork
def test_locks_that_other_threads_have() -> None:
    busy, other, enough = made(), made(), threading.Event()

    def work() -> None:
        while not enough.is_set():
            busy.update(add={"edge": [(30, 31)]})
            busy.update(delete={"edge": [(30, 31)]})

    def use() -> None:
        other.update(add={"edge": [(12, 13)]})
        assert is_right(other)

    thread = threading.Thread(target=work, daemon=True)
    with cramped():
        thread.start()
        try:
            for _ in range(5):
                in_fork(use)
        finally:
            enough.set()
            thread.join(60)


@needs_fork
def test_what_another_thread_was_changing_cannot_be_used() -> None:
    kb, inside, enough = made(), threading.Event(), threading.Event()

    def pause(*arguments: int) -> None:
        inside.set()
        enough.wait(60)

    thread = threading.Thread(target=lambda: kb.update(add={"edge": [(12, 0)]}, progress=pause), daemon=True)
    thread.start()
    assert inside.wait(60)

    def use() -> None:
        with pytest.raises(
            EverlogError, match="another thread was in the middle of an update when this process was forked"
        ):
            kb.rows("edge")

    try:
        in_fork(use)
    finally:
        enough.set()
        thread.join(60)
    assert is_right(kb)


@needs_fork
def test_a_fork_in_a_progress_callback() -> None:
    kb = made()

    def use() -> None:
        assert kb.size("edge") == 12

    kb.update(add={"edge": [(12, 13)]}, progress=lambda *_: in_fork(use))
    assert is_right(kb)
