"""Where stores, and files beside them, are: on this machine, mounted folders included, and at no address elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from everlog.errors import EverlogError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")
"""A scheme; of the slashes behind it a `Path` has one left."""


def local_place(path: str | os.PathLike[str], what: str) -> Path:
    """The absolute path of a folder or file; an address of another file system is refused.

    >>> local_place("file:///tmp/graph.store", "the store")
    PosixPath('/tmp/graph.store')
    >>> local_place("s3a://bucket/graph.store", "the store")
    Traceback (most recent call last):
    everlog.errors.EverlogError: the store s3a://bucket/graph.store is on another file system, which need not have the \
atomic renames and locks that keep it whole; give a folder of this machine, and copy it there when it is done
    """
    text = os.fspath(path)
    match = _ADDRESS.match(text)
    if match is None:
        return Path(text).absolute()
    scheme, rest = match[1], text[match.end() :]
    if scheme.lower() == "file":
        return Path("/", unquote(rest.removeprefix("localhost/")))
    raise EverlogError(
        f"{what} {scheme}://{rest} is on another file system, which need not have the atomic renames and locks that "
        "keep it whole; give a folder of this machine, and copy it there when it is done"
    )
