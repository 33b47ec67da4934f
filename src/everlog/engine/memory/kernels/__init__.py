"""Loops that Numba compiles; those that call each other are in one file. What is compiled is kept in files."""

import numba

from everlog.engine.memory.kernels.compiled_files import place_for_files
from everlog.engine.memory.kernels.compiling import watch_numba

if not numba.config.CACHE_DIR:  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = place_for_files()  # type: ignore[attr-defined]
watch_numba()
