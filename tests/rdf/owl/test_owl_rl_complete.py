"""`complete`: the rules of OWL 2 RL/RDF over triples, with cases that have premises and a conclusion (`rl_cases/`).

A case's premises stand one on a line, and each is needed: without any one of them the conclusion does not follow. All
cases, and all of them with a premise less, are one graph, in which each has names of its own; a case's literals are its own
as well. The graph is given as an ontology, as facts, and as both.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import Value, identity, normalise
from support.ontology_texts import PREFIXES
from support.rl_cases import Case, follows, read_cases

# All cases are materialised together, once, by the worker that has these tests.
pytestmark = pytest.mark.xdist_group("rl_cases")

CASES = Path(__file__).parent / "rl_cases"
RULES = {
    "eq": "ref sym trans rep-s rep-p rep-o diff1 diff2 diff3",
    "prp": "ap dom rng fp ifp irp symp asyp trp spo1 spo2 eqp1 eqp2 pdw adp inv1 inv2 key npa1 npa2",
    "cls": "thing nothing1 nothing2 int1 int2 uni com svf1 svf2 avf hv1 hv2 maxc1 maxc2 maxqc1 maxqc2 maxqc3 maxqc4 oo",
    "cax": "sco eqc1 eqc2 dw adc",
    "dt": "type1 type2 eq diff not-type",
    "scm": "cls sco eqc1 eqc2 op dp spo eqp1 eqp2 dom1 dom2 rng1 rng2 hv svf1 svf2 avf1 avf2 int uni",
}
ROUTES = ("ontology", "facts", "both")


@cache
def cases() -> tuple[Case, ...]:
    return read_cases(CASES)


@cache
def materialised(route: str) -> everlog.KnowledgeBase:
    """All cases, and as facts those with a premise less, too; `both` has a fourth of them, each second premise a fact."""
    chosen = cases()[::4] if route == "both" else cases()
    everything = [each for case in chosen for each in (case, *(case.without_one if route == "facts" else ()))]
    ontology, facts = [], []
    for number, case in enumerate(everything):
        for place, premise in enumerate(case.premises):
            is_fact = route == "facts" or (route == "both" and (number + place) % 2)
            (facts if is_fact else ontology).extend(case.triples(premise))
    text = "\n".join(" ".join(write_term(term) for term in triple) + " ." for triple in ontology)
    program = everlog.ontology(text=text or None, profile="RL", complete=True)
    kb = everlog.KnowledgeBase(program, engine="memory", workers=1)
    kb.add({"triple": facts})
    kb.materialise()
    return kb


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.rule}-{case.number}")
def test_case(case: Case, route: str) -> None:
    if (route == "facts" and not case.premises) or (route == "both" and case not in cases()[::4]):
        return
    kb = materialised(route)
    assert follows(kb, case)
    for less in case.without_one if route == "facts" else ():
        assert not follows(kb, less), f"{less.rule}: follows without {set(case.premises) - set(less.premises)}"


def test_every_rule_of_the_tables_has_cases() -> None:
    names = {f"{table}-{name}" for table, each in RULES.items() for name in each.split()}
    assert names <= {case.rule for case in cases()}


def test_functional_syntax_is_rdf_as_well() -> None:
    text = (
        "Prefix(:=<http://ex.org/>) Ontology(SubClassOf(ObjectSomeValuesFrom(:p :B) :A) ClassAssertion(:B :y) "
        "EquivalentClasses(:D ObjectIntersectionOf(:A :C)) ClassAssertion(:C :x) ObjectPropertyAssertion(:p :x :y) "
        "NegativeObjectPropertyAssertion(:p :x :y))"
    )
    kb = everlog.KnowledgeBase(everlog.ontology(text=text, profile="RL", complete=True), engine="memory", workers=1)
    kb.materialise()
    assert kb.query("[<http://ex.org/x>, a, <http://ex.org/D>]")
    assert kb.query("violation(?rule, <http://ex.org/x>)") == [("prp-npa1: a negative assertion does not hold",)]


def test_a_cell_of_a_list_with_two_names_is_one_cell() -> None:
    """Its member is not different from itself, nor is its class disjoint with itself."""
    kinds = {"AllDifferent": ":x :p :y", "AllDisjointClasses": ":a a :x", "AllDisjointProperties": ":a :x :b"}
    text = "".join(
        f"[] a owl:{kind} ; owl:members [ rdf:first :z ; rdf:rest :{kind} ] . "
        f":{kind} rdf:first :x ; rdf:rest (:y) ; owl:sameAs :also{kind} . {use} .\n"
        for kind, use in kinds.items()
    )
    kb = everlog.KnowledgeBase(everlog.ontology(text=PREFIXES + text, profile="RL", complete=True), engine="memory")
    kb.materialise()
    assert not kb.contradictions()
    for way in ("owl:differentFrom", "owl:disjointWith", "owl:propertyDisjointWith"):
        assert kb.query(f"[<http://ex.org/x>, {way}, <http://ex.org/z>]")
        assert not kb.query(f"[<http://ex.org/x>, {way}, <http://ex.org/x>]")
    assert kb.query("[<http://ex.org/AllDifferent>, rdf:first, ?x], [<http://ex.org/alsoAllDifferent>, rdf:first, ?x]")


# Of each datatype: forms of one value, other values, and what is no value.
DATATYPES = {
    "decimal": "1.0 1 +01.00 1. | 2.5 -.5 | 1e3 abc 1,5 INF",
    "integer": "1 01 +1 | -7 0 | 1.0 abc 1e2",
    "nonNegativeInteger": "1 01 | 0 | -1 1.0",
    "nonPositiveInteger": "-1 -01 | 0 | 1",
    "positiveInteger": "1 +1 | 2 | 0 -1",
    "negativeInteger": "-1 -01 | -2 | 0 1",
    "long": "1 01 | 9223372036854775807 | 9223372036854775808 1.0",
    "int": "1 01 | 2147483647 | 2147483648 -2147483649",
    "short": "1 01 | 32767 | 32768",
    "byte": "1 01 | -128 127 | 128 -129",
    "unsignedLong": "1 01 | 18446744073709551615 | 18446744073709551616 -1",
    "unsignedInt": "1 01 | 4294967295 | 4294967296 -1",
    "unsignedShort": "1 01 | 65535 | 65536 -1",
    "unsignedByte": "1 01 | 255 | 256 -1",
    "float": "1.0 1 1E0 10e-1 | INF -INF NaN -0.0 0.0 | abc 1,0 inf",
    "double": "1.0 1 1E0 | INF NaN | abc 1,0 Infinity",
    "string": "a | b |",
    "normalizedString": "a | b | a\\tb a\\nb",
    "token": "a | b | a\\tb \\ta",
    "language": "en | de-AT | e_ 1en abcdefghij",
    "Name": "a:b | _c | 1a a,b",
    "NCName": "ab | _c | a:b 1a",
    "NMTOKEN": "1a | a:b | a,b",
    "boolean": "true 1 | false 0 | TRUE yes 2",
    "hexBinary": "0aff 0AFF | 00 | 0 GG 0x12",
    "base64Binary": "YWJj | YQ== | a ==== YQ=",
    "anyURI": "http://a.org/x | ../y urn:a:b |",
    "dateTime": "2020-01-01T00:00:00 2020-01-01T00:00:00.0 | 2020-01-01T00:00:00Z | 2020-01-01 2020-13-01T00:00:00",
    "dateTimeStamp": "2020-01-01T00:00:00Z 2020-01-01T00:00:00.0Z | 2020-01-01T00:00:00+01:00 | 2020-01-01T00:00:00",
    "XMLLiteral": "<a></a> <a/> | text | <a> <b></c> &",
    "PlainLiteral": "a@en a@EN | b@ c@d@de | a a@1_",
}
XSD, RDF, OWL = (
    "http://www.w3.org/2001/XMLSchema#",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2002/07/owl#",
)


@cache
def literals_materialised() -> everlog.KnowledgeBase:
    """Every literal of a value has a name, which is the same as it; those that are none are only used."""
    facts: list[tuple[Value, Value, Value]] = []
    for name in DATATYPES:
        for part, forms in enumerate(literals_of(name)):
            use = NamedNode(f"{OWL}sameAs" if part < 2 else "http://ex.org/p")
            facts += [(named_literal(name, part, place), use, form) for place, form in enumerate(forms)]
    kb = everlog.KnowledgeBase(everlog.ontology(profile="RL", complete=True), engine="memory", workers=1)
    kb.add({"triple": facts})
    kb.materialise()
    return kb


def literals_of(name: str) -> list[list[Value]]:
    datatype = NamedNode((RDF if "Literal" in name else XSD) + name)
    parts = [part.encode().decode("unicode_escape").split(" ") for part in DATATYPES[name].split("|")]
    return [[normalise(Literal(form, datatype=datatype)) for form in part if form] for part in parts]


def named_literal(datatype: str, part: int, place: int) -> NamedNode:
    return NamedNode(f"http://ex.org/{datatype}/{part}/{place}")


@pytest.mark.parametrize("name", DATATYPES)
def test_datatype(name: str) -> None:
    """dt-type1, dt-type2, dt-eq, dt-diff and dt-not-type of a datatype."""
    kb = literals_materialised()
    datatype = f"<{(RDF if 'Literal' in name else XSD)}{name}>"
    same, other, none = literals_of(name)
    assert kb.query(f"[{datatype}, a, rdfs:Datatype]")
    one = named_literal(name, 0, 0)
    for place in range(len(same)):
        assert kb.query(f"[{one}, owl:sameAs, {named_literal(name, 0, place)}]")
        assert kb.query(f"[{named_literal(name, 0, place)}, a, {datatype}]")
    for place in range(len(other)):
        assert kb.query(f"[{named_literal(name, 1, place)}, a, {datatype}]")
        assert kb.query(f"[{one}, owl:differentFrom, {named_literal(name, 1, place)}]")
    violated = {identity(about) for _, about in kb.rows("violation")}
    assert {identity(each) for each in none} <= violated
    assert not {identity(each) for each in (*same, *other)} & violated


BEFORE = """
:A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :p rdfs:domain :A . :p a owl:TransitiveProperty . :C owl:disjointWith :D .
:r owl:propertyChainAxiom (:p :q) . :E owl:intersectionOf (:A :F) . :k a owl:InverseFunctionalProperty .
:x :p :y . :y :p :z . :z :q :w . :x a :F . :x :k 1 . :u :k "01"^^xsd:integer . :u a :D . :v :age 5.0 .
"""
CHANGES = [
    (":B rdfs:subClassOf :C .", ":F rdfs:subClassOf :A . :q rdfs:range :F ."),
    (":r owl:propertyChainAxiom _:l . :k a owl:InverseFunctionalProperty .", ":q rdfs:subPropertyOf :p . :z :k 2 ."),
]


def test_a_schema_that_changes_is_a_change_of_facts() -> None:
    """Axioms come and go by updates of facts, and everything is as if it had been so from the beginning."""
    case = Case("changing", 0, (), "")
    present = {tuple(map(identity, triple)): triple for triple in case.triples(BEFORE)}
    program = everlog.ontology(profile="RL", complete=True)
    kb = everlog.KnowledgeBase(program, engine="memory", workers=1)
    kb.add({"triple": list(present.values())})
    kb.materialise()
    for gone, come in CHANGES:
        named = [t for t in case.triples(gone) if not isinstance(t[2], BlankNode)]
        unnamed = [
            t
            for t in present.values()
            if any(t[:2] == u[:2] and isinstance(u[2], BlankNode) for u in case.triples(gone))
        ]
        kb.update(add={"triple": case.triples(come)}, delete={"triple": [*named, *unnamed]})
        present = {key: triple for key, triple in present.items() if triple not in [*named, *unnamed]}
        present |= {tuple(map(identity, triple)): triple for triple in case.triples(come)}
        again = everlog.KnowledgeBase(program, engine="memory", workers=1)
        again.add({"triple": list(present.values())})
        again.materialise()
        for predicate in ("triple", "violation"):
            assert {tuple(map(identity, row)) for row in kb.rows(predicate)} == {
                tuple(map(identity, row)) for row in again.rows(predicate)
            }
