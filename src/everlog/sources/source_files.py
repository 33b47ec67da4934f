"""Which files a path means, and what is in them, judged by their names.

`<predicate>.csv` and its kin hold facts of one predicate, as a file or as a folder of part files; RDF files hold triples.
A folder may hold any of these and nothing else. Names that begin with a dot or an underscore are not looked at: Spark
leaves such files beside its own, and does not read them either.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.rdf.owl.axiom_triples import ADVICE
from everlog.sources.file_names import predicate_of
from everlog.sources.problems import SourceMistake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT_TABLES = ("csv", "tsv", "jsonl")
BINARY_TABLES = ("parquet", "orc")
RDF_LINES = ("nt", "nq")
RDF_DOCUMENTS = ("ttl", "trig", "rdf", "owl", "xml")
_ONTOLOGIES = ("ofn", "owx")
"""Ontologies in syntaxes that are no RDF."""
_TABLES = (*TEXT_TABLES, *BINARY_TABLES)
_TABLE_FORMATS = {
    "_delta_log": ("delta", "Delta Lake"),
    "metadata/*.metadata.json": ("iceberg", "Iceberg"),
    ".hoodie": ("hudi", "Hudi"),
}
"""What is in the folder of a table that is more than its files, how Spark names its format, and how people do."""

_FORMATS = (*_TABLES, *RDF_LINES, *RDF_DOCUMENTS, *_ONTOLOGIES)
_BY_LINES = (*TEXT_TABLES, *RDF_LINES)
_EXPECTED = (
    "expected <predicate>.csv, .tsv, .jsonl, .parquet or .orc, or RDF as .nt, .nq, .ttl, .trig, .rdf, .owl or .xml; "
    "text may be compressed as .gz, line by line formats also as .bz2"
)


@dataclass(frozen=True)
class Source:
    """A table's files, or one RDF file. `predicate` is None for RDF."""

    path: str
    format: str
    predicate: str | None
    files: tuple[str, ...]


def find_sources(spark: SparkSession, paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Source], list[str]]:
    """The sources that paths mean, each once, in a fixed order; and warnings."""
    found: dict[str, Source] = {}
    warnings = []
    for given in paths:
        path = os.fspath(given)
        sources = _remote(spark, path) if is_remote(path) else _local(_plain(path))
        if not sources:
            warnings.append(f"{path}: the folder holds no facts")
        found.update((source.path, source) for source in sources)
    return list(found.values()), warnings


def is_remote(path: str) -> bool:
    """Whether a path names a file system that only Spark can look into."""
    return "://" in path and not path.startswith("file:")


def _plain(path: str) -> Path:
    return Path(os.path.abspath(path.removeprefix("file://").removeprefix("file:")))


def _local(path: Path) -> list[Source]:
    if not path.exists():
        raise SourceMistake(f"{path}: no such file or folder")
    if path.is_dir() and _format_of(path.name)[0] not in _TABLES:
        return [_file_or_table(entry) for entry in _entries(path)]
    return [_file_or_table(path)]


def _file_or_table(path: Path) -> Source:
    if not path.is_dir():
        return _one_file(path)
    if _format_of(path.name)[0] in _TABLES:
        return _table_folder(path)
    raise SourceMistake(f"{path}: a folder inside of a folder of facts that is no table; {_EXPECTED}")


def _one_file(path: Path) -> Source:
    if not path.is_file():
        raise SourceMistake(f"{path}: neither a file nor a folder")
    source = _named(str(path), path.name, (str(path),))
    _check_readable(path)
    return source


def _table_folder(path: Path) -> Source:
    files = _entries(path)
    for entry in files:
        if entry.is_dir():
            raise SourceMistake(
                f"{entry}: a folder inside of the table {path.name}; tables in partitions are not supported"
            )
        _check_readable(entry)
    return _named(str(path), path.name, tuple(map(str, files)))


def _entries(folder: Path) -> list[Path]:
    for mark, (format, name) in _TABLE_FORMATS.items():
        if any(folder.glob(mark)):
            raise SourceMistake(
                f"{folder}: a table of {name}, which keeps files that are not its rows any more; read it by Spark, if the "
                f'session knows the format, and give the DataFrame: spark.read.format("{format}").load("{folder}")'
            )
    try:
        return sorted(entry for entry in folder.iterdir() if entry.name[0] not in "._")
    except OSError as failure:
        raise SourceMistake(f"{folder}: cannot be read: {failure.strerror}") from failure


def _check_readable(path: Path) -> None:
    if not os.access(path, os.R_OK):
        raise SourceMistake(f"{path}: cannot be read: permission denied")


def _named(path: str, name: str, files: tuple[str, ...]) -> Source:
    format, stem = _format_of(name)
    if format in _ONTOLOGIES:
        raise SourceMistake(f"{path}: an ontology, by its name; {ADVICE}")
    if format is None:
        raise SourceMistake(f"{path}: not a format that Everlog reads; {_EXPECTED}")
    if format not in _TABLES:
        return Source(path, format, None, files)
    if not stem:
        raise SourceMistake(f"{path}: the name of the file has no predicate; {_EXPECTED}")
    return Source(path, format, predicate_of(stem), files)


def _format_of(name: str) -> tuple[str | None, str]:
    """The format that a file's name tells, and the rest of the name.

    >>> _format_of("edge.csv.gz"), _format_of("a.b.nt"), _format_of("edge.parquet.gz")
    (('csv', 'edge'), ('nt', 'a.b'), (None, ''))
    """
    if "." not in name:  # a folder called `csv` holds tables and is none
        return None, ""
    stem, _, suffix = name.rpartition(".")
    allowed: Iterable[str] = _FORMATS
    if suffix.lower() in ("gz", "bz2"):
        allowed = (*_BY_LINES, *RDF_DOCUMENTS, *_ONTOLOGIES) if suffix.lower() == "gz" else _BY_LINES
        stem, _, suffix = stem.rpartition(".")
    format = suffix.lower()
    return (format, stem) if format in allowed else (None, "")


# File systems that Spark looks into


def _remote(spark: SparkSession, path: str) -> list[Source]:
    from pyspark.errors import PySparkException

    from everlog.spark.failures import as_everlog_error

    name = path.rstrip("/").rpartition("/")[2]
    try:
        # Only names are asked for, so that no file is opened.
        listing = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path).select("path")
        files = sorted(row["path"] for row in listing.collect())
    except PySparkException as failure:
        raise as_everlog_error(failure, f"listing {path}") from failure
    if _format_of(name)[0] is not None:
        return [_named(path, name, tuple(files))]
    tables: dict[str, list[str]] = {}
    for file in files:
        parent = file.rpartition("/")[0]
        folder = parent.rpartition("/")[2]
        if folder != name and _format_of(folder)[0] in _TABLES:
            tables.setdefault(parent, []).append(file)
        else:
            tables.setdefault(file, []).append(file)
    return [_named(key, key.rpartition("/")[2], tuple(parts)) for key, parts in sorted(tables.items())]
