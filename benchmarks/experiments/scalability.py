"""Large updates (*Revisited*, section 10.4): where starting again becomes faster, and what lies before that point.

The break-even point of an algorithm is found by binary search over uniform samples with one seed. Counting is compared with
a materialisation that counts. Then a quarter, half, three quarters and all of every algorithm's break-even point are
deleted from the materialisation of `E`, and added to that of `E` without the largest of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from benchmarks.experiments.clock import timed
from benchmarks.experiments.equilibrium import SHARES, Order, break_even
from benchmarks.experiments.instances import Named
from benchmarks.experiments.records import Record
from benchmarks.experiments.robustness import STRATIFICATIONS, materialised
from benchmarks.workload import Instance

if TYPE_CHECKING:
    from everlog import KnowledgeBase

ALGORITHMS: Final = ("counting", "dred", "bf", "dredc")


def scalability(named: Named, scale: str) -> Iterator[Record]:
    """The break-even points, and the times and derivations of updates up to them."""
    instance = named.build()
    order = Order(instance)
    for letter, stratification in STRATIFICATIONS.items():
        described = {**named.described(), "stratification": letter}
        points = {}
        materialised(instance, "remat", stratification)  # what the first one in a process loads, later ones find
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
        wanted = sorted({max(1, int(share * point)) for point in points.values() for share in SHARES})
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
    for way in ("delete", "add"):  # what the first update makes, later ones find
        kb.update(**{way: order.sample(1)}, algorithm=algorithm)  # type: ignore[arg-type]

    def update(size: int) -> float:
        sample = order.sample(size)
        seconds = float(_update(kb, {"delete": sample}, algorithm)["seconds"])
        kb.update(add=sample, algorithm=algorithm)
        return seconds

    def again(size: int) -> float:
        kept = "counting" if algorithm == "counting" else "remat"
        return float(materialised(order.rest(size), kept, stratification)[1]["materialise_seconds"])

    return break_even(explicit, update, again)


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
    report, seconds = timed(lambda: kb.update(**facts, algorithm=algorithm))
    return {"seconds": seconds, "derivations": sum(report.derivations.values())}
