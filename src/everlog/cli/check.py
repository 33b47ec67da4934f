"""`everlog check`: which versions of a store are whole, and what is wrong with the others; Spark is not started."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everlog.cli.options import StoreArgument
from everlog.errors import Failure
from everlog.knowledge.progress_display import ProgressDisplay

if TYPE_CHECKING:
    from everlog.store.store_check import CheckedStore, CheckedVersion


def check(
    store: StoreArgument,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Check one version.", show_default="all")
    ] = None,
) -> None:
    """Read every file of a store, and say which versions are whole.

    A version is whole if its manifest can be read and all of its files are there, are as they were written, and have the
    rows that they should.

    The exit code is 1 if something is damaged. Nothing is changed.
    """
    from everlog.store.store_check import check_store

    with ProgressDisplay() as progress:
        progress.step("checking files")
        checked = check_store(store, version, progress.files)
    if checked.current is not None:
        typer.echo(f"{checked.current.file}: {checked.current.what}")
    for one in checked.versions:
        typer.echo(_line(one))
        for damage in one.damage:
            typer.echo(f"  {damage.file}: {damage.what}")
    newest = checked.newest_whole
    if version is not None:
        if any(one.damage for one in checked.versions):
            raise Failure(f"version {version} of the store {store} is damaged")
        if checked.current is not None:
            damaged = checked.current.file
            raise Failure(
                f"version {version} of the store {store} is whole, but {damaged} is damaged: {_advice(store, checked)}"
            )
        return
    typer.echo("no version is whole" if newest is None else f"the newest whole version is {newest}")
    if not checked.is_whole:
        raise Failure(f"the store {store} is damaged: {_advice(store, checked)}")


def _line(checked: CheckedVersion) -> str:
    if checked.damage:
        return f"version {checked.version}: damaged"
    if not checked.unmarked:
        return f"version {checked.version}: whole"
    return (
        f"version {checked.version}: whole, as far as can be told: {checked.unmarked:,} of its files are from before there "
        "were checksums"
    )


def _advice(store: Path, checked: CheckedStore) -> str:
    """What can be done about it."""
    from everlog.store.manifest import FOLDER

    newest = checked.newest_whole
    if newest is None:
        return "bring the files back from a copy"
    if checked.current is None and newest == checked.versions[-1].version:
        return (
            "bring the files back from a copy, or give the damaged versions up by deleting their manifests in the folder "
            f"{FOLDER}; the newest is whole"
        )
    return (
        f"bring the files back from a copy, or go on from version {newest} with "
        f"`everlog restore {shlex.quote(str(store))} --version {newest}`"
    )
