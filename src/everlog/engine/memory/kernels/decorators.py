"""How loops are compiled. Nobody calls them from C: what Numba would make for that is left out, a tenth of all work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from numba import njit

from everlog.engine.memory.kernels.compiling import watch_loading
from everlog.engine.memory.kernels.signature_files import keep_in_signature_files

Loop = Callable[..., Any]

_KERNEL: Final[Mapping[str, bool]] = {"nogil": True, "no_cfunc_wrapper": True}
_INLINED: Final[Mapping[str, bool]] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # Numba promises nothing about this one; a test looks at what becomes of it
}
_HOW: Final = repr((_KERNEL, _INLINED))


def kernel(function: Loop) -> Any:
    """A loop that Python calls, too: it releases the GIL, and what was compiled is kept in a file."""
    compiled = njit(cache=True, **_KERNEL)(function)  # type: ignore[call-overload]
    keep_in_signature_files(compiled, _HOW)
    watch_loading(compiled)
    return compiled


def inlined(function: Loop) -> Any:
    """A part of kernels, which becomes part of their code. It makes no arrays and returns none, and calls no kernel.

    So it need not count who has those that it is given, as Numba's functions do by themselves: with several ways out of a
    function that is not left out, and took twenty times as long as to look a key up, longer where threads share arrays.
    A kernel that was first compiled for such a part would not count either, and be kept so.
    """
    return njit(**_INLINED)(function)  # type: ignore[call-overload]
