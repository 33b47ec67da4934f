"""Workers that need the same kernel wait for the one that compiles it, instead of compiling it as well."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


def compile_each_kernel_once() -> None:
    """From now on only one process at a time compiles a kernel that is kept in a file; others find it there."""
    compile, ours = Dispatcher.compile, set[Path]()

    def in_turn(kernel: Any, signature: Any) -> Any:
        if not isinstance(kernel._cache, FunctionCache):
            return compile(kernel, signature)
        file = Path(kernel._cache._cache_file._index_path + ".lock")
        file.parent.mkdir(parents=True, exist_ok=True)
        # Numba's own lock comes first: a thread that has it may need the kernel that another one waits with.
        with global_compiler_lock, file.open("w") as lock:
            if file in ours:
                return compile(kernel, signature)
            fcntl.flock(lock, fcntl.LOCK_EX)
            ours.add(file)
            try:
                return compile(kernel, signature)
            finally:
                ours.remove(file)

    Dispatcher.compile = in_turn
