"""Random ontologies about object properties, and triples that give some of these literals as values, as updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from pyoxigraph import Literal, NamedNode

from everlog import ontology
from everlog.datalog.syntax import Program
from everlog.datalog.values import RDF_TYPE, Value

_IRI = "http://example.org/"
_PREFIXES = """@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
_PROPERTIES = ("p", "q", "r", "s")
_AXIOMS = (
    ":{p} a owl:SymmetricProperty .",
    ":{p} a owl:SymmetricProperty, owl:TransitiveProperty .",
    ":{p} a owl:TransitiveProperty .",
    ":{p} owl:inverseOf :{q} .",
    ":{p} rdfs:subPropertyOf :{q} .",
    ":{p} rdfs:range :C .",
    ":{p} rdfs:domain :D .",
    ":{p} owl:propertyChainAxiom (:{q} [ owl:inverseOf :{r} ]) .",
    ":{p} owl:propertyChainAxiom ([ owl:inverseOf :{q} ] :{r}) .",
    ":{p} owl:propertyChainAxiom (:{p} :{q}) .",
    ":C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :{p} ; owl:allValuesFrom :E ] .",
    ":C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :{p} ; owl:hasValue :a ] .",
    ":D rdfs:subClassOf [ a owl:Restriction ; owl:onProperty [ owl:inverseOf :{p} ] ; owl:hasValue :b ] .",
)
_EQUALITIES = (":{p} a owl:FunctionalProperty .", ":{p} a owl:InverseFunctionalProperty .")
_NAMES = tuple(NamedNode(_IRI + name) for name in "abcdefg")
_LITERALS: tuple[Value, ...] = ("a", "b", 1, Literal("a", language="en"))

Triple = tuple[Value, Value, Value]


@dataclass(frozen=True)
class LiteralCase:
    """An ontology, triples, and updates as what they add and delete; `rules` are those that come and go."""

    text: str
    program: Program
    triples: tuple[Triple, ...]
    updates: tuple[tuple[tuple[Triple, ...], tuple[Triple, ...]], ...]

    def held(self) -> Iterator[frozenset[Triple]]:
        """The triples that are given at the start and after each update."""
        now = frozenset(self.triples)
        yield now
        for add, delete in self.updates:
            now = (now - frozenset(delete)) | frozenset(add)
            yield now


def literal_case(random: Random, updates: int = 5, equality: bool = False) -> LiteralCase:
    """An ontology with triples that are clean at the beginning."""
    axioms = [*_AXIOMS, *(_EQUALITIES if equality else ())]
    named = {"p": "p", "q": "q", "r": "r"}
    lines = []
    for axiom in random.sample(axioms, random.randint(2, 6)):
        lines.append(axiom.format(**{key: random.choice(_PROPERTIES) for key in named}))
    declared = " ".join(f":{one} a owl:ObjectProperty ." for one in _PROPERTIES)
    text = f"{_PREFIXES}{declared}\n" + "\n".join(lines)

    def some(number: int, dirty: float) -> tuple[Triple, ...]:
        found: list[Triple] = []
        for _ in range(number):
            if random.random() < 0.15:
                found.append((random.choice(_NAMES), RDF_TYPE, NamedNode(_IRI + random.choice("CDE"))))
            else:
                value: Value = random.choice(_LITERALS) if random.random() < dirty else random.choice(_NAMES)
                found.append((random.choice(_NAMES), NamedNode(_IRI + random.choice(_PROPERTIES)), value))
        return tuple(found)

    triples, changes = some(7, 0.0), []
    known = list(triples)
    for _ in range(updates):
        gone = tuple(random.sample(known, min(len(known), random.randint(0, 3))))
        new = some(random.randint(0, 4), random.choice((0.0, 0.5)))
        known += new
        changes.append((new, gone))
    return LiteralCase(text, ontology(text=text), triples, tuple(changes))
