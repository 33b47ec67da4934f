"""Tiny sizes of every workload, a tiny university, and an evaluator that is too simple to be wrong."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from benchmarks.workload import Instance
from everlog.datalog.ntriples import read_term
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Atom, Constant, Term, Variable
from everlog.datalog.values import Value, identity

Row: TypeAlias = tuple[Value, ...]

TINY: dict[str, dict[str, int]] = {
    "dag": {"nodes": 30, "edges": 60},
    "dag-sparse": {"nodes": 30, "edges": 40},
    "dag-nonlinear": {"nodes": 30, "edges": 60},
    "lubm": {"k": 2},
    "andersen": {"groups": 2, "variables": 20, "addresses": 8, "copies": 24, "loads": 4, "stores": 4},
    "same-generation": {"people": 30, "levels": 4, "edges": 40},
    "family": {"branches": 2, "generations": 3, "width": 4},
    "skos": {"concepts": 30, "depth": 4, "cycles": 2},
    "relations-made": {"properties": 36, "groups": 1, "individuals": 5, "facts": 8},
    "pc": {"n": 5, "k": 3},
    "lubm-extended": {"k": 2},
    **{
        name: {"nodes": 20, "edges": 36}
        for stem in ("tc", "sg", "reach", "bipartite", "cc", "sssp", "dyck")
        for name in (stem, f"{stem}-rmat")
    },
    **{name: {"people": 20, "friends": 90, "organizers": 4} for name in ("attend", "attend-rmat")},
    "cspa": {"functions": 2, "variables": 8, "assignments": 10},
    "csda": {"functions": 2, "statements": 12, "branches": 2, "nulls": 4},
    "polonius": {"functions": 3, "points": 30, "variables": 5},
    "polonius-opt": {"functions": 3, "points": 30, "variables": 5},
    "doop": {"classes": 32, "near": 4},
    "galen": {"parts": 2, "concepts": 24, "roles": 4},
    "crdt": {"edits": 40, "jumps": 5, "run": 6},
}

ONTOLOGY = "http://swat.cse.lehigh.edu/onto/univ-bench.owl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
UNIVERSITY = f"""
<http://u.edu/ann> <{ONTOLOGY}worksFor> <http://u.edu/maths> .
<http://u.edu/ann> <{ONTOLOGY}name> "Ann" .
<http://u.edu/bob> {TYPE} <{ONTOLOGY}Chair> .
<http://u.edu/maths> <{ONTOLOGY}subOrganizationOf> <http://u.edu/science> .
<http://u.edu/science> <{ONTOLOGY}subOrganizationOf> <http://u.edu/> .
"""

UNIVERSITY_RULES = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix u: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> .
[?x, u:memberOf, ?y] :- [?x, u:worksFor, ?y] .
[?x, rdf:type, u:Person] :- [?x, u:memberOf, ?y], [?y, u:subOrganizationOf, <http://u.edu/science>] .
[?x, rdf:type, u:Person] :- [?x, rdf:type, u:Chair] .
[?x, u:subOrganizationOf, ?z] :- [?x, u:subOrganizationOf, ?y], [?y, u:subOrganizationOf, ?z] .
"""


@pytest.fixture
def university(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder whose LUBM has five triples and four rules."""
    folder = tmp_path / "data"
    (folder / "programs").mkdir(parents=True)
    (folder / "rdf").mkdir()
    for program in ("LUBM_L", "LUBM_LE"):
        (folder / "programs" / f"{program}.dlog").write_text(UNIVERSITY_RULES, encoding="utf-8")
    (folder / "rdf" / "lubm1.nt.gz").write_bytes(gzip.compress(UNIVERSITY.encode()))
    monkeypatch.setenv("EVERLOG_DATA", str(folder))
    return folder


@pytest.fixture
def tiny() -> dict[str, dict[str, int]]:
    return TINY


@pytest.fixture
def naive() -> Callable[[Instance], dict[str, int]]:
    """How many facts each derived predicate has: all rules on all facts until nothing is new."""
    return _counts


def _counts(instance: Instance) -> dict[str, int]:
    program = parse_program(instance.program)
    facts = {(predicate, row) for predicate, rows in _rows(instance).items() for row in rows}
    while (
        new := {
            (rule.head.predicate, tuple(_value(term, match) for term in rule.head.terms))
            for rule in program.rules
            for match in _matches(rule.positive, facts, {})
        }
        - facts
    ):
        facts |= new
    derived = {rule.head.predicate for rule in program.rules}
    return {predicate: sum(1 for name, _ in facts if name == predicate) for predicate in derived}


def _rows(instance: Instance) -> dict[str, list[Row]]:
    """The facts as Python values; identity is no issue, since the tiny facts hold no two kinds of number."""
    return {
        predicate: [
            tuple(read_term(cell) if isinstance(cell, str) else cell for cell in row.values())
            for row in table.to_pylist()
        ]
        for predicate, table in instance.facts.items()
    }


def _matches(
    atoms: tuple[Atom, ...], facts: set[tuple[str, Row]], match: Mapping[Variable, Value]
) -> Iterator[Mapping[Variable, Value]]:
    if not atoms:
        yield match
        return
    for predicate, row in facts:
        if predicate == atoms[0].predicate and (wider := _extended(atoms[0], row, match)) is not None:
            yield from _matches(atoms[1:], facts, wider)


def _extended(atom: Atom, row: Row, match: Mapping[Variable, Value]) -> dict[Variable, Value] | None:
    wider = dict(match)
    for term, value in zip(atom.terms, row, strict=True):
        expected = term.value if isinstance(term, Constant) else wider.setdefault(term, value)
        if identity(expected) != identity(value):
            return None
    return wider


def _value(term: Term, match: Mapping[Variable, Value]) -> Value:
    return term.value if isinstance(term, Constant) else match[term]
