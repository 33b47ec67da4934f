"""Which files facts become for others: CSV, Parquet, RDF, Soufflé's files, one for each predicate, and warnings.

N-Triples and Turtle hold RDF triples only: a fact of `triple` with a literal as its subject is left out, and a warning
counts those; so is, in Soufflé's files, a fact with a tab or a line break. How files are written is in `publishing/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from everlog.datalog.constraints import OF_SHAPES
from everlog.datalog.prefixes import NO_PREFIXES
from everlog.datalog.syntax import QUAD, TRIPLE, Program
from everlog.errors import EverlogError
from everlog.sources.file_names import file_stem
from everlog.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from everlog.store.publishing.fact_files import FactFiles, FiledFacts
    from everlog.store.publishing.written_form import WrittenForm

RdfFormat: TypeAlias = Literal["nt", "ttl"]
OutcomeFormat: TypeAlias = Literal["nt", "ttl", "facts"]
Format: TypeAlias = Literal["csv", "parquet", "nt", "ttl", "facts"]

RDF_PREDICATES: Final = (TRIPLE, QUAD)
"""What RDF has statements of."""

_RDF_NAMES: Final = {"nt": "N-Triples", "ttl": "Turtle"}


def derived_predicates(program: Program) -> list[str]:
    """The predicates in rules' heads, in the order of the text, without those that rules for shapes need for themselves."""
    return _without_parts_of_shapes(rule.head.predicate for rule in program.rules)


def published_predicates(program: Program) -> list[str]:
    """The predicates of `--out`: those in a rule's head or a fact of the program, in the order of the text."""
    given = _without_parts_of_shapes(fact.predicate for fact in program.facts)
    return list(dict.fromkeys([*derived_predicates(program), *given]))


def _without_parts_of_shapes(predicates: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(predicates) if not name.startswith(OF_SHAPES)]


def publish_outcome(
    spark: SparkSession,
    predicates: Sequence[str],
    filed: FiledFacts,
    folder: Path,
    form: OutcomeFormat = "nt",
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> list[str]:
    """What `--out` gets: some predicates as CSV or as Soufflé has them, and all triples as RDF. Gives warnings.

    `filed` may lack predicates that have no facts.
    """
    suffix = "facts" if form == "facts" else "csv"
    files = [_File(folder / f"{file_stem(name)}.{suffix}", name, filed.facts.get(name)) for name in predicates]
    if TRIPLE in filed.facts or TRIPLE in predicates:
        name = f"triples.{'nt' if form == 'facts' else form}"
        files.append(_File(folder / name, TRIPLE, filed.facts.get(TRIPLE)))
    return _write(spark, files, filed, prefixes)


def export(
    spark: SparkSession,
    filed: FiledFacts,
    folder: Path,
    form: Format,
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> list[str]:
    """Every predicate as a file of its own; gives warnings. As RDF there are only triples, and quads as N-Quads.

    Turtle has `prefixes`.
    """
    if form == "nt" or form == "ttl":
        return _export_rdf(spark, filed, folder, form, prefixes)
    files = [_File(folder / f"{file_stem(name)}.{form}", name, facts) for name, facts in filed.facts.items()]
    return _write(spark, files, filed, prefixes)


def _export_rdf(
    spark: SparkSession, filed: FiledFacts, folder: Path, form: RdfFormat, prefixes: Mapping[str, str]
) -> list[str]:
    names = {TRIPLE: f"triples.{form}", QUAD: "quads.nq"}
    files = [_File(folder / name, which, filed.facts[which]) for which, name in names.items() if which in filed.facts]
    language = _RDF_NAMES[form]
    if not files:
        raise EverlogError(f"there are no triples to write as {language}; use --format csv or --format parquet")
    warnings = _write(spark, files, filed, prefixes)
    if others := [predicate for predicate in filed.facts if predicate not in names]:
        shown = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        every = "--format csv or parquet has every predicate"
        warnings.append(f"{language} has triples only; left out: {shown} ({every})")
    return warnings


def export_representatives(
    spark: SparkSession,
    filed: FiledFacts,
    representatives: FactFiles,
    folder: Path,
    form: Format,
    prefixes: Mapping[str, str] = NO_PREFIXES,
) -> list[str]:
    """Facts about representatives in a folder of their own, and names with their representatives; gives warnings.

    Names with their representatives are pairs, or in RDF triples of owl:sameAs.
    """
    (folder / "facts").mkdir()
    named = _File(folder / f"representatives.{form}", "owl:sameAs", representatives)
    return [*_write(spark, [named], filed, prefixes), *export(spark, filed, folder / "facts", form, prefixes)]


@dataclass(frozen=True)
class _File:
    """A file to be written, in the format that its name tells."""

    path: Path
    predicate: str
    facts: FactFiles | None

    def form(self, prefixes: Mapping[str, str]) -> WrittenForm:
        from everlog.store.publishing.line_forms import CSV, FACTS
        from everlog.store.publishing.rdf_forms import Statements, Turtle
        from everlog.store.publishing.table_form import TableForm

        if self.path.suffix == ".ttl":
            return Turtle.of(prefixes)
        return {".csv": CSV, ".facts": FACTS, ".parquet": TableForm(), ".nt": Statements(), ".nq": Statements()}[
            self.path.suffix
        ]

    def warning(self, left_out: int) -> str:
        if self.path.suffix == ".facts":
            return f"{self.path.name} lacks {counted(left_out, 'fact')} with a tab or a line break in them"
        why = "a literal as subject, or no IRI as predicate"
        return f"{self.path.name} lacks {counted(left_out, 'fact')} of {self.predicate} that are no RDF ({why})"


def _write(spark: SparkSession, files: Sequence[_File], filed: FiledFacts, prefixes: Mapping[str, str]) -> list[str]:
    """Writes files, an empty one where there are no facts; gives a warning for each that lacks some."""
    from everlog.store.publishing.write_files import Target, write_files

    targets = {}
    for file in files:
        if file.facts is None:
            file.path.touch()
        else:
            targets[file] = Target(file.path, file.form(prefixes), file.facts, filed.columns.get(file.predicate, ()))
    left_out = write_files(spark, list(targets.values()), filed.terms)
    return [file.warning(number) for file, number in zip(targets, left_out, strict=True) if number]
