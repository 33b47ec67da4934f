"""A folder that appears whole or not at all.

Files are written to a hidden sibling and the sibling is renamed at the end, so that whoever looks sees nothing or
everything. What a killed process leaves behind is that sibling, whose name says whose it was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everlog.errors import EverlogError, Failure
from everlog.store.local_place import local_place


def check_new(folder: Path, option: str = "--out") -> None:
    """Raises unless the folder is absent or empty; asked before long work starts."""
    place = local_place(folder, option)
    if place.is_dir():
        if any(place.iterdir()):
            raise EverlogError(f"{option} {folder}: the folder is not empty; give a new one, or empty it first")
    elif place.exists() or place.is_symlink():
        raise EverlogError(f"{option} {folder}: there is a file of that name; give a folder that is new or empty")
    else:
        parent = next(one for one in place.parents if one.exists())
        if not parent.is_dir():
            raise EverlogError(f"{option} {folder}: {parent} is a file, not a folder")


@contextmanager
def new_folder(folder: Path, option: str = "--out") -> Iterator[Path]:
    """A place to write to, which becomes `folder` if the block ends well and vanishes if not."""
    check_new(folder, option)
    target = local_place(folder, option).resolve()
    beside = target.parent / f".{target.name}.everlog-{os.getpid()}"
    try:
        beside.mkdir(parents=True)
    except OSError as failure:
        raise Failure(f"{option} {folder}: cannot be made: {failure.strerror}") from failure
    try:
        yield beside
        try:
            os.replace(beside, target)
        except OSError as failure:
            raise Failure(f"{option} {folder}: cannot be put in place: {failure.strerror}") from failure
    finally:
        shutil.rmtree(beside, ignore_errors=True)
