"""Materialisations under RL against owlrl and reasonable."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse, serialize

import everlog
from everlog.datalog.ntriples import write_term
from everlog.rdf.owl.profiles import Options, Profile, translate
from everlog.rdf.owl.reading import read_ontologies
from oracles.owl_oracles import (
    DATA,
    OWL,
    RDF_TYPE,
    Fact,
    Statement,
    about_individuals,
    invented,
    of_owlrl,
    of_reasonable,
    read_statements,
)
from support.random_ontologies import Generator, Mixer


def ours(path: Path, data: Sequence[Statement] = (), profile: Profile = "RL") -> tuple[set[Fact], bool]:
    """All triples that we derive, and whether there are violations."""
    translation = translate(read_ontologies([path]), profile, Options(equality_rules=True))
    kb = everlog.KnowledgeBase(translation.program, engine="memory", workers=1)
    kb.add({"triple": list(data)})
    kb.materialise()
    facts = {(write_term(s), write_term(p), write_term(o)) for s, p, o in kb.rows("triple")}
    return facts, kb.size("violation") > 0


@pytest.mark.parametrize("batch", range(2))
def test_random_ontologies_against_owlrl(batch: int, tmp_path: Path) -> None:
    """Forty ontologies with data, in two batches."""
    path = tmp_path / "random.ttl"
    contradictory = 0
    for seed in range(20 * batch, 20 * batch + 20):
        text = Generator(seed).ontology()
        path.write_text(text)
        theirs, wrong = of_owlrl(text)
        facts, violated = ours(path)
        individuals = "http://ex.org/i"
        assert about_individuals(facts, individuals) == about_individuals(theirs, individuals), f"seed {seed}"
        assert violated == wrong, f"seed {seed}"
        contradictory += wrong
    assert 0 < contradictory < 20


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs_against_owlrl(seed: int) -> None:
    """All that owlrl derives with its axioms is derived by all the rules, and about names nothing else is.

    The graph is given as facts: of a small document more would be derived. owlrl's mistake: for it the range of owl:unionOf
    is owl:Class, so that lists are classes.
    """
    text = Mixer(seed).graph(16)
    theirs, wrong = of_owlrl(text, axioms=True)
    kb = everlog.KnowledgeBase(everlog.ontology(profile="RL", complete=True), engine="memory", workers=1)
    kb.add({"triple": [(q.subject, q.predicate, q.object) for q in parse(text, format=RdfFormat.TURTLE)]})
    kb.materialise()
    facts = {(write_term(s), write_term(p), write_term(o)) for s, p, o in kb.rows("triple")}
    named = {fact for fact in theirs if not any(term.startswith("_:") or "ErrorMessage" in term for term in fact)}
    union = f"<{OWL}unionOf>"
    assert {fact for fact in named - facts if fact[0] != union} == set()
    if not wrong:
        assert about_individuals(facts, "http://ex.org/") == about_individuals(named, "http://ex.org/")
    assert bool(kb.size("violation")) == wrong


def fragment(statements: Sequence[Statement], seed: int, number: int) -> list[Statement]:
    """Some properties of an ontology, with what is said about them, as far as it is about nothing else."""
    choose = random.Random(seed)
    properties = sorted(
        {str(s): s for s, p, o in statements if p == RDF_TYPE and o == NamedNode(OWL + "ObjectProperty")}.items()
    )
    wanted = {node for _, node in choose.sample(properties, number)}
    about: dict[object, list[Statement]] = {}
    for statement in statements:
        about.setdefault(statement[0], []).append(statement)
    chains = [s for s in statements if s[1] == NamedNode(OWL + "propertyChainAxiom") and s[0] in wanted]
    for _, _, head in chains:
        wanted |= {o for n in _reached(about, head) for _, _, o in about.get(n, []) if isinstance(o, NamedNode)}
    found: dict[Statement, None] = {}
    for node in wanted:
        for statement in about.get(node, []):
            if isinstance(statement[2], NamedNode | BlankNode):
                found.update(dict.fromkeys([statement]))
                for inner in _reached(about, statement[2]):
                    found.update(dict.fromkeys(about.get(inner, [])))
    return list(found)


def _reached(about: dict[object, list[Statement]], node: object) -> list[object]:
    """The anonymous nodes that hang together below one."""
    if not isinstance(node, BlankNode):
        return []
    return [node, *(each for _, _, target in about.get(node, []) for each in _reached(about, target))]


def agrees(statements: Sequence[Statement], data: Sequence[Statement], folder: Path) -> None:
    path = folder / "ontology.nt"
    triples = [Triple(*each) for each in statements]
    path.write_bytes(serialize(triples, format=RdfFormat.N_TRIPLES) or b"")
    both = serialize([*triples, *(Triple(*each) for each in data)], format=RdfFormat.N_TRIPLES) or b""
    theirs, wrong = of_owlrl(both.decode())
    facts, violated = ours(path, data)
    found, expected = about_individuals(facts, DATA), about_individuals(theirs, DATA)
    assert found == expected, (sorted(found - expected)[:3], sorted(expected - found)[:3])
    assert violated == wrong
    assert len(found) > len(data) // 2


@pytest.mark.parametrize("seed", range(2))
def test_fragments_of_the_relations_ontology_against_owlrl(data: Path, seed: int, tmp_path: Path) -> None:
    statements = read_statements(data / "ontologies" / "ro.owl", RdfFormat.RDF_XML)
    part = fragment(statements, seed, 25)
    agrees(part, invented(part, seed, 40), tmp_path)


@pytest.mark.parametrize("name", ["univ-bench.owl", "univ-bench-dl.owl", "skos.ttl", "biopax-level3.owl"])
def test_given_ontologies_against_owlrl(data: Path, name: str, tmp_path: Path) -> None:
    syntax = RdfFormat.TURTLE if name.endswith(".ttl") else RdfFormat.RDF_XML
    statements = read_statements(data / "ontologies" / name, syntax)
    agrees(statements, invented(statements, 1, 30), tmp_path)


def test_lubm_against_reasonable(data: Path) -> None:
    """The ontology's names are of another year than the data's, which are changed to fit.

    reasonable has no scm-svf1. The two axioms with ∃ on the right side of univ-bench.owl are all that it loses.
    """
    ontology = data / "ontologies" / "univ-bench.owl"
    schema = read_statements(ontology, RdfFormat.RDF_XML)
    swat, name = (
        "http://swat.cse.lehigh.edu/onto/univ-bench.owl#",
        "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#",
    )

    def renamed(node: NamedNode | BlankNode | Literal) -> NamedNode | BlankNode | Literal:
        return NamedNode(node.value.replace(swat, name)) if isinstance(node, NamedNode) else node

    everything = read_statements(data / "rdf" / "lubm1.nt.gz", RdfFormat.N_TRIPLES)
    some = [(s, NamedNode(p.value.replace(swat, name)), renamed(o)) for s, p, o in everything[:15_000]]
    theirs = about_individuals(of_reasonable([*schema, *some]), "http://www.Department")
    facts, violated = ours(ontology, some)
    found = about_individuals(facts, "http://www.Department")
    missing = found - theirs
    assert theirs <= found
    assert not violated
    assert {target for _, _, target in missing} <= {f"<{name}Student>", f"<{name}Employee>"}
    lost = {f"<{name}Student>": f"<{name}GraduateStudent>", f"<{name}Employee>": f"<{name}ResearchAssistant>"}
    assert all((subject, predicate, lost[target]) in found for subject, predicate, target in missing)
    lower, _ = ours(ontology, some, "L")
    assert about_individuals(lower, "http://www.Department") == theirs
