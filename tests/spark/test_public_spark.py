"""Nothing of PySpark is used that Spark Connect does not have: no JVM behind a session, no contexts, no RDDs.

Benchmarks may: they measure sessions of their own, down to the JVM.
"""

from __future__ import annotations

import ast
from pathlib import Path

import everlog

FORBIDDEN = {"_jvm", "_jdf", "_jsc", "_sc", "_jsparkSession", "_jseq", "_jcols", "sparkContext", "SparkContext", "rdd"}
SOURCE = Path(everlog.__file__).parent
ALLOWED = {
    **{SOURCE / "spark" / name: {"sparkContext"} for name in ("cancelling.py", "workers.py")},
    SOURCE / "spark" / "hadoop_files.py": {"_jvm", "_jsparkSession"},
    SOURCE / "spark" / "metrics.py": {"_jsc", "sparkContext"},
    SOURCE / "streaming" / "micro_batches.py": {"sparkContext"},
}
"""Jobs of another thread are cancelled by their context, where there is one; only a session of Connect does it itself.
A context knows which Python its workers run, and which query a batch is of: batches come to a process that has a context.
And nothing but Hadoop, in the JVM, lists and renames files elsewhere. Whether the log of a session of our own has all that
happened is known to its listeners alone: to wait for a while instead is most of what an update without a job takes."""


def private_names(text: str) -> set[str]:
    """The attributes in a source text that only a classic session has."""
    return {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)} & FORBIDDEN


def test_only_what_connect_has() -> None:
    assert private_names("spark.sparkContext.parallelize(frame.rdd)") == {"sparkContext", "rdd"}
    found = {file: private_names(file.read_text(encoding="utf-8")) for file in sorted(SOURCE.rglob("*.py"))}
    assert len(found) > 100
    assert {file: names for file, names in found.items() if names} == ALLOWED
