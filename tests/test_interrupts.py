"""Interrupts as requests: who gets a signal, and when."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from everlog import EverlogError, interrupts
from everlog.interrupts import Guarded, aside, attempt, look, settle, uncovered

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals are the main thread's"
)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def restored(python_handles_interrupts: None) -> Iterator[None]:
    """Every test gives the signal back to whoever had it."""
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not interrupts._requests.blocks and not interrupts._requests.lifted


@contextmanager
def handler(own: Any) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, own)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def one() -> Guarded:
    return Guarded("thing")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every further signal is a second one."""
    monkeypatch.setattr(interrupts, "PATIENCE", 0.0)


def test_an_interrupt_waits_for_a_look(one: Guarded) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        interrupt()
        done.append("on")
        look()
        done.append("never")
    assert done == ["on"]
    with one.during("more work"):  # it has been answered
        look()


def test_or_for_the_end(one: Guarded) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with one.during("work"):
            interrupt()
            done.append("to the end")
        done.append("never")
    assert done == ["to the end"]


def test_nothing_is_given_up_when_it_counts(one: Guarded) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        interrupt()
        settle()
        look()
        with one.during("a part of it"):
            look()
        done.append("to the end")
    assert done == ["to the end"]


def test_after_a_part_that_counts_the_rest_may_be_given_up(one: Guarded) -> None:
    with pytest.raises(KeyboardInterrupt), one.during("saving"):
        with one.during("an update"):
            settle()
            interrupt()
        look()
        pytest.fail("it was not given up")


def test_what_could_be_left_out_is(one: Guarded) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        settle()
        assert attempt(lambda: 5) == 5
        interrupt()
        assert attempt(look) is None
        assert attempt(lambda: done.append("looks at nothing")) is None
        done.append("to the end")
    assert len(done) == 2


def test_blocks_within_blocks(one: Guarded) -> None:
    other = Guarded("thing")
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        with other.during("other work"):
            interrupt()
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        look()
        pytest.fail("it was not given up")


def test_the_signal_is_given_back_after_an_exception(one: Guarded) -> None:
    with pytest.raises(ZeroDivisionError), one.during("work"):
        _ = 1 / 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt) as caught, one.during("work"):
        interrupt()
        _ = 1 / 0
    assert isinstance(caught.value.__context__, ZeroDivisionError)


def test_a_handler_of_the_user_is_asked_at_a_look(one: Guarded) -> None:
    calls: list[int] = []
    with handler(lambda number, frame: calls.append(number)):
        with one.during("work"):
            interrupt()
            assert not calls
            look()
            assert calls == [signal.SIGINT], "and the work goes on"
            look()
            interrupt()
        assert len(calls) == 2, "at the end"


def test_what_a_handler_raises_is_raised(one: Guarded) -> None:
    def refuse(number: int, frame: object) -> None:
        raise PermissionError("not now")

    with handler(refuse):
        with pytest.raises(PermissionError), one.during("work"):
            interrupt()
            look()
        with pytest.raises(PermissionError), one.during("work"):
            interrupt()


def test_a_signal_that_is_ignored_stays_ignored(one: Guarded) -> None:
    with handler(signal.SIG_IGN), one.during("work"):
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        interrupt()
        look()


def test_other_threads_leave_signals_alone(one: Guarded) -> None:
    seen: list[Any] = []

    def work() -> None:
        with one.during("work"):
            seen.append(signal.getsignal(signal.SIGINT))
            look()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_a_handler_that_is_installed_inside_stays(one: Guarded) -> None:
    def own(number: int, frame: object) -> None: ...

    with one.during("work"):
        signal.signal(signal.SIGINT, own)
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_handler_that_is_installed_inside_may_be_told_to_wait(one: Guarded) -> None:
    calls: list[int] = []

    def own(number: int, frame: object) -> None:
        calls.append(number)

    with one.during("work"):
        signal.signal(signal.SIGINT, own)
        interrupts.renew()
        interrupt()
        assert not calls
    assert len(calls) == 1 and signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_second_signal_at_once_is_the_first_one(one: Guarded) -> None:
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        interrupt()
        interrupt()
        settle()
    with one.during("more"):
        pass


@pytest.mark.usefixtures("hasty")
def test_a_second_signal_ends_the_work_and_what_it_was_about(one: Guarded) -> None:
    with pytest.raises(KeyboardInterrupt), one.during("an update"):
        interrupt()
        interrupt()
        pytest.fail("it went on")
    with pytest.raises(EverlogError, match="cannot be used any more: it was interrupted in the middle of an update"):
        one.during("a query").__enter__()
    with Guarded("other thing").during("work"):
        look()


@pytest.mark.usefixtures("hasty")
def test_a_second_signal_that_a_handler_takes_lightly_does_no_harm(one: Guarded) -> None:
    calls: list[int] = []
    with handler(lambda number, frame: calls.append(number)):
        with one.during("an update"):
            interrupt()
            interrupt()
            assert len(calls) == 1
        assert len(calls) == 2
        with one.during("another"):
            pass


def test_code_of_the_user_is_interrupted_where_it_is(one: Guarded) -> None:
    def callback() -> None:
        interrupt()
        pytest.fail("it was not interrupted")

    with pytest.raises(KeyboardInterrupt), one.during("an update", changes=True):
        one.call(callback)
    assert not one._called
    with pytest.raises(KeyboardInterrupt), one.during("an update"):
        uncovered(callback)


def test_code_of_the_user_that_catches_it_is_not_interrupted_twice(one: Guarded) -> None:
    def callback() -> None:
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        interrupt()

    with pytest.raises(KeyboardInterrupt), one.during("an update"):
        one.call(callback)
        look()
        pytest.fail("it was not given up")


def test_code_of_the_user_that_uses_something_else_is_protected_there(one: Guarded) -> None:
    other, done = Guarded("thing"), []

    def callback() -> None:
        with other.during("other work"):
            interrupt()
            done.append("to the end")
        pytest.fail("it was not interrupted")

    with pytest.raises(KeyboardInterrupt), one.during("an update"):
        one.call(callback)
    assert done


def test_code_of_the_user_may_read_but_not_change(one: Guarded) -> None:
    def read() -> None:
        with one.during("a query"):
            pass

    def change() -> None:
        with one.during("another update", changes=True):
            pytest.fail("a change within a change")

    with one.during("an update", changes=True):
        one.call(read)
        with pytest.raises(EverlogError, match=r"another update is not possible .* in the middle of an update"):
            one.call(change)
        with one.during("a part of it", changes=True):
            pass
    change_later = one.during("another update", changes=True)
    with change_later:
        pass


# ---------------------------------------------------------------------------------------- threads


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_threads_take_turns(one: Guarded) -> None:
    inside, most, total = 0, 0, 0

    def work() -> None:
        nonlocal inside, most, total
        for _ in range(50):
            with one.during("work"), one.during("a part"):
                inside += 1
                most = max(most, inside)
                time.sleep(1e-5)
                inside -= 1
                total += 1

    threads = [in_thread(work) for _ in range(4)]
    for thread in threads:
        thread.join(30)
    assert (most, total) == (1, 200)


def test_waiting_for_another_thread_can_be_interrupted(one: Guarded) -> None:
    holding, enough = threading.Event(), threading.Event()

    def work() -> None:
        with one.during("long work"):
            holding.set()
            enough.wait(30)

    thread = in_thread(work)
    holding.wait(30)
    timer = threading.Timer(0.1, lambda: interrupt_main())
    timer.start()
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        pytest.fail("two at once")
    enough.set()
    thread.join(30)
    with one.during("work"):
        pass


def interrupt_main() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_long_work_aside_is_left_alone(one: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "LONG", 1)
    enough, ended = threading.Event(), threading.Event()

    def work(number: int) -> int:
        enough.wait(30)
        try:
            look()
        finally:
            ended.set()
        return number

    threading.Timer(0.1, interrupt_main).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), one.during("work"):
        aside(1, work, 5)
    assert time.monotonic() - begun < 5
    enough.set()
    assert ended.wait(30)
    for _ in range(200):
        if not interrupts._requests.over:
            break
        time.sleep(0.01)
    assert not interrupts._requests.over and not interrupts._requests.teams
    with one.during("work"):
        assert aside(1, lambda: threading.current_thread() is threading.main_thread()) is False
        with pytest.raises(ZeroDivisionError):
            aside(1, lambda: 1 / 0)
    assert aside(1, lambda: threading.current_thread() is threading.main_thread()) is True
