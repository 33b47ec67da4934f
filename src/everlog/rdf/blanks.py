"""Blank nodes of different files are different nodes: each label is renamed by its file.

A node's new label is a fixed-length mark of the file and then its old label, so that two tasks which read parts of one
file agree, a task that is run again agrees with itself, and reading a file again names the same nodes. Labels
`everlog<number>` are Everlog's own: exports write them, they mean the stored node, and they stay as they are.
"""

from __future__ import annotations

import hashlib
import re

OWN = re.compile(r"everlog[0-9]+")


def file_mark(file: str) -> str:
    """What the labels of a file's blank nodes begin with.

    >>> file_mark("file:///a.nt") == file_mark("file:///a.nt") != file_mark("file:///b.nt")
    True
    """
    return "f" + hashlib.blake2b(file.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def renamed(label: str, mark: str) -> str:
    """The label of a blank node outside of its file.

    >>> renamed("x", "f00"), renamed("everlog12", "f00")
    ('f00x', 'everlog12')
    """
    return label if OWN.fullmatch(label) else mark + label
