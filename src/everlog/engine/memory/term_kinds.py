"""The kinds of values, numbered for kernels and their callers.

Kinds below `FIRST_TEXT` keep a 64-bit payload: the integer, the bits of the float, 0 or 1. The others are UTF-8 text:
the string, the IRI without brackets, the blank node's label without `_:`, the N-Triples form of any other literal.
Danger: kernels compile these numbers in, and Numba's disk cache does not notice a change in this file.
"""

from __future__ import annotations

from typing import Final

INT: Final = 0
FLOAT: Final = 1
BOOL: Final = 2
STRING: Final = 3
IRI: Final = 4
BLANK: Final = 5
LITERAL: Final = 6

FIRST_TEXT: Final = STRING
UNREAD: Final = 7
"""N-Triples text that the fast path leaves to Python; no value has this kind."""

DATETIME: Final = 8
DATE: Final = 9
TIME: Final = 10
"""What literals are compared as, if they are instants, dates or times; no value has these kinds, either."""
