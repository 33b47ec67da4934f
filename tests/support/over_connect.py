"""Over Spark Connect: facts are read from a folder, and a knowledge base does what one in memory does.

Run as a process of its own: `over_connect.py FOLDER`.
"""

from __future__ import annotations

import socket
import sys
from itertools import chain

import everlog
from everlog.engine.spark import tuning
from everlog.sources.read_facts import read_paths
from everlog.spark.session import start_session

PROGRAM = everlog.parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    """
)

FOR_FEW_ROWS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
"""Where it has a session of its own, the engine sets these by itself; over Connect it leaves the user's alone."""


def free_port() -> str:
    """One that PySpark takes for the server's; with SPARK_TESTING it would find one, and Java would check every plan."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    DefaultChannelBuilder.default_port = staticmethod(lambda: port)
    return str(port)


if __name__ == "__main__":
    from pyspark.sql.connect.session import SparkSession

    tuning.DRIVER_FACTS = 2  # else so few facts would not leave the driver
    spark = start_session(brief=True, conf={**FOR_FEW_ROWS, "spark.connect.grpc.binding.port": free_port()})
    assert isinstance(spark, SparkSession), "SPARK_REMOTE asks for Connect"
    read = read_paths(spark, [sys.argv[1]])
    for predicate in sorted(read.arities):
        blocks = [block for name, block in read.blocks() if name == predicate]
        rows = [
            zip(*(column.to_pylist() for column in columns), strict=True)
            for block in blocks
            for columns in block.columns()
        ]
        print(predicate, sorted(chain.from_iterable(rows)))
    read.release()
    seen = []
    for engine in ("memory", "spark"):
        kb = everlog.KnowledgeBase(PROGRAM, engine=engine, spark=spark, modules="off")
        kb.add({"edge": [(0, 1), (1, 2)]})
        reports = [kb.materialise(), kb.update(add={"edge": [(2, 3)]}, delete={"edge": [(0, 1), (9, 9)]})]
        facts = {predicate: sorted(kb.rows(predicate)) for predicate in kb.predicates()}
        seen.append((facts, [(one.facts, one.derivations, one.added, one.deleted) for one in reports]))
        seen[-1] += (kb.query("reach(1, ?y), not edge(1, ?y)"), kb.dataframe("reach").count())
    assert seen[0] == seen[1], seen
    print("agree")
    spark.stop()
