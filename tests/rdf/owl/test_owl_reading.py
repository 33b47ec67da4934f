"""Reading ontologies: four syntaxes, imports, data beside axioms, and mistakes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from everlog.errors import EverlogError
from everlog.rdf.owl.functional import FunctionalSyntax
from everlog.rdf.owl.reading import read_ontologies
from everlog.rdf.owl.structure import Ontology
from support.ontology_texts import PREFIXES, read_text

FUNCTIONAL = """Prefix(:=<http://ex.org/>)
Prefix(owl:=<http://www.w3.org/2002/07/owl#>)
Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>)
Prefix(swrlb:=<http://www.w3.org/2003/11/swrlb#>)
Ontology(<http://ex.org/o>
  Declaration(Class(:A)) Declaration(Class(:B)) Declaration(Class(:C))
  Declaration(ObjectProperty(:p)) Declaration(ObjectProperty(:q)) Declaration(ObjectProperty(:r))
  Declaration(DataProperty(:d)) Declaration(DataProperty(:e))
  Declaration(NamedIndividual(:x)) Declaration(NamedIndividual(:y))
  SubClassOf(:A ObjectSomeValuesFrom(:p :B))
  SubClassOf(:A ObjectAllValuesFrom(ObjectInverseOf(:p) ObjectUnionOf(:B :C)))
  SubClassOf(ObjectIntersectionOf(:A ObjectHasValue(:p :x)) ObjectComplementOf(:C))
  SubClassOf(ObjectHasSelf(:p) :C)
  SubClassOf(:B ObjectMaxCardinality(2 :p :C))
  SubClassOf(:B ObjectMinCardinality(3 :q))
  SubClassOf(:B DataSomeValuesFrom(:d DatatypeRestriction(xsd:integer xsd:minInclusive "18"^^xsd:integer)))
  SubClassOf(:B DataHasValue(:d "x"@en))
  SubClassOf(:C DataAllValuesFrom(:e DataOneOf("a" "b")))
  SubClassOf(:C DataMaxCardinality(1 :d))
  EquivalentClasses(:C ObjectOneOf(:x :y))
  DisjointClasses(:A :B)
  SubObjectPropertyOf(:p :q)
  SubObjectPropertyOf(ObjectPropertyChain(:p :q) :r)
  SubDataPropertyOf(:d :e)
  EquivalentObjectProperties(:q :r)
  DisjointObjectProperties(:p :r)
  InverseObjectProperties(:p :q)
  ObjectPropertyDomain(:p :A)
  ObjectPropertyRange(:p :B)
  DataPropertyDomain(:d :A)
  DataPropertyRange(:d xsd:integer)
  FunctionalObjectProperty(:p)
  FunctionalDataProperty(:d)
  InverseFunctionalObjectProperty(:p)
  TransitiveObjectProperty(:q)
  SymmetricObjectProperty(:r)
  AsymmetricObjectProperty(:p)
  ReflexiveObjectProperty(:r)
  IrreflexiveObjectProperty(:p)
  HasKey(:A (:p) (:d))
  ClassAssertion(:A :x)
  ClassAssertion(ObjectSomeValuesFrom(:p :B) :x)
  ObjectPropertyAssertion(:p :x :y)
  DataPropertyAssertion(:d :x "5"^^xsd:integer)
  NegativeObjectPropertyAssertion(:p :y :x)
  NegativeDataPropertyAssertion(:d :y "5"^^xsd:integer)
  SameIndividual(:x :y)
  DifferentIndividuals(:x :y)
  DLSafeRule(Body(ClassAtom(:A Variable(:v)) ObjectPropertyAtom(:p Variable(:v) Variable(:w)))
             Head(ObjectPropertyAtom(:q Variable(:w) Variable(:v))))
)
"""


def texts(ontology: Ontology) -> set[str]:
    """Axioms as texts; of those that are sets of two, both orders count as one."""
    functional = FunctionalSyntax()
    return {
        " ".join(sorted(functional.axiom(axiom).replace("(", " ").replace(")", " ").split()))
        for axiom in ontology.axioms
    }


@pytest.mark.parametrize("serialisation", ["owx", "rdf"])
def test_the_syntaxes_agree(serialisation: str) -> None:
    import pyhornedowl

    other = pyhornedowl.open_ontology_from_string(FUNCTIONAL, "ofn").save_to_string(serialisation)  # type: ignore[arg-type]
    expected = read_text(FUNCTIONAL, "o.ofn")
    found = read_text(other, "o.owl")
    assert texts(found) == texts(expected)
    assert len(expected.axioms) == 40
    assert not expected.warnings
    assert not found.warnings


def test_turtle_and_rdf_xml_agree(data: Path, tmp_path: Path) -> None:
    from pyoxigraph import RdfFormat, parse, serialize

    original = data / "ontologies" / "univ-bench-dl.owl"
    turtle = tmp_path / "o.ttl"
    quads = parse(path=str(original), format=RdfFormat.RDF_XML, base_iri=original.as_uri())
    turtle.write_bytes(serialize((quad.triple for quad in quads), format=RdfFormat.TURTLE) or b"")
    assert texts(read_ontologies([turtle])) == texts(read_ontologies([original]))


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "o.ttl.gz"
    path.write_bytes(gzip.compress((PREFIXES + ":A rdfs:subClassOf :B .").encode()))
    assert len(read_ontologies([path]).axioms) == 1


def test_an_ontology_with_its_data() -> None:
    text = """:A a owl:Class ; rdfs:subClassOf :B ; rdfs:label "a class" .
    :p a owl:ObjectProperty . :d a owl:DatatypeProperty .
    :x a :A ; :p :y , [ a :B ; :d 3 ] ; rdfs:label "x" ; :d 5 ."""
    ontology = read_text(text)
    found = [FunctionalSyntax(ontology.prefixes | {"ex": "http://ex.org/"}).axiom(axiom) for axiom in ontology.axioms]
    assert (
        sum(each.startswith(("ClassAssertion", "ObjectPropertyAssertion", "DataPropertyAssertion")) for each in found)
        == 6
    )
    assert "SubClassOf(ex:A ex:B)" in found
    assert "DataPropertyAssertion(ex:d ex:x 5)" in found


def test_the_same_file_names_its_blank_nodes_alike(tmp_path: Path) -> None:
    path = tmp_path / "o.ttl"
    path.write_text(PREFIXES + ":p a owl:ObjectProperty . :x :p [ :p [] ] .")
    assert read_ontologies([path]).axioms == read_ontologies([path]).axioms


# ---------------------------------------------------------------------------------------------------- imports


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(PREFIXES + text)
    return path


def test_imports_are_found_among_the_files(tmp_path: Path) -> None:
    one = write(tmp_path, "one.ttl", "<http://ex.org/one> a owl:Ontology ; owl:imports <http://ex.org/two> . :x :p 5 .")
    two = write(
        tmp_path, "two.ttl", "<http://ex.org/two> a owl:Ontology . :p a owl:DatatypeProperty ; rdfs:domain :A ."
    )
    ontology = read_ontologies([one, two])
    assert not ontology.warnings
    assert len(ontology.axioms) == 2
    (missing,) = read_ontologies([one]).warnings[:1]
    assert "imports <http://ex.org/two>" in missing
    assert "give its file too" in missing


def test_imports_by_version_and_across_syntaxes(tmp_path: Path) -> None:
    one = write(tmp_path, "one.ttl", "<http://ex.org/one> a owl:Ontology ; owl:imports <http://ex.org/o> .")
    two = tmp_path / "two.ofn"
    two.write_text("Ontology(<http://ex.org/o> <http://ex.org/o/2> Import(<http://ex.org/one>) )")
    assert not read_ontologies([one, two]).warnings


def test_cyclic_imports_do_no_harm(tmp_path: Path) -> None:
    text = "<http://ex.org/{0}> a owl:Ontology ; owl:imports <http://ex.org/{1}> , <http://ex.org/{0}> . :{0} a owl:Class ."
    one, two = (write(tmp_path, f"{a}.ttl", text.format(a, b)) for a, b in (("one", "two"), ("two", "one")))
    assert not read_ontologies([one, two, one]).warnings


# ---------------------------------------------------------------------------------------------------- mistakes

RDF_XML = '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
OWL_XML = '<?xml version="1.0"?><Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://ex.org/o">'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("o.owl", RDF_XML + '\n<rdf:Description rdf:about="http://a/b">', "o.owl:2: not well-formed XML"),
        ("o.ttl", ":A rdfs:subClassOf [ owl:intersectionOf (:B", "o.ttl:"),
        ("o.ttl", ":A unknown:p :B .", "unknown"),
        ("o.ofn", "Ontology(<http://ex.org/o> SubClassOf(<http://a/b>", "not an ontology in functional syntax: line 1"),
        ("o.ofn", "Ontology(<http://ex.org/o> SubClassOf(<a b> <http://a/b>))", "not an ontology in functional syntax"),
        ("o.ofn", "Ontology(<http://ex.org/o> SubClassOf(<A> <http://a/b>))", "not an ontology in functional syntax"),
        ("o.owx", OWL_XML + '<SubClassOf><Class IRI="http://a/b"/>', "not an ontology in owl/xml syntax"),
        ("o.owl", "   \n", "the file is empty"),
        ("o.owl", "these are words", "o.owl"),
        ("o.rdf", RDF_XML.replace(">", " rdf:bad='1'>", 1) + "<x/></rdf:RDF>", "o.rdf"),
    ],
)
def test_what_cannot_be_read_is_an_error(name: str, text: str, expected: str) -> None:
    with pytest.raises(EverlogError) as caught:
        read_text(text, name)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def spoil(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


def cut(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a" * 100_000)[:-20])


@pytest.mark.parametrize(("name", "make"), [("o.owl", spoil), ("o.ttl.gz", cut), ("o.owl", lambda path: None)])
def test_files_that_are_no_texts(name: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / name)
    with pytest.raises(EverlogError, match=name):
        read_ontologies([tmp_path / name])


RESTRICTION = "[ a owl:Restriction ; owl:onProperty :p"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":x :p :y .", "the property <http://ex.org/p> is not declared: it is read as an object property"),
        (":x :p 5 .", "<http://ex.org/p> is not declared: it is read as a data property"),
        (":p a owl:ObjectProperty , owl:DatatypeProperty .", "declared as an object property and as a data property"),
        (":A a owl:Class , rdfs:Datatype .", "declared as a class and as a datatype"),
        (":A rdfs:subClassOf [] .", "stands where a class is expected"),
        (":A rdfs:subClassOf [ a owl:Class ] .", "an anonymous node without owl:intersectionOf"),
        (":A rdfs:subClassOf 5 .", "stands where a class is expected"),
        (f":p a owl:ObjectProperty . :A rdfs:subClassOf {RESTRICTION} ] .", "says nothing"),
        (
            f":p a owl:ObjectProperty . :A rdfs:subClassOf {RESTRICTION} ; owl:maxCardinality :x ] .",
            "is not the number",
        ),
        (f":p a owl:ObjectProperty . {RESTRICTION} ; owl:someValuesFrom :B ] .", "belongs to no axiom"),
        (":A owl:unionOf ( :B [] ) .", "an anonymous node without"),
        (":A owl:unionOf :l . :l rdf:first :B ; rdf:rest :l .", "has no end"),
        (":A owl:unionOf :l . :l rdf:first :B .", "has no rdf:rest"),
        ("_:a owl:complementOf _:a . :A rdfs:subClassOf _:a .", "a part of itself"),
        (":p a owl:ObjectProperty . :p owl:propertyChainAxiom ( :p 5 ) .", "stands where a property is expected"),
        (":p a owl:ObjectProperty . :x :p 5 .", "is an object property, and"),
        ("[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x .", "has no owl:assertionProperty"),
        ("[] a swrl:Imp ; swrl:head () ; swrl:body ( [ a :Atom ] ) .", "is no kind of atom"),
        (":A rdfs:subClassOf [ owl:onProperties (:p :q) ; owl:someValuesFrom :B ] .", "several properties at once"),
    ],
)
def test_what_means_nothing_is_named(text: str, expected: str) -> None:
    ontology = read_text(text + " :C rdfs:subClassOf :D .")
    assert any(expected in warning for warning in ontology.warnings), ontology.warnings
    assert "SubClassOf(<http://ex.org/C> <http://ex.org/D>)" in map(FunctionalSyntax().axiom, ontology.axioms)


def test_punning_is_allowed() -> None:
    """A name may be a class and an individual."""
    ontology = read_text(":A a owl:Class . :B a owl:Class . :A a :B . :A rdfs:subClassOf :B .")
    assert not ontology.warnings
    assert len(ontology.axioms) == 2


def test_annotations_are_no_axioms() -> None:
    text = """<http://ex.org/o> a owl:Ontology ; rdfs:comment "x" ; :author :me .
    :A a owl:Class ; rdfs:label "a" ; rdfs:subClassOf :B .
    [] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ;
      rdfs:comment "y" .
    """
    ontology = read_text(text)
    assert len(ontology.axioms) == 1
    assert not ontology.warnings
