"""Versions that somebody reads, and that nobody may forget meanwhile.

A reader holds the operating system's shared lock on the manifest of its version, as long as it needs files of it. Whoever
forgets versions asks for that lock alone, and leaves those that are held to the next time (`history.py`). So readers wait
for nobody, and what a reader that has died held is free at once.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from everlog.store.manifest import DamagedStore, Manifest, NoStore, current_version, manifest_path, read_manifest


class Hold:
    """A version that stays until it is released."""

    def __init__(self, store: Path, version: int) -> None:
        self._handle: int | None = None
        try:
            handle = os.open(manifest_path(store, version), os.O_RDONLY)
        except FileNotFoundError:
            raise NoStore(f"the store {store} has no version {version}; it may have been forgotten") from None
        except OSError as failure:
            name = manifest_path(store, version).relative_to(store).as_posix()
            raise DamagedStore(store, name, f"cannot be read: {failure.strerror}") from None
        with suppress(OSError):  # a file system without locks has no way to say so
            fcntl.flock(handle, fcntl.LOCK_SH)
        if not os.fstat(handle).st_nlink:  # somebody was faster
            os.close(handle)
            raise NoStore(f"the store {store} has no version {version} any more; it was forgotten just now")
        self._handle = handle

    def release(self) -> None:
        """The version may be forgotten; to say so twice does no harm."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def __del__(self) -> None:
        self.release()


def hold(store: Path, version: int | None = None) -> tuple[Hold, int]:
    """Holds a version, or the newest one, and says which it is."""
    while True:
        number = current_version(store) if version is None else version
        try:
            return Hold(store, number), number
        except NoStore:
            if version is not None or number == current_version(store):
                raise


@contextmanager
def held(store: Path, version: int) -> Iterator[Manifest]:
    """The manifest of a version whose files stay as long as the block lasts."""
    holding, number = hold(store, version)
    try:
        yield read_manifest(store, number)
    finally:
        holding.release()


def forget_unless_held(store: Path, version: int) -> bool:
    """Removes the manifest of a version, unless somebody reads it; says whether it is gone."""
    path = manifest_path(store, version)
    handle = os.open(path, os.O_RDWR)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        path.unlink()
    finally:
        os.close(handle)
    return True
