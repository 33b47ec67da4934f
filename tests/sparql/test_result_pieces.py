"""Results in pieces are the results as a whole."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, RdfFormat, parse

import everlog


@pytest.fixture(scope="module")
def kb() -> everlog.KnowledgeBase:
    made = everlog.KnowledgeBase("")
    about = NamedNode("http://example.org/about")
    made.add({"triple": [(NamedNode(f"http://example.org/{n % 5}"), about, f'"{n}", <&>') for n in range(23)]})
    made.materialise()
    return made


@pytest.mark.parametrize("format", ["json", "xml", "csv", "tsv"])
@pytest.mark.parametrize("rows", [1, 5, 22, 23, 1000])
def test_solutions_in_pieces_are_the_same_text(kb: everlog.KnowledgeBase, format: str, rows: int) -> None:
    answer = kb.sparql("SELECT * { ?x ?p ?y OPTIONAL { ?x ?none ?x } }")
    pieces = list(answer.pieces(format, rows))
    assert "".join(pieces) == answer.serialize(format)
    assert len(pieces) > 1 or rows >= 23


@pytest.mark.parametrize(("format", "syntax"), [("nt", RdfFormat.N_TRIPLES), ("ttl", RdfFormat.TURTLE)])
def test_graphs_in_pieces_are_the_same_triples(kb: everlog.KnowledgeBase, format: str, syntax: RdfFormat) -> None:
    answer = kb.sparql("PREFIX ex: <http://example.org/> CONSTRUCT { ?x ex:about ?y } { ?x ?p ?y }")
    pieces = list(answer.pieces(format, 4))
    assert len(pieces) > 1
    assert set(parse("".join(pieces), syntax)) == set(parse(answer.serialize(format), syntax))


def test_a_truth_value_is_one_piece(kb: everlog.KnowledgeBase) -> None:
    assert list(kb.sparql("ASK { ?x ?y ?z }").pieces("csv", 1)) == ["true"]
