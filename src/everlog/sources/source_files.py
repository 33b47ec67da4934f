"""Which files a path means, and what is in them, judged by their names.

`<predicate>.csv` and its kin hold facts of one predicate, as a file or as a folder of part files; RDF files hold triples.
A folder is such a table if it is named like one, if it holds partitions (`dt=2026-01-01/`), or if all of its files are
named like parts (`part-0.parquet`): then its name is the predicate. Any other folder holds files and tables, and a folder
in it is a table, whatever its files are called. Names that begin with a dot or an underscore are not looked at: Spark
leaves such files beside its own, and does not read them either. A path may be a pattern with `*`, `?` and `[…]`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.rdf.owl.axiom_triples import ADVICE
from everlog.sources.column_mapping import IN_CATALOG, Mapped
from everlog.sources.file_names import predicate_of
from everlog.sources.folder_walk import LAKES, Folders, LocalFolders, check_readable, is_hidden, walk
from everlog.sources.problems import SourceMistake
from everlog.sources.table_folders import is_part, is_partition, partition_columns, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT_TABLES = ("csv", "tsv", "facts", "jsonl")
BINARY_TABLES = ("parquet", "orc")
CATALOG = "table"
"""The format of a table that Spark knows by its name."""
RDF_LINES = ("nt", "nq")
RDF_DOCUMENTS = ("ttl", "trig", "rdf", "owl", "xml")
_ONTOLOGIES = ("ofn", "owx")
"""Ontologies in syntaxes that are no RDF."""
_TABLES = (*TEXT_TABLES, *BINARY_TABLES)
_FORMATS = (*_TABLES, *RDF_LINES, *RDF_DOCUMENTS, *_ONTOLOGIES)
_BY_LINES = (*TEXT_TABLES, *RDF_LINES)
_PATTERN = re.compile(r"[*?\[]")
_EXPECTED = (
    "expected <predicate>.csv, .tsv, .facts, .jsonl, .parquet or .orc, or RDF as .nt, .nq, .ttl, .trig, .rdf, .owl or .xml"
    "; text may be compressed as .gz, line by line formats also as .bz2"
)


@dataclass(frozen=True)
class Source:
    """A table's files, or one RDF file. `predicate` is None for RDF."""

    path: str
    format: str
    predicate: str | None
    files: tuple[str, ...]
    partitions: tuple[str, ...] = ()
    """The columns that the names of folders give."""
    values: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    """By file, the values of these columns."""
    columns: tuple[str, ...] = ()
    """The columns that are arguments, in their order; none means all."""
    has_names: bool = False
    """Whether columns go by their names, so that CSV has a header."""

    @property
    def is_whole(self) -> bool:
        """Whether Spark knows which files it has, if any."""
        return self.format == CATALOG or self.format in LAKES

    def and_files(self, other: Source) -> Source:
        """The same table with the files of another reading of it, too."""
        if self.files and other.files and self.partitions != other.partitions:
            partition_columns(self.path, [*self.files, *other.files])  # which says what is wrong
        files = tuple(dict.fromkeys((*self.files, *other.files)))
        return replace(self, files=files, values={**self.values, **other.values})


def find_sources(spark: SparkSession, paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Source], list[str]]:
    """The sources that paths mean, each once, in a fixed order; and warnings."""
    found: dict[str, Source] = {}
    warnings = []
    for given in paths:
        path = os.fspath(given)
        sources = _remote(spark, path) if is_remote(path) else _local(path)
        if not sources:
            warnings.append(f"{path}: the folder holds no facts")
        for source in sources:
            known = found.get(source.path)
            found[source.path] = source if known is None else known.and_files(source)
    return list(found.values()), warnings


def mapped_sources(spark: SparkSession, mapped: Mapped) -> list[Source]:
    """The sources of a predicate whose arguments are columns of a table."""
    if mapped.table.startswith(IN_CATALOG):
        found = [Source(mapped.table, CATALOG, mapped.predicate, ())]
    else:
        found, _ = find_sources(spark, [mapped.table])
    for source in found:
        if source.predicate is None:
            raise SourceMistake(
                f"{source.path}: RDF has no columns to choose from; give it as facts, without a predicate"
            )
    if not found:
        raise SourceMistake(f"{mapped.table}: the folder holds no table")
    return [replace(source, predicate=mapped.predicate, columns=mapped.columns, has_names=True) for source in found]


def is_remote(path: str) -> bool:
    """Whether a path names a file system that only Spark can look into."""
    return "://" in path and not path.startswith("file:")


def expanded(path: str) -> list[str]:
    """The files and folders of this machine that a path means, which may be a pattern; or `SourceMistake`.

    A file that is named like a pattern is that file.
    """
    plain = path.removeprefix("file://").removeprefix("file:")
    if not _PATTERN.search(plain) or Path(plain).exists():
        return [plain]
    found = sorted(one for one in glob(plain) if not is_hidden(one.rstrip("/").rpartition("/")[2]))
    if not found:
        raise _unmatched(path)
    return found


def _unmatched(path: str) -> SourceMistake:
    return SourceMistake(f"{path}: no file or folder matches this pattern")


def _local(path: str) -> list[Source]:
    return [source for one in expanded(path) for source in _sources_at(Path(os.path.abspath(one)))]


def _missing(path: str) -> SourceMistake:
    return SourceMistake(f"{path}: no such file or folder")


def check_there(path: str | os.PathLike[str]) -> None:
    """Raises `SourceMistake` if a path means nothing on this machine, as far as that can be seen without Spark."""
    text = os.fspath(path)
    if not is_remote(text):
        for one in expanded(text):
            if not Path(one).exists():
                raise _missing(os.path.abspath(one))


def _sources_at(path: Path) -> list[Source]:
    if path.is_dir():
        return _below(LocalFolders(), str(path))
    if not path.exists():
        raise _missing(str(path))
    if not path.is_file():
        raise SourceMistake(f"{path}: neither a file nor a folder")
    source = _one_file(str(path))
    check_readable(str(path))
    return [source]


def _below(files: Folders, folder: str) -> list[Source]:
    """What is in a folder, tables of other formats included."""
    lakes: dict[str, str] = {}
    below = list(walk(files, folder, lakes))
    if isinstance(files, LocalFolders):
        for file in below:
            check_readable(file)
    tables = [_lake_table(place, format) for place, format in lakes.items()]
    return tables if folder in lakes else [*_in_folder(folder, below), *tables]


def _lake_table(path: str, format: str) -> Source:
    name = path.rpartition("/")[2].removesuffix(f".{format}")
    known, stem = _format_of(name)
    return Source(path, format, predicate_of(stem if known in _TABLES else name), ())


# What is in a folder, by the names of its files


def _one_file(path: str) -> Source:
    folder, _, name = path.rpartition("/")
    if _format_of(name)[0] in _TABLES and (is_part(name) or is_partition(folder.rpartition("/")[2])):
        return _table(table_of(folder), [path])
    return _named(path, name, (path,))


def _in_folder(path: str, files: Sequence[str]) -> list[Source]:
    name = path.rpartition("/")[2]
    below = [file[len(path) + 1 :] for file in files]
    if _format_of(name)[0] in _TABLES or is_partition(name) or _is_table(below):
        return [_table(table_of(path), files)]
    tables: dict[str, list[str]] = {}
    for file, rest in zip(files, below, strict=True):
        tables.setdefault(rest.partition("/")[0], []).append(file)
    return [
        _one_file(parts[0]) if parts == [f"{path}/{entry}"] else _table(f"{path}/{entry}", parts)
        for entry, parts in tables.items()
    ]


def _is_table(below: Sequence[str]) -> bool:
    """Whether a folder with these files is a table, though its name does not say so."""
    if any(is_partition(rest.partition("/")[0]) for rest in below if "/" in rest):
        return True
    return bool(below) and all("/" not in rest and is_part(rest) and _format_of(rest)[0] in _TABLES for rest in below)


def _table(path: str, files: Sequence[str]) -> Source:
    """The table in a folder; if its name does not tell the format, the names of its files do."""
    name = path.rpartition("/")[2]
    columns, values = partition_columns(path, files)
    if _format_of(name)[0] in _TABLES:
        return replace(_named(path, name, tuple(files)), partitions=columns, values=values)
    formats: dict[str | None, str] = {}
    for file in files:
        formats.setdefault(_format_of(file.rpartition("/")[2])[0], file)
    if other := next((file for format, file in formats.items() if format not in _TABLES), None):
        raise SourceMistake(f"{other}: not a part of the table {name}; {_EXPECTED}")
    (format, first), *others = formats.items()
    if others:
        raise SourceMistake(f"{others[0][1]}: not of the same format as {first}; the table {name} has one format")
    assert format is not None
    return Source(path, format, predicate_of(name), tuple(files), columns, values)


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
    from everlog.spark.failures import spark_failures
    from everlog.spark.hadoop_files import HadoopFiles, has_hadoop

    pattern = path.rstrip("/")
    with spark_failures(f"listing {path}"):
        if not has_hadoop(spark):
            return _listed_by_spark(spark, pattern)
        files = HadoopFiles(spark, pattern)
        if files.exists(pattern):
            found = [files.qualified(pattern)]
        elif not _PATTERN.search(pattern):
            raise _missing(path)
        else:
            found = [one for one in files.matches(pattern) if not is_hidden(one.rpartition("/")[2])]
        if not found:
            raise _unmatched(path)
        return [
            source for one in found for source in (_below(files, one) if files.is_folder(one) else [_one_file(one)])
        ]


def _listed_by_spark(spark: SparkSession, pattern: str) -> list[Source]:
    """The sources where there is no JVM to ask, from files that Spark lists, which leaves out hidden ones."""
    from pyspark.errors import PySparkException

    try:
        # Only names are asked for, so that no file is opened.
        listing = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(pattern).select("path")
        files = sorted(row["path"] for row in listing.collect())
    except PySparkException as failure:
        if _PATTERN.search(pattern) and "PATH_NOT_FOUND" in str(failure):
            raise _unmatched(pattern) from failure
        raise
    # What a pattern matches is as many names long as the pattern is.
    length = pattern.count("/") + 1
    roots: dict[str, list[str]] = {}
    for file in files:
        roots.setdefault("/".join(file.split("/")[:length]), []).append(file)
    sources = []
    for root, below in roots.items():
        sources += [_one_file(root)] if below == [root] else _in_folder(root, below)
    return sources
