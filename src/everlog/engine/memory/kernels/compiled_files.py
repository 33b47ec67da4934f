"""Where compiled kernels are kept: beside their source, else in the user's cache, else in a temporary folder.

The first two are Numba's own ways. It gives up where neither can be written, as in a container whose user is not root and
has no home.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from numba.misc.appdirs import AppDirs


def place_for_files() -> str:
    """A folder to be made Numba's, or nothing where it finds one by itself."""
    beside = Path(__file__).parent / "__pycache__"
    users = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)  # type: ignore[no-untyped-call]
    if can_write_to_one_of([beside, users]):
        return ""
    folder = Path(tempfile.gettempdir()) / f"everlog-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():  # somebody else was first, and could put code there
        folder = Path(tempfile.mkdtemp(prefix="everlog-kernels-"))
    print(
        f"everlog: the installation and the home folder cannot be written, so compiled kernels are kept in {folder}; "
        "set NUMBA_CACHE_DIR to a folder that lasts",
        file=sys.stderr,
    )
    return str(folder)


def can_write_to_one_of(folders: Iterable[Path]) -> bool:
    """Whether files can be made in one of some folders, which are made if need be."""
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return True
        except OSError:
            continue
    return False
