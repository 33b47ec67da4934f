"""What `script/test` does first: compiles kernels, and starts Spark until the archive of its classes is there."""

from __future__ import annotations

import subprocess
import sys

from everlog.engine.memory.warm_up import start_engine, start_graphs
from everlog.sources.csv_lines import CsvLines
from everlog.sources.line_blocks import Lines
from everlog.sources.rdf_lines import RdfLines

START = """
from everlog.spark.session import start_session
session = start_session(master="local[1]", brief=True)
session.range(2).mapInArrow(lambda batches: batches, "id bigint").collect()
session.stop()
from pyspark import SparkContext
driver = SparkContext._gateway.proc
driver.stdin.close()
driver.wait()
"""


def main() -> None:
    starts = subprocess.Popen([sys.executable, "-c", f"{START}\n"])
    start_engine()
    start_graphs()
    RdfLines("nt", few=0)(Lines(b"<a:b> <a:c> <a:d> .\n"), "")
    CsvLines(",", 2, few=0)(Lines(b"1,2\n"), "")
    starts.wait()
    subprocess.run([sys.executable, "-c", START], check=False)


if __name__ == "__main__":
    main()
