"""Facts as files for others: CSV, Parquet, RDF, Soufflé's files. Spark jobs turn them into lines, sort and write them.

Spark writes a folder of parts; what is published is one plain file for each predicate, so the parts are joined in their
order. Lines are sorted by their UTF-8 bytes, which is how Spark compares strings, and a fact with a line break inside
quotes is one line. N-Triples and Turtle hold RDF triples only: a fact of `triple` with a literal as its subject is left
out, and a warning counts those; so is, in Soufflé's files, a fact with a tab or a line break. In Turtle the triples of a
subject are together, and subjects are sorted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import islice
from operator import and_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from everlog.datalog.ntriples import write_term
from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.syntax import TRIPLE, Program
from everlog.datalog.values import RDF_TYPE, SAME_AS
from everlog.errors import EverlogError
from everlog.rdf.turtle import TurtleTerms, turtle_header, turtle_lines, turtle_prefixes
from everlog.sources.file_names import file_stem

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

RdfFormat: TypeAlias = Literal["nt", "ttl"]
OutcomeFormat: TypeAlias = Literal["nt", "ttl", "facts"]
Format: TypeAlias = Literal["csv", "parquet", "nt", "ttl", "facts"]

Field: TypeAlias = Callable[[str], str | None]
"""What makes a field of a value in text form; None if it cannot be one."""

QUAD: Final = "quad"
_BLOCK: Final = 10_000
_RDF_NAMES: Final = {"nt": "N-Triples", "ttl": "Turtle"}


def derived_predicates(program: Program) -> list[str]:
    """The predicates in rules' heads, in the order of the text."""
    return list(dict.fromkeys(rule.head.predicate for rule in program.rules))


def published_predicates(program: Program) -> list[str]:
    """The predicates of `--out`: those in a rule's head or a fact of the program, in the order of the text."""
    return list(dict.fromkeys([*derived_predicates(program), *(fact.predicate for fact in program.facts)]))


def publish_outcome(
    predicates: Sequence[str],
    facts: Mapping[str, DataFrame],
    folder: Path,
    form: OutcomeFormat = "nt",
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> list[str]:
    """What `--out` gets: some predicates as CSV or as Soufflé has them, and all triples as RDF. Gives warnings.

    `facts` is in text form, and lacks the predicates that have no facts.
    """
    warnings: list[str] = []
    for predicate in predicates:
        suffix = "facts" if form == "facts" else "csv"
        warnings += _write_table(facts.get(predicate), folder / f"{file_stem(predicate)}.{suffix}")
    if TRIPLE in facts or TRIPLE in predicates:
        name = f"triples.{'nt' if form == 'facts' else form}"
        warnings += write_rdf(TRIPLE, facts.get(TRIPLE), folder / name, prefixes)
    return warnings


def export(
    facts: Mapping[str, DataFrame], folder: Path, form: Format, prefixes: Mapping[str, str] = NO_PREFIXES
) -> list[str]:
    """Every predicate as a file of its own; gives warnings. As RDF there are only triples, and quads as N-Quads.

    Turtle has `prefixes`.
    """
    if form == "nt" or form == "ttl":
        return _export_rdf(facts, folder, form, prefixes)
    return [
        warning
        for predicate, frame in facts.items()
        for warning in _write_table(frame, folder / f"{file_stem(predicate)}.{form}")
    ]


def export_representatives(
    facts: Mapping[str, DataFrame],
    classes: DataFrame,
    folder: Path,
    form: Format,
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> list[str]:
    """Facts about representatives in a folder of their own, and names with their representatives; gives warnings."""
    from pyspark.sql.functions import lit

    (folder / "facts").mkdir()
    path = folder / f"representatives.{form}"
    if form in _RDF_NAMES:
        equal = classes.select("a0", lit(write_term(SAME_AS)).alias("a1"), classes["a1"].alias("a2"))
        warnings = write_rdf("owl:sameAs", equal, path, prefixes)
    else:
        warnings = _write_table(classes, path)
    return [*warnings, *export(facts, folder / "facts", form, prefixes)]


def _export_rdf(
    facts: Mapping[str, DataFrame], folder: Path, form: RdfFormat, prefixes: Mapping[str, str]
) -> list[str]:
    warnings: list[str] = []
    files = {TRIPLE: f"triples.{form}", QUAD: "quads.nq"}
    for predicate, name in files.items():
        if predicate in facts:
            warnings += write_rdf(predicate, facts[predicate], folder / name, prefixes)
    others = [predicate for predicate in facts if predicate not in files]
    language = _RDF_NAMES[form]
    if len(others) == len(facts):
        raise EverlogError(f"there are no triples to write as {language}; use --format csv or --format parquet")
    if others:
        shown = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        every = "--format csv or parquet has every predicate"
        warnings.append(f"{language} has triples only; left out: {shown} ({every})")
    return warnings


# ---------------------------------------------------------------------------------------- one file


def _write_table(facts: DataFrame | None, path: Path) -> list[str]:
    """Facts as a file of the format that its name tells; only lines can be of no facts. Gives warnings."""
    if facts is None:
        path.touch()
    elif path.suffix == ".csv":
        write_csv(facts, path)
    elif path.suffix == ".facts":
        return write_facts(facts, path)
    else:
        write_parquet(facts, path)
    return []


def write_csv(facts: DataFrame, path: Path) -> None:
    """Facts in text form as CSV; the nullary fact is an empty line."""
    from everlog.sources.csv_fields import csv_field

    with _kept(_in_lines(facts, csv_field, ",", nullary="")) as kept:
        _write_lines(kept, path)


def write_facts(facts: DataFrame, path: Path) -> list[str]:
    """Facts in text form as Soufflé has them; gives a warning if some cannot be written so."""
    from everlog.sources.facts_lines import facts_field

    with _kept(_in_lines(facts, facts_field, "\t", nullary="()")) as kept:
        left_out = kept.filter("line IS NULL").count()
        _write_lines(kept.filter("line IS NOT NULL"), path)
    return [f"{path.name} lacks {left_out:,} facts with a tab or a line break in them"] if left_out else []


def write_rdf(
    predicate: str, facts: DataFrame | None, path: Path, prefixes: Mapping[str, str] = NO_PREFIXES
) -> list[str]:
    """Triples or quads in text form, as the file's name says; gives a warning if some are not RDF."""
    if facts is None:
        path.touch()
        return []
    valid = _is_rdf(_arguments(facts))
    with _kept(facts) as kept:
        left_out = kept.filter(~valid).count()
        if path.suffix == ".ttl":
            _write_turtle(kept.filter(valid), path, prefixes)
        else:
            _write_statements(kept.filter(valid), path)
    if not left_out:
        return []
    why = "a literal as subject, or no IRI as predicate"
    return [f"{path.name} lacks {left_out:,} facts of {predicate} that are no RDF ({why})"]


def _write_statements(facts: DataFrame, path: Path) -> None:
    """N-Triples or N-Quads."""
    from pyspark.sql.functions import concat_ws, lit

    _write_lines(facts.select(concat_ws(" ", *_arguments(facts), lit(".")).alias("line")), path)


def _write_turtle(facts: DataFrame, path: Path, prefixes: Mapping[str, str]) -> None:
    """Turtle: a task has all triples of some subjects, `a` before other predicates."""
    from pyspark.sql.functions import col

    declared = turtle_prefixes(prefixes)
    by_subject = facts.repartitionByRange("a0")
    ordered = by_subject.sortWithinPartitions("a0", col("a1") != write_term(RDF_TYPE), "a1", "a2")
    lines = ordered.select("a0", "a1", "a2").mapInArrow(partial(_turtle_batches, declared), "line string")
    _join_parts(lines, path, turtle_header(declared) + "\n")


def _turtle_batches(prefixes: Mapping[str, str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    terms = TurtleTerms(prefixes)

    def triples() -> Iterator[tuple[str, str, str]]:
        for batch in batches:
            columns = []
            for column, written in zip(batch.columns, (terms.term, terms.predicate, terms.term), strict=True):
                encoded = column.dictionary_encode()
                texts = pa.array(map(written, encoded.dictionary.to_pylist()), pa.string())
                columns.append(texts.take(encoded.indices).to_pylist())
            yield from zip(*columns, strict=True)

    lines = turtle_lines(triples())
    while block := list(islice(lines, _BLOCK)):
        yield pa.RecordBatch.from_arrays([pa.array(block, pa.string())], names=["line"])


def write_parquet(facts: DataFrame, path: Path) -> None:
    """Facts in text form as one Parquet file, in columns of their own types where all values of a column share one."""
    import pyarrow.parquet as pq

    from everlog.sources.typed_columns import typed_columns

    with _kept(facts) as kept, _scratch(path) as scratch:
        parts = _written(typed_columns(kept).write.parquet, scratch)
        schema = _marked(pq.read_schema(parts[0]))
        with pq.ParquetWriter(path, schema) as joined:
            for part in parts:
                source = pq.ParquetFile(part, coerce_int96_timestamp_unit="us")  # as Spark writes instants
                for group in range(source.num_row_groups):
                    joined.write_table(source.read_row_group(group).cast(schema))


def _is_rdf(names: Sequence[str]) -> Column:
    from pyspark.sql.functions import col

    subject, predicate, _, *graph = map(col, names)
    resources = (each.startswith("<") | each.startswith("_:") for each in (subject, *graph))
    return reduce(and_, resources, predicate.startswith("<"))


def _arguments(facts: DataFrame) -> list[str]:
    """The columns of the arguments: none for a nullary predicate, whose only column says that it holds."""
    return [field.name for field in facts.schema.fields if field.dataType.typeName() == "string"]


def _in_lines(facts: DataFrame, field: Field, delimiter: str, nullary: str) -> DataFrame:
    """A line for each fact; null where one of its values cannot be a field."""
    names = _arguments(facts)
    if not names:
        return facts.selectExpr(f"'{nullary}' AS line")
    return facts.select(*names).mapInArrow(partial(_lines, field, delimiter), "line string")


def _lines(field: Field, delimiter: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        columns = []
        for column in batch.columns:
            encoded = column.dictionary_encode()
            fields = pa.array([field(text) for text in encoded.dictionary.to_pylist()], pa.string())
            columns.append(fields.take(encoded.indices))
        yield pa.RecordBatch.from_arrays([pc.binary_join_element_wise(*columns, delimiter)], names=["line"])


# ---------------------------------------------------------------------------------------- parts


@contextmanager
def _kept(frame: DataFrame) -> Iterator[DataFrame]:
    """Rows that are computed once, though sorting samples them first: decoding is dearer than keeping."""
    kept = frame.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


def _scratch(path: Path) -> TemporaryDirectory[str]:
    """A place for Spark's parts, on the disk that the file is for."""
    return TemporaryDirectory(prefix=".everlog-parts-", dir=path.parent, ignore_cleanup_errors=True)


def _written(write: Callable[[str], None], scratch: str) -> list[Path]:
    """The parts that Spark writes, in their order."""
    folder = Path(scratch, "parts")
    write(str(folder))
    return sorted(folder.glob("part-*"), key=lambda path: int(path.name.split("-")[1]))


def _write_lines(lines: DataFrame, path: Path) -> None:
    _join_parts(lines.sort("line"), path)


def _join_parts(lines: DataFrame, path: Path, header: str = "") -> None:
    """Lines that are in their order as one file."""
    with _scratch(path) as scratch:
        parts = _written(lines.write.text, scratch)
        with path.open("wb") as joined:
            joined.write(header.encode())
            for part in parts:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, joined, 1 << 20)


def _marked(schema: pa.Schema) -> pa.Schema:
    """Arrow's readers find the mark of N-Triples columns in the field, Spark's in the key that Spark left.

    Of Spark's timestamps they would not know that they are in UTC.
    """
    import json

    from everlog.engine.literal_columns import INSTANT
    from everlog.sources.typed_columns import NTRIPLES

    described = json.loads((schema.metadata or {}).get(b"org.apache.spark.sql.parquet.row.metadata", b'{"fields": []}'))
    marked = {field["name"] for field in described["fields"] if field["metadata"] == NTRIPLES}
    instants = {field["name"] for field in described["fields"] if field["type"] == INSTANT.name}
    for number, field in enumerate(schema):
        if field.name in marked:
            schema = schema.set(number, field.with_metadata(NTRIPLES))
        elif field.name in instants:
            schema = schema.set(number, field.with_type(INSTANT.type))
    return schema
