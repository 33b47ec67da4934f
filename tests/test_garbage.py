"""Full collections are rare while something reasons, and as before when nothing does."""

from __future__ import annotations

import gc
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
