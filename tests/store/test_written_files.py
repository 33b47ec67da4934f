"""Files by ids have the lines that a writer has who sorts them as text, however many parts and layers there are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import RDF_TYPE, Value
from everlog.rdf.turtle import TurtleTerms, turtle_header, turtle_prefixes
from everlog.sources.canonical_texts import texts_of
from everlog.sources.csv_fields import csv_field
from everlog.sources.facts_lines import facts_field
from everlog.store.manifest import Layer
from everlog.store.parquet_files import part_of, write_file
from everlog.store.publishing import write_files as writing
from everlog.store.publishing.fact_files import FactFiles, TermFiles
from everlog.store.publishing.line_forms import CSV, FACTS
from everlog.store.publishing.rdf_forms import Statements, Turtle
from everlog.store.publishing.table_form import TableForm
from everlog.store.publishing.write_files import Target
from everlog.store.publishing.written_form import WrittenForm
from support import nasty

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Fact = tuple[str, ...]

STRINGS = [
    "a",
    "a ",
    "a b",
    "a!",
    "a,",
    "a,b",
    'a"',
    "a\x01",
    "a\t",
    "a\tb",
    "a\n",
    "a.",
    "ab",
    "\u00e9",
    "\uffee",
    "\U0001f600",
]
ENDS = ["", " ", "!", "a", "-b", ".", "/", "\u00e9", "\U0001f600"]
IRIS = [NamedNode(f"http://ex.org/a{end}") for end in ENDS if end.strip()] + [NamedNode("http://ex.org/a"), RDF_TYPE]
LITERALS = [Literal(text, language=tag) for text in STRINGS[:4] for tag in ("en", "en-us")]
TERMS = [
    *dict.fromkeys(
        write_term(value)  # type: ignore[arg-type]
        for value in (
            *STRINGS,
            *IRIS,
            *LITERALS,
            *(each for each in nasty.ALL if len(str(each)) < 1000),
            5,
            "5",
            -5,
            1.5,
        )
    ),
    *(f"_:everlog{number}" for number in (1, 10, 100, 2)),
]
RESOURCES = [term for term in TERMS if term[0] != '"']
PREFIXES = {"ex": "http://ex.org/"}


class Store:
    """Facts over `TERMS` in layers of two sections, as files, and what they come to."""

    def __init__(self, folder: Path, chance: random.Random, columns: Sequence[Sequence[str]], facts: int) -> None:
        self._folder, self._files = folder, 0
        self.rows: set[Fact] = set()
        sections = []
        for _ in range(2):
            layers, mine = [], set[Fact]()
            for size in (facts, facts // 3):
                gone = {row for row in sorted(mine) if chance.random() < 0.4}
                new = {tuple(chance.choice(column) for column in columns) for _ in range(size)} - mine - self.rows
                layers.append(Layer(*({"p": part} if (part := self._part(rows)).rows else {} for rows in (new, gone))))
                mine = (mine - gone) | new
            sections.append(layers)
            self.rows |= mine
        self.facts = FactFiles.of_layers(folder, sections, "p", len(columns))

    def _part(self, rows: set[Fact]) -> Any:
        columns = zip(*sorted(rows), strict=True) if rows else ()
        table = pa.table({f"a{at}": pa.array(map(TERMS.index, column)) for at, column in enumerate(columns)})
        self._files += 1
        file = self._folder / f"{self._files}.parquet"
        pq.write_table(table, file, row_group_size=50) if rows else write_file(
            pa.table({"a0": pa.array([], pa.int64())}), file
        )
        return part_of([file], lambda path: path.name)


def terms(folder: Path, chance: random.Random) -> TermFiles:
    """Two files of terms, in any order, with ids that nobody uses between."""
    order = chance.sample(range(len(TERMS)), len(TERMS))
    pieces = (order[::2], order[1::2])
    files = [
        write_file(
            pa.table({"id": pa.array(some), "term": [TERMS[one] for one in some]}), folder / f"terms-{number}.parquet"
        )
        for number, some in enumerate(pieces)
    ]
    return TermFiles(tuple(files), len(TERMS) + 3)


def sorted_lines(rows: set[Fact], field: Any, delimiter: str, end: str) -> bytes:
    lines = [[field(term) for term in row] for row in rows]
    return b"".join(
        line + b"\n" for line in sorted((delimiter.join(line) + end).encode() for line in lines if None not in line)
    )


def turtle(rows: set[Fact]) -> bytes:
    declared = turtle_prefixes(PREFIXES)
    known = TurtleTerms(declared)
    ordered = sorted(
        rows, key=lambda row: (row[0].encode(), row[1] != write_term(RDF_TYPE), *(one.encode() for one in row[1:]))
    )
    text = turtle_header(declared) + "\n"
    for subject, triples in groupby(ordered, key=lambda row: row[0]):
        groups = [
            f"{known.predicate(predicate)} {', '.join(known.term(row[2]) for row in some)}"
            for predicate, some in groupby(triples, key=lambda row: row[1])
        ]
        text += known.term(subject) + " " + " ;\n    ".join(groups) + " .\n"
    return text.encode()


def is_rdf(row: Fact) -> bool:
    return row[1][0] == "<" and all(term[0] != '"' for term in (row[0], *row[3:]))


def table_rows(file: Path) -> list[Fact]:
    """Facts of a Parquet file as terms, in their order."""
    table = pq.read_table(file)
    columns = [
        column.to_pylist() if field.metadata else texts_of(column.combine_chunks()).to_pylist()
        for column, field in zip(table.columns, table.schema, strict=True)
    ]
    return list(zip(*columns, strict=True))


@pytest.fixture(params=["few", "many"])
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run in this process; of many facts, in several parts of a few dozen."""
    numbers = lambda spark, tasks, task: [pair for number in range(tasks) for pair in task(number)]  # noqa: E731
    monkeypatch.setattr(writing, "_run", numbers)
    monkeypatch.setattr(writing, "tasks_at_once", lambda spark: 2)
    if request.param == "many":
        _many(monkeypatch)


def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "FEW", 20)
    monkeypatch.setattr(writing, "PART", 30)
    monkeypatch.setattr("everlog.store.publishing.fact_files._TERMS", 17)


def compare(spark: Any, folder: Path, seed: int, sizes: Sequence[int] = (40, 100, 150, 5, 60)) -> None:
    """Writes random facts in all forms, so many of each predicate, and compares bytes."""
    chance = random.Random(seed)
    known = terms(folder, chance)
    graphs = [TERMS, TERMS, TERMS, RESOURCES]
    stores = []
    for arity, size in zip((1, 2, 3, 3, 4), sizes, strict=True):
        place = folder / f"store-{len(stores)}"
        place.mkdir()
        stores.append(Store(place, chance, graphs[:arity], size))
    _, _, triple, few, quad = stores
    forms: list[tuple[Store, WrittenForm, bytes]] = [
        *((one, CSV, sorted_lines(one.rows, csv_field, ",", "")) for one in stores),
        *((one, FACTS, sorted_lines(one.rows, facts_field, "\t", "")) for one in stores),
        *(
            (one, Statements(), sorted_lines(set(filter(is_rdf, one.rows)), str, " ", " ."))
            for one in (triple, few, quad)
        ),
        *((one, Turtle.of(PREFIXES), turtle(set(filter(is_rdf, one.rows)))) for one in (triple, few)),
    ]
    targets = [Target(folder / f"out-{number}", form, one.facts) for number, (one, form, _) in enumerate(forms)]
    tables = [Target(folder / f"table-{number}", TableForm(), one.facts) for number, one in enumerate(stores)]
    left_out = writing.write_files(spark, [*targets, *tables], known)
    for target, (one, form, expected), count in zip(targets, forms, left_out, strict=False):
        assert target.path.read_bytes() == expected, f"{form} of {len(one.facts.slices)} slices"
        written = len(one.rows) - count
        assert form in (CSV, FACTS) or written == sum(map(is_rdf, one.rows))
        assert form is not FACTS or written == sum(None not in map(facts_field, row) for row in one.rows)
        assert form is not CSV or not count
    for target, one in zip(tables, stores, strict=True):
        assert table_rows(target.path) == sorted(one.rows, key=lambda row: [term.encode() for term in row])
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("seed", range(3))
def test_random_facts_of_adverse_terms(tmp_path: Path, seed: int) -> None:
    compare(None, tmp_path, seed)


def test_tasks_of_spark_write_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _many(monkeypatch)
    monkeypatch.setattr(writing, "PART", 50)
    monkeypatch.setattr(writing, "_TASKS_PER_CORE", 1)
    compare(spark, tmp_path, 7)


def test_lines_of_rdf_are_those_of_pyoxigraph(tmp_path: Path, here: None) -> None:
    nodes, values = IRIS, [*STRINGS, *LITERALS, *IRIS]
    triples = [(node, other, value) for node in nodes for other in nodes[:3] for value in values]
    quads = [(*triple, node) for triple in triples[:200] for node in nodes]
    from support.filing import filed

    def read(value: Value) -> Any:
        return Literal(value) if isinstance(value, str) else value

    found = filed(tmp_path, {"triple": triples, "quad": quads})
    targets = [Target(tmp_path / name, Statements(), facts) for name, facts in found.facts.items()]
    writing.write_files(None, targets, found.terms)  # type: ignore[arg-type]
    for name, kind, facts in (("triple", Triple, triples), ("quad", Quad, quads)):
        lines = sorted(f"{kind(*map(read, fact))} .\n".encode() for fact in facts)  # type: ignore[operator]
        assert (tmp_path / name).read_bytes() == b"".join(lines)


def test_a_first_term_with_most_facts_is_in_one_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: None
) -> None:
    from support.filing import filed

    rows = [("hub", number) for number in range(500)] + [(f"a{number}", number) for number in range(30)]
    found = filed(tmp_path, {"p": rows})
    writing.write_files(None, [Target(tmp_path / "p.csv", CSV, found.facts["p"])], found.terms)  # type: ignore[arg-type]
    expected = sorted(f"{first},{second}\n" for first, second in rows)
    assert (tmp_path / "p.csv").read_text() == "".join(expected)


def test_parts_of_other_types_are_joined_as_terms(tmp_path: Path, here: None) -> None:
    from support.filing import filed

    rows: list[tuple[Value, ...]] = [(number, number) for number in range(100)]
    rows += [(f"w{number}", number) for number in range(100)]
    found = filed(tmp_path, {"p": rows})
    writing.write_files(None, [Target(tmp_path / "p", TableForm(), found.facts["p"])], found.terms)  # type: ignore[arg-type]
    assert pq.read_schema(tmp_path / "p").types == [pa.string(), pa.int64()]
    assert set(table_rows(tmp_path / "p")) == {tuple(map(write_term, row)) for row in rows}
