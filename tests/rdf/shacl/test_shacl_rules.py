"""Shapes as rules: paths beside SPARQL's, what is refused, and what a program with shapes keeps."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode, RdfFormat, Store, Triple, parse

import everlog
from everlog import ConstraintsViolated, EverlogError, KnowledgeBase
from support.random_shapes import NODES, PREFIXES, PROPERTIES

EX = "http://ex.org/"
PERSON = """:Person a sh:NodeShape ; sh:targetClass :Human ; sh:property :Name .
:Name sh:path :name ; sh:minCount 1 ; sh:maxCount 2 ; sh:datatype xsd:string ."""


def facts(text: str) -> dict[str, list[Any]]:
    quads = parse(PREFIXES + text, format=RdfFormat.TURTLE)
    return {"triple": [(quad.subject, quad.predicate, quad.object) for quad in quads]}


def materialised(shapes: str, data: str, **options: Any) -> KnowledgeBase:
    kb = KnowledgeBase(everlog.shapes(text=PREFIXES + shapes), engine="memory", **options)
    kb.add(facts(data))
    kb.materialise()
    return kb


def results(kb: KnowledgeBase) -> list[tuple[Any, ...]]:
    return [(row["focus"], row["value"], row["constraint"]) for row in kb.validate().rows()]


# ---------------------------------------------------------------------------------------------- paths


def random_path(chosen: random.Random, depth: int) -> tuple[str, str]:
    """A path as SHACL and as SPARQL have it."""
    if not depth or chosen.random() < 0.2:
        name = chosen.choice(PROPERTIES)
        return name, f"<{EX}{name[1:]}>"
    first, second = random_path(chosen, depth - 1), random_path(chosen, depth - 1)
    return chosen.choice(
        [
            (f"( {first[0]} {second[0]} )", f"({first[1]}/{second[1]})"),
            (f"[ sh:alternativePath ( {first[0]} {second[0]} ) ]", f"({first[1]}|{second[1]})"),
            (f"[ sh:inversePath {first[0]} ]", f"(^{first[1]})"),
            (f"[ sh:zeroOrMorePath {first[0]} ]", f"({first[1]})*"),
            (f"[ sh:oneOrMorePath {first[0]} ]", f"({first[1]})+"),
            (f"[ sh:zeroOrOnePath {first[0]} ]", f"({first[1]})?"),
        ]
    )


def test_paths_reach_what_those_of_sparql_reach() -> None:
    chosen = random.Random(7)
    lines = [f"{chosen.choice(NODES)} {chosen.choice(PROPERTIES)} {chosen.choice(NODES)} ." for _ in range(14)]
    store = Store()
    store.extend(parse(PREFIXES + "\n".join(lines), format=RdfFormat.TURTLE))
    paths = [random_path(chosen, 3) for _ in range(60)]
    shapes = [
        f":S{n} sh:targetNode {' , '.join(NODES)} ; sh:path {path} ; sh:in () ." for n, (path, _) in enumerate(paths)
    ]
    report = materialised("\n".join(shapes), "\n".join(lines)).validate()
    assert not report.conforms
    for number, (_, path) in enumerate(paths):
        shape = NamedNode(f"{EX}S{number}")
        found = {(one.focus, one.value) for one in report.results if one.shape == shape}
        wanted = set()
        for node in NODES:
            answers: Any = store.query(f"SELECT ?y {{ <{EX}{node[1:]}> {path} ?y }}")
            wanted |= {(NamedNode(EX + node[1:]), answer["y"]) for answer in answers}
        assert found == wanted, path


# ---------------------------------------------------------------------------------------------- what is kept


def test_results_come_and_go_with_updates() -> None:
    kb = materialised(PERSON, ":ann a :Human ; :name 'Ann' .")
    assert kb.validate().conforms
    kb.update(add=facts(":bob a :Human ."))
    assert results(kb) == [(":bob", None, "sh:minCount of :Name")]
    kb.update(add=facts(":bob :name 'Bob' , 'Bert' , 7 ."))
    assert {row[2] for row in results(kb)} == {"sh:maxCount of :Name", "sh:datatype of :Name"}
    kb.update(delete=facts(":bob :name 7 ."))
    assert kb.validate().conforms


def test_derived_facts_are_validated() -> None:
    rules = everlog.parse_program("@prefix : <http://ex.org/> . :Human[?x] :- :Child[?x] .")
    kb = KnowledgeBase(everlog.union(rules, everlog.shapes(text=PREFIXES + PERSON)), engine="memory")
    kb.add(facts(":bob a :Child ."))
    kb.materialise()
    assert [row["focus"] for row in kb.validate().rows()] == [":bob"]
    assert "given" in str(kb.explain("shacl_violation(?c, :bob, ?v, ?d)"))


def test_what_does_not_conform_refuses_an_update_unless_it_is_less_than_a_violation() -> None:
    shapes = (
        PERSON + ":Name sh:severity sh:Warning ." + ":Old sh:targetClass :Human ; sh:path :age ; sh:maxInclusive 120 ."
    )
    kb = materialised(shapes, ":ann a :Human ; :name 'Ann' .", constraints="fail")
    kb.update(add=facts(":bob a :Human ."))
    assert [one.severity.value.rpartition("#")[2] for one in kb.validate().results] == ["Warning"]
    with pytest.raises(ConstraintsViolated, match="sh:maxInclusive of :Old is violated by"):
        kb.update(add=facts(":bob :age 130 ."))
    assert len(kb.validate().results) == 1


def test_shapes_beside_the_program_leave_nothing_behind() -> None:
    kb = KnowledgeBase("", engine="memory")
    kb.add(facts(":bob a :Human . :ann a :Human ; :name 'Ann' ."))
    kb.materialise()
    before = kb.predicates()
    triples = [
        Triple(quad.subject, quad.predicate, quad.object) for quad in parse(PREFIXES + PERSON, format=RdfFormat.TURTLE)
    ]
    for shapes in (everlog.shapes(text=PREFIXES + PERSON), triples):
        assert [one.focus for one in kb.validate(shapes).results] == [NamedNode(f"{EX}bob")]
    assert kb.predicates() == before
    with pytest.raises(EverlogError, match="the program has no shapes"):
        kb.validate()


def test_equal_names_are_validated_in_all_names() -> None:
    kb = KnowledgeBase("", engine="memory", equality="rewrite")
    kb.add(facts(":ann a :Human ; <http://www.w3.org/2002/07/owl#sameAs> :anna . :anna :name 'Ann' ."))
    kb.materialise()
    assert kb.validate(everlog.shapes(text=PREFIXES + PERSON)).conforms
    kb.update(delete=facts(":ann <http://www.w3.org/2002/07/owl#sameAs> :anna ."))
    assert len(kb.validate(everlog.shapes(text=PREFIXES + PERSON)).results) == 1


def test_a_store_reports_without_the_shapes_graph(tmp_path: Path) -> None:
    kb = materialised(PERSON.replace(":Name .", "[ sh:path ( :name :first ) ; sh:minCount 1 ] ."), ":bob a :Human .")
    text = kb.validate().serialize("nt")
    kb.save(tmp_path / "store")
    opened = everlog.open(tmp_path / "store")
    assert opened.validate().serialize("nt") == text
    assert text.count("http://www.w3.org/1999/02/22-rdf-syntax-ns#first") == 2


def test_values_that_cannot_be_compared_do_not_conform() -> None:
    kb = materialised(":S sh:targetNode :a ; sh:path :p ; sh:lessThan :q .", ":a :p 1 , 'x' , :b ; :q 2 .")
    assert {row[1] for row in results(kb)} == {"x", ":b"}


# ---------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (":S sh:targetNode :a ; sh:node :S .", "the shape :S refers to itself, and SHACL leaves open .*: :S → :S"),
        (":S sh:targetNode :a ; sh:not :T . :T sh:property [ sh:path :p ; sh:node :S ] .", "refers to itself"),
        (":S sh:targetNode :a ; sh:minCount 1 .", "has sh:minCount but no sh:path"),
        (":S sh:targetNode :a ; sh:path :p ; sh:minCount 'x' .", "sh:minCount is a number that is not negative"),
        (":S sh:targetNode :a ; sh:path :p ; sh:minCount 1 , 2 .", "2 values of sh:minCount, where one is allowed"),
        (":S sh:targetNode :a ; sh:path ( :p ) .", "at least two parts, not 1"),
        (":S sh:targetNode :a ; sh:path 'p' .", "a literal is no path"),
        (":S sh:targetNode :a ; sh:path [] .", "an anonymous node is a list"),
        (":S sh:targetNode :a ; sh:in :b .", "sh:in is a list"),
        (":S sh:targetNode :a ; sh:or () .", "the list of sh:or is empty"),
        (":S sh:targetNode :a ; sh:nodeKind :IRI .", "sh:nodeKind is one of sh:BlankNode"),
        (":S sh:targetNode :a ; sh:property :T . :T sh:class :C .", "is an sh:property and has no sh:path"),
        (":S sh:targetNode :a ; sh:node :T . :T sh:path :p .", "is an sh:node and has sh:path"),
        (":S sh:targetNode :a ; sh:pattern '(' .", "sh:pattern is no regular expression"),
        (":S sh:targetNode :a ; sh:sparql [] .", "sh:sparql, which is not of SHACL's core"),
        (":S sh:class :C .", "no shape has a target"),
        (":S sh:targetNode :a ; sh:class", "<shapes>:5: "),
    ],
)
def test_what_is_ill_formed_is_one_message(shapes: str, message: str) -> None:
    kb = KnowledgeBase("", engine="memory")
    kb.materialise()
    with pytest.raises(EverlogError, match=message):
        kb.validate(everlog.shapes(text=PREFIXES + shapes))


def test_shapes_that_many_refer_to_are_read_once() -> None:
    levels = [f":S{level} sh:and ( :S{level + 1} :S{level + 1} ) ; sh:or ( :S{level + 1} ) ." for level in range(30)]
    kb = materialised(":S0 sh:targetNode :a . :S30 sh:nodeKind sh:Literal . " + " ".join(levels), "")
    assert {row[2] for row in results(kb)} == {"sh:and of :S0", "sh:or of :S0"}


def test_ill_formed_shapes_that_nothing_refers_to_do_no_harm() -> None:
    assert materialised(":S sh:targetNode :a ; sh:nodeKind sh:IRI . :T sh:minCount 'x' .", "").validate().conforms
