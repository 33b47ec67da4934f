"""An ontology over data, by Everlog and by reasonable, which reads OWL and no rules.

Both have the same two files and a process each. What they derive about individuals is compared before times count: of
triples between IRIs, those that are about the ontology's own terms are left out, since only reasonable derives such. It has
no scm-svf1, so superclasses that are existentials are taken out of the ontology for both.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from pyoxigraph import BlankNode, NamedNode, RdfFormat, parse, serialize

from benchmarks.data import data_file
from benchmarks.experiments.records import Record
from benchmarks.process import Limits, run_module
from benchmarks.runner import progress

_OURS: Final = "http://example.org/"
_MADE: Final = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <http://example.org/onto#> .
ex:Part rdfs:subClassOf ex:Thing . ex:Wheel rdfs:subClassOf ex:Part .
ex:partOf a owl:ObjectProperty, owl:TransitiveProperty ; rdfs:domain ex:Part ; owl:inverseOf ex:hasPart .
ex:wheelOf a owl:ObjectProperty ; rdfs:subPropertyOf ex:partOf ; rdfs:domain ex:Wheel .
ex:hasPart a owl:ObjectProperty .
"""

Fact = tuple[str, str, str]


def owl(scale: str, repeat: int, timeout: float, limits: Limits) -> Iterator[Record]:
    """A record for each system, as `peers` has them."""
    with tempfile.TemporaryDirectory(prefix="everlog-bench-") as folder:
        name, explicit = _files(Path(folder), scale)
        found = {}
        for system in SYSTEMS:
            progress(f"peers: {name}, {system}")
            found[system] = [_once(system, folder, timeout, limits) for _ in range(repeat)]
        progress("")
    said = {run["digest"] for runs in found.values() for run in runs if run["status"] == "ok"}
    for system, runs in found.items():
        last = runs[-1]
        shown = {"workload": name, "parameters": {}, "explicit": explicit, "system": system, "agrees": len(said) == 1}
        if last["status"] != "ok":
            yield {**shown, "status": last["status"], "reason": last["reason"]}
            continue
        yield {
            **shown,
            "status": "ok",
            "version": last["version"],
            "total": last["total"],
            "load_seconds": [run["load_seconds"] for run in runs],
            "seconds": [run["seconds"] for run in runs],
            "loads_while_reasoning": False,
            "peak_bytes": max(run["peak_bytes"] for run in runs),
        }


def _once(system: str, folder: str, timeout: float, limits: Limits) -> dict[str, Any]:
    ended = run_module("benchmarks.experiments.owl", [system, folder], timeout, limits)
    if ended.timed_out or ended.code:
        lines = ended.errors.strip().splitlines() or ["no message"]
        return {"status": "error", "reason": f"stopped after {timeout:g} s" if ended.timed_out else lines[-1]}
    return {**json.loads(ended.output.splitlines()[-1]), "peak_bytes": ended.peak_bytes}


def _files(folder: Path, scale: str) -> tuple[str, int]:
    """Writes the ontology and the data as Turtle; gives the name of both, and how many triples the data has."""
    if scale == "tiny":
        lines = [f"<{_OURS}w{n}> <{_OURS}onto#wheelOf> <{_OURS}c{n}> ." for n in range(5)]
        lines += [f"<{_OURS}c{n}> <{_OURS}onto#partOf> <{_OURS}c{n + 1}> ." for n in range(5)]
        (folder / "ontology.ttl").write_text(_MADE, encoding="utf-8")
        (folder / "data.ttl").write_text("\n".join(lines), encoding="utf-8")
        return "parts", len(lines)
    source = data_file("ontologies/univ-bench.owl")
    quads = parse(source.read_bytes(), format=RdfFormat.RDF_XML, base_iri=source.as_uri())
    above = NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
    kept = [one.triple for one in quads if not (one.predicate == above and isinstance(one.object, BlankNode))]
    # The file's names are of another year than the data's.
    text = (serialize(kept, format=RdfFormat.N_TRIPLES) or b"").replace(_FILE.encode(), _DATA.encode())
    (folder / "ontology.ttl").write_bytes(text)
    data = gzip.decompress(data_file("rdf/lubm1.nt.gz").read_bytes())
    (folder / "data.ttl").write_bytes(data)
    return "univ-bench.owl", data.count(b"\n")


_FILE: Final = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
_DATA: Final = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
_TERMS: Final = ("http://www.w3.org/", _DATA, f"{_OURS}onto#")


def _everlog(folder: Path) -> tuple[dict[str, Any], Iterable[Fact]]:
    from benchmarks.peers.everlog import everlog_version
    from benchmarks.workloads.triples import triple_table
    from everlog import KnowledgeBase
    from everlog.rdf.owl.profiles import translate
    from everlog.rdf.owl.reading import read_ontologies

    begun = perf_counter()
    program = translate(read_ontologies([folder / "ontology.ttl"]), "RL").program
    quads = parse((folder / "data.ttl").read_bytes(), format=RdfFormat.TURTLE)
    kb = KnowledgeBase(program, engine="memory")
    kb.add({"triple": triple_table((str(one.subject), str(one.predicate), str(one.object)) for one in quads)})
    loaded = perf_counter() - begun
    report = kb.materialise()
    facts = ((str(s)[1:-1], str(p)[1:-1], str(o)[1:-1]) for s, p, o in kb.rows("triple") if isinstance(o, NamedNode))
    measured = {"load_seconds": loaded, "seconds": report.seconds["reasoning"], "total": report.facts["total"]}
    return {**measured, "version": everlog_version()}, facts


def _reasonable(folder: Path) -> tuple[dict[str, Any], Iterable[Fact]]:
    """It hands over Python terms, which takes longer than to reason; asked again, it only does that again.

    So reasoning proper is the difference between reasoning from scratch and asking again, the best of three of each.
    """
    from importlib.metadata import version

    import rdflib
    import reasonable

    begun = perf_counter()
    reasoner = reasonable.PyReasoner()
    for name in ("ontology.ttl", "data.ttl"):
        reasoner.load_file(str(folder / name))
    loaded = perf_counter() - begun
    triples = reasoner.reason()
    facts = [(str(s), str(p), str(o)) for s, p, o in triples if isinstance(o, rdflib.URIRef)]
    total = len(triples)
    del triples  # many Python terms
    taken = max(_best(reasoner.reason_full) - _best(reasoner.reason), 0.0001)
    measured = {"load_seconds": loaded, "seconds": taken, "total": total}
    return {**measured, "version": version("reasonable")}, facts


def _best(call: Callable[[], object]) -> float:
    found = []
    for _ in range(3):
        begun = perf_counter()
        call()
        found.append(perf_counter() - begun)
    return min(found)


SYSTEMS: Final[Mapping[str, Callable[[Path], tuple[dict[str, Any], Iterable[Fact]]]]] = {
    "everlog": _everlog,
    "reasonable": _reasonable,
}


def digest(facts: Iterable[Fact]) -> str:
    """Of what is said about individuals, in whatever order."""
    kept = {(s, p, o) for s, p, o in facts if not s.startswith(_TERMS) and _says_something(p, o)}
    return sha256("\n".join(map(" ".join, sorted(kept))).encode()).hexdigest()


def _says_something(prop: str, target: str) -> bool:
    """Not that something is a thing, or the same as itself."""
    if prop == "http://www.w3.org/1999/02/22-rdf-syntax-ns#type":
        return not target.startswith(_TERMS[0])
    return not prop.startswith(_TERMS[0])


def main(argv: Sequence[str]) -> int:
    """`python -m benchmarks.experiments.owl SYSTEM FOLDER`: one run, as JSON."""
    system, folder = argv
    try:
        measured, facts = SYSTEMS[system](Path(folder))
    except ImportError as missing:
        print(json.dumps({"status": "absent", "reason": str(missing)}))
        return 0
    print(json.dumps({"status": "ok", "digest": digest(facts), **measured}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
