"""The given ontologies: against the papers' programs for them, over given and generated data, and kept up to date."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, RdfFormat

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.printer import print_program
from everlog.datalog.syntax import Program
from everlog.rdf.owl.profiles import Profile, Translation, translate
from everlog.rdf.owl.reading import read_ontologies
from everlog.rdf.owl.structure import Characteristic, SubProperty
from everlog.rdf.owl.vocabulary import OWL, TYPE
from oracles.owl_oracles import Statement, invented, read_statements

LUBM = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
UOBM = "http://uob.iodt.ibm.com/univ-bench-dl.owl#"
# The ontologies are of other years than the data and the programs, and only their namespaces differ.
NAMESPACES = {
    "univ-bench.owl": ("http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#", LUBM),
    "univ-bench-dl.owl": ("http://semantics.crl.ibm.com/univ-bench-dl.owl#", UOBM),
}
SAME_AS = f"<{OWL}sameAs>"


@cache
def translation(path: Path, profile: Profile) -> Translation:
    return translate(read_ontologies([path]), profile)


def program_of(path: Path, profile: Profile) -> Program:
    """The program of an ontology, with the names that its data has."""
    text = print_program(translation(path, profile).program)
    old, new = NAMESPACES.get(path.name, ("", ""))
    return everlog.parse_program(text.replace(old, new) if old else text)


def knowledge(program: Program, statements: Sequence[Statement]) -> everlog.KnowledgeBase:
    kb = everlog.KnowledgeBase(program, engine="memory", workers=1)
    kb.add({"triple": statements})
    kb.materialise()
    return kb


def texts(kb: everlog.KnowledgeBase) -> set[tuple[str, str, str]]:
    columns = kb.facts("triple").to_pydict()
    if all(isinstance(value, str) for value in columns["a0"][:1]):
        return set(zip(columns["a0"], columns["a1"], columns["a2"], strict=True))
    return {(write_term(s), write_term(p), write_term(o)) for s, p, o in kb.rows("triple")}


@cache
def lubm(data: Path) -> tuple[Statement, ...]:
    """Five departments of the university."""
    statements = read_statements(data / "rdf" / "lubm1.nt.gz", RdfFormat.N_TRIPLES)
    others = re.compile(r"Department([5-9]|1\d)\.")
    return tuple(one for one in statements if not any(others.search(term.value) for term in (one[0], one[2])))


def test_lubm_lower_bound(data: Path) -> None:
    """The same materialisation, although three rules differ: docs/ontologies.md says why."""
    mine = knowledge(program_of(data / "ontologies" / "univ-bench.owl", "L"), lubm(data))
    given = everlog.parse_program((data / "programs" / "LUBM_L.dlog").read_text())
    assert texts(mine) == texts(knowledge(given, lubm(data)))
    assert not mine.size("violation")


def test_lubm_upper_bound(data: Path) -> None:
    """The same up to the names of the new constants, and to the properties NR… that the given program goes through."""
    mine = texts(knowledge(program_of(data / "ontologies" / "univ-bench.owl", "U"), lubm(data)))
    given = everlog.parse_program((data / "programs" / "LUBM_U.dlog").read_text())
    theirs = {fact for fact in texts(knowledge(given, lubm(data))) if not re.search(r"#NR\d>", fact[1])}
    ours = {term for fact in mine for term in fact if term.startswith("<urn:everlog:new:")}
    names = {term for fact in theirs for term in fact if re.search(r"#NI\d>", term)}
    assert len(ours) == len(names) > 3
    assert _renamed(mine, ours) == _renamed(theirs, names)


def _renamed(facts: set[tuple[str, str, str]], constants: set[str]) -> set[tuple[str, str, str]]:
    """Facts with constants named by what is said about them: the classes they are in, and the properties to them."""
    said: dict[str, Counter[str]] = {constant: Counter() for constant in constants}
    for subject, predicate, target in facts:
        if subject in constants and predicate == f"<{TYPE}>":
            said[subject][target] += 1
        if target in constants:
            said[target][predicate] += 1
    names = {constant: f"new: {sorted(each.items())}" for constant, each in said.items()}
    assert len(set(names.values())) == len(names), "the constants can be told apart"
    return {(names.get(s, s), p, names.get(o, o)) for s, p, o in facts}


def test_uobm_lower_bound(data: Path) -> None:
    """The same, once the ontology's individuals are given to both, but for equalities of things with themselves."""
    statements = read_statements(data / "rdf" / "uobm1.nt.gz", RdfFormat.N_TRIPLES)[:40_000]
    program = program_of(data / "ontologies" / "univ-bench-dl.owl", "L")
    assertions = [tuple(term.value for term in fact.terms) for fact in program.facts]  # type: ignore[union-attr]
    assert len(assertions) == 58
    mine = knowledge(program, statements)
    given = everlog.parse_program((data / "programs" / "UOBM_L.dlog").read_text())
    theirs = texts(knowledge(given, [*statements, *assertions]))  # type: ignore[list-item]
    reflexive = {fact for fact in theirs if fact[0] == fact[2] and fact[1] == SAME_AS}
    assert reflexive
    assert texts(mine) == theirs - reflexive
    assert not mine.size("violation")


def test_relations_ontology(data: Path) -> None:
    """Its 160 chains, 45 transitive and 88 symmetric properties are rules."""
    path = data / "ontologies" / "ro.owl"
    axioms = read_ontologies([path]).axioms
    kinds = Counter(axiom.kind for axiom in axioms if isinstance(axiom, Characteristic))
    chains = [axiom for axiom in axioms if isinstance(axiom, SubProperty) and len(axiom.chain) > 1]
    assert (len(chains), kinds["Transitive"], kinds["Symmetric"]) == (160, 45, 88)
    origins = " ".join(text for each in translation(path, "L").origins.values() for text in each)
    assert origins.count("ObjectPropertyChain(") >= 160
    assert origins.count("TransitiveObjectProperty(") >= 45
    assert origins.count("SymmetricObjectProperty(") >= 88
    dropped = [remark.axiom for remark in translation(path, "L").remarks if remark.what == "dropped"]
    assert not [text for text in dropped if "Chain" in text or "Transitive" in text or "Symmetric" in text]


@pytest.mark.parametrize("profile", ["L", "U", "RL"])
@pytest.mark.parametrize("name", ["ro.owl", "biopax-level3.owl"])
def test_updates_over_generated_data(data: Path, name: str, profile: Profile) -> None:
    path = data / "ontologies" / name
    statements = read_statements(path, RdfFormat.RDF_XML)
    kept_up_to_date(translation(path, profile).program, invented(statements, 7, 60))


@pytest.mark.parametrize("name", ["stw.ttl.gz", "unesco.ttl.gz"])
def test_updates_of_thesauri(data: Path, name: str) -> None:
    """A part of each: its hierarchy and relations."""
    skos = "http://www.w3.org/2004/02/skos/core#"
    wanted = {skos + each for each in ("broader", "narrower", "related", "topConceptOf", "inScheme", "exactMatch")}
    statements = [each for each in read_statements(data / "rdf" / name, RdfFormat.TURTLE) if each[1].value in wanted]
    kb = kept_up_to_date(program_of(data / "ontologies" / "skos.ttl", "RL"), statements[:3_000])
    assert kb.query("[?x, skos:broaderTransitive, ?y], [?y, a, skos:Concept]")


def kept_up_to_date(program: Program, statements: Sequence[Statement]) -> everlog.KnowledgeBase:
    """Deletes and adds a tenth again and again, and compares with starting again."""
    choose = random.Random(3)
    present = list(dict.fromkeys(statements))
    kb = knowledge(program, present)
    assert kb.size("triple", "derived")
    absent: list[Statement] = []
    for _ in range(2):
        choose.shuffle(present)
        number = len(present) // 10 + 1
        gone, present = present[:number], present[number:] + absent
        kb.update(add={"triple": absent}, delete={"triple": gone})
        absent = gone
        again = knowledge(program, present)
        assert texts(kb) == texts(again)
        assert sorted(map(str, kb.rows("violation"))) == sorted(map(str, again.rows("violation")))
    return kb


def test_names_of_ontologies_are_iris(data: Path) -> None:
    """Every name that a translation makes up is one that no ontology has."""
    for rule in translation(data / "ontologies" / "univ-bench.owl", "U").program.rules:
        for term in rule.head.terms:
            value = getattr(term, "value", None)
            assert not isinstance(value, NamedNode) or value.value.startswith(("http://", "urn:everlog:new:"))
