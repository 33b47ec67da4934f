"""What `script/test` does first: starts Spark once, if there is no archive of its classes yet, so that there is one.

Every process with a Spark of its own would load its classes otherwise. Kernels are compiled by the worker that needs them
first; others wait for it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyspark

from everlog.spark.class_archive import archive_options
from everlog.spark.java import find_java

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

if __name__ == "__main__":
    # Whoever asks first is told neither to take an archive nor to make one, as the first start on a machine is.
    if not archive_options(find_java().program, Path(pyspark.__file__).parent, brief=False):
        subprocess.run([sys.executable, "-c", START], check=False)
