"""Shapes on Spark: kept by the rules of a program, and evaluated beside one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import RdfFormat, parse

import everlog
from everlog import KnowledgeBase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIXES = "@prefix : <http://ex.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> ."
SHAPES = ":S sh:targetClass :A ; sh:property [ sh:path :p ; sh:minCount 1 ] ."


def facts(text: str) -> dict[str, list[Any]]:
    quads = parse(PREFIXES + text, format=RdfFormat.TURTLE)
    return {"triple": [(quad.subject, quad.predicate, quad.object) for quad in quads]}


def found(kb: KnowledgeBase, *shapes: Any) -> list[tuple[Any, ...]]:
    return [(row["focus"], row["constraint"]) for row in kb.validate(*shapes).rows()]


def test_results_are_kept_and_found_beside_the_program(spark: SparkSession, tmp_path: Path) -> None:
    shapes = everlog.shapes(text=PREFIXES + SHAPES)
    kb = KnowledgeBase(shapes, engine="spark", spark=spark)
    kb.add(facts(":a a :A ; :p 1 . :b a :A ."))
    kb.materialise()
    assert found(kb) == [(":b", "sh:minCount of :S :p")]
    kb.update(add=facts(":b :p 2 ."), delete=facts(":a :p 1 ."))
    assert found(kb) == [(":a", "sh:minCount of :S :p")]
    others = everlog.shapes(text=PREFIXES + ":T sh:targetSubjectsOf :p ; sh:path :p ; sh:hasValue 3 .")
    assert found(kb, others) == [(":b", "sh:hasValue of :T")]
    assert found(kb) == [(":a", "sh:minCount of :S :p")]
    kb.save(tmp_path / "s")
    opened = everlog.open(tmp_path / "s", engine="memory")
    assert found(opened) == [(":a", "sh:minCount of :S :p")]
    change = {"add": facts(":c a :A . :a :p 1 ."), "delete": facts(":b :p 2 .")}
    again = everlog.open(tmp_path / "s", engine="spark", spark=spark)
    opened.update(**change)
    again.update(**change)
    assert sorted(found(again)) == sorted(found(opened)) == [(name, "sh:minCount of :S :p") for name in (":b", ":c")]
