"""`everlog diff`: what differs between two versions of a store; Spark is not started unless a store needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from everlog.cli.answers import json_value
from everlog.cli.options import StoreArgument
from everlog.cli.outcome import warn
from everlog.datalog.ntriples import read_term, write_term
from everlog.errors import EverlogError
from everlog.wording import counted

if TYPE_CHECKING:
    from everlog.knowledge.version_changes import VersionDiff

_Format: TypeAlias = Literal["text", "csv", "json", "nt"]
_Changed: TypeAlias = tuple[str, str, str, list[tuple[str, ...]]]
"""Whether facts came or went, in which section, of which predicate, and the facts."""


def diff(
    store: StoreArgument,
    first: Annotated[int, typer.Argument(metavar="V1", help="A version.", show_default=False)],
    second: Annotated[int, typer.Argument(metavar="V2", help="Another version.", show_default=False)],
    form: Annotated[
        _Format, typer.Option("--format", help="How facts are written; N-Triples are files, and hold triples only.")
    ] = "text",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A new or empty folder for added/explicit, added/derived, deleted/explicit and deleted/derived, as CSV "
            "or N-Triples, and for added/rules.dlog and deleted/rules.dlog if there are any.",
        ),
    ] = None,
) -> None:
    """Show which rules and facts came and went from version V1 of a store to version V2, explicit and derived ones apart.

    It costs what differs: files that both versions have are not read.
    """
    if form == "nt" and out is None:
        raise EverlogError("--format nt says nothing of what came and what went: give a folder with --out")
    if out is not None and form not in ("csv", "nt"):
        raise EverlogError("--out writes files of facts: give --format csv or --format nt")
    from everlog.knowledge.version_changes import diff as found_diff
    from everlog.store.whole_folder import check_new, new_folder

    if out is not None:
        check_new(out)
    found = found_diff(store, first, second)
    changes, rules = list(_changes(found)), _rules(found, store, second if found.rules_added else first)
    if out is not None:
        with new_folder(out) as folder:
            warn(_write(changes, folder, form == "nt"))
            for change, texts in rules.items():
                (folder / change / "rules.dlog").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        typer.echo(_summary(changes, rules))
    elif form == "json":
        ruled = [{"change": change, "section": "rule", "rule": text} for change in rules for text in rules[change]]
        typer.echo(json.dumps([*ruled, *_objects(changes)], ensure_ascii=False, indent=1))
    elif form == "csv":
        for change, texts in rules.items():
            for text in texts:
                typer.echo(",".join([change, "rule", *_fields((write_term(text),))]))
        for change, section, predicate, rows in changes:
            for row in rows:
                typer.echo(",".join([change, section, *_fields((write_term(predicate), *row))]))
    else:
        for change, texts in rules.items():
            for text in texts:
                typer.echo(f"{'+' if change == 'added' else '-'} {'rule':<8} {text}")
        for line in _lines(changes, store, second):
            typer.echo(line)
        typer.echo(_summary(changes, rules))


def _changes(found: VersionDiff) -> Iterator[_Changed]:
    for section, differs in (("explicit", found.explicit), ("derived", found.derived)):
        for change, facts in (("added", differs.added), ("deleted", differs.deleted)):
            for predicate, rows in facts.items():
                yield change, section, predicate, rows


def _rules(found: VersionDiff, store: Path, version: int) -> dict[str, list[str]]:
    """The texts of rules that came and went, if any, with the prefixes of a version."""
    changed = {"added": found.rules_added, "deleted": found.rules_deleted}
    if not any(changed.values()):
        return {}
    from everlog.datalog.printer import print_rule

    prefixes = _prefixes(store, version)
    return {change: [print_rule(rule, prefixes) for rule in rules] for change, rules in changed.items() if rules}


def _prefixes(store: Path, version: int) -> Mapping[str, str]:
    from everlog.datalog.reader import parse_program
    from everlog.store.versions import Store

    return parse_program(Store.open(store, version).manifest.program).prefixes


def _summary(changes: list[_Changed], rules: Mapping[str, Sequence[str]]) -> str:
    def number(*wanted: str) -> int:
        return sum(len(rows) for change, section, _, rows in changes if (change, section) == wanted)

    came, went = (len(rules.get(change, ())) for change in ("added", "deleted"))
    return "; ".join(
        [
            *([f"{counted(came, 'rule')} added, {went:,} deleted"] if rules else []),
            *(
                f"{section}: {counted(number('added', section), 'fact')} added, {number('deleted', section):,} deleted"
                for section in ("explicit", "derived")
            ),
        ]
    )


def _lines(changes: list[_Changed], store: Path, version: int) -> Iterator[str]:
    """Facts as rules are written, with the prefixes of the later version."""
    from everlog.datalog.printer import print_atom
    from everlog.datalog.syntax import Atom, Constant

    prefixes = _prefixes(store, version)
    for change, section, predicate, rows in changes:
        for row in rows:
            atom = Atom(predicate, tuple(Constant(read_term(text)) for text in row))
            yield f"{'+' if change == 'added' else '-'} {section:<8} {print_atom(atom, prefixes)}"


def _objects(changes: list[_Changed]) -> Iterator[dict[str, object]]:
    for change, section, predicate, rows in changes:
        for row in rows:
            arguments = [json_value(read_term(text)) for text in row]
            yield {"change": change, "section": section, "predicate": predicate, "arguments": arguments}


def _fields(texts: tuple[str, ...]) -> Iterator[str]:
    from everlog.sources.csv_fields import csv_field

    return map(csv_field, texts)


def _write(changes: list[_Changed], folder: Path, ntriples: bool) -> list[str]:
    """A file for each predicate that changed; gives warnings."""
    from everlog.sources.file_names import file_stem

    left_out = 0
    for change in ("added", "deleted"):
        for section in ("explicit", "derived"):
            (folder / change / section).mkdir(parents=True)
    for change, section, predicate, rows in changes:
        if not ntriples:
            file, lines = f"{file_stem(predicate)}.csv", [",".join(_fields(row)) for row in rows]
        elif predicate == "triple":
            rdf = [row for row in rows if row[0][0] in "<_" and row[1][0] == "<"]
            left_out += len(rows) - len(rdf)
            file, lines = "triples.nt", [f"{' '.join(row)} ." for row in rdf]
        else:
            left_out += len(rows)
            continue
        text = "".join(f"{line}\n" for line in sorted(lines, key=str.encode))
        (folder / change / section / file).write_text(text, encoding="utf-8", newline="")
    return [f"{counted(left_out, 'fact')} that are no RDF triples left out; --format csv has all"] if left_out else []
