"""Interrupts (Ctrl-C, the stop button of a notebook) as requests, and one thread at a time.

An interrupt that Python raises wherever it happens to be leaves arrays, bits and indexes half changed. So while something
`Guarded` is used, the signal only sets a flag. The flag is looked at where the work can be given up and undone: between
rounds, between the blocks of a join, between the pieces of a long loop (`look`). There, whoever handled the signal before
gets it: Python's own handler raises `KeyboardInterrupt`, and a handler of the user may raise what it likes, or return, and
then the work goes on. From the moment at which a change counts (`settle`) nothing is given up any more; the request is
answered when the block ends, and both the old state and the new one are whole.

Somebody who asks again, and not just a moment later, is obeyed at once, wherever that is; what was guarded may be half
changed then, and refuses to be used again.

Signals are the main thread's business. Other threads only wait for each other, and so does the main thread where SIGINT is
ignored, or handled by something that is not Python.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from types import FrameType
from typing import Any, Final, TypeVar
from weakref import WeakSet

from everlog.errors import EverlogError

PATIENCE: Final = 1.0
"""Seconds in which a second signal is taken for the first: some programs pass every signal on twice, and people tap."""

LONG: Final = 1 << 20
"""So many steps of a loop over arrays may take so long that somebody would notice."""

_OFTEN: Final = 0.05
"""Seconds between looks of somebody who waits."""

# What `signal` wraps into code that looks for names of handlers, which takes longer than most blocks do.
_SIGINT: Final = int(signal.SIGINT)
_getsignal: Final[Callable[[int], Any]] = _signal.getsignal
_setsignal: Final[Callable[[int, Any], Any]] = _signal.signal

T = TypeVar("T")
L = TypeVar("L", bound="threading.Lock | threading.RLock")

_Handler = Callable[[int, FrameType | None], Any]


class Interrupted(EverlogError):
    """Something that was left half changed is used again."""


class TimeOver(EverlogError):
    """Work that took longer than it was allowed."""


class _Abandoned(BaseException):
    """Ends the work of a thread that helps another one, which was interrupted."""


class _Requests:
    """What the main thread knows about interrupts."""

    def __init__(self) -> None:
        self.pending = False
        """Whether an interrupt was asked for that nobody has answered."""
        self.since = 0.0
        self.before: _Handler | None = None
        """Who handles the signal outside of all blocks."""
        self.blocks: list[Block] = []
        self.lifted = False
        """Whether code of the user is running, which may be interrupted anywhere."""
        self.main = threading.main_thread().ident
        self.teams: dict[int, Team] = {}
        """Threads that help others."""
        self.over: set[Team] = set()
        """Teams that were given up."""


_requests = _Requests()


def look() -> None:
    """Gives up the work, by an exception, if somebody has asked for that; everything can be undone here."""
    if _requests.pending or _requests.over:
        _answer()


def settle() -> None:
    """From here on, to the end of the innermost block, the change counts, and nothing is given up."""
    if _requests.blocks and threading.get_ident() == _requests.main:
        _requests.blocks[-1].settled = True


def is_watched() -> bool:
    """Whether looking may give up the work of this thread."""
    me = threading.get_ident()
    if me != _requests.main:
        return me in _requests.teams
    blocks = _requests.blocks
    return bool(blocks) and (not blocks[-1].settled or blocks[-1].optional)


def is_wanted() -> bool:
    """Whether the main thread is going to give up its work, as far as others can know, who may end what it waits for.

    It is if Python's own handler gets the signal, or PySpark's: these raise `KeyboardInterrupt`.
    """
    handler, blocks = _requests.before, _requests.blocks
    module = getattr(handler, "__module__", None) or ""
    raises = handler is signal.default_int_handler or module.startswith("pyspark.")
    return raises and _requests.pending and bool(blocks) and not blocks[-1].settled


def uncovered(work: Callable[..., T], *arguments: Any) -> T:
    """Does what changes nothing of ours, such as the user's own code: an interrupt ends it wherever it is.

    That happens once: what was raised leads back to protected code. Who catches it is protected until the call ends.
    """
    if threading.get_ident() != _requests.main or not is_watched():
        return work(*arguments)
    look()
    try:
        _requests.lifted = True
        return work(*arguments)
    finally:
        _requests.lifted = False


def attempt(work: Callable[[], T]) -> T | None:
    """Does work that could be left out after a change, and is, without a result, if somebody asks for an interrupt."""
    if threading.get_ident() != _requests.main or not _requests.blocks:
        return work()
    block = _requests.blocks[-1]
    block.optional = True
    try:
        return work()
    except _Abandoned:
        return None
    finally:
        block.optional = False


def _answer() -> None:
    me = threading.get_ident()
    if me != _requests.main:
        team = _requests.teams.get(me)
        if team is not None and team in _requests.over:
            raise _Abandoned
        return
    if _requests.pending:
        block = _requests.blocks[-1] if _requests.blocks else None
        if block is not None and block.optional:
            raise _Abandoned
        if block is None or not block.settled:
            _deliver()


def _deliver() -> None:
    """Hands the signal to whoever handles it outside."""
    _requests.pending = False
    if _requests.before is not None:
        _requests.before(signal.SIGINT, sys._getframe(1))


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Takes the signal while a block is open."""
    requests, before = _requests, _requests.before
    assert before is not None
    if requests.lifted:
        requests.lifted = False  # what it raises leads back to protected code
        before(number, frame)
        requests.lifted = True
    elif not requests.pending:
        requests.pending, requests.since = True, monotonic()
    elif monotonic() - requests.since >= PATIENCE:
        try:
            before(number, frame)
        except BaseException:
            requests.pending = False
            for block in requests.blocks:
                block.guarded.broken = f"it was interrupted in the middle of {block.doing}"
            raise


def renew() -> None:
    """Takes the signal back from somebody who has taken it over inside a block, and is its handler outside from now on.

    A Spark session that starts does so.
    """
    if not _requests.blocks or threading.get_ident() != _requests.main:
        return
    handler = _getsignal(_SIGINT)
    if handler is not _on_signal and callable(handler):
        _requests.before = handler
        _setsignal(_SIGINT, _on_signal)


def _install() -> None:
    """Takes the signal, if a handler in Python has it."""
    try:
        handler = _getsignal(_SIGINT)
        if callable(handler) and handler is not _on_signal:
            _requests.before, _requests.pending, _requests.lifted = handler, False, False
            _setsignal(_SIGINT, _on_signal)
        else:
            _requests.before = None
    except ValueError:  # not the interpreter that signals belong to
        _requests.before = None


def _uninstall() -> None:
    """Gives the signal back, unless somebody else has taken it meanwhile."""
    before = _requests.before
    if before is not None and _getsignal(_SIGINT) is _on_signal:
        _setsignal(_SIGINT, before)


# ---------------------------------------------------------------------------------------- what is guarded

_ALL: WeakSet[Guarded] = WeakSet()


class Guarded:
    """Something that one thread uses at a time, and that no interrupt leaves half changed; `name` says what it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.broken: str | None = None
        """Why it cannot be used any more."""
        self._lock = threading.RLock()
        self._user: int | None = None
        """The thread that uses it."""
        self._depth = 0
        self._doing = ""
        self._called = 0
        """In how many calls of the user's code, in the middle of its work, it is."""
        _ALL.add(self)

    def during(self, doing: str, changes: bool = False, readable: bool = True) -> Block:
        """A block in which it is used; one of another thread has to end first.

        From code of the user that is called in the middle of a change, it may be read, if it is `readable` then, and not
        changed.
        """
        return Block(self, doing, changes, readable)

    def call(self, code: Callable[..., None], *arguments: Any) -> None:
        """Calls code of the user in the middle of a change."""
        self._called += 1
        try:
            uncovered(code, *arguments)
        finally:
            self._called -= 1

    def enter(self, doing: str, changes: bool, readable: bool) -> None:
        """Takes it for this thread."""
        if not self._lock.acquire(blocking=False):
            while not self._lock.acquire(timeout=_OFTEN):
                look()
        try:
            if self.broken is not None:
                raise Interrupted(
                    f"this {self.name} cannot be used any more: {self.broken}; make it, or open it, again"
                )
            if self._called and (changes or not readable):
                raise EverlogError(
                    f"{doing} is not possible from code that is called in the middle of {self._doing} (such as a "
                    "progress callback): wait until that is done"
                )
        except BaseException:
            self._lock.release()
            raise
        if not self._depth:
            self._user, self._doing = threading.get_ident(), doing
        self._depth += 1

    def leave(self) -> None:
        """Lets others have it."""
        self._depth -= 1
        if not self._depth:
            self._user = None
        self._lock.release()

    def forked(self) -> None:
        """Makes it usable in a forked process, to which no thread came along but this one."""
        if self._user == threading.get_ident():
            return
        if self._user is not None:
            self.broken = f"another thread was in the middle of {self._doing} when this process was forked"
        self._lock, self._user, self._depth, self._called = threading.RLock(), None, 0, 0


class Block:
    """Some work on what is guarded."""

    __slots__ = ("_changes", "_is_mine", "_lifted", "_readable", "doing", "guarded", "optional", "settled")

    def __init__(self, guarded: Guarded, doing: str, changes: bool, readable: bool) -> None:
        self.guarded, self.doing, self._changes, self._readable = guarded, doing, changes, readable
        self.settled = self.optional = self._is_mine = self._lifted = False

    def __enter__(self) -> None:
        requests = _requests
        self._is_mine = threading.get_ident() == requests.main
        if self._is_mine:
            self._lifted, requests.lifted = requests.lifted, False
            if not requests.blocks:
                _install()
        try:
            self.guarded.enter(self.doing, self._changes, self._readable)
        except BaseException:
            self._end()
            raise
        if self._is_mine:
            if requests.blocks and not self._lifted:
                self.settled = requests.blocks[-1].settled
            requests.blocks.append(self)

    def __exit__(self, *raised: object) -> None:
        if self._is_mine:
            _requests.blocks.pop()
        self.guarded.leave()
        self._end()

    def _end(self) -> None:
        if not self._is_mine:
            return
        requests = _requests
        if not requests.blocks:
            _uninstall()
        elif not self._lifted:
            return
        # Here nobody of ours is in the middle of anything.
        if requests.pending:
            _deliver()
        requests.lifted = self._lifted


# ---------------------------------------------------------------------------------------- threads that help


class Team:
    """Some threads that help this one with its work; they look for its end if this one does, or if they are `watched`."""

    def __init__(self, watched: bool = False) -> None:
        self._is_watched = watched or is_watched()

    def run(self, job: Callable[[], None]) -> None:
        """Does a job of the team on another thread; looking ends it when the team is given up."""
        if not self._is_watched:
            job()
            return
        me = threading.get_ident()
        _requests.teams[me] = self
        try:
            job()
        finally:
            _requests.teams.pop(me, None)

    def give_up(self) -> None:
        """Tells all to end their work at their next look."""
        _requests.over.add(self)

    def disband(self) -> None:
        """Forgets about it, when all work has ended."""
        _requests.over.discard(self)


def aside(steps: int, work: Callable[..., T], *arguments: Any) -> T:
    """The result of work that changes nothing that anybody sees; if it takes many steps, another thread does it.

    This one looks for interrupts meanwhile. If it is interrupted, the work goes on until it looks itself, or to its end,
    and nobody takes the result.
    """
    if steps < LONG or not is_watched():
        return work(*arguments)
    found: list[T] = []
    failure: list[BaseException] = []
    team, ended = Team(), threading.Event()

    def run() -> None:
        try:
            team.run(lambda: found.append(work(*arguments)))
        except BaseException as raised:
            failure.append(raised)
        ended.set()
        team.disband()

    threading.Thread(target=run, name="everlog-aside", daemon=True).start()
    try:
        while not ended.wait(_OFTEN):
            look()
    except BaseException:
        team.give_up()
        if ended.is_set():
            team.disband()
        raise
    if failure:
        raise failure[0]
    return found[0]


def within(seconds: float, work: Callable[..., T], *arguments: Any) -> T:
    """The result of work that changes nothing, done here; `TimeOver` if it looks after so many seconds.

    That is for threads which nobody interrupts, so not for the main one.
    """
    found: list[T] = []
    team = Team(watched=True)
    timer = threading.Timer(seconds, team.give_up)
    timer.daemon = True
    timer.start()
    try:
        team.run(lambda: found.append(work(*arguments)))
    except _Abandoned:
        raise TimeOver(f"it was given up after {seconds:.3g} seconds; ask for less, or allow more") from None
    finally:
        timer.cancel()
        timer.join()  # or it could give up later, when nobody forgets about it any more
        team.disband()
    return found[0]


# ---------------------------------------------------------------------------------------- forks


def lasting(lock: L) -> L:
    """A lock that is free in a forked process: nobody may hold it while a process is forked, which waits for that.

    Of two locks that are held together, the one that is taken first must be made lasting last.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def _forked() -> None:
    """Forgets threads and blocks that are not in this process."""
    if threading.get_ident() != _requests.main:
        with suppress(ValueError):
            _uninstall()
        _requests.main, _requests.blocks, _requests.pending, _requests.lifted = threading.get_ident(), [], False, False
    _requests.teams.clear()
    _requests.over.clear()
    for guarded in list(_ALL):
        guarded.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
