"""What the tests of ontologies share: reading a text, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from pyoxigraph import BlankNode, Literal, NamedNode

import everlog
from everlog.datalog.ntriples import write_term
from everlog.rdf.owl.profiles import Options, Profile, Translation, translate
from everlog.rdf.owl.reading import read_ontologies
from everlog.rdf.owl.structure import Ontology

PREFIXES = """@prefix : <http://ex.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix swrlb: <http://www.w3.org/2003/11/swrlb#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
SHORT = {
    "http://ex.org/": ":",
    "http://www.w3.org/2002/07/owl#": "owl:",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#type": "a",
}


def read_text(text: str, name: str = "o.ttl") -> Ontology:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text if name != "o.ttl" else PREFIXES + text, encoding="utf-8")
        return read_ontologies([path])


def translated(text: str, profile: Profile = "RL", options: Options | None = None) -> Translation:
    return translate(read_text(text), profile, options)


def short(term: object) -> str:
    """A term as Turtle would write it in these tests."""
    if isinstance(term, NamedNode):
        for namespace, prefix in SHORT.items():
            if term.value.startswith(namespace):
                return prefix + term.value[len(namespace) :]
        return str(term)
    if isinstance(term, BlankNode | Literal):
        return str(term)
    return write_term(term).replace("^^<http://www.w3.org/2001/XMLSchema#", "^^xsd:").replace(">", "")  # type: ignore[arg-type]


def materialised(translation: Translation) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(translation.program, engine="memory", workers=1)
    kb.materialise()
    return kb


class Consequences:
    """What follows from an ontology: triples such as `:a a :C`, and the axioms that are violated."""

    def __init__(self, text: str, profile: Profile = "RL", options: Options | None = None) -> None:
        self.translation = translated(text, profile, options)
        kb = materialised(self.translation)
        self.triples = {" ".join(map(short, row)) for row in kb.rows("triple")}
        self.derived = {" ".join(map(short, row)) for row in kb.rows("triple", "derived")}
        self.violations = [str(axiom) for axiom, _ in kb.rows("violation")]
