"""Large updates (*Revisited*, section 10.4): where starting again becomes faster, and what lies before that point.

The break-even point of an algorithm is found by binary search over uniform samples with one seed: the search ends when
both times differ by less than 2.5% of their average, or after ten steps. Counting is compared with a materialisation that
counts. Then a quarter, half, three quarters and all of every algorithm's break-even point are deleted from the
materialisation of `E`, and added to that of `E` without the largest of them. Times are those of reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from everlog.bench.experiments.instances import Named
from everlog.bench.experiments.records import Record
from everlog.bench.experiments.robustness import STRATIFICATIONS, materialised
from everlog.bench.workload import Instance

if TYPE_CHECKING:
    from everlog import KnowledgeBase

ALGORITHMS: Final = ("counting", "dred", "bf", "dredc")
_STEPS: Final = 10
_CLOSE: Final = 0.025
_SHARES: Final = (0.25, 0.5, 0.75, 1.0)


class Order:
    """The explicit facts in the order of one seed; a sample is a beginning of it, so that a larger contains a smaller."""

    def __init__(self, instance: Instance, seed: int = 0) -> None:
        self._instance = instance
        sizes = [table.num_rows for table in instance.facts.values()]
        self._ends = np.cumsum([0, *sizes])
        self._order = np.random.default_rng(seed).permutation(instance.size)

    def sample(self, size: int) -> dict[str, pa.Table]:
        return self._chosen(self._order[:size])

    def rest(self, size: int) -> Instance:
        """The instance without a sample."""
        return Instance(self._instance.program, self._chosen(self._order[size:]))

    def _chosen(self, numbers: np.ndarray[Any, Any]) -> dict[str, pa.Table]:
        found = {}
        numbers = np.sort(numbers)
        for place, (predicate, table) in enumerate(self._instance.facts.items()):
            first, last = self._ends[place : place + 2]
            here = numbers[(numbers >= first) & (numbers < last)] - first
            if len(here):
                found[predicate] = table.take(pa.array(here))
        return found


def scalability(named: Named, scale: str) -> Iterator[Record]:
    """The break-even points, and the times and derivations of updates up to them."""
    instance = named.build()
    order = Order(instance)
    for letter, stratification in STRATIFICATIONS.items():
        described = {**named.described(), "stratification": letter}
        points = {}
        for algorithm in ALGORITHMS:
            kb, sizes = materialised(instance, algorithm, stratification)
            points[algorithm], steps = _break_even(kb, order, instance.size, algorithm, stratification)
            yield {
                **described,
                **sizes,
                "part": "break-even",
                "algorithm": algorithm,
                "point": points[algorithm],
                "steps": steps,
            }
        largest = max(points.values())
        wanted = sorted({max(1, int(share * point)) for point in points.values() for share in _SHARES})
        for algorithm in ALGORITHMS:
            yield from _updates(instance, order, wanted, largest, algorithm, stratification, described)
        for size in wanted:
            for algorithm in ("remat", "counting"):
                _, again = materialised(order.rest(size), algorithm, stratification)
                yield {
                    **described,
                    "part": "deletion",
                    "algorithm": "CRemat" if algorithm == "counting" else "Remat",
                    "changed": size,
                    "seconds": again["materialise_seconds"],
                    "derivations": again["materialise_derivations"],
                }


def _break_even(
    kb: KnowledgeBase, order: Order, explicit: int, algorithm: str, stratification: str
) -> tuple[int, list[dict[str, Any]]]:
    """The size, and what was measured on the way to it."""
    lo, hi, steps = 0, explicit, []
    size = explicit // 2
    for way in ("delete", "add"):  # what the first update makes, later ones find
        kb.update(**{way: order.sample(1)}, algorithm=algorithm)  # type: ignore[arg-type]
    for _ in range(_STEPS):
        sample = order.sample(size)
        seconds = _update(kb, {"delete": sample}, algorithm)["seconds"]
        kb.update(add=sample, algorithm=algorithm)
        again = materialised(order.rest(size), "counting" if algorithm == "counting" else "remat", stratification)[1]
        steps.append({"size": size, "seconds": seconds, "again": again["materialise_seconds"]})
        difference = seconds - again["materialise_seconds"]
        if abs(difference) < _CLOSE * (seconds + again["materialise_seconds"]) / 2 or hi - lo < 2:
            break
        lo, hi = (size, hi) if difference < 0 else (lo, size)
        if (lo + hi) // 2 in (0, size):
            break
        size = (lo + hi) // 2
    return size, steps


def _updates(
    instance: Instance,
    order: Order,
    sizes: list[int],
    largest: int,
    algorithm: str,
    stratification: str,
    described: Mapping[str, Any],
) -> Iterator[Record]:
    for part, start in (("deletion", instance), ("addition", order.rest(largest))):
        kb, _ = materialised(start, algorithm, stratification)
        forth, back = ("delete", "add") if part == "deletion" else ("add", "delete")
        # The first update makes indexes that later ones find: it is not counted.
        for number, size in enumerate([sizes[0], *sizes]):
            sample = order.sample(size)
            measured = _update(kb, {forth: sample}, algorithm)
            if number:
                yield {**described, "part": part, "algorithm": algorithm, "changed": size, **measured}
            kb.update(**{back: sample}, algorithm=algorithm)  # type: ignore[arg-type]


def _update(kb: KnowledgeBase, facts: Mapping[str, Any], algorithm: str) -> dict[str, Any]:
    report = kb.update(**facts, algorithm=algorithm)
    return {"seconds": report.seconds["reasoning"], "derivations": sum(report.derivations.values())}
