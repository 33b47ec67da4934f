"""How loops are compiled. Nobody calls them from C: what Numba would make for that is left out, a tenth of all work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from everlog.engine.memory.kernels.compiling import watch_loading
from everlog.engine.memory.kernels.signature_files import keep_in_signature_files

Loop = Callable[..., Any]


def kernel(function: Loop) -> Any:
    """A loop that Python calls, too: it releases the GIL, and what was compiled is kept in a file."""
    compiled = njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function)  # type: ignore[call-overload]
    keep_in_signature_files(compiled)
    watch_loading(compiled)
    return compiled


def inlined(function: Loop) -> Any:
    """A part of kernels, which becomes part of their code. It makes no arrays.

    So it need not count who has those that it is given, as Numba's functions do by themselves: with several ways out of a
    function that is not left out, and took twenty times as long as to look a key up, longer where threads share arrays.
    """
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return njit(**options)(function)  # type: ignore[call-overload]
