"""One system of the benchmark `ontologies`, in a process of its own: `SYSTEM ONTOLOGY DATA`. Prints its measurements.

The ontology is univ-bench.owl as Turtle, the data a folder of N-Triples files. Each system reads both, reasons and writes
everything that it has; the parts are timed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any


class Clock:
    """Seconds by the name of a part."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._name = ""
        self._since = perf_counter()

    def part(self, name: str) -> None:
        """From now on it is this part; the name of a part may come again."""
        now = perf_counter()
        if self._name:
            self.parts[self._name] = self.parts.get(self._name, 0.0) + now - self._since
        self._name, self._since = name, now


def everlog(ontology: Path, data: Path, out: Path, clock: Clock, complete: bool = False) -> dict[str, Any]:
    """A new store: Spark reads, encodes and writes, the engine reasons."""
    clock.part("translate")
    from everlog.rdf.owl.profiles import Options, translate
    from everlog.rdf.owl.reading import read_ontologies

    program = translate(read_ontologies([ontology]), "RL", Options(complete=complete)).program
    clock.part("start")
    from everlog.knowledge.stores import init_store
    from everlog.sources.read_facts import read_paths
    from everlog.spark.session import start_session

    spark = start_session()
    parts = {"encoding facts": "read", "writing facts": "write", "loading facts": "load", "reasoning": "reason"}
    clock.part("read")
    read = read_paths(spark, [data])
    report = init_store(out, program, read, spark=spark, on_step=lambda step: clock.part(parts.get(step, "write")))
    clock.part("")
    return {"reasoning": report.seconds["reasoning"], "facts": report.facts["total"], "engine": report.engine}


def reasonable(ontology: Path, data: Path, out: Path, clock: Clock) -> dict[str, Any]:
    """reasonable hands over Python terms, which takes it longer than to reason; asked again, it only does that again.

    So reasoning proper is the difference between reasoning from scratch and asking again, the best of three of each.
    """
    import reasonable as peer

    files = []
    for file in sorted(data.glob("*.nt")):  # it reads Turtle, which N-Triples is a part of, and goes by the name
        files.append(out.with_name(f"{file.stem}.ttl"))
        files[-1].symlink_to(file.absolute())
    clock.part("read")
    reasoner = peer.PyReasoner()
    for file in (ontology, *files):
        reasoner.load_file(str(file))
    clock.part("reason")
    triples = reasoner.reason()
    clock.part("write")
    with (out.with_suffix(".nt")).open("w", encoding="utf-8") as target:
        for subject, predicate, value in triples:
            target.write(f"{subject.n3()} {predicate.n3()} {value.n3()} .\n")
    clock.part("")
    facts = len(triples)
    del triples  # millions of Python terms
    handing_over = _best(reasoner.reason)
    return {"reasoning": max(_best(reasoner.reason_full) - handing_over, 0.0), "facts": facts}


def _best(call: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        started = perf_counter()
        call()
        seconds.append(perf_counter() - started)
    return min(seconds)


def owlrl(ontology: Path, data: Path, out: Path, clock: Clock) -> dict[str, Any]:
    import owlrl as peer
    import rdflib

    clock.part("read")
    graph = rdflib.Graph()
    graph.parse(ontology, format="turtle")
    for file in sorted(data.glob("*.nt")):
        graph.parse(file, format="nt")
    clock.part("reason")
    started = perf_counter()
    peer.DeductiveClosure(peer.OWLRL_Semantics).expand(graph)
    reasoning = perf_counter() - started
    clock.part("write")
    graph.serialize(out.with_suffix(".nt"), format="nt", encoding="utf-8")
    clock.part("")
    return {"reasoning": reasoning, "facts": len(graph)}


SYSTEMS: dict[str, Callable[[Path, Path, Path, Clock], dict[str, Any]]] = {
    "everlog": everlog,
    "complete": partial(everlog, complete=True),
    "reasonable": reasonable,
    "owlrl": owlrl,
}


def main() -> None:
    system, ontology, data = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as scratch:
        found = SYSTEMS[system](ontology, data, Path(scratch) / "out", clock)
    print(json.dumps({**found, "parts": clock.parts, "total": sum(clock.parts.values())}))


if __name__ == "__main__":
    main()
