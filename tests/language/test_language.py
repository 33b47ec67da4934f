"""The language by examples that one can read: each folder here is a program, facts, and all that follows.

A folder has `program.dlog`, `facts/` and `expected/`, which is what `everlog run program.dlog --facts facts --out expected`
writes (without `triple.csv`, since there is `triples.nt`). Where there is `options.json`, it lists options of a knowledge
base, and the same follows with each of them. A folder in `mistakes/` has a program that is refused, and the message.
"""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.syntax import TRIPLE, Program
from everlog.datalog.values import Value
from everlog.sources.csv_fields import csv_field, field_term, split_line
from everlog.sources.csv_lines import records_of
from everlog.sources.file_names import file_stem, predicate_of
from support.on_spark import all_facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
TOPICS = sorted(path.parent.name for path in HERE.glob("*/program.dlog"))
MISTAKES = sorted(path.parent.name for path in HERE.glob("mistakes/*/program.dlog"))
ON_SPARK = ["comparisons", "not-exists", "values"]
"""Topics in which Spark does by other means what memory does."""

Row = tuple[Value, ...]


def options_of(topic: str) -> list[dict[str, Any]]:
    path = HERE / topic / "options.json"
    return json.loads(path.read_text()) if path.exists() else [{}]


def read_facts(folder: Path) -> dict[str, list[Row]]:
    """The facts of CSV and N-Triples files."""
    found: dict[str, list[Row]] = {}
    for path in sorted(folder.glob("*")):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".nt":
            rows = [tuple(map(read_term, line.removesuffix(" .").split(" ", 2))) for line in text.splitlines()]
            found.setdefault(TRIPLE, []).extend(rows)
        else:
            records = [split_line(record) or [] for _, record in records_of(StringIO(text), ",")]
            found[predicate_of(path.stem)] = [
                tuple(read_term(field_term(*field)) for field in record) for record in records
            ]
    return found


def written(kb: KnowledgeBase, program: Program) -> dict[str, str]:
    """What a run writes: a sorted file for each predicate of a head or a fact, and one for the triples."""
    files = {}
    heads = {rule.head.predicate for rule in program.rules} | {fact.predicate for fact in program.facts}
    for predicate in heads.intersection(kb.predicates()) - {TRIPLE}:
        lines = [",".join(csv_field(write_term(value)) for value in row) for row in kb.rows(predicate)]
        files[f"{file_stem(predicate)}.csv"] = "".join(f"{line}\n" for line in sorted(lines))
    triples = [" ".join([*map(write_term, row), "."]) for row in kb.rows(TRIPLE)] if TRIPLE in kb.predicates() else []
    if triples:
        files["triples.nt"] = "".join(f"{line}\n" for line in sorted(triples))
    return files


def expected(topic: str) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((HERE / topic / "expected").iterdir())}


@pytest.mark.parametrize(
    ("topic", "options"), [pytest.param(t, o, id=f"{t}-{n}") for t in TOPICS for n, o in enumerate(options_of(t))]
)
def test_what_follows(topic: str, options: dict[str, Any]) -> None:
    program = parse_program((HERE / topic / "program.dlog").read_text(encoding="utf-8"))
    kb = KnowledgeBase(program, engine="memory", **options)
    kb.add(read_facts(HERE / topic / "facts"))
    kb.materialise()
    assert written(kb, program) == expected(topic)


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_refused(name: str) -> None:
    with pytest.raises(EverlogError) as caught:
        program = parse_program((HERE / "mistakes" / name / "program.dlog").read_text(encoding="utf-8"), "program.dlog")
        KnowledgeBase(program, engine="memory").materialise()
    assert f"{caught.value}\n" == (HERE / "mistakes" / name / "message.txt").read_text(encoding="utf-8")


def test_some_of_it_on_spark(spark: SparkSession) -> None:
    """Several topics as one program, which does on Spark what it does in memory."""
    program = parse_program("".join((HERE / topic / "program.dlog").read_text(encoding="utf-8") for topic in ON_SPARK))
    found = []
    for engine in ("memory", "spark"):
        kb = KnowledgeBase(program, engine=engine, spark=spark)
        for topic in ON_SPARK:
            kb.add(read_facts(HERE / topic / "facts"))
        kb.materialise()
        found.append(all_facts(kb))
    assert found[0] == found[1]
