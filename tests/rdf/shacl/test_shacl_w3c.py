"""The W3C's tests of SHACL Core: the report of each, up to the names of blank nodes.

As in the W3C's harness, messages count where the expected report has them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import parse

import everlog

rdflib = pytest.importorskip("rdflib", reason="reports are compared by rdflib")
compare = pytest.importorskip("rdflib.compare")

DATA = Path(os.environ.get("EVERLOG_DATA", Path(__file__).parents[4] / "shared" / "data")) / "shacl"
FILES = sorted(path for path in DATA.rglob("*.ttl") if "sht:Validate" in path.read_text(encoding="utf-8"))
SH, MF, SHT = (
    rdflib.Namespace(f"http://www.w3.org/{name}#")
    for name in ("ns/shacl", "2001/sw/DataAccess/tests/test-manifest", "ns/shacl-test")
)

pytestmark = pytest.mark.skipif(not FILES, reason="the W3C's tests of SHACL are not there (EVERLOG_DATA)")


def test_all_of_them_are_there() -> None:
    assert len(FILES) == 57


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_report_is_what_the_w3c_expects(file: Path) -> None:
    manifest = read(file.as_uri())
    (test,) = manifest.subjects(rdflib.RDF.type, SHT.Validate)
    action = manifest.value(test, MF.action)
    data, shapes = (str(manifest.value(action, graph)) for graph in (SHT.dataGraph, SHT.shapesGraph))
    wanted = expected(manifest, manifest.value(test, MF.result))
    program = everlog.shapes(shapes.removeprefix("file://"))
    quads = parse(path=data.removeprefix("file://"), base_iri=data)
    facts = [(quad.subject, quad.predicate, quad.object) for quad in quads]

    beside = everlog.KnowledgeBase("", engine="memory")
    beside.add({"triple": facts})
    beside.materialise()
    check(beside.validate(program), wanted)

    kept = everlog.KnowledgeBase(program, engine="memory")
    kept.materialise()
    kept.update(add={"triple": facts[1::2]})
    kept.update(add={"triple": facts[::2]})
    check(kept.validate(), wanted)


def check(report: Any, wanted: Any) -> None:
    found, messages = (
        rdflib.Graph().parse(data=report.serialize("nt"), format="nt"),
        set(wanted.objects(None, SH.resultMessage)),
    )
    for triple in found.triples((None, SH.resultMessage, None)):
        if triple[2] not in messages:
            found.remove(triple)
    assert compare.to_isomorphic(found) == compare.to_isomorphic(wanted), report.serialize("ttl")


def read(address: str) -> Any:
    return rdflib.Graph().parse(address, format="turtle", publicID=address)


def expected(manifest: Any, report: Any) -> Any:
    """The report that a manifest has: results, and the paths in them."""
    found, waiting = rdflib.Graph(), [report]
    while waiting:
        node = waiting.pop()
        for triple in manifest.triples((node, None, None)):
            if triple not in found:
                found.add(triple)
                if triple[1] not in (SH.focusNode, SH.value, SH.sourceShape) and isinstance(triple[2], rdflib.BNode):
                    waiting.append(triple[2])
    return found
