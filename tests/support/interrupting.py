"""Interrupts for tests: at a certain look, or by a real signal at a random moment."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

import pytest

from everlog import KnowledgeBase, interrupts
from everlog.datalog.syntax import Program
from everlog.engine.memory import tuning
from oracles.exchange import facts_of
from support.cramped import cramped


class Looks(interrupts._Requests):
    """Counts how often somebody looks whether an interrupt was asked for; one is, at a certain look."""

    looks = 0
    at = 0
    _asked = False

    @property
    def pending(self) -> bool:  # type: ignore[override]
        if self.blocks and interrupts.threading.get_ident() == self.main:
            self.looks += 1
            if self.looks == self.at:
                self._asked = True
        return self._asked

    @pending.setter
    def pending(self, value: bool) -> None:
        self._asked = value


@contextmanager
def asked_at(look: int) -> Iterator[Looks]:
    """An interrupt is asked for at some look, from 1 on, of what happens inside."""
    requests = interrupts._requests
    assert not requests.blocks
    del requests.pending
    requests.__class__ = Looks
    assert isinstance(requests, Looks)
    requests.looks, requests.at, requests._asked = 0, look, False
    try:
        yield requests
    finally:
        requests.at = 0
        looks = requests.looks
        requests.__class__ = interrupts._Requests  # type: ignore[assignment]
        requests.__dict__.update(pending=False, looks=looks)


@contextmanager
def tiny() -> Iterator[None]:
    """Everything that is done in pieces, or on another thread because it takes long, is so for a handful of facts."""
    with cramped(2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(interrupts, "LONG", 4)
        patch.setattr(tuning, "COPIED_ROWS", 3)
        patch.setattr(tuning, "SLOTTED_ROWS", 3)
        patch.setattr(tuning, "ABSORBED_TUPLES", 3)
        patch.setattr(tuning, "DECODED_FACTS", 3)
        patch.setattr(tuning, "PREPARED_VALUES", 5)
        patch.setattr(tuning, "ENTERED_FACTS", 3)
        patch.setattr(tuning, "LOOKED_UP_VALUES", 3)
        patch.setattr(tuning, "PAIRS_AT_A_TIME", 8)
        yield


@contextmanager
def signalled(after: float) -> Iterator[None]:
    """A real signal comes some seconds from now, if the block has not ended by then."""

    def alarm(number: int, frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


State = tuple[Any, ...]


def state_of(kb: KnowledgeBase) -> State:
    """What a user sees; every fact once."""
    sizes = {name: [kb.size(name, which) for which in ("all", "explicit", "derived")] for name in kb.predicates()}
    return facts_of(kb), facts_of(kb, "explicit"), facts_of(kb, "derived"), {n: s for n, s in sizes.items() if any(s)}


def anew(kb: KnowledgeBase, program: Program, options: dict[str, Any]) -> State:
    """The same of a knowledge base that is made from the explicit facts of another one."""
    other = KnowledgeBase(Program(program.rules, prefixes=program.prefixes), engine="memory", **options)
    other.add({name: rows for name in kb.predicates() if (rows := kb.rows(name, "explicit"))})
    other.materialise()
    return state_of(other)


def interrupted_at_every_look(kb: KnowledgeBase, change: Callable[[], object], stride: int = 1) -> int:
    """Changes a knowledge base when it has been interrupted at every look on the way; gives the number of looks.

    After each interrupt it is as before, or, if the change counted already, as after; nothing comes after that.
    """
    before, look = state_of(kb), 1
    while True:
        with asked_at(look) as requests:
            try:
                change()
            except KeyboardInterrupt:
                ended = False
            else:
                ended = True
        if ended:
            assert requests.looks < look, "somebody has looked, and the request was lost"
            return look
        if state_of(kb) != before:
            return look
        look += stride


def shaken(random: Random, change: Callable[[], object], seconds: float) -> bool:
    """Changes a knowledge base while a signal comes at a random moment; whether it was interrupted."""
    try:
        with signalled(random.uniform(1e-5, seconds)):
            change()
    except KeyboardInterrupt:
        return True
    return False
