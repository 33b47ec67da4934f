"""Modules against plain rules (*Modular*, section 11): materialisation, small deletions and additions, large deletions.

Small is a thousand facts and large a quarter of all, sampled uniformly; of the sequence 50 and 500 of 2,000 items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from everlog.bench.data import data_file
from everlog.bench.experiments.records import Record
from everlog.bench.updates_worker import Samples
from everlog.bench.workload import Instance
from everlog.bench.workloads import modular as made
from everlog.bench.workloads import workload

if TYPE_CHECKING:
    from everlog import KnowledgeBase

_LIMIT: Final = {"tiny": 20.0, "small": 20.0, "medium": 900.0}
"""Seconds after which what is left is not asked of a system any more."""


@dataclass(frozen=True)
class Subject:
    """An instance, how many of its facts are a small update and a large one, and the paper's row if it is its data."""

    name: str
    build: Callable[[], Instance]
    small: int = 1000
    large: float = 0.25
    paper: str | None = None


def subjects(scale: str) -> list[Subject]:
    """What the experiment runs on."""
    if scale == "tiny":
        return [Subject("DAG-R", lambda: _instance("dag-nonlinear", nodes=40, edges=80), 5)]
    k, collections = (3, 25) if scale == "small" else (13, 100)
    nodes = 600 if scale == "small" else 10_000
    family = {"branches": 4, "width": 40} if scale == "small" else {}
    items = 400 if scale == "small" else 2_000
    same = scale == "medium"
    return [
        Subject("Claros-LE", lambda: _instance("claros-extended", collections=collections)),
        Subject("LUBM-LE", lambda: _lubm(k)),
        Subject("SKOS", lambda: _instance("skos", concepts=5_000 if scale == "small" else 20_000)),
        Subject(
            "DAG-R",
            lambda: _instance("dag-nonlinear", nodes=nodes, edges=10 * nodes),
            paper="DAG-R" if same else None,
        ),
        Subject("Family", lambda: _instance("family", **family)),
        Subject("Seq", lambda: made.sequence(items), items // 40, paper="Seq" if same else None),
    ]


def _instance(name: str, **parameters: int) -> Instance:
    return workload(name).instance(**parameters)


def _lubm(k: int) -> Instance:
    program = data_file("programs/LUBM_LE.dlog").read_text(encoding="utf-8")
    return Instance(program, workload("lubm").instance(k=k).facts)


SYSTEMS: Final[Mapping[str, Mapping[str, str]]] = {
    "M-DRed^c": {"modules": "auto", "algorithm": "dredc"},
    "DRed^c": {"modules": "off", "algorithm": "dredc"},
    "B/F^c": {"modules": "off", "algorithm": "bfc"},
}


def modular(subject: Subject, scale: str) -> Iterator[Record]:
    """A record for each system: seconds by task, and facts, so that results can be compared."""
    instance = subject.build()
    samples = Samples(instance.facts)
    small = min(subject.small, instance.size // 4)
    tasks = {
        "small deletion": ("delete", small),
        "small addition": ("add", small),
        "large deletion": ("delete", int(subject.large * instance.size)),
    }
    for name, options in SYSTEMS.items():
        begun = perf_counter()
        kb, content = _materialised(instance, options)
        times = {"materialisation": content.pop("seconds")}
        changed = {}
        for task, (way, size) in tasks.items():
            if perf_counter() - begun > _LIMIT[scale]:
                break
            started = perf_counter()
            report = kb.update(**{way: samples.of(size, seed=1)})  # type: ignore[arg-type]
            times[task] = perf_counter() - started
            changed[task] = report.added - report.deleted
        yield {
            "instance": subject.name,
            "paper": subject.paper,
            "system": name,
            "small": small,
            **content,
            "seconds": times,
            "changed": changed,
        }


def _materialised(instance: Instance, options: Mapping[str, str]) -> tuple[KnowledgeBase, dict[str, Any]]:
    from everlog import KnowledgeBase, parse_program
    from everlog.datalog.stratify import stratify

    program = parse_program(instance.program)
    kb = KnowledgeBase(program, engine="memory", hypertree="off", **options)  # type: ignore[arg-type]
    kb.add(instance.facts)
    report = kb.materialise()
    strata = stratify(program.rules)
    recursive = sum(len(stratum.recursive) for stratum in strata)
    return kb, {
        "explicit": report.facts["explicit"],
        "total": report.facts["total"],
        "nonrecursive_rules": len(program.rules) - recursive,
        "recursive_rules": recursive,
        "strata": len(strata),
        "modules": dict(Counter(module["kind"] for module in report.modules)),
        "seconds": report.seconds["reasoning"],
        "state_bytes": report.state_bytes,
    }
