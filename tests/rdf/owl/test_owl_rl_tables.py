"""The rules of OWL 2 RL/RDF, tables 4 to 9 of the W3C's document, each with premises and a conclusion.

Every premise is needed: without any one of them the conclusion does not follow. That is each rule's negative test.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from everlog.rdf.owl.profiles import Options
from support.ontology_texts import Consequences

FALSE = "false"
DECLARED = """
:A a owl:Class . :B a owl:Class . :C a owl:Class . :D a owl:Class .
:p a owl:ObjectProperty . :q a owl:ObjectProperty . :r a owl:ObjectProperty .
:d a owl:DatatypeProperty . :e a owl:DatatypeProperty .
"""
EQUALITY = Options(equality_rules=True)
SCHEMA = Options(schema=True)


@dataclass(frozen=True)
class Case:
    rule: str
    premises: tuple[str, ...]
    conclusion: str
    options: Options | None = None


def case(rule: str, premises: str, conclusion: str, options: Options | None = None) -> Case:
    """Premises stand one on a line."""
    lines = tuple(line.strip() for line in premises.strip().splitlines())
    return Case(rule, lines, conclusion, options)


def restriction(text: str) -> str:
    return f"[ a owl:Restriction ; {text} ]"


SVF = "owl:onProperty :p ; owl:someValuesFrom"
AVF = "owl:onProperty :p ; owl:allValuesFrom"
MAXC = "owl:onProperty :p ; owl:maxCardinality"
MAXQ = "owl:onProperty :p ; owl:onClass :B ; owl:maxQualifiedCardinality"
MAXQT = "owl:onProperty :p ; owl:onClass owl:Thing ; owl:maxQualifiedCardinality"

CASES = [
    # Table 4: equality
    case("eq-sym", ":x owl:sameAs :y .", ":y owl:sameAs :x", EQUALITY),
    case("eq-trans", ":x owl:sameAs :y .\n:y owl:sameAs :z .", ":x owl:sameAs :z", EQUALITY),
    case("eq-rep-s", ":x owl:sameAs :y .\n:x :p :z .", ":y :p :z", EQUALITY),
    case("eq-rep-p", ":p owl:sameAs :q .\n:x :p :z .", ":x :q :z", EQUALITY),
    case("eq-rep-o", ":x owl:sameAs :y .\n:z :p :x .", ":z :p :y", EQUALITY),
    case("eq-diff1", ":x owl:sameAs :y .\n:x owl:differentFrom :y .", FALSE),
    case("eq-diff1", ":x owl:differentFrom :x .", FALSE),
    case("eq-diff2", "[] a owl:AllDifferent ; owl:members (:x :y :z) .\n:y owl:sameAs :z .", FALSE),
    case("eq-diff3", "[] a owl:AllDifferent ; owl:distinctMembers (:x :y :z) .\n:z owl:sameAs :x .", FALSE),
    # Table 5: properties
    case("prp-dom", ":p rdfs:domain :A .\n:x :p :y .", ":x a :A"),
    case("prp-rng", ":p rdfs:range :A .\n:x :p :y .", ":y a :A"),
    case("prp-fp", ":p a owl:FunctionalProperty .\n:x :p :y .\n:x :p :z .", ":y owl:sameAs :z"),
    case("prp-ifp", ":p a owl:InverseFunctionalProperty .\n:x :p :z .\n:y :p :z .", ":x owl:sameAs :y"),
    case("prp-irp", ":p a owl:IrreflexiveProperty .\n:x :p :x .", FALSE),
    case("prp-symp", ":p a owl:SymmetricProperty .\n:x :p :y .", ":y :p :x"),
    case("prp-asyp", ":p a owl:AsymmetricProperty .\n:x :p :y .\n:y :p :x .", FALSE),
    case("prp-trp", ":p a owl:TransitiveProperty .\n:x :p :y .\n:y :p :z .", ":x :p :z"),
    case("prp-spo1", ":p rdfs:subPropertyOf :q .\n:x :p :y .", ":x :q :y"),
    case("prp-spo1", ":d rdfs:subPropertyOf :e .\n:x :d 5 .", ':x :e "5"^^xsd:integer'),
    case("prp-spo2", ":r owl:propertyChainAxiom (:p :q :p) .\n:x :p :y .\n:y :q :z .\n:z :p :u .", ":x :r :u"),
    case("prp-eqp1", ":p owl:equivalentProperty :q .\n:x :p :y .", ":x :q :y"),
    case("prp-eqp2", ":p owl:equivalentProperty :q .\n:x :q :y .", ":x :p :y"),
    case("prp-pdw", ":p owl:propertyDisjointWith :q .\n:x :p :y .\n:x :q :y .", FALSE),
    case("prp-adp", "[] a owl:AllDisjointProperties ; owl:members (:r :p :q) .\n:x :p :y .\n:x :q :y .", FALSE),
    case("prp-inv1", ":p owl:inverseOf :q .\n:x :p :y .", ":y :q :x"),
    case("prp-inv2", ":p owl:inverseOf :q .\n:x :q :y .", ":y :p :x"),
    case(
        "prp-key",
        ":A owl:hasKey (:p :d) .\n:x a :A .\n:x :p :z .\n:x :d 1 .\n:y a :A .\n:y :p :z .\n:y :d 1 .",
        ":x owl:sameAs :y",
    ),
    case(
        "prp-npa1",
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :p ; "
        "owl:targetIndividual :y .\n:x :p :y .",
        FALSE,
    ),
    case(
        "prp-npa2",
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :d ; owl:targetValue 5 .\n"
        ":x :d 5 .",
        FALSE,
    ),
    case(
        "prp-npa1",
        ":n owl:sourceIndividual :x .\n:n owl:assertionProperty :p .\n:n owl:targetIndividual :y .\n:x :p :y .",
        FALSE,
    ),
    case(
        "prp-npa2",
        ":n owl:sourceIndividual :x .\n:n owl:assertionProperty :d .\n:n owl:targetValue 5 .\n:x :d 5 .",
        FALSE,
    ),
    # Table 6: classes
    case("cls-nothing2", ":x a owl:Nothing .", FALSE),
    case("cls-int1", ":A owl:intersectionOf (:B :C :D) .\n:x a :B .\n:x a :C .\n:x a :D .", ":x a :A"),
    case("cls-int2", ":A owl:intersectionOf (:B :C) .\n:x a :A .", ":x a :C"),
    case("cls-uni", ":A owl:unionOf (:B :C) .\n:x a :C .", ":x a :A"),
    case("cls-com", ":A owl:complementOf :B .\n:x a :A .\n:x a :B .", FALSE),
    case("cls-svf1", f"{restriction(f'{SVF} :B')} rdfs:subClassOf :A .\n:x :p :y .\n:y a :B .", ":x a :A"),
    case("cls-svf2", f"{restriction(f'{SVF} owl:Thing')} rdfs:subClassOf :A .\n:x :p :y .", ":x a :A"),
    case("cls-avf", f":A rdfs:subClassOf {restriction(f'{AVF} :B')} .\n:x a :A .\n:x :p :y .", ":y a :B"),
    case(
        "cls-hv1", f":A rdfs:subClassOf {restriction('owl:onProperty :p ; owl:hasValue :y')} .\n:x a :A .", ":x :p :y"
    ),
    case(
        "cls-hv2", f"{restriction('owl:onProperty :p ; owl:hasValue :y')} rdfs:subClassOf :A .\n:x :p :y .", ":x a :A"
    ),
    case("cls-hv2", f"{restriction('owl:onProperty :d ; owl:hasValue 5')} rdfs:subClassOf :A .\n:x :d 5 .", ":x a :A"),
    case("cls-maxc1", f":A rdfs:subClassOf {restriction(f'{MAXC} 0')} .\n:x a :A .\n:x :p :y .", FALSE),
    case(
        "cls-maxc2",
        f":A rdfs:subClassOf {restriction(f'{MAXC} 1')} .\n:x a :A .\n:x :p :y .\n:x :p :z .",
        ":y owl:sameAs :z",
    ),
    case("cls-maxqc1", f":A rdfs:subClassOf {restriction(f'{MAXQ} 0')} .\n:x a :A .\n:x :p :y .\n:y a :B .", FALSE),
    case("cls-maxqc2", f":A rdfs:subClassOf {restriction(f'{MAXQT} 0')} .\n:x a :A .\n:x :p :y .", FALSE),
    case(
        "cls-maxqc3",
        f":A rdfs:subClassOf {restriction(f'{MAXQ} 1')} .\n:x a :A .\n:x :p :y .\n:y a :B .\n:x :p :z .\n:z a :B .",
        ":y owl:sameAs :z",
    ),
    case(
        "cls-maxqc4",
        f":A rdfs:subClassOf {restriction(f'{MAXQT} 1')} .\n:x a :A .\n:x :p :y .\n:x :p :z .",
        ":y owl:sameAs :z",
    ),
    case("cls-oo", ":A owl:oneOf (:x :y) .", ":y a :A"),
    # Table 7: class axioms
    case("cax-sco", ":A rdfs:subClassOf :B .\n:x a :A .", ":x a :B"),
    case("cax-eqc1", ":A owl:equivalentClass :B .\n:x a :A .", ":x a :B"),
    case("cax-eqc2", ":A owl:equivalentClass :B .\n:x a :B .", ":x a :A"),
    case("cax-dw", ":A owl:disjointWith :B .\n:x a :A .\n:x a :B .", FALSE),
    case("cax-adc", "[] a owl:AllDisjointClasses ; owl:members (:C :A :B) .\n:x a :A .\n:x a :B .", FALSE),
    # Table 8: datatypes
    case("dt-not-type", ':x :d "abc"^^xsd:integer .', FALSE),
    # Table 9: the schema
    case("scm-sco", ":A rdfs:subClassOf :B .\n:B rdfs:subClassOf :C .", ":A rdfs:subClassOf :C", SCHEMA),
    case("scm-eqc1", ":A owl:equivalentClass :B .", ":B rdfs:subClassOf :A", SCHEMA),
    case("scm-eqc2", ":A rdfs:subClassOf :B .\n:B rdfs:subClassOf :A .", ":A owl:equivalentClass :B", SCHEMA),
    case("scm-spo", ":p rdfs:subPropertyOf :q .\n:q rdfs:subPropertyOf :r .", ":p rdfs:subPropertyOf :r", SCHEMA),
    case("scm-eqp1", ":p owl:equivalentProperty :q .", ":q rdfs:subPropertyOf :p", SCHEMA),
    case("scm-eqp2", ":p rdfs:subPropertyOf :q .\n:q rdfs:subPropertyOf :p .", ":p owl:equivalentProperty :q", SCHEMA),
    case("scm-dom1", ":p rdfs:domain :A .\n:A rdfs:subClassOf :B .", ":p rdfs:domain :B", SCHEMA),
    case("scm-dom2", ":p rdfs:domain :A .\n:q rdfs:subPropertyOf :p .", ":q rdfs:domain :A", SCHEMA),
    case("scm-rng1", ":p rdfs:range :A .\n:A rdfs:subClassOf :B .", ":p rdfs:range :B", SCHEMA),
    case("scm-rng2", ":p rdfs:range :A .\n:q rdfs:subPropertyOf :p .", ":q rdfs:range :A", SCHEMA),
    case(
        "scm-hv",
        ":A a owl:Restriction ; owl:onProperty :p ; owl:hasValue :x .\n"
        ":B a owl:Restriction ; owl:onProperty :q ; owl:hasValue :x .\n:p rdfs:subPropertyOf :q .",
        ":A rdfs:subClassOf :B",
        SCHEMA,
    ),
    case(
        "scm-svf1",
        f":A a owl:Restriction ; {SVF} :C .\n:B a owl:Restriction ; {SVF} :D .\n:C rdfs:subClassOf :D .",
        ":A rdfs:subClassOf :B",
        SCHEMA,
    ),
    case(
        "scm-svf2",
        f":A a owl:Restriction ; {SVF} :C .\n:B a owl:Restriction ; owl:onProperty :q ; owl:someValuesFrom :C .\n"
        ":p rdfs:subPropertyOf :q .",
        ":A rdfs:subClassOf :B",
        SCHEMA,
    ),
    case(
        "scm-avf1",
        f":A a owl:Restriction ; {AVF} :C .\n:B a owl:Restriction ; {AVF} :D .\n:C rdfs:subClassOf :D .",
        ":A rdfs:subClassOf :B",
        SCHEMA,
    ),
    case(
        "scm-avf2",
        f":A a owl:Restriction ; {AVF} :C .\n:B a owl:Restriction ; owl:onProperty :q ; owl:allValuesFrom :C .\n"
        ":p rdfs:subPropertyOf :q .",
        ":B rdfs:subClassOf :A",
        SCHEMA,
    ),
    case("scm-int", ":A owl:intersectionOf (:B :C) .", ":A rdfs:subClassOf :C", SCHEMA),
    case("scm-uni", ":A owl:unionOf (:B :C) .", ":C rdfs:subClassOf :A", SCHEMA),
    # What scm-* mean for individuals, without the ontology's triples
    case(
        "scm-svf1 for individuals",
        f":A rdfs:subClassOf {restriction(f'{SVF} :C')} .\n{restriction(f'{SVF} :D')} rdfs:subClassOf :B .\n"
        ":C rdfs:subClassOf :D .\n:x a :A .",
        ":x a :B",
    ),
    case(
        "scm-avf2 for individuals",
        f":A rdfs:subClassOf {restriction('owl:onProperty :q ; owl:allValuesFrom :C')} .\n"
        f"{restriction(f'{AVF} :C')} rdfs:subClassOf :B .\n:p rdfs:subPropertyOf :q .\n:x a :A .",
        ":x a :B",
    ),
    case(
        "cls-int1 with a membership",
        f":p rdfs:domain {restriction('owl:onProperty :q ; owl:someValuesFrom :C')} .\n"
        f"[ owl:intersectionOf (:D {restriction('owl:onProperty :q ; owl:someValuesFrom :C')}) ] rdfs:subClassOf :B .\n"
        ":x a :D .\n:x :p :y .",
        ":x a :B",
    ),
]


def holds(premises: tuple[str, ...], tested: Case) -> bool:
    found = Consequences(DECLARED + "\n".join(premises), "RL", tested.options)
    return bool(found.violations) if tested.conclusion == FALSE else tested.conclusion in found.triples


@pytest.mark.parametrize("tested", CASES, ids=lambda tested: tested.rule)
def test_rule(tested: Case) -> None:
    assert holds(tested.premises, tested)
    for place, premise in enumerate(tested.premises):
        rest = (*tested.premises[:place], *tested.premises[place + 1 :])
        assert not holds(rest, tested), f"follows without {premise}"


def test_every_rule_of_the_tables_is_here() -> None:
    """But for those that conclude nothing new: see docs/ontologies.md."""
    tables = {
        "eq": "sym trans rep-s rep-p rep-o diff1 diff2 diff3",
        "prp": "dom rng fp ifp irp symp asyp trp spo1 spo2 eqp1 eqp2 pdw adp inv1 inv2 key npa1 npa2",
        "cls": "nothing2 int1 int2 uni com svf1 svf2 avf hv1 hv2 maxc1 maxc2 maxqc1 maxqc2 maxqc3 maxqc4 oo",
        "cax": "sco eqc1 eqc2 dw adc",
        "dt": "not-type",
        "scm": "sco eqc1 eqc2 spo eqp1 eqp2 dom1 dom2 rng1 rng2 hv svf1 svf2 avf1 avf2 int uni",
    }
    names = {f"{table}-{name}" for table, each in tables.items() for name in each.split()}
    assert names <= {tested.rule for tested in CASES}


NOISE = """
:x :p :y . :x :d 5 . :y :d 5 , "a" , "1"^^xsd:int , 1 . :x owl:sameAs :y . :x a :A .
:p rdfs:subPropertyOf :p . :A rdfs:subClassOf :A , owl:Thing . owl:Nothing rdfs:subClassOf :A .
:p a owl:SymmetricProperty . :A owl:equivalentClass :A .
"""


@pytest.mark.parametrize(
    "options", [Options(), Options(equality_rules=True), Options(schema=True, equality_rules=True)], ids=str
)
def test_rules_that_only_make_noise_are_left_out(options: Options) -> None:
    """eq-ref, prp-ap, cls-thing, cls-nothing1, dt-type1, dt-type2, dt-eq, dt-diff, scm-cls, scm-op, scm-dp."""
    found = Consequences(DECLARED + NOISE, "RL", options)
    for triple in found.derived:
        subject, predicate, target = triple.split(" ", 2)
        assert not subject.startswith('"'), "a literal has no properties"
        assert not (predicate in ("owl:sameAs", "rdfs:subClassOf", "rdfs:subPropertyOf") and subject == target)
        assert not (
            predicate == "a" and target in ("owl:Thing", "rdfs:Datatype", "owl:Class", "owl:AnnotationProperty")
        )
    assert not found.violations


def test_things_if_asked() -> None:
    found = Consequences(
        DECLARED + ":p rdfs:domain :A . :d rdfs:domain :B . :x :p :y . :z :d 5 .", "RL", Options(thing=True)
    )
    assert {":x a owl:Thing", ":y a owl:Thing", ":z a owl:Thing"} <= found.derived
    assert not any(triple.startswith('"') for triple in found.derived)
