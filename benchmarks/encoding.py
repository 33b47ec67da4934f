"""Facts as columns of integers, and the integers of a program's constants.

Integer columns are taken as they are; text columns by their code in the dictionary that a workload's columns share. A
constant that occurs in no fact has a code of its own, after those of the dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.workload import BenchmarkMistake
from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import Value

Columns: TypeAlias = tuple[np.ndarray[Any, np.dtype[np.int64]], ...]


class NotExpressible(BenchmarkMistake):
    """Work that a system's language cannot state."""


@dataclass(frozen=True)
class Codes:
    """The integer of a value and the value of an integer; without a dictionary values are integers already."""

    texts: pa.Array | None = None
    _new: dict[str, int] = field(default_factory=dict)

    def code(self, value: Value) -> int:
        if self.texts is None:
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            raise NotExpressible(f"the constant {value!r} stands beside facts over integers")
        text = write_term(value)
        known: int = pc.index(self.texts, pa.scalar(text, self.texts.type)).as_py()
        return known if known >= 0 else self._new.setdefault(text, len(self.texts) + len(self._new))

    def value(self, code: int) -> Value:
        return code if self.texts is None else read_term(self.texts[code].as_py())


def encode(facts: Mapping[str, pa.Table]) -> tuple[dict[str, Columns], Codes]:
    """The columns of each predicate, and how values were turned into integers."""
    arrays = {name: [_one_chunk(column) for column in table.columns] for name, table in facts.items()}
    everything = [array for columns in arrays.values() for array in columns]
    if all(pa.types.is_integer(array.type) for array in everything):
        return {name: tuple(array.to_numpy() for array in columns) for name, columns in arrays.items()}, Codes()
    if not all(
        pa.types.is_dictionary(array.type) and array.dictionary.equals(everything[0].dictionary) for array in everything
    ):
        raise BenchmarkMistake("a workload's columns are all integers, or all texts that share one dictionary")
    encoded = {
        name: tuple(array.indices.to_numpy().astype(np.int64) for array in columns) for name, columns in arrays.items()
    }
    return encoded, Codes(everything[0].dictionary)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
