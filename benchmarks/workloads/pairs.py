"""Binary relations over integers, drawn without repetition."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from benchmarks.workload import BenchmarkMistake

Column: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


def binary(first: Column, second: Column) -> pa.Table:
    """The relation with these two columns, named as the engine names them."""
    return pa.table({"a0": pa.array(first, pa.int64()), "a1": pa.array(second, pa.int64())})


def distinct(random: np.random.Generator, below: int, count: int) -> Column:
    """`count` distinct numbers in `range(below)`, uniformly and in random order; `below` may be huge."""
    if count > below:
        raise BenchmarkMistake(f"{count} distinct facts are asked for, only {below} exist: raise the domain's size")
    return random.choice(below, count, replace=False, shuffle=True)
