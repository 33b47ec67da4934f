"""Random shapes and data beside pySHACL: the same results, from scratch and after updates."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyoxigraph import NamedNode, RdfFormat, parse

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.printer import print_program
from support.random_shapes import PREFIXES, random_shapes, random_triples

pyshacl = pytest.importorskip("pyshacl", reason="results are compared with those of pySHACL")
rdflib = pytest.importorskip("rdflib")
SH = rdflib.Namespace("http://www.w3.org/ns/shacl#")

CASES = 40


@pytest.mark.parametrize("seed", range(4))
def test_results_are_those_of_pyshacl(seed: int) -> None:
    chosen = random.Random(seed)
    violated = 0
    for _ in range(CASES // 4):
        shapes, lines = random_shapes(chosen), random_triples(chosen, chosen.randrange(5, 25))
        program = everlog.shapes(text=shapes)
        assert everlog.parse_program(print_program(program)) == program
        kb = everlog.KnowledgeBase(program, engine="memory")
        kb.add({"triple": facts(lines)})
        kb.materialise()
        wanted = by_pyshacl(shapes, lines)
        assert results(kb.validate()) == wanted, shapes + "\n" + "\n".join(lines)
        violated += bool(wanted)
        for _ in range(2):
            more, gone = random_triples(chosen, 4), chosen.sample(lines, min(4, len(lines)))
            lines = [line for line in lines if line not in gone] + more
            kb.update(add={"triple": facts(more)}, delete={"triple": facts(gone)})
            wanted = by_pyshacl(shapes, lines)
            assert results(kb.validate()) == wanted, shapes + "\n" + "\n".join(lines)
    assert violated > CASES // 16


def facts(lines: list[str]) -> list[tuple[Any, Any, Any]]:
    quads = parse(PREFIXES + "\n".join(lines), format=RdfFormat.TURTLE)
    return [(quad.subject, quad.predicate, quad.object) for quad in quads]


def results(report: Any) -> set[tuple[str, ...]]:
    """Focus node, value, shape, component and severity of each result."""
    return {
        (
            alike(write_term(one.focus)),
            "" if one.value is None else alike(write_term(one.value)),
            str(one.shape),
            one.component.rpartition("#")[2],
            one.severity.value.rpartition("#")[2],
        )
        for one in report.results
    }


def by_pyshacl(shapes: str, lines: list[str]) -> set[tuple[str, ...]]:
    data = rdflib.Graph().parse(data=PREFIXES + "\n".join(lines), format="turtle")
    graph = rdflib.Graph().parse(data=shapes, format="turtle")
    _, found, _ = pyshacl.validate(data, shacl_graph=graph, inference="none", advanced=False)
    return {
        (
            term(found.value(one, SH.focusNode)),
            term(found.value(one, SH.value)),
            term(found.value(one, SH.sourceShape)),
            str(found.value(one, SH.sourceConstraintComponent)).rpartition("#")[2],
            str(found.value(one, SH.resultSeverity)).rpartition("#")[2],
        )
        for one in found.subjects(rdflib.RDF.type, SH.ValidationResult)
        if (one, SH.focusNode, None) in found and (None, SH.result, one) in found
    }


def term(node: Any) -> str:
    if node is None:
        return ""
    return str(NamedNode(str(node))) if isinstance(node, rdflib.URIRef) else alike(str(node.n3()))


def alike(text: str) -> str:
    """A term as both write it: rdflib has languages in small letters."""
    return text.replace("@en-GB", "@en-gb").replace("@EN", "@en")
