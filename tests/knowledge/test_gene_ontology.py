"""The Gene Ontology's edges give its published closure, in each release and branch."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from everlog import KnowledgeBase, parse_program

# Whatever the kind of the edges, what is above a term is an ancestor; no term is above itself.
ANCESTORS = parse_program(
    """
    above(?child, ?parent) :- edge(?child, ?kind, ?parent) .
    above(?child, ?ancestor) :- above(?child, ?parent), edge(?parent, ?kind, ?ancestor) .
    """
)
RELEASES = ["bullseye", "bookworm", "trixie"]


def rows(path: Path) -> list[tuple[str, ...]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


@pytest.mark.parametrize("branch", ["cc", "mf"])
def test_the_published_closure(data: Path, branch: str) -> None:
    """The first release from nothing; each later one by an update with the difference."""
    kb = KnowledgeBase(ANCESTORS)
    kb.materialise()
    old: set[tuple[str, ...]] = set()
    for release in RELEASES:
        new = set(rows(data / "go" / f"{release}_{branch}_edges.tsv.gz"))
        closure = rows(data / "go" / f"{release}_{branch}_closure.tsv.gz")
        kb.update(add={"edge": new - old}, delete={"edge": old - new})
        assert len(closure) == kb.size("above") > 40_000
        assert set(kb.rows("above")) == set(closure), release
        fresh = KnowledgeBase(ANCESTORS)
        fresh.add({"edge": new})
        fresh.materialise()
        assert set(fresh.rows("above")) == set(closure), release
        old = new
