"""Doubles beside integers, as numbers by id (`double_values.py`)."""

from __future__ import annotations

import warnings

from everlog.engine.memory.dictionary import Dictionary
from everlog.engine.memory.double_values import DoubleValues
from everlog.engine.memory.term_kinds import FLOAT

_SIGNALLING: int = 0x7FF0_0000_0000_0001
"""The bits of what is no number, and says so when something is computed with it."""


def test_what_lies_behind_the_last_id_is_not_computed_with() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_values([1, 2.5])
    kinds, payload, *_ = dictionary.arrays()
    kinds[len(dictionary) :], payload[len(dictionary) :] = FLOAT, _SIGNALLING
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DoubleValues(dictionary, -1, False).added_by_id()[ids].tolist() == [-1.0, -2.5]
