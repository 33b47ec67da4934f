"""The profiles: what they keep, drop and approximate, the report of it, and contradictions with their facts."""

from __future__ import annotations

from pathlib import Path

import pytest

import everlog
from everlog.datalog.printer import print_program
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, Constant
from everlog.datalog.violations import Violation, summary
from everlog.rdf.owl.printing import print_translation
from everlog.rdf.owl.profiles import PROFILES, Options, Profile, translate
from everlog.rdf.owl.reading import read_ontologies
from support.ontology_texts import PREFIXES, Consequences, materialised, read_text, translated
from support.random_ontologies import Generator

DECLARED = """
:A a owl:Class . :B a owl:Class . :C a owl:Class .
:p a owl:ObjectProperty . :q a owl:ObjectProperty . :d a owl:DatatypeProperty .
"""
ON = "[ a owl:Restriction ; owl:onProperty :p ;"


def remarks(text: str, profile: Profile) -> list[tuple[str, str]]:
    return [(remark.what, remark.reason) for remark in translated(DECLARED + text, profile).remarks]


def test_the_lower_bound_drops_existentials_and_disjunctions() -> None:
    text = f":A rdfs:subClassOf {ON} owl:someValuesFrom :B ] . :B owl:unionOf (:A :C) . :x a :A . :y a :B ."
    found = Consequences(DECLARED + text, "L")
    assert found.derived == {":x a :B"}
    assert remarks(text, "L") == [
        ("dropped", "an existential in the head"),
        ("partly dropped", "a disjunction in the head"),
    ]


def test_the_upper_bound_approximates_them() -> None:
    text = f":A rdfs:subClassOf {ON} owl:someValuesFrom :B ] . :B owl:unionOf (:A :C) . :x a :A . :y a :B ."
    found = Consequences(DECLARED + text, "U")
    assert {":x a :B", ":x a :C", ":y a :A", ":y a :C"} <= found.derived
    (new,) = {triple.split()[2] for triple in found.derived if triple.startswith(":x :p ")}
    assert {f"{new} a :B", f":y :p {new}"} <= found.derived
    assert remarks(text, "U") == [
        ("approximated", "a disjunction becomes a conjunction"),
        ("approximated", "an existential becomes a new constant"),
    ]


def test_new_constants_are_the_same_tomorrow() -> None:
    text = f":A rdfs:subClassOf {ON} owl:minQualifiedCardinality 2 ; owl:onClass :B ] ."
    first, second = (translated(DECLARED + text + more, "U").program for more in ("", " :C rdfs:subClassOf :B ."))
    assert {canonical_rule(rule) for rule in first.rules} <= {canonical_rule(rule) for rule in second.rules}
    found = Consequences(DECLARED + text + ":x a :A .", "U").derived
    assert len([triple for triple in found if triple.startswith(":x :p ")]) == 2
    assert any(" owl:differentFrom " in triple for triple in found)


def test_fillers_that_are_no_conjunctions_get_names() -> None:
    text = f":A rdfs:subClassOf {ON} owl:someValuesFrom {ON} owl:allValuesFrom :C ] ] . :x a :A ."
    found = Consequences(DECLARED + text, "U").derived
    assert any(triple.startswith(":x :p <urn:everlog:new:") for triple in found)
    assert not [rule for rule in translated(DECLARED + text, "L").program.rules if "class-" in repr(rule)]


@pytest.mark.parametrize("seed", range(25))
def test_the_lower_bound_is_below_the_upper(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "o.ttl"
    path.write_text(Generator(seed).ontology())
    ontology = read_ontologies([path])
    lower, upper = ({*map(str, materialised(translate(ontology, name)).rows("triple"))} for name in ("L", "U"))
    assert lower <= upper


@pytest.mark.parametrize(
    ("facets", "values", "expected"),
    [
        ("xsd:minInclusive 18", "17 , 18 , 40", True),
        ("xsd:minExclusive 18", "18", False),
        ("xsd:minInclusive 18", "17.5e0 , 3", False),
        ("xsd:maxExclusive 5.5", "5", True),
        ("xsd:maxInclusive 5 ] [ xsd:minInclusive 3", "2 , 6", False),
        ("xsd:maxInclusive 5 ] [ xsd:minInclusive 3", "4", True),
        ("xsd:minInclusive 18", '"a"', False),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_data_ranges_are_comparisons(profile: Profile, facets: str, values: str, expected: bool) -> None:
    range_ = f"[ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( [ {facets} ] ) ]"
    text = (
        f"[ a owl:Restriction ; owl:onProperty :d ; owl:someValuesFrom {range_} ] rdfs:subClassOf :A . :x :d {values} ."
    )
    found = Consequences(DECLARED + text, profile)
    assert (":x a :A" in found.triples) == expected
    assert [remark.what for remark in found.translation.remarks] == ["approximated"]


def test_defined_datatypes_and_enumerations() -> None:
    text = """:adult a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; owl:onDatatype xsd:integer ;
        owl:withRestrictions ( [ xsd:minInclusive 18 ] ) ] .
    [ a owl:Restriction ; owl:onProperty :d ; owl:someValuesFrom :adult ] rdfs:subClassOf :A .
    [ a owl:Restriction ; owl:onProperty :d ; owl:someValuesFrom [ a rdfs:Datatype ; owl:oneOf ("a" 3) ] ]
        rdfs:subClassOf :B .
    :x :d 20 . :y :d 3 . :z :d "a" . :u :d "b" ."""
    assert Consequences(DECLARED + text, "L").derived == {":x a :A", ":y a :B", ":z a :B"}


@pytest.mark.parametrize(
    ("axiom", "bad", "good"),
    [
        (":d rdfs:range xsd:integer .", '"a"', "5"),
        (":d rdfs:range xsd:string .", "5", '"a"'),
        (":d rdfs:range xsd:nonNegativeInteger .", "-1", "0"),
        (":d rdfs:range [ a rdfs:Datatype ; owl:oneOf (1 2) ] .", "3", "2"),
        (":d a owl:FunctionalProperty .", "1 , 2", "1 , 1.0e0"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :d ; owl:maxCardinality 2 ] .", "1 , 2 , 3", "1 , 2"),
    ],
)
def test_data_that_contradicts(axiom: str, bad: str, good: str) -> None:
    for values, violated in ((bad, True), (good, False)):
        found = Consequences(f"{DECLARED}{axiom} :x a :A ; :d {values} .", "L")
        assert bool(found.violations) == violated
        assert not any(triple.startswith('"') for triple in found.derived)


def test_conditions_without_a_test() -> None:
    text = "[ a owl:Restriction ; owl:onProperty :d ; owl:someValuesFrom xsd:dateTime ] rdfs:subClassOf :A . :x :d 5 ."
    assert Consequences(DECLARED + text, "L").derived == set()
    assert Consequences(DECLARED + text, "U").derived == {":x a :A"}
    assert remarks(text, "L") == [("dropped", "no comparison can test xsd:dateTime")]
    assert "the condition is left out" in remarks(text, "U")[0][1]


@pytest.mark.parametrize(
    ("text", "profile", "reason"),
    [
        (":p a owl:ReflexiveProperty .", "RL", "OWL 2 RL has no rule for reflexivity"),
        (":A owl:disjointUnionOf (:B :C) .", "RL", "OWL 2 RL has no disjoint unions"),
        (f"{ON} owl:hasSelf true ] rdfs:subClassOf :A .", "RL", "OWL 2 RL has no rule for a self-restriction"),
        (
            f"{ON} owl:minCardinality 1 ] rdfs:subClassOf :A .",
            "RL",
            "OWL 2 RL has no rule for a minimal cardinality in a body",
        ),
        (":A rdfs:subClassOf [ owl:oneOf (:x) ] .", "RL", "OWL 2 RL has no rule for an enumeration in a head"),
        (f":A rdfs:subClassOf {ON} owl:maxCardinality 2 ] .", "L", "a disjunction in the head"),
        (
            f":A rdfs:subClassOf {ON} owl:maxCardinality 40 ] .",
            "U",
            "at most 40 values need a disjunction of 820 equalities",
        ),
        (
            ":a a owl:AnnotationProperty ; rdfs:domain :A .",
            "L",
            "axioms about annotation properties mean nothing outside RDF",
        ),
    ],
)
def test_the_report_gives_reasons(text: str, profile: Profile, reason: str) -> None:
    assert ("dropped", reason) in remarks(text, profile)


def test_annotation_properties_are_properties_in_rdf() -> None:
    text = ":a a owl:AnnotationProperty ; rdfs:subPropertyOf rdfs:label ."
    assert translated(text, "RL").program.rules[0].body
    assert [remark.what for remark in translated(text, "L").remarks] == ["dropped"]


def test_thing_in_a_body() -> None:
    text = "owl:Thing rdfs:subClassOf :A . :p rdfs:domain owl:Thing . :x :p :y . :z a owl:Thing ."
    assert Consequences(DECLARED + text, "L").derived == {":z a :A"}
    assert Consequences(DECLARED + text, "L", Options(thing=True)).derived >= {":x a :A", ":y a :A", ":z a :A"}
    assert Consequences(DECLARED + text, "U").derived >= {":x a :A", ":y a :A"}
    assert remarks(text, "L")[0][0] == "approximated"


def test_swrl_rules() -> None:
    text = """:v a swrl:Variable . :w a swrl:Variable . :n a swrl:Variable .
    [] a swrl:Imp ; swrl:body (
        [ a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 :v ]
        [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :p ; swrl:argument1 :v ; swrl:argument2 :w ]
        [ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :d ; swrl:argument1 :w ; swrl:argument2 :n ]
        [ a swrl:BuiltinAtom ; swrl:builtin swrlb:greaterThan ; swrl:arguments (:n 3) ] ) ;
      swrl:head ( [ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :q ; swrl:argument1 :w ; swrl:argument2 :v ]
                  [ a swrl:ClassAtom ; swrl:classPredicate :B ; swrl:argument1 :w ] ) .
    :x a :A ; :p :y , :z . :y :d 4 . :z :d 3 ."""
    assert Consequences(DECLARED + text, "L").derived == {":y :q :x", ":y a :B"}
    strange = text.replace("swrlb:greaterThan", "swrlb:startsWith")
    assert ("dropped", "no comparison can test the built-in startsWith") in remarks(strange, "L")


def test_same_as_is_an_ordinary_property() -> None:
    text = ":p a owl:FunctionalProperty . :x :p :y , :z . :y a :A ."
    assert Consequences(DECLARED + text, "L").derived == {":y owl:sameAs :z", ":z owl:sameAs :y"}


# ---------------------------------------------------------------------------------------------- contradictions


def test_violations_come_with_their_facts() -> None:
    text = """:A owl:disjointWith :B . :C rdfs:subClassOf :B . :p a owl:AsymmetricProperty .
    :x a :A , :C . :y a :A . :x :p :x ."""
    translation = translated(DECLARED + text, "L")
    kb = materialised(translation)
    found = kb.contradictions()
    prefixes = {name for name, namespace in translation.program.prefixes.items() if namespace == "http://ex.org/"}
    (ex,) = prefixes
    texts = {str(each).replace(f"{ex}:", ":") for each in found}
    assert texts == {
        "DisjointClasses(:A :B) is violated by [:x, rdf:type, :A], [:x, rdf:type, :B]",
        "AsymmetricObjectProperty(:p) is violated by [:x, :p, :x]",
    }
    shown = [Violation("an axiom", Atom("violation", (Constant("an axiom"), Constant("x"))), ("a(x)",))]
    assert summary(1, shown) == ["an axiom is violated by a(x)"]
    assert "2 violations in all" in summary(2, shown)[1]


def test_violations_come_and_go_with_updates() -> None:
    translation = translated(DECLARED + ":A owl:disjointWith :B .", "L")
    kb = materialised(translation)
    ex, a = "http://ex.org/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    from pyoxigraph import NamedNode

    facts = [(NamedNode(ex + "x"), NamedNode(a), NamedNode(ex + name)) for name in "AB"]
    kb.update(add={"triple": facts})
    assert kb.size("violation") == 1
    kb.update(delete={"triple": facts[:1]})
    assert kb.size("violation") == 0


# ------------------------------------------------------------------------------------------------------ printing


@pytest.mark.parametrize("profile", PROFILES)
def test_printed_programs_read_back(profile: Profile, tmp_path: Path) -> None:
    for seed in range(6):
        path = tmp_path / "o.ttl"
        path.write_text(Generator(seed).ontology())
        translation = translate(read_ontologies([path]), profile, Options(True, True, True))
        text = print_translation(translation, "a title")
        again = everlog.parse_program(text)
        assert set(again.rules) == set(translation.program.rules)
        assert set(again.facts) == set(translation.program.facts)
        assert text == print_translation(
            translate(read_ontologies([path]), profile, Options(True, True, True)), "a title"
        )


def test_anonymous_individuals_are_printed_and_read_back() -> None:
    text = f"_:b a :A ; :p [ a :B ] . :C rdfs:subClassOf {ON} owl:hasValue _:b ] . :x a :C ; :p [] ."
    translation = translated(DECLARED + text, "L")
    again = everlog.parse_program(print_translation(translation, "a title"))
    assert set(again.rules) == set(translation.program.rules)
    assert set(again.facts) == set(translation.program.facts)
    assert any(triple.startswith(":x :p _:") for triple in Consequences(DECLARED + text, "L").derived)


def test_the_order_of_the_text_does_not_matter(tmp_path: Path) -> None:
    lines = [line for line in Generator(3).ontology().removeprefix(PREFIXES).splitlines() if line]
    texts = []
    for order in (lines, lines[::-1]):
        prefixes = [line for line in order if line.startswith("@prefix")]
        rest = [line for line in order if not line.startswith("@prefix") and "[" not in line]
        path = tmp_path / "o.ttl"
        path.write_text("\n".join([*prefixes, *rest]))
        texts.append(print_translation(translate(read_ontologies([path]), "RL"), "a title"))
    assert texts[0] == texts[1]


def test_each_rule_has_its_axiom() -> None:
    translation = translated(
        DECLARED + ":A rdfs:subClassOf :B . :A rdfs:subClassOf [ owl:intersectionOf (:B :C) ] .", "L"
    )
    text = print_translation(translation, "two axioms")
    lines = text.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("[?x, rdf:type, ex") and ":B]" in line)
    assert lines[place - 2].startswith("# SubClassOf(")
    assert lines[place - 1].startswith("# SubClassOf(")
    assert print_program(translation.program)


def test_unknown_namespaces_get_prefixes() -> None:
    ontology = read_text(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C .")
    text = print_translation(translate(ontology), "x")
    assert "<http://ex.org/A>" not in text
