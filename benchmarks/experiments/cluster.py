"""The Spark engine on universities of growing number: what a round takes, and what it moves.

Local mode has no network. What a cluster would take is estimated by the page from the bytes that were shuffled and the time
that the cores were at work, both by fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Final

from benchmarks.experiments.records import Record

_SIZES: Final = {"tiny": (), "small": (1, 2), "medium": (2, 5, 10)}


def sizes(scale: str) -> list[int]:
    """How many universities; none at the scale of tests, which would take longer than all others."""
    return list(_SIZES[scale])


def cluster(scale: str) -> Iterator[Record]:
    """A record for each size, with Spark's metrics round by round."""
    if not sizes(scale):
        return
    from benchmarks.data import data_file
    from benchmarks.generators.generation import as_terms
    from benchmarks.generators.universities import universities
    from everlog.datalog.reader import parse_program
    from everlog.knowledge.base import KnowledgeBase
    from everlog.sources.read_facts import read_frames
    from everlog.spark.session import start_session

    program = parse_program(data_file("programs/LUBM_L.dlog").read_text(encoding="utf-8"))
    spark = start_session(events=True)
    try:
        for warming, count in enumerate([sizes(scale)[0], *sizes(scale)]):
            triples = universities(spark, count).persist()
            kb = KnowledgeBase(program, engine="spark", spark=spark)
            kb.load_read(read_frames(spark, {"triple": as_terms(triples)}))
            begun = perf_counter()
            report = kb.materialise()
            triples.unpersist()
            assert report.spark is not None
            if warming:
                yield {
                    "universities": count,
                    "explicit": report.facts["explicit"],
                    "total": report.facts["total"],
                    "seconds": perf_counter() - begun,
                    "rounds": report.spark["rounds"],
                    "jobs": report.spark["jobs"],
                    "tasks": report.spark["tasks"],
                    "shuffled_bytes": report.spark["shuffled_bytes"],
                }
    finally:
        spark.stop()
