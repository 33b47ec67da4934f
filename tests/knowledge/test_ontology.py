"""`everlog.ontology`: an ontology as a program, and its classes that can have no instances."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import NamedNode

import everlog
from everlog.datalog.values import RDF_TYPE
from support.ontology_texts import PREFIXES

FAMILY = """
:Man a owl:Class ; rdfs:subClassOf :Person ; owl:disjointWith :Woman .
:Woman rdfs:subClassOf :Person .
:Person rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :parent ; owl:someValuesFrom :Person ] .
:parent a owl:ObjectProperty .
:eve a :Woman .
"""


def some(property: str, filler: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty :{property} ; owl:someValuesFrom :{filler} ]"


def value(property: str, individual: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty :{property} ; owl:hasValue :{individual} ]"


def unsatisfiable(text: str) -> list[str]:
    """The names of the classes."""
    declared = ":p a owl:ObjectProperty . :q a owl:ObjectProperty . :age a owl:DatatypeProperty . "
    found = everlog.ontology(text=PREFIXES + declared + text).unsatisfiable()
    return [iri.value.removeprefix("http://ex.org/") for iri in found]


def test_a_knowledge_base_takes_an_ontology(tmp_path: Path) -> None:
    path = tmp_path / "family.ttl"
    path.write_text(PREFIXES + FAMILY)
    family = everlog.ontology(path)
    kb = everlog.KnowledgeBase(family)
    kb.add({"triple": [(NamedNode("http://ex.org/adam"), RDF_TYPE, NamedNode("http://ex.org/Man"))]})
    kb.materialise()
    people = {NamedNode(f"http://ex.org/{name}") for name in ("adam", "eve")}
    assert {row[0] for row in kb.query("[?x, a, <http://ex.org/Person>]")} == people
    assert [fact.terms[0].value for fact in family.facts] == [NamedNode("http://ex.org/eve")]  # type: ignore[union-attr]
    assert [remark.reason for remark in family.left_out] == ["an existential in the head"]
    assert family.declared_prefixes[""] == "http://ex.org/"
    assert family.warnings == ()


def test_texts_are_documents_in_any_syntax(tmp_path: Path) -> None:
    functional = "Prefix(:=<http://ex.org/>) Ontology(SubClassOf(:Boy :Man))"
    path = tmp_path / "family.ttl"
    path.write_text(PREFIXES + FAMILY)
    both = everlog.ontology(path, text=functional, profile="U")
    assert set(both.rules) > set(everlog.ontology(path, profile="U").rules) > set(everlog.ontology(path).rules)
    assert len(everlog.ontology(text=functional).source.axioms) == 1


def test_rules_and_an_ontology_are_one_program() -> None:
    rules = everlog.parse_program("person(?x) :- [?x, a, <http://ex.org/Person>] .")
    kb = everlog.KnowledgeBase(everlog.union(rules, everlog.ontology(text=PREFIXES + FAMILY)))
    kb.materialise()
    assert kb.rows("person") == [(NamedNode("http://ex.org/eve"),)]


def test_mistakes_have_messages(tmp_path: Path) -> None:
    with pytest.raises(everlog.EverlogError, match=r"none\.owl: no such file"):
        everlog.ontology(tmp_path / "none.owl")
    with pytest.raises(everlog.EverlogError, match="choose one of: L, U, RL"):
        everlog.ontology(text="", profile="EL")  # type: ignore[arg-type]
    with pytest.raises(everlog.EverlogError, match="there is no ontology"):
        everlog.ontology()
    with pytest.raises(everlog.EverlogError, match="<text>:1: "):
        everlog.ontology(text="oops .")


def test_a_class_below_two_disjoint_ones_can_have_no_instances() -> None:
    chain = ":Both rdfs:subClassOf :Father , :Mother . :Father rdfs:subClassOf :Man . :Mother rdfs:subClassOf :Woman ."
    family = everlog.ontology(text=PREFIXES + FAMILY + chain)
    ((found, axioms),) = family.unsatisfiable().items()
    assert found == NamedNode("http://ex.org/Both")
    assert [axiom.partition("(")[0] for axiom in axioms] == ["DisjointClasses"]


@pytest.mark.parametrize(
    ("axioms", "expected"),
    [
        (":A rdfs:subClassOf :B .", []),
        (":A rdfs:subClassOf owl:Nothing . :B rdfs:subClassOf :A .", ["A", "B"]),
        (":A rdfs:subClassOf [ owl:complementOf :A ] .", ["A"]),
        # Something impossible is demanded, also over several steps.
        (f":A rdfs:subClassOf owl:Nothing . :B rdfs:subClassOf {some('p', 'A')} . :C rdfs:subClassOf {some('q', 'B')} .",
         ["A", "B", "C"]),
        (f":B rdfs:subClassOf {some('p', 'C')} . :p rdfs:range :D . :D owl:disjointWith :C .", ["B"]),
        (f":B rdfs:subClassOf {some('p', 'C')} . :p rdfs:domain :D . :D owl:disjointWith :B .", ["B"]),
        (":A rdfs:subClassOf owl:Nothing . :B rdfs:subClassOf [ owl:unionOf (:A :C) ] .", ["A"]),
        (":A rdfs:subClassOf owl:Nothing . :B rdfs:subClassOf [ owl:unionOf (:A [ owl:complementOf :B ]) ] .", ["A", "B"]),
        # Instances of different classes have nothing to do with each other, though they are near to the same individual.
        (f":A rdfs:subClassOf {value('p', 'i')} . :B rdfs:subClassOf {value('p', 'i')} . :p a owl:SymmetricProperty , "
         "owl:TransitiveProperty . :A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :C ] . "
         ":C owl:disjointWith :B .", []),
        (f":A rdfs:subClassOf {value('p', 'i')} , {value('q', 'i')} . :p owl:propertyDisjointWith :q .", ["A"]),
        # What exists is not the same thing for everybody.
        (f":A rdfs:subClassOf {some('p', 'C')} . :B rdfs:subClassOf {some('p', 'D')} . :p a owl:FunctionalProperty . "
         ":C owl:disjointWith :D .", []),
        (":A rdfs:subClassOf [ owl:onProperty :age ; owl:someValuesFrom xsd:integer ] . :age rdfs:range xsd:string .", []),
    ],
)  # fmt: skip
def test_unsatisfiable_classes(axioms: str, expected: list[str]) -> None:
    assert unsatisfiable(axioms) == expected
