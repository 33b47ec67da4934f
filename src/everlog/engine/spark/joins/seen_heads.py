"""Which facts rules have derived, where their heads have one variable: a bit for each id, for each head.

What rules about classes derive, they derive several times, as a rule. A bit tells so before there is a row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everlog.engine.spark.facts import row_kernels as kernels
from everlog.interrupts import aside


class SeenHeads:
    """The ids that the variable had so far, by what else is in a head."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}
        self._bits: NDArray[np.uint64] = np.zeros((0, 0), np.uint64)

    def new(
        self, heads: Sequence[tuple[int, ...]], rules: NDArray[np.int64], ids: NDArray[np.int64]
    ) -> NDArray[np.int64] | None:
        """The places of ids that were not noted for the head of their rule, each once, and notes them.

        None if there are too few ids for so many bits.
        """
        numbers = dict(self._numbers)
        groups = np.array([numbers.setdefault(head, len(numbers)) for head in heads], np.int64)
        known = self._bits
        words = max(int(ids.max(initial=0)) // kernels.WORD + 1, known.shape[1])
        grow = len(numbers) > len(known) or words > known.shape[1]
        if (grow and len(numbers) * words > len(ids)) or int(ids.min(initial=0)) < 0:
            return None
        self._numbers = numbers
        if grow:
            self._bits = np.zeros((len(numbers), words), np.uint64)
            self._bits[: len(known), : known.shape[1]] = known
        out = np.empty(len(ids), np.int64)
        return out[: aside(len(ids), kernels.unseen, ids, rules, groups, self._bits, out)]
