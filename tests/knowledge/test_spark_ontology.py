"""A published closure of the Gene Ontology, and all of OWL 2 RL, on Spark."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import RdfFormat, parse

import everlog
from everlog import KnowledgeBase, parse_program
from everlog.datalog.values import Value, normalise
from support.on_spark import all_facts
from support.ontology_texts import PREFIXES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(path: Path) -> set[tuple[str, ...]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {tuple(line.rstrip("\n").split("\t")) for line in lines}


def test_the_published_closure(data: Path, spark: SparkSession) -> None:
    program = parse_program("""
        above(?child, ?parent) :- edge(?child, ?kind, ?parent) .
        above(?child, ?ancestor) :- above(?child, ?parent), edge(?parent, ?kind, ?ancestor) .
    """)
    kb = KnowledgeBase(program, engine="spark", spark=spark)
    kb.add({"edge": list(rows(data / "go" / "bullseye_cc_edges.tsv.gz"))})
    kb.materialise()
    closure = rows(data / "go" / "bullseye_cc_closure.tsv.gz")
    assert len(closure) == kb.size("above") > 40_000
    assert set(kb.rows("above")) == closure


COMPLETE = """
:A rdfs:subClassOf :B . :p rdfs:domain :A . :p a owl:TransitiveProperty . :B owl:disjointWith :D .
:r owl:propertyChainAxiom (:p :q) . :E owl:intersectionOf (:A :F) . :k a owl:InverseFunctionalProperty .
:x :p :y . :y :p :z . :z :q :w . :x a :F . :x :k 1 . :u :k "01"^^xsd:integer . :u a :D .
"""


def test_all_of_owl_2_rl_as_in_memory(spark: SparkSession) -> None:
    """Facts, and a schema that changes; all of it stays on the driver, where joins are ordered by what they meet."""
    program = everlog.ontology(profile="RL", complete=True)

    def triples(text: str) -> list[tuple[Value, Value, Value]]:
        read = parse(PREFIXES + text, RdfFormat.TURTLE)
        return [(one.subject, one.predicate, normalise(one.object)) for one in read]  # type: ignore[misc]

    found, given = [], triples(COMPLETE)
    for engine in ("memory", "spark"):
        kb = KnowledgeBase(program, engine=engine, spark=spark if engine == "spark" else None)
        kb.add({"triple": given})
        kb.materialise()
        first = all_facts(kb)
        kb.update(
            add={"triple": triples(":F rdfs:subClassOf :A . :q rdfs:range :F .")},
            delete={"triple": triples(":A rdfs:subClassOf :B . :k a owl:InverseFunctionalProperty .")},
        )
        found.append((first, all_facts(kb)))
    for ours, theirs in zip(*found, strict=True):
        assert not ours ^ theirs and len(ours) > 3_000
