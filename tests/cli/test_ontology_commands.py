"""Ontologies on the command line: `rules`, and `--ontology` of `init` and `run`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from everlog.cli.ontologies import shortened
from everlog.datalog.reader import parse_program
from support.command import done, everlog, files, written

ONTOLOGY = """@prefix : <http://ex.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Man a owl:Class ; rdfs:subClassOf :Person ; owl:disjointWith :Woman .
:Woman rdfs:subClassOf :Person .
:Person rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :parent ; owl:someValuesFrom :Person ] .
:parent a owl:ObjectProperty ; rdfs:range :Person .
:eve a :Woman .
"""
FACTS = "@prefix : <http://ex.org/> . :abel a :Man ; :parent :eve ."


def triples(*texts: str) -> set[str]:
    """Lines of N-Triples."""
    prefixes = {"a": "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"}
    return {" ".join(prefixes.get(part, f"<http://ex.org/{part}>") for part in text.split()) + " ." for text in texts}


def test_rules_prints_a_program_that_can_be_loaded(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY)
    text = done("rules", ontology)
    assert text.startswith("# family.ttl, profile L: ")
    assert "dropped: SubClassOf(" in text
    assert text == done("rules", ontology, "--profile", "L")
    assert "urn:everlog:new:" in done("rules", ontology, "--profile", "U")
    assert "eq-sym" in done("rules", ontology, "--profile", "RL", "--sameas-rules")
    complete = done("rules", ontology, "--profile", "RL", "--complete")
    assert "# scm-cls\n" in complete
    assert len(parse_program(complete).rules) == complete.count(" :- ")
    assert everlog("rules", tmp_path / "none.ttl").code == 2
    assert everlog("rules", ontology, "--profile", "EL").code == 2


def test_a_report_names_classes_that_can_have_no_instances(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY + ":Both rdfs:subClassOf :Man , :Woman .")
    lines = done("ontology", ontology).splitlines()
    assert lines[:2] == ["8 axioms", "profile L: 10 rules, 1 fact; 1 axiom dropped or approximated"]
    assert lines[2] == "unsatisfiable: 1 class"
    assert "Both: an instance would contradict DisjointClasses(" in lines[3]
    assert len(lines) == 4


def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    ended = everlog("rules", written(tmp_path / "o.ttl", ONTOLOGY + ":x :unknown :y . :A rdfs:subClassOf [] ."))
    assert ended.code == 0
    assert "the property <http://ex.org/unknown> is not declared" in ended.err
    assert "cannot be read and is left out" in ended.err
    assert "warning" not in ended.out


def test_mistakes_before_spark_starts(tmp_path: Path) -> None:
    for arguments, expected in [
        ((), "there are no rules"),
        (("--ontology", tmp_path / "none.owl"), "no such file"),
        (("--ontology", tmp_path), "this is a folder"),
        (("--complete",), "--complete means all of OWL 2 RL, and the profile is L: give --profile RL, too"),
        (("--complete", "--profile", "RL", "--equality", "rewrite"), "leave --equality out"),
        (
            ("--ontology", written(tmp_path / "bad.owl", "<?xml version='1.0'?><rdf:RDF")),
            "bad.owl:1: not well-formed XML",
        ),
    ]:
        for command in (("run",), ("init", tmp_path / "store")):
            ended = everlog(*command, *arguments)
            assert ended.code == 2
            assert expected in ended.err


def test_remarks_are_shortened_for_people() -> None:
    remarks = [f"profile L: dropped: axiom {number}" for number in range(9)]
    shown = shortened(["first", *remarks, "last"])
    assert shown[:2] == ["first", remarks[0]]
    assert shown[-2:] == [
        "profile L: 4 more axioms are dropped or approximated; `everlog rules` lists them all",
        "last",
    ]
    assert len(shown) == 8
    assert shortened(remarks[:5]) == remarks[:5]


@pytest.mark.usefixtures("spark")
def test_an_ontology_with_rules_and_facts(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY)
    rules = written(
        tmp_path / "more.dlog",
        "@prefix : <http://ex.org/> . adult(?x) :- :Person[?x] . [?x, a, foaf:Agent] :- :Person[?x] .",
    )
    facts = written(tmp_path / "facts.ttl", FACTS)
    stats = tmp_path / "stats.json"
    done("run", rules, "--ontology", ontology, "--facts", facts, "--out", tmp_path / "out", "--stats", stats)
    found = files(tmp_path / "out")
    assert found["adult.csv"] == "<http://ex.org/abel>\n<http://ex.org/eve>\n"
    assert found["violation.csv"] == ""
    assert set(found["triples.nt"].splitlines()) >= triples(
        "eve a Woman", "eve a Person", "abel a Person", "abel a Man"
    )
    assert any("an existential in the head" in warning for warning in json.loads(stats.read_text())["warnings"])


@pytest.mark.usefixtures("spark")
def test_all_rules_of_owl_2_rl_over_axioms_that_are_facts(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY)
    facts = written(tmp_path / "facts.ttl", FACTS + " :abel :age 7 , 'seven' .")
    store = tmp_path / "store"
    made = everlog("init", store, "--profile", "RL", "--complete", "--facts", ontology, "--facts", facts)
    assert made.code == 0
    assert "warning" not in made.err
    assert done("query", store, "[<http://ex.org/abel>, a, <http://ex.org/Person>]").strip() == "true"
    typed = done("query", store, "[_, <http://ex.org/age>, ?v], [?v, a, xsd:byte]", "--format", "csv")
    assert "7" in typed and "seven" not in typed
    more = written(
        tmp_path / "more.ttl",
        "@prefix : <http://ex.org/> . :Person <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Being .",
    )
    changed = everlog("update", store, "--add", more, "--delete", facts)
    assert changed.code == 0
    assert done("query", store, "[?x, a, <http://ex.org/Being>]", "--format", "csv").count("ex.org") == 1


@pytest.mark.usefixtures("spark")
def test_prefixes_that_came_in_go_out(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY)
    rules = written(tmp_path / "more.dlog", "@prefix one: <http://one.org/> . [?x, a, one:One] :- [?x, a, one:Two] .")
    data = written(
        tmp_path / "facts.ttl",
        "@prefix d-2: <http://data.org/> . @prefix one: <http://other.org/> . @prefix two: <http://two.org/> . "
        "@prefix : <http://ex.org/> . d-2:abel a :Man ; :parent :eve ; :parent one:x .",
    )
    more = written(tmp_path / "more.ttl", "@prefix m: <http://more.org/> . m:cain a <http://ex.org/Man> .")
    store = tmp_path / "store"
    done("init", store, rules, "--ontology", ontology, "--facts", data)
    done("update", store, "--add", more)
    done("export", store, "--out", tmp_path / "ttl", "--format", "ttl")
    done("export", store, "--out", tmp_path / "nt", "--format", "nt")
    text = files(tmp_path / "ttl")["triples.ttl"]
    lines = text.splitlines()
    assert {"@prefix : <http://ex.org/> .", "@prefix d-2: <http://data.org/> .", "@prefix m: <http://more.org/> .",
            "@prefix one: <http://one.org/> .", "@prefix two: <http://two.org/> ."} <= set(lines)  # fmt: skip
    assert "d-2:abel a :Man, :Person ;" in lines and "m:cain a :Man, :Person ." in lines
    assert set(map(str, parse(text, format=RdfFormat.TURTLE))) == {
        str(triple) for triple in parse(files(tmp_path / "nt")["triples.nt"], format=RdfFormat.N_TRIPLES)
    }
    assert done("query", store, "[d-2:abel, a, :Person], [m:cain, a, :Man]") == "true\n"

    done("run", "--ontology", ontology, "--facts", data, "--out", tmp_path / "out", "--format", "ttl")
    assert "d-2:abel a :Man, :Person ;\n" in files(tmp_path / "out")["triples.ttl"]
    assert "triples.nt" not in files(tmp_path / "out")


@pytest.mark.usefixtures("spark")
def test_a_store_and_contradictions(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY)
    facts, store = written(tmp_path / "facts.ttl", FACTS), tmp_path / "store"
    done("init", store, "--ontology", ontology, "--facts", facts)
    done("export", store, "--out", tmp_path / "derived", "--format", "nt", "--derived")
    done("export", store, "--out", tmp_path / "explicit", "--format", "nt", "--explicit")
    derived = {line for text in files(tmp_path / "derived").values() for line in text.splitlines()}
    explicit = {line for text in files(tmp_path / "explicit").values() for line in text.splitlines()}
    assert derived == triples("eve a Person", "abel a Person")
    assert explicit == triples("eve a Woman", "abel a Man", "abel parent eve")

    bad = written(tmp_path / "bad.ttl", "@prefix : <http://ex.org/> . :abel a :Woman .")
    ended = everlog("update", store, "--add", bad, "--fail-on-violation")
    assert ended.code == 2
    assert "is violated by" in ended.err
    assert ended.err.count("abel, rdf:type") == 2
    assert done("query", store, "violation(?axiom, ?x)", "--format", "json").strip() == "[]"

    ended = everlog("update", store, "--add", bad)
    assert ended.code == 0
    assert "is violated by" in ended.err
    assert "  ex:abel" in done("query", store, "violation(?axiom, ?x)")
    for arguments in (("--no-prefixes",), ("--format", "csv")):
        assert "<http://ex.org/abel>" in done("query", store, "violation(?axiom, ?x)", *arguments)
    ended = everlog("export", store, "--out", tmp_path / "all", "--format", "nt")
    assert f"exported: {files(tmp_path / 'all')['triples.nt'].count(' .')} facts" in ended.out
    assert "left out: violation" in ended.err

    again = everlog(
        "init", tmp_path / "other", "--ontology", ontology, "--facts", facts, "--facts", bad, "--fail-on-violation"
    )
    assert again.code == 2
    assert "is violated by" in again.err
    assert not (tmp_path / "other").exists()


@pytest.mark.usefixtures("spark")
def test_names_that_do_not_meet(tmp_path: Path) -> None:
    ontology = written(tmp_path / "family.ttl", ONTOLOGY.replace(":eve a :Woman .", ""))
    facts = written(tmp_path / "facts.ttl", FACTS.replace("http://ex.org/", "http://other.org/"))
    ended = everlog("run", "--ontology", ontology, "--facts", facts)
    assert ended.code == 0
    assert "no triple follows from the facts" in ended.err
    assert "<http://ex.org/" in ended.err


@pytest.mark.usefixtures("spark")
def test_an_ontology_is_no_facts(tmp_path: Path) -> None:
    ontology, store = written(tmp_path / "family.ttl", ONTOLOGY), tmp_path / "store"
    done("init", store, "--ontology", ontology)
    functional = (
        "Prefix(:=<http://ex.org/>)\nOntology(<http://ex.org/> SubClassOf(:Boy :Man) ClassAssertion(:Boy :seth))"
    )
    xml = '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>'
    header = FACTS.split(" .")[0] + " . <http://ex.org/data> a <http://www.w3.org/2002/07/owl#Ontology> ."
    documents = {
        "new.ttl": header + "<http://ex.org/Boy> <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Man .",
        "new.owl": header + ":parent a <http://www.w3.org/2002/07/owl#TransitiveProperty> .",
        "functional.owl": functional,
        "new.ofn": functional,
        "xml.owl": xml,
        "new.owx": xml,
    }
    for name, text in documents.items():
        ended = everlog("update", store, "--add", written(tmp_path / name, text))
        assert ended.code == 2, name
        assert name in ended.err and "an ontology is part of the program" in ended.err, ended.err
        assert "everlog init NEW_STORE --ontology" in ended.err
    # What only declares an ontology is data, also as Turtle in a file of the name .owl.
    done("update", store, "--add", written(tmp_path / "data.owl", header + ":seth a :Man ."))
    assert done("query", store, "[<http://ex.org/seth>, a, <http://ex.org/Person>]") == "true\n"


@pytest.mark.usefixtures("spark")
def test_rules_may_ask_for_axioms_as_facts(tmp_path: Path) -> None:
    facts = written(tmp_path / "schema.ttl", ONTOLOGY)
    reading = written(tmp_path / "reading.dlog", "[?x, a, ?d] :- [?x, a, ?c], [?c, rdfs:subClassOf, ?d] .")
    assert "part of the program" not in everlog("run", reading, "--facts", facts).err
    other = written(tmp_path / "other.dlog", "woman(?x) :- [?x, a, <http://ex.org/Woman>] .")
    ended = everlog("run", other, "--facts", facts)
    assert ended.code == 0
    assert "schema.ttl: 7 triples of an ontology's axioms, which no rule asks for" in ended.err
