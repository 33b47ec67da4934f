"""The options that commands share, and what they mean for the pipeline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from math import inf
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from everlog.errors import EverlogError
from everlog.sources.column_mapping import IN_CATALOG, Mapped, parse_mapping
from everlog.sources.null_policy import Nulls
from everlog.sources.problems import SourceMistake
from everlog.store.local_place import local_place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_reasoning = partial(typer.Option, rich_help_panel="Reasoning")
_spark = partial(typer.Option, rich_help_panel="Spark")

OnError: TypeAlias = Literal["fail", "skip"]

StoreArgument = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of the store.", show_default=False)]
VersionOption = Annotated[
    int | None, typer.Option("--version", metavar="N", help="An older version.", show_default="the newest")
]
ProgramArguments = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PROGRAM",
        help="Rule files; several mean their union. None is needed with --ontology.",
        show_default=False,
    ),
]
FactsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="A folder or file of facts: <predicate>.csv, .tsv, .facts, .parquet, .jsonl, .orc, or RDF (.nt .ttl .nq "
        ".trig .rdf .owl); .gz too. A pattern in quotes, such as 'data/*.nt', means all that match. May be repeated.",
    ),
]
_TABLES_HELP = (
    "Columns of a table as arguments: edge=orders.parquet:customer,product; also of .orc, .jsonl, .csv with a header, or "
    "of a table that Spark knows, as in edge=table:db.orders:customer,product. May be repeated."
)
TableOption = Annotated[list[str] | None, typer.Option("--table", metavar="PREDICATE=TABLE", help=_TABLES_HELP)]
HeaderOption = Annotated[
    bool, typer.Option("--header", help="The first line of CSV and TSV files has names, and is no fact.")
]
NullsOption = Annotated[
    Nulls,
    typer.Option(
        help="Rows with a null, or with an empty CSV field that is not quoted: an error, or skip them, or have the empty "
        "string there."
    ),
]
NoPartitionColumnsOption = Annotated[
    bool,
    typer.Option(
        "--no-partition-columns", help="The values of partitions, as in edge/dt=2026-01-01/, are no arguments of facts."
    ),
]
StatsOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write what was done, in numbers, as JSON.")]
ProfileRulesOption = Annotated[
    bool, typer.Option("--profile-rules", help="Show what each rule took; --stats has it, too.")
]
ProfilePageOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write what each rule took, with bars, as a page: rules.html.")
]
_ENGINES = "Where to reason: auto, memory or spark."
EngineOption = Annotated[str, _reasoning(help=_ENGINES)]
StoredEngineOption = Annotated[str | None, _reasoning(help=_ENGINES, show_default="as the store was made")]
AlgorithmOption = Annotated[
    str,
    _reasoning(
        help="How to maintain: auto, dred, fbf, bf, dredc, bfc, counting or remat; fbf with a strategy is fbf:depth:3."
    ),
]
ModulesOption = Annotated[
    str, _reasoning(help="Special algorithms for some rules: auto, off, or some of tc,stc,reach,rch,seq.")
]
HypertreeOption = Annotated[str, _reasoning(help="Decompositions of wide rules: auto, cyclic, off or all.")]
StratificationOption = Annotated[str, _reasoning(help="One stratum per level, or as few as can be: levels or single.")]
EqualityOption = Annotated[str, _reasoning(help="Equality by owl:sameAs and `=`: off, rewrite, axioms.")]
MaxRoundsOption = Annotated[
    int | None, _reasoning(metavar="N", min=1, help="Give up after N rounds of a stratum, or of an update.")
]
MaxFactsOption = Annotated[int | None, _reasoning(metavar="N", min=1, help="Give up after N derived facts.")]
_CONSTRAINTS = "Violated constraints: warn; fail, if any are added; or strict, also if there are old ones."
ConstraintsOption = Annotated[str, _reasoning(help=_CONSTRAINTS)]
StoredConstraintsOption = Annotated[str | None, _reasoning(help=_CONSTRAINTS, show_default="as the store was made")]
ShapesOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="A shapes graph of SHACL, which becomes rules. Several are one."),
]
NewShapesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--shapes",
        metavar="FILE",
        help="The shapes of the store as they are now, all of their files: those that are new become rules, and rules of "
        "those that are gone go.",
    ),
]
OnErrorOption = Annotated[
    OnError, typer.Option(help="Malformed input: fail, or skip it and keep it in a quarantine folder.")
]
MemoryOption = Annotated[
    str | None,
    _spark(metavar="SIZE", help="Memory for reasoning in this process, and for Spark's driver, such as 4g."),
]
WaitOption = Annotated[
    float, typer.Option(metavar="SECONDS", help="How long to wait for somebody else who is writing to the store.")
]
MasterOption = Annotated[
    str | None,
    _spark(metavar="URL", help="Spark's master or Connect address; local\\[*] unless SPARK_REMOTE is set."),
]
ConfOption = Annotated[list[str] | None, _spark(metavar="KEY=VALUE", help="A setting of Spark. May be repeated.")]
VerboseOption = Annotated[bool, _spark("--verbose", help="Show what Spark says, and tracebacks of failures.")]

_SIZE = re.compile(r"[1-9][0-9]*[kmgt]b?", re.IGNORECASE)


def reasoning_options(**options: Any) -> dict[str, Any]:
    """The options of a knowledge base, which says here, before Spark starts, what it does not know."""
    from everlog.datalog.syntax import Program
    from everlog.knowledge.base import KnowledgeBase

    KnowledgeBase(Program(), **options)
    return options


def session_conf(conf: Sequence[str] | None, memory: str | None) -> dict[str, str]:
    """Spark's settings of the command line."""
    settings: dict[str, str] = {}
    if memory is not None:
        if not _SIZE.fullmatch(memory):
            raise EverlogError(f"--memory {memory}: give a number and a unit, such as 800m or 4g")
        settings["spark.driver.memory"] = memory
    for text in conf or ():
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise EverlogError(f"--conf {text}: give KEY=VALUE, such as spark.sql.shuffle.partitions=8")
        settings[key] = value
    return settings


def started_session(
    master: str | None,
    settings: Mapping[str, str],
    verbose: bool,
    paths: Iterable[str | Path],
    engine: str | None = "memory",
) -> SparkSession:
    """A Spark session for work on some files, and perhaps for reasoning."""
    from everlog.spark.session import start_session
    from everlog.spark.workers import prepare_workers

    events = engine == "spark"
    if not events:
        Thread(target=_loaded_kernels, name="everlog-kernels", daemon=True).start()  # Spark takes its time
    session = start_session(master=master, conf=settings, verbose=verbose, brief=is_little(paths), events=events)
    prepare_workers(session)
    return session


def _loaded_kernels() -> None:
    """Has the memory engine load, or compile, what most programs need; if that fails, whoever needs it says so."""
    with suppress(Exception):
        from everlog.knowledge.base import KnowledgeBase

        kb = KnowledgeBase("two(?x, ?z) :- one(?x, ?y), one(?y, ?z) .", engine="memory", workers=1)
        kb.add({"one": [("a", "b"), ("b", "c")]})
        kb.materialise()


def is_little(paths: Iterable[str | Path]) -> bool:
    """Whether files and folders are little work."""
    return _size(paths) <= _LITTLE


_LITTLE = 16 * 2**20
"""Up to this many bytes are little work."""


def _size(paths: Iterable[str | Path]) -> float:
    """The bytes in files and folders; infinite where only Spark can look."""
    total = 0.0
    for path in paths:
        if "://" in str(path) or str(path).startswith(IN_CATALOG):
            return inf
        total += sum(file.stat().st_size for file in (Path(path), *Path(path).rglob("*")) if file.is_file())
    return total


def check_paths(option: str, paths: Sequence[str] | None) -> list[str]:
    """The paths that paths and patterns mean; a missing one is found before Spark starts.

    Addresses (`s3://…`) are left to Spark.
    """
    from everlog.sources.source_files import expanded

    found: list[str] = []
    for path in paths or ():
        if "://" in path:
            found.append(path)
            continue
        try:
            found += expanded(path)
        except SourceMistake as mistake:
            raise EverlogError(f"{option} {mistake}") from mistake
        if not Path(found[-1]).exists():
            raise EverlogError(f"{option} {path}: no such file or folder")
    return found


def check_tables(option: str, tables: Sequence[str] | None) -> list[Mapped]:
    """The tables that are mapped to predicates; a missing one is found before Spark starts."""
    found = [parse_mapping(text, option) for text in tables or ()]
    check_paths(option, [mapped.table for mapped in found if not mapped.table.startswith(IN_CATALOG)])
    return found


def check_out(out: str) -> None:
    """Raises unless a folder of this machine is new or empty; at another address only Spark can look."""
    from everlog.sources.source_files import is_remote
    from everlog.store.whole_folder import check_new

    if not is_remote(out):
        check_new(Path(out))


def check_remote_out(spark: SparkSession, out: str) -> None:
    """The same for an address, as soon as there is Spark."""
    from everlog.sources.source_files import is_remote
    from everlog.store.remote_folder import check_new_address

    if is_remote(out):
        check_new_address(spark, out)


def new_out(spark: SparkSession, out: str) -> AbstractContextManager[Path]:
    """A place to write to, which becomes the folder if the block ends well."""
    from everlog.sources.source_files import is_remote
    from everlog.store.remote_folder import new_remote_folder
    from everlog.store.whole_folder import new_folder

    return new_remote_folder(spark, out) if is_remote(out) else new_folder(Path(out))


def quarantine_of(out: str | None) -> Path:
    """The folder for malformed input: beside the output, or here if that is nowhere on this machine."""
    from everlog.sources.source_files import is_remote

    return Path("everlog.quarantine" if out is None or is_remote(out) else f"{out.rstrip('/')}.quarantine")


def check_file(option: str, path: Path | None) -> None:
    """Raises if a file that is to be written cannot be; that is known before any work."""
    if path is None:
        return
    local_place(path, option)
    if path.is_dir():
        raise EverlogError(f"{option} {path}: this is a folder; give a file")
    if not path.absolute().parent.is_dir():
        raise EverlogError(f"{option} {path}: there is no folder {path.absolute().parent}")
