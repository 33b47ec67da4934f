"""`everlog restore` and `everlog vacuum`: back to an older version of a store, and without the old ones. No Spark."""

from __future__ import annotations

from typing import Annotated

import typer

from everlog.cli.options import StoreArgument, WaitOption
from everlog.cli.outcome import warn
from everlog.wording import counted


def restore(
    store: StoreArgument,
    version: Annotated[int, typer.Option(metavar="N", help="The version to go back to.", show_default=False)],
    wait: WaitOption = 0.0,
) -> None:
    """Make an older version of a store the newest one again.

    It becomes the next version, with the facts and the rules it had. The versions between stay. The newest version may be
    damaged; if even its manifest cannot be read, it is given up.
    """
    from everlog.store.history import restore_version

    number, given_up = restore_version(store, version, wait)
    if given_up:
        warn([f"{given_up} cannot be read, and was removed: its version is given up"])
    typer.echo(f"restored: version {version} of {store} is version {number} now")


def vacuum(
    store: StoreArgument,
    keep: Annotated[int | None, typer.Option(metavar="N", help="Keep the newest N versions.")] = None,
    days: Annotated[float | None, typer.Option(metavar="DAYS", help="Keep the versions of the last days.")] = None,
    wait: WaitOption = 0.0,
) -> None:
    """Forget old versions of a store, and remove the files that only they have.

    The newest version always stays, and so do versions that somebody has open.
    """
    from everlog.store.history import forget_versions, ranges

    gone, files = forget_versions(store, keep, days, wait)
    versions = f"{counted(len(gone), 'version')} ({ranges(gone)}) with " if gone else ""
    typer.echo(f"removed: {versions}{counted(files, 'file')}")
