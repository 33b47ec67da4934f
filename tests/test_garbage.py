"""Full collections are rare while something reasons, and as before when nothing does."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import pytest

from everlog import KnowledgeBase
from everlog.garbage import few_collections


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 7)
    yield
    gc.set_threshold(*before)


def test_they_are_rare_until_the_last_block_ends() -> None:
    with few_collections():
        with few_collections():
            assert gc.get_threshold() == (700, 10, 700)
        assert gc.get_threshold() == (700, 10, 700)
    assert gc.get_threshold() == (700, 10, 7)


def test_what_somebody_else_sets_meanwhile_stays() -> None:
    with few_collections():
        gc.set_threshold(500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)


@pytest.mark.parametrize("old", [0, 2**31 - 1])
def test_any_threshold_that_python_takes_comes_back(old: int) -> None:
    gc.set_threshold(700, 10, old)
    with few_collections():
        assert gc.get_threshold() == (700, 10, old)
    assert gc.get_threshold() == (700, 10, old)
    gc.set_threshold(700, 10, 7)
    with few_collections():
        assert gc.get_threshold() == (700, 10, 700)
    assert gc.get_threshold() == (700, 10, 7)


def test_a_fork_has_no_block_of_a_thread_that_it_does_not_have() -> None:
    inside, done = threading.Event(), threading.Event()

    def elsewhere() -> None:
        with few_collections():
            inside.set()
            done.wait(60)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if not child:
        outside = gc.get_threshold()
        with few_collections():
            within = gc.get_threshold()
        as_it_was = (outside, within, gc.get_threshold()) == ((700, 10, 7), (700, 10, 700), (700, 10, 7))
        os._exit(0 if as_it_was else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert gc.get_threshold() == (700, 10, 7)


def test_a_knowledge_base_that_changes_has_few_also_when_it_fails() -> None:
    seen = []
    kb = KnowledgeBase("p(?x) :- q(?x) .", engine="memory")
    kb.add({"q": [(1,)]})

    def told(stratum: int, number: int, new: int) -> None:
        seen.append(gc.get_threshold()[2])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kb.materialise(told)
    assert seen == [700]
    assert gc.get_threshold() == (700, 10, 7)
