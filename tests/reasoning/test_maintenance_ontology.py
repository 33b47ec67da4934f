"""The real update: the Gene Ontology from release to release and back, against the published closures."""

from __future__ import annotations

import gzip
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from everlog import KnowledgeBase, parse_program

# Whatever the kind of the edges, what is above a term is an ancestor.
ANCESTORS = parse_program(
    """
    above(?child, ?parent) :- edge(?child, ?kind, ?parent) .
    above(?child, ?ancestor) :- above(?child, ?parent), edge(?parent, ?kind, ?ancestor) .
    """
)
JOURNEY = ["bullseye", "bookworm", "trixie", "bookworm", "bullseye"]


@cache
def rows(path: Path) -> frozenset[tuple[str, ...]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return frozenset(tuple(line.rstrip("\n").split("\t")) for line in lines)


BRANCHES = {"cc": ["auto", "fbf", "fbf:depth:2", "bf", "bfc"], "mf": ["auto", "dred", "dredc", "counting"]}


@pytest.mark.parametrize(("branch", "algorithm"), [(branch, each) for branch in BRANCHES for each in BRANCHES[branch]])
def test_every_release_and_back(data: Path, algorithm: str, branch: str) -> None:
    folder = data / "go"
    kb = KnowledgeBase(ANCESTORS, algorithm=algorithm)
    kb.add({"edge": list(rows(folder / f"{JOURNEY[0]}_{branch}_edges.tsv.gz"))})
    kb.materialise()
    for before, after in pairwise(JOURNEY):
        old, new = (rows(folder / f"{release}_{branch}_edges.tsv.gz") for release in (before, after))
        then, closure = (rows(folder / f"{release}_{branch}_closure.tsv.gz") for release in (before, after))
        report = kb.update(add={"edge": list(new - old)}, delete={"edge": list(old - new)})
        assert set(kb.rows("above")) == closure, (before, after)
        assert report.added == len(closure - then) + len(new - old)
        assert report.deleted == len(then - closure) + len(old - new)
