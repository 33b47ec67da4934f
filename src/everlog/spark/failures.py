"""What Spark throws, as errors with one clear line.

Spark wraps the cause of a failure in many layers of messages and stack traces. The causes that users meet are told apart
here; whatever is left is shortened to its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from everlog.errors import EverlogError, Failure
from everlog.sources.problems import SourceMistake
from everlog.store.manifest import DamagedStore, store_of

_READING = re.compile(
    r"(?:[Ee]ncountered error while|Error while|Could not) read(?:ing)?(?: footer for)? file:? ?(?:file:)?/*(/\S+)"
)
_READING_REMOTE = re.compile(r"while reading file (\S+)")
_FOOTER = re.compile(r"file:/*(/[^\s,;]+)")
_MISSING = re.compile(r"Path does not exist: (?:file:/*)?(\S+?)\.? ")
_FILE_SYSTEM = re.compile(r"(\w+FileSystem) not found")
_UNKNOWN_HOST = re.compile(r"UnknownHostException: (?:Invalid host name: .*?\()?([\w.-]+)")
_IN_PYTHON = re.compile(r"^\s*((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)): (.*)", re.MULTILINE)
_OWN = re.compile(r"^\s*everlog\.[\w.]+: (.*)", re.MULTILINE)
"""What Everlog itself says in a task."""
_CAUSE = re.compile(r"^(?:Caused by: |: )?((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)): (.*)", re.MULTILINE)


@contextmanager
def spark_failures(doing: str) -> Iterator[None]:
    """Whatever Spark throws inside becomes a `Failure`, or a `SourceMistake` where a user's file is to blame."""
    try:
        yield
    except EverlogError:
        raise
    except Exception as failure:
        if not is_sparks(failure):
            raise
        raise as_everlog_error(failure, doing) from failure


def is_sparks(failure: Exception) -> bool:
    return type(failure).__module__.partition(".")[0] in ("pyspark", "py4j", "grpc")


def as_everlog_error(failure: Exception, doing: str) -> EverlogError:
    """The error to show for an exception of PySpark, py4j or gRPC."""
    text = str(failure)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return Failure(f"{doing}: the disk is full; make room, or point SPARK_LOCAL_DIRS at a larger one")
    if "java.lang.OutOfMemoryError" in text:
        return Failure(f"{doing}: Spark ran out of memory; give it more, for instance --conf spark.driver.memory=8g")
    if "exited unexpectedly (crashed)" in text or "Python worker exited" in text:
        return Failure(
            f"{doing}: a Python worker of Spark died, and Spark gave up after its retries; was it killed for memory?"
        )
    if "ClassNotFoundException" in text and (missing := _FILE_SYSTEM.search(text)):
        return Failure(
            f"{doing}: this Spark has no {missing[1]}; give it the package that has it, for s3a:// "
            "--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION, with the version of Spark's Hadoop"
        )
    if unknown := _UNKNOWN_HOST.search(text):
        return Failure(
            f"{doing}: there is no machine called {unknown[1]}; is the address right, and if it is the name of a "
            "cluster's file system, does the session know that (--conf spark.hadoop.…)?"
        )
    if said := _OWN.search(text):
        return Failure(said[1].strip())
    if file := file_to_blame(text):
        if store := store_of(Path(file)):
            return DamagedStore(store, Path(file).relative_to(store).as_posix(), f"cannot be read: {_cause(text)}")
        return SourceMistake(f"{file}: cannot be read: {_cause(text)}", file)
    return Failure(f"{doing}: {_cause(text)}")


def file_to_blame(text: str) -> str | None:
    """The file that Spark says it could not read."""
    for pattern in (_READING, _MISSING, _READING_REMOTE):
        if match := pattern.search(text):
            return unquote(match[1].rstrip("."))
    if ("Parquet" in text or "ORC" in text or "FAILED_READ_FILE" in text) and (match := _FOOTER.search(text)):
        return unquote(match[1].rstrip("."))
    return None


def _cause(text: str) -> str:
    """The innermost cause, or the first line."""
    if "PYTHON_EXCEPTION" in text and (raised := _IN_PYTHON.search(text.partition("PYTHON_EXCEPTION")[2])):
        return f"{raised[2].strip()} ({raised[1]})"
    causes = [match for match in _CAUSE.finditer(text) if "SparkException" not in match[1]]
    if causes:
        kind, said = causes[-1][1].rpartition(".")[2], causes[-1][2].strip()
        return f"{said} ({kind})" if said else kind
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "Spark gives no reason"
