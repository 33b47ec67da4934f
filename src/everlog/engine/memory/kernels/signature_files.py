"""Each kernel that was compiled for some types of arguments has a file of its own, named after them.

Numba numbers these files and keeps the numbers in an index. Two processes that compile a kernel for different arguments
at the same time can write the index over each other and give both the same number; from then on the code for one is
loaded for the other, and every call fails, in all processes to come. Here nobody writes what another one reads: a file is
there, whole, or it is not.

A process that finds no file compiles, and others that need the same wait for it instead of compiling as well. Who compiles
holds a lock that ends with the process. Kernels wait for those that they call and never the other way round, so nobody
waits in a circle; and nobody waits for longer than `PATIENCE`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Hashable
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from numba.core.caching import IndexDataCacheFile

PATIENCE: Final = 60.0
"""Seconds after which a process compiles by itself what another one should have had by then."""

_NAP: Final = 0.01


class SignatureFiles(IndexDataCacheFile):
    """What was compiled of one kernel, in a folder: what Numba asks is `load` and `save`, by arguments and processor."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: object, how: str = "") -> None:
        super().__init__(cache_path, filename_base, source_stamp)  # type: ignore[no-untyped-call]
        self._how = how
        self._claims: dict[str, int] = {}

    def load(self, key: Hashable) -> Any:
        """What is kept for a signature; nothing if it has to be compiled, which nobody else does until it is saved."""
        name = self._name(key)
        found = self._read(name)
        if found is not None or not self._claim(name):
            return found
        found = self._read(name)  # by who had the lock before
        if found is not None:
            self._let_go(name)
        return found

    def save(self, key: Hashable, data: object) -> None:
        """Keeps what was compiled for a signature, where `load` finds it, and drops what an older source has left."""
        name = self._name(key)
        try:
            self._save_data(name, data)  # type: ignore[no-untyped-call]
        finally:
            self._let_go(name)
        for file in Path(self._cache_path).glob(f"{self._kernel}.*.nbc"):
            if not file.name.startswith(f"{self._kernel}.{self._source}."):
                file.unlink(missing_ok=True)

    def flush(self) -> None:
        """Forgets everything."""
        for file in Path(self._cache_path).glob(f"{self._kernel}.*.nbc"):
            file.unlink(missing_ok=True)

    @property
    def _kernel(self) -> str:
        return str(self._index_name).removesuffix(".nbi")

    @property
    def _source(self) -> str:
        return _digest((self._version, self._source_stamp, self._how))

    def _name(self, key: Hashable) -> str:
        return f"{self._kernel}.{self._source}.{_digest(key)}.nbc"

    def _read(self, name: str) -> Any:
        try:
            return self._load_data(name)  # type: ignore[no-untyped-call]
        except OSError:
            return None

    def _claim(self, name: str) -> bool:
        """Takes the lock of who compiles, after whoever has it; not where there are no locks, or nobody lets go of it."""
        if name in self._claims:  # it could not be compiled, and is tried again
            return True
        try:
            os.makedirs(self._cache_path, exist_ok=True)
            lock = os.open(self._lock(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except OSError:
            return False
        until = monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._claims[name] = lock
                return True
            except OSError as refusal:
                if not isinstance(refusal, BlockingIOError) or monotonic() > until:
                    os.close(lock)
                    return False
            sleep(_NAP)

    def _let_go(self, name: str) -> None:
        lock = self._claims.pop(name, None)
        if lock is not None:
            Path(self._lock(name)).unlink(missing_ok=True)  # whoever waits for it looks for the data next
            os.close(lock)

    def _lock(self, name: str) -> str:
        return os.path.join(self._cache_path, f"{name}.lock")


def _digest(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:20]


def keep_in_signature_files(kernel: Any, how: str = "") -> None:
    """Has what is compiled of a kernel kept so, if Numba keeps it in files at all.

    What was compiled in another way than `how` says is of an older source.
    """
    files: Any = getattr(kernel, "_cache", None)
    numbered = getattr(files, "_cache_file", None)
    if isinstance(numbered, IndexDataCacheFile):
        base = numbered._index_name.removesuffix(".nbi")
        files._cache_file = SignatureFiles(numbered._cache_path, base, numbered._source_stamp, how)
