"""What a workload is: a program, facts made from a seed and a few sizes, and nothing that depends on a system.

An instance's columns are all integers, or all texts in N-Triples form that share one Arrow dictionary (field metadata
`everlog: ntriples`); `relational` relies on that. Rows are distinct. The same parameters give the same instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from everlog.errors import EverlogError

Parameters: TypeAlias = Mapping[str, int]


class BenchmarkMistake(EverlogError):
    """A benchmark that cannot be run as asked."""


@dataclass(frozen=True)
class Instance:
    program: str
    facts: Mapping[str, pa.Table]

    @property
    def size(self) -> int:
        return sum(table.num_rows for table in self.facts.values())


@dataclass(frozen=True)
class Workload:
    name: str
    about: str
    defaults: Parameters
    build: Callable[..., Instance]

    def parameters(self, changes: Parameters) -> dict[str, int]:
        """The defaults with `changes`, or `BenchmarkMistake` if there is no such parameter."""
        unknown = sorted(set(changes) - set(self.defaults))
        if unknown:
            known = ", ".join(self.defaults)
            raise BenchmarkMistake(f"{self.name} has no parameter {unknown[0]}; it has {known}")
        return {**self.defaults, **changes}

    def instance(self, **changes: int) -> Instance:
        return self.build(**self.parameters(changes))
