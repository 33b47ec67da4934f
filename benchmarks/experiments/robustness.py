"""Small updates of many samples (*Revisited*, section 10.3): what they take, and whether that depends on the facts.

Samples are uniform or random walks (section 10.1). Each is deleted from the materialisation and added again. The engine
always counts derivations, so they need no run of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from benchmarks.experiments.clock import WORKERS, materialising, timed
from benchmarks.experiments.instances import Named
from benchmarks.experiments.records import Record
from benchmarks.updates_worker import Samples
from benchmarks.walks import Walks
from benchmarks.workload import Instance

if TYPE_CHECKING:
    from everlog import KnowledgeBase

STRATIFICATIONS: Final = {"N": "single", "Y": "levels"}
"""As the paper's tables say it: without stratification, and with it."""

ALGORITHMS: Final = {"counting": "CNT", "dred": "DRed", "bf": "FBF", "fbf": "FBF, adaptive", "dredc": "DRed^c"}
"""With the paper's names; its FBF never aborts. The last two are ours and of *Modular-2019*."""

SAMPLES: Final = {"tiny": 2, "small": 10, "medium": 30}
"""How many there are of each kind."""
CHANGED: Final = {"tiny": 5, "small": 1_000, "medium": 1_000}
LIMIT: Final = {"tiny": 5.0, "small": 2.0, "medium": 10.0}
"""Seconds for an algorithm on an instance with one kind of samples; it has fewer samples then, but two."""

Facts = Mapping[str, pa.Table]


def robustness(named: Named, scale: str, repeat: int | None = None) -> Iterator[Record]:
    """A record for each stratification, kind of samples, and algorithm."""
    instance = named.build()
    changed = min(CHANGED[scale], instance.size // 10)
    count = 1 + (repeat or SAMPLES[scale])
    uniform, walks = Samples(instance.facts), Walks(instance.facts)
    samples: dict[str, list[Facts]] = {
        "uniform": [uniform.of(changed, seed) for seed in range(count)],
        "walk": [walks.of(changed, seed) for seed in range(count)],
    }
    materialised(instance, "remat", "levels")  # what the first one in a process loads, later ones find
    for letter, stratification in STRATIFICATIONS.items():
        for algorithm in ALGORITHMS:
            kb, sizes = materialised(instance, algorithm, stratification)
            for kind, given in samples.items():
                measured = _measured(kb, algorithm, given, LIMIT[scale])
                yield {
                    **named.described(),
                    **sizes,
                    "stratification": letter,
                    "sampling": kind,
                    "algorithm": algorithm,
                    "changed": changed,
                    **measured,
                }


def materialised(instance: Instance, algorithm: str, stratification: str) -> tuple[KnowledgeBase, dict[str, Any]]:
    """A knowledge base without modules, and what its materialisation came to."""
    from everlog import KnowledgeBase, parse_program

    options = {"engine": "memory", "modules": "off", "hypertree": "off", "workers": WORKERS}
    program = parse_program(instance.program)
    kb = KnowledgeBase(program, algorithm=algorithm, stratification=stratification, **options)  # type: ignore[arg-type]
    report, seconds = materialising(kb, instance.facts)
    return kb, {
        "explicit": report.facts["explicit"],
        "total": report.facts["total"],
        "materialise_seconds": seconds,
        "materialise_derivations": sum(report.derivations.values()),
        "state_bytes": report.state_bytes,
    }


def _measured(kb: KnowledgeBase, algorithm: str, samples: list[Facts], limit: float) -> dict[str, Any]:
    """All samples, deleted and added again; the first one makes indexes that later ones find, and is not counted."""
    found: dict[str, dict[str, list[Any]]] = {
        way: {"seconds": [], "derivations": [], "phases": [], "facts": []} for way in ("deletion", "addition")
    }
    spent = 0.0
    for number, sample in enumerate(samples):
        if spent > limit and len(found["deletion"]["seconds"]) > 1:
            break
        for way, facts in (("deletion", {"delete": sample}), ("addition", {"add": sample})):
            report, seconds = timed(lambda facts=facts: kb.update(**facts, algorithm=algorithm))  # type: ignore[misc]
            spent += seconds
            if number:
                found[way]["seconds"].append(seconds)
                found[way]["derivations"].append(sum(report.derivations.values()))
                found[way]["phases"].append(report.derivations)
                found[way]["facts"].append(report.added + report.deleted)
    return found
