"""Published closures of the Gene Ontology, a release of each branch at once, on Spark."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from everlog import KnowledgeBase, parse_program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS = ["bullseye_cc", "trixie_mf"]


def rows(path: Path) -> set[tuple[str, ...]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {tuple(line.rstrip("\n").split("\t")) for line in lines}


def test_the_published_closures(data: Path, spark: SparkSession) -> None:
    rules = (
        f"""
        above_{part}(?child, ?parent) :- edge_{part}(?child, ?kind, ?parent) .
        above_{part}(?child, ?ancestor) :- above_{part}(?child, ?parent), edge_{part}(?parent, ?kind, ?ancestor) .
        """
        for part in PARTS
    )
    kb = KnowledgeBase(parse_program("".join(rules)), engine="spark", spark=spark)
    kb.add({f"edge_{part}": list(rows(data / "go" / f"{part}_edges.tsv.gz")) for part in PARTS})
    kb.materialise()
    for part in PARTS:
        closure = rows(data / "go" / f"{part}_closure.tsv.gz")
        assert len(closure) == kb.size(f"above_{part}") > 40_000
        assert set(kb.rows(f"above_{part}")) == closure, part
