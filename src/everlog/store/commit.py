"""How a version comes to be: new files, then a manifest, then `CURRENT`, each safely on disk before the next.

Until `CURRENT` is renamed the old version is the version, and nothing of it was touched; from then on the new one is. What
a dead writer left behind is removed by the next one (`cleanup.py`), which holds the lock and so knows that nobody needs
it. Folders of new files have names that were never used before. The manifest says what was in each file
(`fingerprints.py`), and a store of which the newest version is not whole is not written to.

`STEPS` are the moments at which a crash makes a difference. With `EVERLOG_CRASH_AT=<step>` in the environment the
process stops dead there, which is how the tests get at them.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from everlog.errors import EverlogError, Failure
from everlog.store.cleanup import manifests_in, remove_unnamed
from everlog.store.fingerprints import check_files, fingerprints
from everlog.store.local_place import local_place
from everlog.store.lock import locked
from everlog.store.manifest import (
    CURRENT,
    FOLDER,
    FORMAT,
    SECTIONS,
    DamagedStore,
    Manifest,
    NoStore,
    current_manifest,
    current_version,
    looks_unfinished,
    manifest_path,
    number,
    read_manifest,
    write_manifest,
)

STEPS: Final = (
    "locked",
    "cleaned",
    "files-begun",
    "files-written",
    "files-synced",
    "manifest-written",
    "manifest-named",
    "current-written",
    "current-named",
)


_SYNCED_AT_ONCE: Final = 16


class Writing:
    """The one writer of a store: hands out folders for new files, and commits."""

    def __init__(self, path: Path, before: Manifest | None, version: int) -> None:
        self.path = path
        self.before = before
        self.version = version
        self._folders: list[Path] = []

    def folder(self, section: str) -> Path:
        """A new, empty place for files of a section; it does not exist yet."""
        assert section in SECTIONS
        step("files-begun")
        folder = self.path / section / f"{number(self.version)}-{secrets.token_hex(4)}"
        self._folders.append(folder)
        return folder

    def named(self, file: Path) -> str:
        """A file as manifests name it."""
        return file.relative_to(self.path).as_posix()

    def commit(self, manifest: Manifest) -> Manifest:
        """Makes `manifest` the current version, and gives it with what was found out about its files.

        Files that it does not name are removed.
        """
        assert manifest.version == self.version
        step("files-written")
        named = {self.path / file for file in manifest.all_files()}
        written = [path for folder in self._folders for path in _kept_paths(folder, named)]
        _sync_all([*written, *(self.path / section for section in SECTIONS)])
        known = fingerprints(self.path, manifest, self.before)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = replace(manifest, fingerprints=known, written=now, format=FORMAT)
        step("files-synced")
        _replace(manifest_path(self.path, manifest.version), write_manifest(manifest), "manifest")
        _replace(self.path / CURRENT, f"{number(manifest.version)}\n", "current")
        return manifest

    def discard(self) -> None:
        """Removes what was written, after a failure."""
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        for leftover in (manifest_path(self.path, self.version), self.path / f"{CURRENT}.new"):
            leftover.unlink(missing_ok=True)


@contextmanager
def writing(path: Path, wait: float = 0.0, clean: bool = True) -> Iterator[Writing]:
    """Writes the next version of a store, whose newest is whole; what was not committed at the end is gone.

    Another writer is waited for some seconds. To `clean` up after dead writers takes a look at every version; who writes
    one version after the other may leave that out, since what is left does no harm.
    """
    current_version(path)  # before a lock is put where there is no store
    with disk_failures(path), locked(path, wait):
        before = current_manifest(path)
        check_files(path, before)
        if clean:
            _clean(path)
        with _writer(path, before, before.version + 1) as writer:
            yield writer


def go_back(path: Path, version: int, wait: float = 0.0) -> tuple[Manifest, str]:
    """Makes an older version, which must be whole, the newest one again; the newest may be damaged in any way.

    Gives its new manifest. If that of the newest version cannot be read, nobody knows which files it needs: so nothing is
    removed before there is a newer version, and then that manifest, which is given, too.
    """
    with disk_failures(path), locked(path, wait):
        before = read_manifest(path, version)
        check_files(path, before)
        lost = ""
        try:
            current_manifest(path)
        except DamagedStore as damage:
            lost = damage.file
        else:
            _clean(path)
        with _writer(path, before, 1 + _newest(path)) as writer:
            manifest = writer.commit(replace(before, version=writer.version))
        if lost not in ("", CURRENT):
            (path / lost).unlink(missing_ok=True)
            return manifest, lost
        return manifest, ""


def _newest(path: Path) -> int:
    """The version that CURRENT names or, if that cannot be read, the last one that has a manifest."""
    try:
        return current_version(path)
    except DamagedStore:
        return manifests_in(path)[-1]


def check_place(path: Path) -> None:
    """Raises `NoStore` unless a new store can be made at a path."""
    place = local_place(path, "the store")
    if (place / CURRENT).exists():
        raise NoStore(f"there is a store at {path} already, of version {current_version(place)}; choose another path")
    if place.exists() and not place.is_dir():
        raise NoStore(f"{path} is a file; choose another path for the store")
    if place.exists() and any(place.iterdir()) and not looks_unfinished(place):
        raise NoStore(f"the folder {path} is not empty and holds no store; choose another path for the store")


@contextmanager
def making(path: Path) -> Iterator[Writing]:
    """Writes the first version of a new store, at a path that does not exist or is an empty folder."""
    check_place(path)
    existed = path.exists()
    with disk_failures(path):
        for folder in (FOLDER, *SECTIONS):
            (path / folder).mkdir(parents=True, exist_ok=True)
        try:
            with locked(path):
                if (path / CURRENT).exists():
                    raise NoStore(f"another process has made a store at {path} meanwhile; choose another path")
                _clean(path)
                with _writer(path, None, 1) as writer:
                    yield writer
                    if not (path / CURRENT).exists():
                        raise EverlogError(f"nothing was committed to the store {path}")
                _sync(path.parent)
        except BaseException:
            _forsake(path, existed)
            raise


def step(name: str) -> None:
    """A moment at which a test may stop this process."""
    if os.environ.get("EVERLOG_CRASH_AT") == name:
        os._exit(9)


def _clean(path: Path) -> None:
    """Removes what a dead writer left in a store that is locked."""
    step("locked")
    remove_unnamed(path)
    step("cleaned")


@contextmanager
def _writer(path: Path, before: Manifest | None, version: int) -> Iterator[Writing]:
    """Who writes to a store that is locked; what this one does not commit is gone."""
    writer = Writing(path, before, version)
    try:
        yield writer
    except BaseException:
        # An interrupt may come after the version was committed: then its files stay.
        try:
            committed = current_version(path) >= writer.version
        except NoStore:
            committed = False
        except DamagedStore:  # nobody knows: if it was not, the next writer removes it
            committed = True
        if not committed:
            writer.discard()
        raise


def _forsake(path: Path, existed: bool) -> None:
    """Removes a store that never came to be, unless another process is making it."""
    if (path / CURRENT).exists():
        return
    try:
        with locked(path):
            for section in (FOLDER, *SECTIONS):
                shutil.rmtree(path / section, ignore_errors=True)
            for file in path.iterdir():
                file.unlink()
        if not existed:
            path.rmdir()
    except (EverlogError, OSError):
        return


def _replace(path: Path, text: str, what: str) -> None:
    new = path.with_name(f"{path.name}.new")
    with open(new, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    step(f"{what}-written")
    os.replace(new, path)
    _sync(path.parent)
    step(f"{what}-named")


def _kept_paths(folder: Path, named: set[Path]) -> list[Path]:
    """The files of a new folder that are named, and the folders that they are in; whatever else there is is removed."""
    kept = []
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            file = Path(parent, name)
            if file in named:
                kept.append(file)
            else:
                file.unlink()
        if any(os.scandir(parent)):
            kept.append(Path(parent))
        else:
            os.rmdir(parent)
    return kept


def _sync_all(paths: list[Path]) -> None:
    """Has files and folders on disk when it returns; file systems do in one go what they are asked for at once."""
    with ThreadPoolExecutor(min(len(paths), _SYNCED_AT_ONCE)) as threads:
        deque(threads.map(_sync, paths), maxlen=0)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def disk_failures(path: Path) -> Iterator[None]:
    """What the operating system refuses, said in one line."""
    try:
        yield
    except OSError as failure:
        where = failure.filename or path
        raise Failure(f"the store {path} could not be written: {failure.strerror or failure} ({where})") from failure
