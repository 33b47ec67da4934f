"""Measures one row of the benchmark `updates`: `python -m benchmarks.updates_worker ROW REQUEST`.

A process of its own, so that rows do not share memory. What it measured is the last line that it prints.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.updates import GROUPS, REMAT, ROWS, Direction, Measured
from benchmarks.workload import Instance
from everlog.errors import EverlogError

_RESTARTS = 3
"""Starting again takes as long as it takes whatever the sample, so a few times are enough."""


def measure(name: str, instance: Instance, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What `Row` has but for the process's memory."""
    from everlog import KnowledgeBase, parse_program

    program = parse_program(instance.program, source=name)
    samples = Samples(instance.facts)
    content: dict[str, Any] = {"name": name, "materialise": {}, "state": {}}
    measured: list[Measured] = []
    for kept, group in GROUPS.items():
        chosen = [algorithm for algorithm in group if algorithm in asked["algorithms"]]
        if not chosen:
            continue
        modules = "auto" if kept in ("auto", REMAT) else "off"
        kb = KnowledgeBase(program, **{"engine": "memory", "algorithm": kept, "modules": modules, **asked["options"]})
        kb.add(instance.facts)
        report = kb.materialise()
        content["materialise"][kept] = report.seconds["reasoning"]
        content["state"][kept] = report.state_bytes
        content["explicit"], content["total"] = report.facts["explicit"], report.facts["total"]
        for changed in asked["changed"]:
            repeat = min(_RESTARTS, asked["repeat"]) if kept == REMAT else asked["repeat"]
            measured += _group(kb, chosen, samples, changed, repeat, asked["limit"])
        del kb
        gc.collect()  # a large one goes before the next comes
    content["measured"] = [asdict(one) for one in measured]
    return content


def _group(
    kb: Any, algorithms: Sequence[str], samples: Samples, changed: int, repeat: int, limit: float
) -> list[Measured]:
    """All samples of one size, by algorithms that share a knowledge base; each leaves it as it found it."""
    found = {algorithm: Measured(algorithm, changed) for algorithm in algorithms}
    spent = dict.fromkeys(algorithms, 0.0)
    for number in range(repeat + 1):
        # The first sample makes indexes that later ones find; it is not counted.
        sample = samples.of(changed, seed=number)
        for algorithm in algorithms:
            if spent[algorithm] > limit and len(found[algorithm].deletion.seconds) > 1:
                continue
            for way, facts in (("deletion", {"delete": sample}), ("addition", {"add": sample})):
                started = perf_counter()
                report = kb.update(**facts, algorithm=algorithm)
                seconds = perf_counter() - started
                spent[algorithm] += seconds
                if number:
                    _note(getattr(found[algorithm], way), seconds, report)
    return list(found.values())


def _note(direction: Direction, seconds: float, report: Any) -> None:
    direction.seconds.append(seconds)
    direction.derivations.append(sum(report.derivations.values()))
    direction.facts.append(report.added - report.deleted)


class Samples:
    """Uniform samples of explicit facts; with one seed a larger one contains the smaller."""

    def __init__(self, facts: Mapping[str, pa.Table]) -> None:
        self._facts = facts
        self._size = sum(table.num_rows for table in facts.values())

    def of(self, count: int, seed: int) -> dict[str, pa.Table]:
        # Drawn one after the other, so that the first hundred of a thousand are the hundred.
        random = np.random.default_rng(seed)
        drawn: dict[int, None] = {}
        while len(drawn) < min(count, self._size):
            drawn.setdefault(int(random.integers(self._size)))
        return taken(self._facts, np.array(list(drawn), np.int64))


def taken(facts: Mapping[str, pa.Table], numbers: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, pa.Table]:
    """The facts with some numbers, counted through all tables."""
    chosen, start, sample = np.sort(numbers), 0, {}
    for predicate, table in facts.items():
        here = chosen[(chosen >= start) & (chosen < start + table.num_rows)] - start
        if len(here):
            sample[predicate] = _plain(table.take(here))
        start += table.num_rows
    return sample


def _plain(table: pa.Table) -> pa.Table:
    """Texts without the dictionary of all facts, which a few of them would carry along."""
    fields = [
        pa.field(field.name, field.type.value_type, metadata=field.metadata)
        if pa.types.is_dictionary(field.type)
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def main(argv: Sequence[str]) -> int:
    name, asked = argv
    try:
        content = measure(name, ROWS[name](), json.loads(asked))
    except EverlogError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    print(json.dumps(content))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
