"""Spark's classes as Java has loaded them, in a file that later starts map: a third of a start is saved.

Java writes such an archive when it ends, which takes some seconds, so that not the first start on a machine does it but a
later one that is for little work: who starts once, in a container say, pays nothing. The archive lies beside this file
or in the user's cache, and is made anew when Java or Spark is another one. Java itself looks whether it fits, and does
without if it does not.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final

_QUIET: Final = "-Xlog:disable"
"""What Java says about archives goes to standard output, among the answers."""

_UNFINISHED: Final = ".new"
_A_WHILE: Final = 60.0


def archive_options(java: Path, spark: Path, brief: bool) -> list[str]:
    """What a Java that starts Spark, whose files are in a folder, is told: to use an archive, to make one, or nothing.

    Only one that is to be `brief` makes one, and one at a time. In the name of the file `$$` stands for the process.
    """
    base = java.resolve().parents[1] / "lib" / "server" / "classes.jsa"
    folder = _folder() if base.exists() else None
    if folder is None:
        return []
    with suppress(OSError):
        archive = folder / f"{_version(base, spark)}.jsa"
        _clean(folder, archive)
        if archive.exists():
            return [f"-XX:SharedArchiveFile={archive}", _QUIET]
        started = archive.with_suffix(".started")
        if not started.exists():
            started.touch()
        elif brief and not _is_being_made(started):
            started.write_text(str(os.getpid()))
            return [f"-XX:ArchiveClassesAtExit={archive}.$$" + _UNFINISHED, _QUIET]
    return []


def _is_being_made(started: Path) -> bool:
    """Whether somebody has begun to make an archive and may not have ended yet: Java outlives whoever started it."""
    maker = started.read_text()
    return _is_there(maker) or (bool(maker) and time() - started.stat().st_mtime < _A_WHILE)


def _is_there(process: str) -> bool:
    return bool(process) and Path("/proc", process).exists()


def _folder() -> Path | None:
    """A folder that can be written: with the installation, or else with the user."""
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    for folder in (Path(__file__).parent / "__pycache__", users / "everlog"):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return None


def _version(base: Path, spark: Path) -> str:
    """Differs if Java or Spark does."""
    parts = [str(part) for file in (base, spark / "jars") for part in (file, file.stat().st_mtime_ns)]
    return "java-" + hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def _clean(folder: Path, archive: Path) -> None:
    """Takes over an archive whose maker has ended, and removes those for another Java or Spark.

    Java writes the head of the file last, so that one which is not whole is recognised as none.
    """
    for made in folder.glob(f"java-*{_UNFINISHED}"):
        if _is_there(made.name.split(".")[-2]):
            continue
        if made.name.startswith(archive.name) and made.stat().st_size and not archive.exists():
            made.replace(archive)
        else:
            made.unlink(missing_ok=True)
    for other in folder.glob("java-*.jsa"):
        if other != archive:
            other.unlink(missing_ok=True)
