"""`everlog info`: what a store holds, from its manifest alone; Spark is not started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from everlog.cli.options import StoreArgument, VersionOption
from everlog.wording import counted

if TYPE_CHECKING:
    from everlog.datalog.syntax import Program
    from everlog.planning.modules.module_rules import Module
    from everlog.store.versions import Store


_VERSIONS_SHOWN: Final = 10


def info(
    store: StoreArgument,
    version: VersionOption = None,
    rules: Annotated[bool, typer.Option("--rules", help="Print the program of the version, and nothing else.")] = False,
) -> None:
    """Show what a store holds: its newest versions and their rules, program, facts, dictionary, options, bytes on disk."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from everlog.datalog.printer import print_rule
    from everlog.datalog.reader import parse_program
    from everlog.planning.modules.module_rules import relation_name
    from everlog.store.history import history, ranges
    from everlog.store.versions import Store

    opened = Store.open(store, version)
    manifest = opened.manifest
    if rules:
        typer.echo(manifest.program, nl=not manifest.program.endswith("\n"))
        return
    program = parse_program(manifest.program)
    versions = opened.versions()
    console = Console()
    if not console.is_terminal:
        console = Console(width=1_000_000)
    about = Table.grid(padding=(0, 2))
    for name, value in (
        ("store", str(store)),
        ("version", f"{manifest.version} ({len(versions)} kept: {ranges(versions)})"),
        ("format", str(manifest.format)),
        ("program", f"{counted(len(program.rules), 'rule')}, {counted(len(program.facts), 'fact')}"),
        ("dictionary", counted(manifest.dictionary_size, "term")),
        ("options", ", ".join(f"{key}={value}" for key, value in manifest.options.items()) or "none"),
        (
            "on disk",
            f"{_bytes_text(_version_bytes(opened))} this version, {_bytes_text(_all_bytes(opened.path))} in all",
        ),
    ):
        about.add_row(Text(name), Text(value))
    console.print(about)
    times = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    times.add_column("number", justify="right")
    times.add_column("written")
    for name in ("explicit", "derived", "rules"):
        times.add_column(name, justify="right")
    known = history(opened.path, _VERSIONS_SHOWN)
    for one, changed in zip(known, _rule_counts([one.program for one in known]), strict=True):
        written = one.written.strftime("%Y-%m-%d %H:%M:%S UTC")
        times.add_row(str(one.number), written, f"{one.explicit:,}", f"{one.derived:,}", changed)
    console.print()
    console.print(times)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("predicate")
    # Where equal constants are rewritten, fewer facts are stored than hold in all names.
    stored = ("representatives",) if opened.is_rewritten else ()
    for name in ("arity", "explicit", "derived", "total", *stored):
        table.add_column(name, justify="right")
    sums = Counter[str]()
    for predicate in opened.predicates():
        counts = Counter(manifest.counts.get(predicate, {}))
        counts["total"] = counts["explicit"] + counts["derived"]
        sums.update(counts)
        arity = str(manifest.arities[predicate])
        numbers = (f"{counts[name]:,}" for name in ("explicit", "derived", "total", *stored))
        table.add_row(Text(predicate), arity, *numbers)
    table.add_section()
    table.add_row("all", "", *(f"{sums[name]:,}" for name in ("explicit", "derived", "total", *stored)))
    console.print()
    console.print(table)
    modules = _modules(program, manifest.options)
    if modules:
        shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name in ("module", "rules", "why"):
            shown.add_column(name)
        left_out = manifest.statistics.get("left_out", ())
        for module in modules:
            names = [relation_name(atom) for atom in module.heads]
            left = next(
                (one["why"] for one in left_out if (one["kind"], one["predicates"]) == (module.kind, names)), ""
            )
            why = f"not used: {left}" if left else module.why
            shown.add_row(module.kind, Text("\n".join(map(print_rule, module.written))), Text(why))
        console.print()
        console.print(shown)


def _rule_counts(texts: Sequence[str]) -> Iterator[str]:
    """How many rules programs have, one after the other, and how many came and went where that changed."""
    from everlog.datalog.program_changes import rules_between
    from everlog.datalog.reader import parse_program

    before: tuple[str, Program] | None = None
    for text in texts:
        if before is not None and before[0] == text:
            yield f"{len(before[1].rules):,}"
            continue
        program = parse_program(text)
        came, went = ([], []) if before is None else rules_between(before[1], program)
        said = [f"{sign}{len(rules):,}" for sign, rules in (("+", came), ("−", went)) if rules]
        yield " ".join([*said, f"{len(program.rules):,}"])
        before = text, program


def _modules(program: Program, options: Mapping[str, str]) -> Sequence[Module]:
    """The modules of the program, by its rules; whether they are used depends on the engine and on what follows."""
    from everlog.knowledge.settings import Settings
    from everlog.planning.compiled_program import found_modules
    from everlog.planning.literal_places import without_guards

    settings = Settings(algorithm=options.get("algorithm", "auto"), modules=options.get("modules", "auto"))
    if not settings.modular:
        return ()
    single = options.get("stratification") == "single"
    return found_modules(without_guards(program.rules), "single" if single else "levels", settings.kinds)


def _version_bytes(store: Store) -> int:
    return sum((store.path / file).stat().st_size for file in store.manifest.all_files())


def _all_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _bytes_text(count: int) -> str:
    size, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{count} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"
