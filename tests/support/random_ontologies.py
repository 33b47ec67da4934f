"""Random ontologies with data, as Turtle: small, within OWL 2 RL where it has rules, and a little beyond."""

from __future__ import annotations

import random

PREFIXES = """@prefix : <http://ex.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
CLASSES = [f":C{n}" for n in range(6)]
PROPERTIES = [f":p{n}" for n in range(4)]
DATA_PROPERTIES = [":d0", ":d1"]
INDIVIDUALS = [f":i{n}" for n in range(7)]


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def ontology(self) -> str:
        """The text of an ontology and its data."""
        choose = self.random
        lines = [f"{name} a owl:Class ." for name in CLASSES]
        lines += [f"{name} a owl:ObjectProperty ." for name in PROPERTIES]
        lines += [f"{name} a owl:DatatypeProperty ." for name in DATA_PROPERTIES]
        lines += [self.axiom() for _ in range(choose.randint(3, 9))]
        lines += [self.fact() for _ in range(choose.randint(5, 16))]
        return PREFIXES + "\n".join(lines)

    def one(self, names: list[str]) -> str:
        return self.random.choice(names)

    def several(self, names: list[str]) -> str:
        return " ".join(self.random.sample(names, self.random.randint(2, 3)))

    def sub(self, depth: int = 2) -> str:
        """A class expression for the left side of a subsumption."""
        kinds = ["name", "name", "some", "hasValue", "and", "or", "oneOf", "someThing"]
        on = f"[ a owl:Restriction ; owl:onProperty {self.one(PROPERTIES)} ;"
        match self.one(kinds) if depth else "name":
            case "some":
                return f"{on} owl:someValuesFrom {self.sub(depth - 1)} ]"
            case "someThing":
                return f"{on} owl:someValuesFrom owl:Thing ]"
            case "hasValue":
                return f"{on} owl:hasValue {self.one(INDIVIDUALS)} ]"
            case "and":
                return f"[ a owl:Class ; owl:intersectionOf ({self.sub(depth - 1)} {self.sub(depth - 1)}) ]"
            case "or":
                return f"[ a owl:Class ; owl:unionOf ({self.sub(depth - 1)} {self.sub(depth - 1)}) ]"
            case "oneOf":
                return f"[ a owl:Class ; owl:oneOf ({self.several(INDIVIDUALS)}) ]"
        return self.one(CLASSES)

    def sup(self, depth: int = 2) -> str:
        """A class expression for the right side."""
        kinds = ["name", "name", "name", "all", "hasValue", "and", "not", "most", "mostOf", "none", "some"]
        on = f"[ a owl:Restriction ; owl:onProperty {self.one(PROPERTIES)} ;"
        match self.one(kinds) if depth else "name":
            case "all":
                return f"{on} owl:allValuesFrom {self.sup(depth - 1)} ]"
            case "hasValue":
                return f"{on} owl:hasValue {self.one(INDIVIDUALS)} ]"
            case "and":
                return f"[ a owl:Class ; owl:intersectionOf ({self.sup(depth - 1)} {self.sup(depth - 1)}) ]"
            case "not":
                return f"[ a owl:Class ; owl:complementOf {self.sub(depth - 1)} ]"
            case "most":
                return f"{on} owl:maxCardinality 1 ]"
            case "mostOf":
                return f"{on} owl:maxQualifiedCardinality 1 ; owl:onClass {self.one(CLASSES)} ]"
            case "none":
                return f"{on} owl:maxCardinality 0 ]"
            case "some":
                return f"{on} owl:someValuesFrom {self.one(CLASSES)} ]"
        return self.one(CLASSES)

    def axiom(self) -> str:
        p, q = self.one(PROPERTIES), self.one(PROPERTIES)
        match self.random.randint(0, 17):
            case 0 | 1 | 2 | 3:
                return f"{self.sub()} rdfs:subClassOf {self.sup()} ."
            case 4:
                return f"{self.one(CLASSES)} owl:equivalentClass {self.sub()} ."
            case 5:
                return f"{p} rdfs:subPropertyOf {q} ."
            case 6:
                return f"{p} owl:inverseOf {q} ."
            case 7:
                return f"{p} rdfs:domain {self.sup(1)} ."
            case 8:
                return f"{p} rdfs:range {self.sup(1)} ."
            case 9:
                kinds = ["Transitive", "Symmetric", "Functional", "InverseFunctional", "Asymmetric", "Irreflexive"]
                return f"{p} a owl:{self.one(kinds)}Property ."
            case 10:
                return f"{p} owl:propertyChainAxiom ({self.several(PROPERTIES)}) ."
            case 11:
                return f"{self.one(CLASSES)} owl:disjointWith {self.one(CLASSES)} ."
            case 12:
                # No owl:hasKey, owl:AllDifferent, owl:AllDisjointProperties: owlrl forgets the last property of a key, and
                # so equates too much, and the last pair of different individuals and of disjoint properties.
                return f"{self.one(CLASSES)} rdfs:subClassOf {self.one(CLASSES)} ."
            case 13:
                return f"{p} owl:equivalentProperty {q} ."
            case 14:
                return f"{self.one(DATA_PROPERTIES)} rdfs:domain {self.one(CLASSES)} ."
            case 15:
                return f"[] a owl:AllDisjointClasses ; owl:members ({self.several(CLASSES)}) ."
            case 16:
                return f"{p} owl:propertyDisjointWith {q} ."
            case _:
                return (
                    f"[] a owl:NegativePropertyAssertion ; owl:sourceIndividual {self.one(INDIVIDUALS)} ; "
                    f"owl:assertionProperty {p} ; owl:targetIndividual {self.one(INDIVIDUALS)} ."
                )

    def fact(self) -> str:
        a, b = self.one(INDIVIDUALS), self.one(INDIVIDUALS)
        match self.random.randint(0, 20):
            case n if n < 9:
                return f"{a} a {self.one(CLASSES)} ."
            case n if n < 18:
                return f"{a} {self.one(PROPERTIES)} {b} ."
            case 18:
                return f"{a} {self.one(DATA_PROPERTIES)} {self.random.randint(1, 2)} ."
            case 19:
                return f"{a} owl:differentFrom {b} ." if a != b else f"{a} a {self.one(CLASSES)} ."
            case _:
                return f"{a} owl:sameAs {b} ." if a != b else f"{a} a {self.one(CLASSES)} ."


class Mixer:
    """Random graphs over the vocabulary of OWL 2, in which a name may be a class, a property and an individual."""

    NAMES = tuple(f":n{number}" for number in range(5))
    LITERALS = (
        '"1"^^xsd:integer',
        '"2.5"^^xsd:decimal',
        '"a"',
        '"b"@en',
        "true",
        '"2026-01-01T00:00:00"^^xsd:dateTime',
    )
    PAIRS = (
        *("a", "a", "a", "rdfs:subClassOf", "rdfs:subPropertyOf", "rdfs:domain", "rdfs:range", "owl:complementOf"),
        *("owl:sameAs", "owl:differentFrom", "owl:equivalentClass", "owl:equivalentProperty", "owl:inverseOf"),
        *("owl:disjointWith", "owl:propertyDisjointWith"),
    )
    LISTS = ("owl:intersectionOf", "owl:unionOf", "owl:oneOf", "owl:propertyChainAxiom")
    KINDS = (
        *("Functional", "InverseFunctional", "Symmetric", "Transitive", "Asymmetric", "Irreflexive"),
        *("Object", "Datatype"),
    )

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def graph(self, size: int) -> str:
        return PREFIXES + "\n".join(self.statement() for _ in range(size))

    def one(self) -> str:
        return self.random.choice(self.NAMES)

    def list(self) -> str:
        return f"({' '.join(self.one() for _ in range(self.random.randint(1, 3)))})"

    def statement(self) -> str:
        choose = self.random.choice
        on, denial = f"{self.one()} owl:onProperty {self.one()} ;", f"[] owl:sourceIndividual {self.one()}"
        return choose(
            [
                *(f"{self.one()} {choose(self.PAIRS)} {self.one()} ." for _ in range(5)),
                *(f"{self.one()} {self.one()} {self.one()} ." for _ in range(4)),
                f"{self.one()} {choose(self.LISTS)} {self.list()} .",
                f"[] a owl:AllDisjointClasses ; owl:members {self.list()} .",
                f"{on} {choose(('owl:someValuesFrom', 'owl:allValuesFrom', 'owl:hasValue'))} {self.one()} .",
                f"{on} owl:someValuesFrom owl:Thing .",
                f"{on} owl:maxCardinality {choose('01')} .",
                f"{on} owl:onClass {self.one()} ; owl:maxQualifiedCardinality {choose('01')} .",
                f"{self.one()} a owl:{choose(self.KINDS)}Property .",
                f"{self.one()} a owl:Class .",
                f"{self.one()} {self.one()} {choose(self.LITERALS)} .",
                f"{denial} ; owl:assertionProperty {self.one()} ; owl:targetIndividual {self.one()} .",
            ]
        )
