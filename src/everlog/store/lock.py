"""One writer at a time. Readers take no lock.

The lock is the operating system's (`flock` on the file LOCK), so that it ends with the process that holds it, however
that ends; the file's text says who holds it. A text that names this machine while nobody holds the file is what a dead
process left, and is written over. One that names another machine may be a writer behind a file system that does not
carry locks between machines, so it is believed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from everlog.errors import EverlogError

LOCK: Final = "LOCK"


_LOOK: Final = 0.1
"""Seconds between two looks at a lock that is waited for."""


class StoreLocked(EverlogError):
    """Another process is writing to the store."""

    exit_code = 3


@contextmanager
def locked(store: Path, wait: float = 0.0) -> Iterator[None]:
    """Holds the store's lock, or raises `StoreLocked` with its owner, after waiting for some seconds."""
    end = monotonic() + wait
    while True:
        handle = os.open(store / LOCK, os.O_RDWR | os.O_CREAT, 0o644)  # each time, as somebody may delete the file
        try:
            refusal = _refusal(handle, store)
            if not refusal:
                _write(handle, json.dumps(_myself()))
                try:
                    yield
                finally:
                    _write(handle, "")
                return
        finally:
            os.close(handle)
        if monotonic() >= end:
            raise StoreLocked(refusal)
        sleep(min(_LOOK, wait))


def _refusal(handle: int, store: Path) -> str:
    """Takes the lock; if another process has it, says which, and what to do."""
    if not _taken(handle):
        writer = _described(_owner(handle))
        return f"the store {store} is being written by {writer}; try later, or wait for it (--wait SECONDS)"
    owner = _owner(handle)
    if owner and owner.get("host") != socket.gethostname():
        return (
            f"the store {store} is being written by {_described(owner)}; if that process is gone, delete {store / LOCK}"
        )
    return ""


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _myself() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])[:500] if sys.argv else "python",
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _owner(handle: int) -> dict[str, Any]:
    try:
        owner = json.loads(os.pread(handle, 1 << 16, 0).decode())
    except ValueError:  # empty, or its writer is at it just now
        return {}
    return owner if isinstance(owner, dict) else {}


def _described(owner: dict[str, Any]) -> str:
    if not owner:
        return "another process"
    return f"process {owner.get('pid')} on {owner.get('host')} since {owner.get('time')} (`{owner.get('command')}`)"


def _write(handle: int, text: str) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, text.encode(), 0)
