"""Which versions of a store are whole: every file is there, is as it was written, and has the rows that it should.

Every file is read once, however many versions share it. Spark is not started, and nothing is locked or changed. A file
without a fingerprint, from before there were any, is read as Parquet from end to end instead, whose pages have checksums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from everlog.store.cleanup import committed_versions, manifests_in
from everlog.store.fingerprints import fingerprint, wrong_at_a_glance, wrong_size
from everlog.store.local_place import local_place
from everlog.store.manifest import DamagedStore, Fingerprint, Manifest, NoStore, committed_manifest, current_version
from everlog.store.parquet_files import read_through, rows_in, wrong_rows

Progress = Callable[[int, int], None]
"""Is told how many files have been read, and how many there are."""


@dataclass(frozen=True)
class Damage:
    """A file of a store, as manifests name it, and what is wrong with it."""

    file: str
    what: str


@dataclass(frozen=True)
class CheckedVersion:
    """What was found out about a version; it is whole if nothing is damaged."""

    version: int
    damage: tuple[Damage, ...]
    unmarked: int = 0
    """How many of its files have no fingerprint: of these, no more is known than what Parquet notices."""


@dataclass(frozen=True)
class CheckedStore:
    """What was found out about a store: about its file CURRENT, if that is damaged, and about versions, ascending."""

    current: Damage | None
    versions: tuple[CheckedVersion, ...]

    @property
    def is_whole(self) -> bool:
        return self.current is None and not any(version.damage for version in self.versions)

    @property
    def newest_whole(self) -> int | None:
        """The newest of the versions that are whole, if one is."""
        return max((version.version for version in self.versions if not version.damage), default=None)


def check_store(path: str | Path, version: int | None = None, progress: Progress | None = None) -> CheckedStore:
    """Checks all versions of the store at a path, or one of them."""
    store = local_place(path, "the store")
    current, versions = _versions(store)
    if version is not None:
        if version not in versions:
            known = ", ".join(map(str, versions)) or "none"
            raise NoStore(f"the store {path} has no version {version}; it has: {known}")
        versions = [version]
    manifests = {number: _manifest(store, number) for number in versions}
    seen = _seen(store, manifests, progress)
    checked = []
    for number, manifest in manifests.items():
        if isinstance(manifest, Damage):
            checked.append(CheckedVersion(number, (manifest,)))
        else:
            unmarked = sum(file not in manifest.fingerprints for file in manifest.all_files())
            checked.append(CheckedVersion(number, tuple(_damage(store, manifest, seen)), unmarked))
    return CheckedStore(current, tuple(checked))


def _versions(store: Path) -> tuple[Damage | None, list[int]]:
    """What is wrong with CURRENT, and the versions; if it is, nobody knows which were committed, and all are taken."""
    try:
        newest = current_version(store)
    except DamagedStore as damage:
        return Damage(damage.file, damage.what), manifests_in(store)
    return None, sorted({*committed_versions(store), newest})


def _manifest(store: Path, version: int) -> Manifest | Damage:
    try:
        return committed_manifest(store, version)
    except DamagedStore as damage:
        return Damage(damage.file, damage.what)


@dataclass(frozen=True)
class _Seen:
    """What a file is now: its fingerprint, if it should have one, its rows, and why it cannot be read, if it cannot."""

    fingerprint: Fingerprint | None
    rows: int
    problem: str


def _seen(store: Path, manifests: Mapping[int, Manifest | Damage], progress: Progress | None) -> dict[str, _Seen]:
    """All files that versions name and that are there, each read once."""
    found = [manifest for manifest in manifests.values() if isinstance(manifest, Manifest)]
    marked = {file for manifest in found for file in manifest.fingerprints}
    files = [file for manifest in found for file in manifest.all_files()]
    present = [file for file in dict.fromkeys(files) if (store / file).is_file()]
    seen = {}
    for count, file in enumerate(present):
        if progress is not None:
            progress(count, len(present))
        seen[file] = _look(store / file, file in marked)
    return seen


def _look(file: Path, marked: bool) -> _Seen:
    known = None
    try:
        if marked:
            known = fingerprint(file)
        else:
            read_through(file)
        return _Seen(known, rows_in(file), "")
    except DamagedStore as damage:
        return _Seen(known, 0, damage.what)
    except OSError as failure:
        return _Seen(known, 0, f"cannot be read: {failure.strerror or failure}")


def _damage(store: Path, manifest: Manifest, seen: Mapping[str, _Seen]) -> Iterator[Damage]:
    """What is wrong with the files of a version."""
    for _, part in manifest.parts():
        wrong = [Damage(file, what) for file in part.files if (what := _wrong(store, manifest, file, seen.get(file)))]
        rows = sum(seen[file].rows for file in part.files if file in seen)
        if not wrong and rows != part.rows:
            wrong = [Damage(part.files[0], wrong_rows(len(part.files), rows, part.rows))]
        yield from wrong


def _wrong(store: Path, manifest: Manifest, file: str, seen: _Seen | None) -> str:
    """What is wrong with a file by itself; nothing if the text is empty."""
    if seen is None:
        return wrong_at_a_glance(store, manifest, file) or "is no file"
    expected, now = manifest.fingerprints.get(file), seen.fingerprint
    if expected is None or now is None or now == expected:
        return seen.problem
    if now.size != expected.size:
        return wrong_size(now.size, expected)
    return f"is not as it was written: its CRC-32 is {now.crc32} instead of {expected.crc32}"
