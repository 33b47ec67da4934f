"""What little work loads: a process that starts should not wait for libraries that it does not need."""

from __future__ import annotations

import subprocess
import sys

LITTLE = """
import sys, everlog
from pyoxigraph import NamedNode
kb = everlog.KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")
kb.add({"edge": [("a", "b"), ("b", NamedNode("c:d")), (NamedNode("c:d"), 4.5)]})
kb.materialise()
assert len(kb.rows("reach")) == 6
kb.update(delete={"edge": [("a", "b")]})
unneeded = {"pandas", "pyspark", "everlog.explaining", "everlog.rdf.owl.profiles", "everlog.rdf.shacl", "everlog.sparql"}
print(sorted(unneeded & sys.modules.keys()))
assert everlog.ontology and everlog.shapes and everlog.Explanation and everlog.Ontology
"""


def test_a_few_facts_need_neither_pandas_nor_spark_nor_what_nobody_asks_for() -> None:
    ended = subprocess.run([sys.executable, "-c", LITTLE], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
