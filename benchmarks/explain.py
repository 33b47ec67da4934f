"""`script/bench run explain`: how long it takes to say why a fact holds, in an open knowledge base.

A row is a program with data. Random derived facts are explained one after the other, and every proof is checked
(`proof_check.py`) before times are shown. The first few explanations make indexes, and are not counted.
"""

from __future__ import annotations

import gc
import gzip
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
import pyarrow as pa

from benchmarks.data import data_file
from benchmarks.equality import one_class
from benchmarks.proof_check import check_proofs
from benchmarks.workload import BenchmarkMistake, Instance
from benchmarks.workloads import workload
from everlog import KnowledgeBase
from everlog.datalog.printer import print_atom
from everlog.datalog.syntax import Atom, Constant

_WARMING: Final = 20
_PROOFS: Final = 100_000
_TIMES: Final = 4
"""A process is started so often; the first time files are not in the machine's memory yet."""

Say = Callable[[str], None]


def gene_ontology() -> Instance:
    """What is above what, in a branch of the Gene Ontology."""
    program = """
        above(?child, ?parent) :- edge(?child, ?kind, ?parent) .
        above(?child, ?ancestor) :- above(?child, ?parent), edge(?parent, ?kind, ?ancestor) .
    """
    with gzip.open(data_file("go/trixie_mf_edges.tsv.gz"), "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return Instance(program, {"edge": pa.table([list(column) for column in zip(*rows, strict=True)], ["a", "b", "c"])})


def lubm_extended(k: int) -> Instance:
    """LUBM_LE over copies of a university."""
    return Instance(
        data_file("programs/LUBM_LE.dlog").read_text(encoding="utf-8"), workload("lubm").instance(k=k).facts
    )


ROWS: Final[Mapping[str, tuple[Callable[[int], Instance], dict[str, Any]]]] = {
    "lubm": (lambda scale: workload("lubm").instance(k=100 // scale), {}),
    "lubm-extended": (lambda scale: lubm_extended(max(1, 10 // scale)), {}),
    "claros-extended": (lambda scale: workload("claros-extended").instance(collections=max(2, 40 // scale)), {}),
    "relations": (lambda scale: workload("relations").instance(), {}),
    "go": (lambda scale: gene_ontology(), {}),
    "dag": (lambda scale: workload("dag").instance(nodes=10_000 // scale, edges=100_000 // scale), {}),
    "uobm": (lambda scale: workload("uobm").instance(universities=max(1, 4 // scale)), {"equality": "rewrite"}),
    "one-class": (lambda scale: one_class(500 // scale, 200_000 // scale), {"equality": "rewrite"}),
}
"""What is explained, at the size of a scale, and options of the knowledge base."""
MANY: Final = "many-proofs"
SHELL: Final = "shell"


@dataclass(frozen=True)
class Request:
    """Which rows, how many facts of each, and by how much everything is smaller."""

    rows: Sequence[str] = (*ROWS, MANY, SHELL)
    facts: int = 1_000
    scale: int = 1


def run_explain(request: Request, say: Say) -> None:
    """Measures, and says a line for each row as soon as it is known."""
    unknown = set(request.rows) - set(Request.rows)
    if unknown or request.facts < 1 or request.scale < 1:
        raise BenchmarkMistake(f"rows are some of {', '.join(Request.rows)}, of 1 fact and scale 1 at the least")
    for row in request.rows:
        if row == MANY:
            say(_many(_PROOFS // request.scale))
        elif row == SHELL:
            say(_shell(100 // request.scale))
        else:
            make, options = ROWS[row]
            say(f"{row}: {_measured(make(request.scale), options, request.facts)}")


def _measured(instance: Instance, options: Mapping[str, Any], number: int) -> str:
    kb = KnowledgeBase(instance.program, **{"engine": "memory", **options})
    kb.add(instance.facts)
    total = kb.materialise().facts["total"]
    chosen = _sample(kb, number + _WARMING)
    for predicate, values in chosen[:_WARMING]:
        kb.explain(predicate, values)
    gc.collect()
    gc.freeze()  # else one in a hundred explanations pays for a look at all that compilers have left in memory
    times, processor, proofs = [], [], []
    for predicate, values in chosen[_WARMING:]:
        begun, worked = perf_counter(), process_time()
        found = kb.explain(predicate, values)
        times.append(perf_counter() - begun)
        processor.append(process_time() - worked)
        proofs.append(found.proofs[0])
    gc.unfreeze()
    given = check_proofs(kb, instance.facts, proofs)
    middle, late, most = (1_000 * float(np.quantile(times, share)) for share in (0.5, 0.99, 1.0))
    busy, busiest = (1_000 * float(np.quantile(processor, share)) for share in (0.5, 0.99))
    return (
        f"{len(times):,} of {total:,} facts: median {middle:.1f} ms, 99th percentile {late:.1f} ms, most {most:.1f} ms "
        f"by the clock; {busy:.1f} ms and {busiest:.1f} ms of processor time; "
        f"all proofs checked, down to {given:,} given facts"
    )


def _sample(kb: KnowledgeBase, number: int) -> list[tuple[str, tuple[Any, ...]]]:
    """Random derived facts."""
    random = np.random.default_rng(1)
    reasoner, backend = kb.reasoner, kb.reasoner.backend
    listed = {name: reasoner.listed(name, "derived", kb.arity(name)) for name in kb.predicates()}
    sizes = {name: backend.size(one) for name, one in listed.items() if backend.size(one)}
    drawn = random.choice(list(sizes), number, p=np.array(list(sizes.values())) / sum(sizes.values()))
    places = ((str(name), int(random.integers(sizes[str(name)]))) for name in drawn)
    return [(name, backend.rows(listed[name][:, at : at + 1], kb.arity(name))[0]) for name, at in places]


def _many(proofs: int) -> str:
    kb = KnowledgeBase("p(?x) :- q(?x, ?y), r(?y) .", engine="memory")
    kb.add({"q": [(0, number) for number in range(proofs)], "r": [(number,) for number in range(proofs)]})
    kb.materialise()
    next(iter(kb.explain("p", (0,), all=1).proofs))
    begun = perf_counter()
    found = kb.explain("p", (0,), all=True).proofs[:10]
    seconds = perf_counter() - begun
    return f"{MANY}: the first {len(found)} of {proofs:,} proofs of a fact: {1_000 * seconds:.1f} ms"


def _shell(k: int) -> str:
    """What the command takes for a fact of LUBM_L, and a process that does nothing but to open the store."""
    instance = workload("lubm").instance(k=max(1, k))
    kb = KnowledgeBase(instance.program, engine="memory")
    kb.add(instance.facts)
    kb.materialise()
    predicate, values = _sample(kb, 1)[0]
    goal = print_atom(Atom(predicate, tuple(map(Constant, values))))
    with TemporaryDirectory() as folder:
        store = f"{folder}/lubm.store"
        kb.save(store)
        del kb
        opening = [sys.executable, "-c", f"import everlog; everlog.open({store!r}).explain"]
        explaining = [sys.executable, "-m", "everlog", "explain", store, goal]
        runs = [[_process(command) for command in (opening, explaining)] for _ in range(_TIMES)][1:]
    (opened, worked), (explained, works) = (
        [median(run[place][what] for run in runs) for what in (0, 1)] for place in (0, 1)
    )
    return (
        f"{SHELL}: a process that opens LUBM_L with {instance.size:,} facts: {opened:.2f} s; one that explains a fact of "
        f"it: {explained - opened:.2f} s more by the clock, {works - worked:.2f} s more of processor time"
    )


def _process(command: Sequence[str]) -> tuple[float, float]:
    """The seconds that a process takes by the clock, and of processor time."""
    begun, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return perf_counter() - begun, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
