"""What kernels take and give (`line_kernels.py`): bytes with some to spare, and places of pieces, as Arrow has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from everlog.sources.blocks import Block

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW: Final = 1 << 17
"""Bytes up to which no kernel is loaded."""


def with_spare(data: bytes) -> tuple[NDArray[np.uint8], int]:
    """Bytes as a kernel takes them, and how many there are."""
    from everlog.sources.line_kernels import SPARE

    found = np.empty(len(data) + SPARE, np.uint8)
    found[: len(data)] = np.frombuffer(data, np.uint8)
    return found, len(data)


def texts_of_pieces(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int32]) -> pa.Array | None:
    """Pieces of the data as texts; None if they are not all UTF-8."""
    from everlog.sources.line_kernels import copied

    offsets = np.zeros(len(starts) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    text = np.empty(offsets[-1], np.uint8)
    copied(data, starts, lengths, text)
    texts = pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(text))
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return texts


def joint_columns(one: Block, other: Block) -> Sequence[pa.Array]:
    """The facts of both, as columns that share a dictionary."""
    moved = np.where(other.numbers < 0, -1, other.numbers + len(one.texts)).astype(np.int32)
    texts = pa.concat_arrays([one.texts, other.texts]) if other.facts else one.texts
    numbers = np.concatenate([one.numbers, moved], axis=1)
    return [pa.DictionaryArray.from_arrays(pa.array(column, mask=column < 0), texts) for column in numbers]
