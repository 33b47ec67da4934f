"""With modules and without, the same follows from real data and ontologies, updates included."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import RdfFormat

from everlog import KnowledgeBase, parse_program
from everlog.datalog.syntax import Program
from everlog.planning.modules.module_rules import KINDS
from everlog.rdf.owl.profiles import translate
from everlog.rdf.owl.reading import read_ontologies
from oracles.owl_oracles import invented, read_statements

LINEAR = "up(?x, ?y) :- edge(?x, ?k, ?y) . above(?x, ?y) :- up(?x, ?y) . above(?x, ?z) :- above(?x, ?y), up(?y, ?z) ."
TRANSITIVE = "above(?x, ?y) :- edge(?x, ?k, ?y) . above(?x, ?z) :- above(?x, ?y), above(?y, ?z) ."


def agree(program: Program, predicate: str, facts: Sequence[Any], kinds: set[str], sample: int = 200) -> None:
    """Materialises, deletes a sample, and adds half of it again, with each setting of modules."""
    chosen = random.Random(5).sample(list(facts), min(sample, len(facts) // 4))
    states: list[list[set[str]]] = []
    for modules in ("off", "auto", KINDS):
        kb = KnowledgeBase(program, modules=modules, workers=2)
        kb.add({predicate: list(facts)})
        report = kb.materialise()
        if modules == KINDS:
            assert kinds <= {module["kind"] for module in report.modules}
        states.append([everything(kb)])
        kb.update(delete={predicate: chosen})
        states[-1].append(everything(kb))
        kb.update(add={predicate: chosen[::2]})
        states[-1].append(everything(kb))
    assert states[0] == states[1] == states[2]
    assert len(states[0][0]) > len(states[0][2]) > len(states[0][1]) > 0


def everything(kb: KnowledgeBase) -> set[str]:
    return {f"{predicate}{row}" for predicate in kb.predicates() for row in kb.rows(predicate)}


@pytest.mark.parametrize(("rules", "kinds"), [(LINEAR, {"reach"}), (TRANSITIVE, {"tc"})])
def test_gene_ontology(data: Path, rules: str, kinds: set[str]) -> None:
    with gzip.open(data / "go" / "bullseye_cc_edges.tsv.gz", "rt", encoding="utf-8") as lines:
        edges = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    agree(parse_program(rules), "edge", edges[:3_000], kinds)


@pytest.mark.parametrize("name", ["stw.ttl.gz", "unesco.ttl.gz"])
def test_thesauri(data: Path, name: str) -> None:
    """The hierarchy and the relations of each, by the rules of SKOS."""
    program = translate(read_ontologies([data / "ontologies" / "skos.ttl"]), "RL").program
    core = "http://www.w3.org/2004/02/skos/core#"
    wanted = {core + each for each in ("broader", "narrower", "related", "exactMatch")}
    statements = [each for each in read_statements(data / "rdf" / name, RdfFormat.TURTLE) if each[1].value in wanted]
    agree(program, "triple", list(dict.fromkeys(statements))[:1_500], {"tc", "stc"})


def test_lubm_extended(data: Path) -> None:
    program = parse_program((data / "programs" / "LUBM_LE.dlog").read_text(encoding="utf-8"))
    statements = read_statements(data / "rdf" / "lubm1.nt.gz", RdfFormat.N_TRIPLES)
    agree(program, "triple", list(dict.fromkeys(statements))[:2_000], {"tc", "stc"})


def test_relations_ontology(data: Path) -> None:
    """Its chain and transitivity axioms make modules of all kinds over generated data."""
    path = data / "ontologies" / "ro.owl"
    program = translate(read_ontologies([path]), "L").program
    facts = dict.fromkeys(invented(read_statements(path, RdfFormat.RDF_XML), 7, 300))
    agree(program, "triple", list(facts), {"tc", "stc", "reach", "rch"}, sample=60)
