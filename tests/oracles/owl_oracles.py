"""owlrl and reasonable as oracles: what they derive about individuals, in the same form as ours.

Left out of the comparison: axiomatic triples and everything about the schema, memberships in anonymous classes, reflexive
equalities, and triples with a literal as subject.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse, serialize
from pyoxigraph import Triple as RdfTriple

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import normalise

Fact: TypeAlias = tuple[str, str, str]
Statement: TypeAlias = tuple[NamedNode | BlankNode, NamedNode, NamedNode | BlankNode | Literal]

DATA = "http://data.org/"
_VOCABULARIES = tuple(
    f"<http://www.w3.org/{name}#" for name in ("2002/07/owl", "2000/01/rdf-schema", "1999/02/22-rdf-syntax-ns")
)
OWL = "http://www.w3.org/2002/07/owl#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_TYPE, _SAME = f"{_VOCABULARIES[2]}type>", f"{_VOCABULARIES[0]}sameAs>"


def read_statements(path: Path, format: RdfFormat) -> list[Statement]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [(q.subject, q.predicate, q.object) for q in parse(text, format=format, base_iri=path.as_uri())]  # type: ignore[misc]


def invented(statements: Sequence[Statement], seed: int, number: int) -> list[Statement]:
    """Data about the classes and object properties of an ontology."""
    choose = random.Random(seed)

    def declared(kind: str) -> list[NamedNode]:
        found = [
            s for s, p, o in statements if p == RDF_TYPE and o == NamedNode(OWL + kind) and isinstance(s, NamedNode)
        ]
        return sorted(set(found), key=str)

    classes, properties = declared("Class"), declared("ObjectProperty")
    nodes = [NamedNode(f"{DATA}{n}") for n in range(number // 3 + 2)]
    facts: list[Statement] = [
        (choose.choice(nodes), choose.choice(properties), choose.choice(nodes)) for _ in range(number)
    ]
    if classes:
        facts += [(choose.choice(nodes), RDF_TYPE, choose.choice(classes)) for _ in range(number // 2)]
    return facts


def about_individuals(facts: Iterable[Fact], individuals: str) -> set[Fact]:
    """The facts whose subject is an individual, and that say more than the vocabulary does."""
    return {
        (subject, predicate, target)
        for subject, predicate, target in facts
        if subject.startswith(f"<{individuals}")
        and (
            (predicate == _TYPE and target.startswith("<") and not target.startswith(_VOCABULARIES))
            or (predicate == _SAME and subject != target and target.startswith("<"))
            or not predicate.startswith(_VOCABULARIES)
        )
    }


def of_owlrl(turtle: str, axioms: bool = False) -> tuple[set[Fact], bool]:
    """All triples of owlrl's closure, perhaps with its axiomatic triples, and whether it finds a contradiction."""
    import owlrl
    import rdflib

    graph = rdflib.Graph()
    graph.parse(data=turtle, format="turtle")
    semantics = owlrl.OWLRL_Semantics
    owlrl.DeductiveClosure(semantics, rdfs_closure=False, axiomatic_triples=axioms, datatype_axioms=axioms).expand(
        graph
    )
    facts = {(_rdflib_text(s), _rdflib_text(p), _rdflib_text(o)) for s, p, o in graph}
    return facts, any("ErrorMessage" in target for _, _, target in facts)


def of_reasonable(statements: Iterable[Statement]) -> set[Fact]:
    """All triples of reasonable's closure."""
    import rdflib
    import reasonable

    reasoner = reasonable.PyReasoner()
    text = serialize((RdfTriple(*each) for each in statements), format=RdfFormat.N_TRIPLES)
    graph = rdflib.Graph()
    graph.parse(data=text, format="nt")
    reasoner.from_graph(graph)
    return {(_rdflib_text(s), _rdflib_text(p), _rdflib_text(o)) for s, p, o in reasoner.reason()}


def _rdflib_text(term: object) -> str:
    import rdflib

    if isinstance(term, rdflib.URIRef):
        return f"<{term}>"
    if isinstance(term, rdflib.Literal):
        datatype = None if term.datatype is None else NamedNode(str(term.datatype))
        return write_term(normalise(Literal(str(term), datatype=datatype, language=term.language)))
    return f"_:{term}"
