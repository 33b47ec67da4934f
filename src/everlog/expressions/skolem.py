"""Names for things that a rule says there are: an IRI that depends on what it is computed from alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from pyoxigraph import NamedNode

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import Value

_SPACE: Final = "everlog:skolem/"
_BYTES: Final = 20


def skolem(arguments: Sequence[Value]) -> NamedNode:
    """The IRI for some arguments: the same in every run, process and engine, and another one for other arguments.

    It contains the first argument if that is a string, which then names the kind of things.

    >>> skolem(["employment", 1, 2])
    <NamedNode value=everlog:skolem/employment/ee45b971cd071f86c306970be1da2a95e6697632>
    """
    written = "\n".join(map(write_term, arguments))
    digest = hashlib.blake2b(written.encode(), digest_size=_BYTES).hexdigest()
    name = f"{quote(arguments[0], safe='')}/" if arguments and isinstance(arguments[0], str) else ""
    return NamedNode(f"{_SPACE}{name}{digest}")
