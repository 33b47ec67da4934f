"""What SPARQL says, case by case: orders, scopes, patterns inside of expressions, graphs, forms of answers, mistakes."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, NamedNode, Quad, QueryResultsFormat, RdfFormat, parse, parse_query_results

import everlog
from everlog.errors import EverlogError, SyntaxMistake
from support.asking import knowledge_base

EX = "http://example.org/"
DATA = """
@prefix : <http://example.org/> .
:ann :age 71 ; :knows :ben, :cleo ; :name "Ann" .
:ben :age 44.5 ; :knows :cleo ; :name "Ben"@en .
:cleo :age "unknown" ; :address [ :street "Main" ; :city [ :name "Ulm" ] ] .
"""
GRAPHS = """
@prefix : <http://example.org/> .
:g1 { :ann :likes :tea . :ben :likes :tea }
:g2 { :ann :likes :milk . :ann :likes :tea }
"""


@pytest.fixture(scope="module")
def kb() -> everlog.KnowledgeBase:
    quads: list[Quad] = [*parse(DATA, format=RdfFormat.TURTLE), *parse(GRAPHS, format=RdfFormat.TRIG)]
    return knowledge_base(quads)


def rows(kb: everlog.KnowledgeBase, text: str) -> list[tuple[object, ...]]:
    """The answers to a query, IRIs without their beginnings."""
    found = kb.sparql(f"PREFIX : <{EX}>\n{text}")
    return [tuple(one.value.removeprefix(EX) if isinstance(one, NamedNode) else one for one in row) for row in found]


def test_solutions_come_in_order(kb: everlog.KnowledgeBase) -> None:
    found = rows(
        kb, "SELECT ?x ?a { ?x :knows|:address ?y OPTIONAL { ?x :age ?a FILTER(?a != 71) } } ORDER BY ?a DESC(?x)"
    )
    assert [row[0] for row in found] == ["ann", "ann", "ben", "cleo"]
    assert rows(kb, "SELECT ?x { ?x :age ?a } ORDER BY DESC(?a) LIMIT 2 OFFSET 1") == [("ann",), ("ben",)]


def test_equal_values_leave_the_order_to_the_next_condition(kb: everlog.KnowledgeBase) -> None:
    values = "VALUES (?a ?b) { (1.0 4) (1 3) (1e0 2) (0 1) }"
    assert rows(kb, f"SELECT ?b {{ {values} }} ORDER BY ?a ?b") == [(1,), (2,), (3,), (4,)]


def test_a_filter_sees_its_own_group_alone(kb: everlog.KnowledgeBase) -> None:
    assert rows(kb, "SELECT ?x { ?x :age ?a { ?x :knows ?y FILTER(BOUND(?a)) } }") == []
    assert rows(
        kb, "SELECT DISTINCT ?x { ?x :age ?a OPTIONAL { ?x :knows ?y FILTER(?a > 50) } FILTER(!BOUND(?y)) }"
    ) == [
        ("ben",),
        ("cleo",),
    ]


def test_exists_sees_what_is_bound_around_it(kb: everlog.KnowledgeBase) -> None:
    assert rows(kb, "SELECT ?x { ?x :age ?a FILTER EXISTS { ?y :age ?b FILTER(?b > ?a) } }") == [("ben",)]
    assert rows(
        kb, "SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?x :knows ?y FILTER NOT EXISTS { ?y :knows ?z } } }"
    ) == [
        ("cleo",),
    ]
    assert rows(kb, "SELECT ?x { ?x :age ?a FILTER EXISTS { SELECT ?y { ?x :knows ?y } } }") == [
        ("ann",),
        ("ben",),
        ("cleo",),
    ]
    assert rows(kb, "SELECT ?x (EXISTS { ?x :knows :cleo } AS ?e) { ?x :age ?a } ORDER BY ?x") == [
        ("ann", True),
        ("ben", True),
        ("cleo", False),
    ]


def test_a_filter_does_not_end_a_pattern(kb: everlog.KnowledgeBase) -> None:
    assert rows(kb, "SELECT ?n { _:a :age 71 FILTER EXISTS { _:b :age 71 } _:a :name ?n }") == [("Ann",)]


def test_groups(kb: everlog.KnowledgeBase) -> None:
    assert rows(kb, "SELECT (COUNT(*) AS ?n) { ?x :nothing ?y }") == [(0,)]
    assert rows(kb, "SELECT ?x (COUNT(*) AS ?n) { ?x :nothing ?y } GROUP BY ?x") == []
    assert rows(kb, "SELECT ?x (COUNT(?y) AS ?n) { ?x :age ?a OPTIONAL { ?x :knows ?y } } GROUP BY ?x ORDER BY ?n") == [
        ("cleo", 0),
        ("ben", 1),
        ("ann", 2),
    ]
    assert rows(kb, "SELECT (SUM(?a) AS ?s) (AVG(?a) AS ?m) { ?x :age ?a }") == [(None, None)]
    assert rows(
        kb, "SELECT (COUNT(DISTINCT ?l) AS ?n) { ?x :age ?a BIND(STRLEN(STR(?a)) AS ?l) } HAVING (COUNT(*) > 1)"
    ) == [(3,)]


def test_named_graphs(kb: everlog.KnowledgeBase) -> None:
    assert rows(kb, "SELECT ?x { ?x :likes :tea }") == []
    assert rows(kb, "SELECT ?g { GRAPH ?g { :ann :likes :tea } } ORDER BY ?g") == [("g1",), ("g2",)]
    assert rows(kb, "SELECT ?x { GRAPH :g1 { ?x :likes ?y } } ORDER BY ?x") == [("ann",), ("ben",)]
    assert rows(kb, "SELECT ?g (COUNT(?x) AS ?n) { GRAPH ?g { ?x :likes ?y } } GROUP BY ?g ORDER BY ?g") == [
        ("g1", 2),
        ("g2", 2),
    ]
    assert rows(kb, "SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :likes :milk } } } ORDER BY ?g") == [
        ("g1", 0),
        ("g2", 1),
    ]
    assert rows(kb, "SELECT ?x ?y FROM :g1 FROM :g2 { ?x :likes ?y } ORDER BY ?x ?y") == [
        ("ann", "milk"),
        ("ann", "tea"),
        ("ben", "tea"),
    ]
    names = [f"{EX}{name}" for name in ("g1", "g2")]
    asked = (
        f"PREFIX : <{EX}> SELECT * FROM :nowhere {{ {{ ?x :likes ?y }} UNION {{ GRAPH ?g {{ ?x :likes :milk }} }} }}"
    )
    assert len(kb.sparql(asked, graphs=(names[:1], names[1:]))) == 3, "they count instead of those of the text"
    assert rows(kb, "SELECT ?g FROM NAMED :g2 { GRAPH ?g { ?x :likes ?y } ?a ?b ?c }") == []
    assert rows(kb, "SELECT ?g { GRAPH ?g { } } ORDER BY ?g") == [("g1",), ("g2",)]
    assert rows(kb, "ASK { GRAPH :nowhere { } }") == []
    assert rows(kb, "SELECT ?g { GRAPH ?g { ?x :likes :milk FILTER NOT EXISTS { ?x :likes :water } } }") == [("g2",)]


def test_a_constant_is_zero_steps_from_itself(kb: everlog.KnowledgeBase) -> None:
    assert rows(kb, "SELECT ?x { :nobody :knows* ?x }") == [("nobody",)]
    assert rows(kb, "SELECT ?x { VALUES ?x { :nobody } ?x :knows* ?y }") == []
    assert rows(kb, "ASK { :ann (:knows/:knows)+ :cleo }") == [()]


def test_what_is_made_anew_differs_from_row_to_row(kb: everlog.KnowledgeBase) -> None:
    found = rows(kb, 'SELECT (BNODE("a") AS ?b) (BNODE("a") AS ?c) (UUID() AS ?u) (RAND() AS ?r) { ?x :age ?a }')
    assert len({row[0] for row in found}) == len({row[2] for row in found}) == len({row[3] for row in found}) == 3
    assert all(isinstance(row[0], BlankNode) and row[0] == row[1] for row in found)
    branches = "{ BIND(BNODE('a') AS ?b) } UNION { BIND(BNODE('a') AS ?b) }"
    assert len(set(rows(kb, f"SELECT ?b {{ {branches} }}"))) == 2


def test_descriptions_follow_blank_nodes(kb: everlog.KnowledgeBase) -> None:
    texts = {row[2] for row in kb.sparql(f"DESCRIBE <{EX}cleo>")}
    assert {"unknown", "Main", "Ulm"} <= texts
    assert len(kb.sparql(f"DESCRIBE ?x {{ ?x <{EX}age> 71 }}")) == 4


def test_constructed_triples_are_rdf(kb: everlog.KnowledgeBase) -> None:
    query = f"PREFIX : <{EX}> CONSTRUCT {{ ?a :ageOf ?x . ?x :has [ :age ?a ] }} {{ ?x :age ?a }}"
    found = list(kb.sparql(query))
    assert len(found) == 6
    assert all(isinstance(row[0], NamedNode | BlankNode) for row in found)
    assert kb.sparql(query).serialize("ttl").startswith(f"@prefix : <{EX}> .")


def test_answers_become_tables_and_texts(kb: everlog.KnowledgeBase) -> None:
    answer = kb.sparql(f"PREFIX : <{EX}> SELECT ?x ?n {{ ?x :age ?a OPTIONAL {{ ?x :name ?n }} }} ORDER BY ?x")
    assert answer.variables == ("x", "n")
    assert answer.to_arrow().column("x").to_pylist() == [f"{EX}{name}" for name in ("ann", "ben", "cleo")]
    assert answer.to_pandas()["n"].isna().tolist() == [False, False, True]
    assert answer.serialize("csv") == f"x,n\r\n{EX}ann,Ann\r\n{EX}ben,Ben\r\n{EX}cleo,\r\n"
    assert answer.serialize("tsv").splitlines()[1:3] == [f'<{EX}ann>\t"Ann"', f'<{EX}ben>\t"Ben"@en']
    assert '"xml:lang":"en"' in answer.serialize("json")
    assert '<literal xml:lang="en">Ben</literal>' in answer.serialize("xml")
    assert kb.sparql("ASK {}").serialize("json") == '{"head":{},"boolean":true}'
    with pytest.raises(EverlogError, match="written as one of json, xml, csv, tsv, not as ttl"):
        answer.serialize("ttl")


def test_iris_are_written_with_what_each_format_escapes() -> None:
    iri = NamedNode("http://example.org/a,b&c'd")
    kb = knowledge_base([Quad(iri, iri, iri)])
    answer = kb.sparql("SELECT ?x { ?x ?p ?y }")
    assert answer.serialize("csv") == f'x\r\n"{iri.value}"\r\n'
    assert answer.serialize("tsv") == f"?x\n<{iri.value}>\n"
    for form, format in (("xml", QueryResultsFormat.XML), ("json", QueryResultsFormat.JSON)):
        assert [row[0] for row in parse_query_results(answer.serialize(form), format=format)] == [iri]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT ?x { ?x :p ?y }", "prefix ':' is not declared"),
        ("SELECT ?x WHERE { ?x ?p", "1:24: unexpected the end of the query"),
        ("SELECT (1 AS ?x) { ?x ?p ?y }", r"gives a value to \?x"),
        ("SELECT ?x { ?x ?p ?y BIND(1 AS ?y) }", r"BIND gives a value to \?y"),
        ("SELECT ?x { ?x ?p ?y } GROUP BY ?p", r"\?x is neither in GROUP BY"),
        ("SELECT * { ?x ?p ?y } GROUP BY ?p", r"SELECT \* cannot be used with groups"),
        ("SELECT ?x { ?x ?p ?y FILTER(COUNT(?y) > 1) }", "COUNT cannot be used here"),
        ("SELECT ?x { VALUES (?x ?y) { (1) } }", "2 variables and a row of 1"),
        ("SELECT ?x { _:a ?p ?x { _:a ?q ?y } }", "_:a is in two groups"),
        ("SELECT ?x { SERVICE <http://example.org/> { ?x ?p ?y } }", "SERVICE asks other servers"),
        (r"SELECT ?x { ?x ?p '\uD800' }", "no Unicode character"),
    ],
)
def test_mistakes_are_named(kb: everlog.KnowledgeBase, text: str, message: str) -> None:
    with pytest.raises(EverlogError, match=message):
        kb.sparql(text)


def test_an_unknown_function_has_no_value_and_is_named_each_time(kb: everlog.KnowledgeBase) -> None:
    for _ in range(2):
        with pytest.warns(UserWarning, match="no function <http://example.org/f> of 1 arguments"):
            assert rows(kb, "SELECT (:f(1) AS ?x) (COALESCE(:f(1), 2) AS ?y) {}") == [(None, 2)]


def test_limits(kb: everlog.KnowledgeBase) -> None:
    cross = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    with pytest.raises(EverlogError, match="more than 1,000 solutions"):
        kb.sparql(cross, rows=1000)
    with pytest.raises(EverlogError, match=r"need more than 65,536 bytes \(memory\)"):
        kb.sparql(cross, memory="64k")
    two = "SELECT * { { SELECT ?a { ?a ?b ?c } } { SELECT ?d { ?d ?e ?f } } }"
    assert len(kb.sparql(two, memory="3k")) == 144
    with pytest.raises(EverlogError, match="144 solutions on its way need more than 2,048 bytes"):
        kb.sparql(two, memory="2k")
    with pytest.raises(EverlogError, match=r"after 0\.001 seconds"):
        kb.sparql(cross, seconds=0.001)
    assert len(kb.sparql("SELECT * { ?a ?b ?c }", rows=1000, seconds=60)) == 12


def test_a_query_adds_nothing_to_the_dictionary(kb: everlog.KnowledgeBase) -> None:
    dictionary, _ = kb.reasoner.backend.query_dictionary()
    before = len(dictionary)
    rows(kb, 'SELECT (CONCAT(?n, "!") AS ?m) { ?x :name ?n . FILTER(?x != :unheard) OPTIONAL { ?x :unheard ?y } }')
    assert len(dictionary) == before


def test_the_rules_must_have_run() -> None:
    kb = everlog.KnowledgeBase("p(?x) :- q(?x) .")
    with pytest.raises(EverlogError, match=r"call materialise\(\) first"):
        kb.sparql("ASK {}")


def test_syntax_mistakes_have_places() -> None:
    with pytest.raises(SyntaxMistake, match="<query>:2:6"):
        knowledge_base([]).sparql("SELECT *\n{ ?x ? }")
