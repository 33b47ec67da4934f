"""A published closure of the Gene Ontology, on Spark."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from everlog import KnowledgeBase, parse_program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(path: Path) -> set[tuple[str, ...]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {tuple(line.rstrip("\n").split("\t")) for line in lines}


def test_the_published_closure(data: Path, spark: SparkSession) -> None:
    program = parse_program("""
        above(?child, ?parent) :- edge(?child, ?kind, ?parent) .
        above(?child, ?ancestor) :- above(?child, ?parent), edge(?parent, ?kind, ?ancestor) .
    """)
    kb = KnowledgeBase(program, engine="spark", spark=spark)
    kb.add({"edge": list(rows(data / "go" / "bullseye_cc_edges.tsv.gz"))})
    kb.materialise()
    closure = rows(data / "go" / "bullseye_cc_closure.tsv.gz")
    assert len(closure) == kb.size("above") > 40_000
    assert set(kb.rows("above")) == closure
