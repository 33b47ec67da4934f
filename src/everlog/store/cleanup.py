"""Removes what no version of a store names: the remains of writers that died. Only who holds the lock may call it.

The Java of a writer that was killed lives on for a moment and may still add files, or take some away. What it adds too
late is left to the next one who cleans up.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from everlog.store.manifest import (
    CURRENT,
    FOLDER,
    SECTIONS,
    DamagedStore,
    NoStore,
    current_version,
    manifest_path,
    read_manifest,
)


def committed_versions(store: Path) -> list[int]:
    """The versions of a store, ascending; a manifest newer than `CURRENT` was never committed."""
    newest = current_version(store)
    return [version for version in manifests_in(store) if version <= newest]


def versions_there(store: Path) -> list[int]:
    """The versions of a store, ascending; if CURRENT is damaged, nobody knows which were committed, and all are taken."""
    try:
        return committed_versions(store)
    except DamagedStore:
        return manifests_in(store)


def manifests_in(store: Path) -> list[int]:
    """The versions that a store has manifests of, ascending, committed or not."""
    found = (path.stem for path in (store / FOLDER).glob("*.json"))
    return sorted(int(stem) for stem in found if stem.isdigit())


def remove_unnamed(store: Path) -> list[Path]:
    """Removes files that no version names, and folders left empty; gives the files."""
    try:
        versions = committed_versions(store)
    except NoStore:  # it never had a first version
        versions = []
    named = {manifest_path(store, version) for version in versions}
    for version in versions:
        named.update(store / file for file in read_manifest(store, version).all_files())
    removed = []
    for section in (FOLDER, *SECTIONS):
        for parent, _, files in os.walk(store / section, topdown=False):
            for name in files:
                file = Path(parent, name)
                if file not in named:
                    file.unlink(missing_ok=True)
                    removed.append(file)
            if parent != str(store / section):
                with suppress(OSError):  # not empty, or gone
                    os.rmdir(parent)
    leftover = store / f"{CURRENT}.new"
    if leftover.exists():
        leftover.unlink()
        removed.append(leftover)
    return removed
