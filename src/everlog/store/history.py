"""The versions of a store over time: since when each is there, going back to one, and forgetting old ones.

Versions share files, and none is ever changed. To go back to a version is to write the next one with its files. To forget
versions is to remove their manifests, oldest first, and then the files that no other version names; if that is cut short,
the next writer removes what is left. A version that is open somewhere stays (`held_versions.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from everlog.errors import EverlogError
from everlog.store.cleanup import committed_versions, remove_unnamed, versions_there
from everlog.store.commit import disk_failures, go_back
from everlog.store.fingerprints import check_files
from everlog.store.held_versions import forget_unless_held
from everlog.store.local_place import local_place
from everlog.store.lock import locked
from everlog.store.manifest import (
    DamagedStore,
    Manifest,
    NoStore,
    current_manifest,
    current_version,
    manifest_path,
    read_manifest,
)

_MOST_DAYS: Final = 100_000


@dataclass(frozen=True)
class VersionOfStore:
    """A version, when it was written, how many facts it has, and the text of its program."""

    number: int
    written: datetime
    explicit: int
    derived: int
    program: str


def history(store: Path, most: int | None = None) -> list[VersionOfStore]:
    """The versions of a store that can be read, oldest first; the newest ones, if there are too many."""
    found = []
    for version in committed_versions(store)[-(most or 0) :]:
        try:
            manifest = read_manifest(store, version)
        except (DamagedStore, NoStore):  # or it was forgotten just now
            continue
        explicit, derived = (
            sum(count.get(section, 0) for count in manifest.counts.values()) for section in ("explicit", "derived")
        )
        found.append(VersionOfStore(version, written_at(store, manifest), explicit, derived, manifest.program))
    return found


def written_at(store: Path, manifest: Manifest) -> datetime:
    """When a version was written; manifests did not always say so, and then it is the time of their file."""
    if manifest.written:
        return datetime.fromisoformat(manifest.written)
    return datetime.fromtimestamp(manifest_path(store, manifest.version).stat().st_mtime, UTC)


def existing_version(store: Path, version: int) -> Manifest:
    """The manifest of a version that was committed and is still there."""
    known = versions_there(store)
    if version not in known:
        versions = "version" if len(known) == 1 else "versions"
        raise NoStore(f"the store {store} has no version {version}; it has {versions} {ranges(known)}")
    return read_manifest(store, version)


def restore_version(path: str | Path, version: int, wait: float = 0.0) -> tuple[int, str]:
    """Makes an older version the newest one again, under a new number, which is given. Nothing is computed.

    The newest version is given up if its manifest cannot be read; that manifest, as the store names it, is given as well.
    """
    store = local_place(path, "the store")
    existing_version(store, version)  # before a lock is put where there is no store
    manifest, given_up = go_back(store, version, wait)
    return manifest.version, given_up


def forget_versions(
    path: str | Path, keep: int | None = None, days: float | None = None, wait: float = 0.0
) -> tuple[list[int], int]:
    """Forgets the versions that are not among the newest `keep` or not of the last `days`; the newest one always stays.

    Those that somebody has open stay, too. Gives the versions that are gone, and how many files with them.
    """
    if (keep is None) == (days is None):
        raise EverlogError(
            "say which versions are to stay: so many of the newest (--keep N), or those of so many days (--days N)"
        )
    if (keep is not None and keep < 1) or (days is not None and not 0 <= days <= _MOST_DAYS):
        raise EverlogError("at least the newest version stays: give 1 or more versions, or 0 or more days")
    store = local_place(path, "the store")
    current_version(store)  # before a lock is put where there is no store
    with disk_failures(store), locked(store, wait):
        newest = current_manifest(store)
        check_files(store, newest)  # older versions may be all there is, if it is damaged
        known = committed_versions(store)
        if keep is not None:
            old = known[:-keep]
        else:
            since = datetime.now(UTC) - timedelta(days=days or 0.0)
            old = [one.number for one in history(store) if one.written < since and one.number != newest.version]
        for version in set(known) - set(old):
            read_manifest(store, version)  # one that is damaged does not say which files it needs
        gone = [version for version in old if forget_unless_held(store, version)]
        return gone, len(remove_unnamed(store))


def ranges(numbers: list[int]) -> str:
    """`1–3, 5` for 1, 2, 3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
