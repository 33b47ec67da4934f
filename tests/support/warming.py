"""What `script/test` does first: compiles kernels, and starts Spark until the archive of its classes is there."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.kernels import chain_kernels, graph_kernels
from everlog.engine.memory.kernels import table_kernels as kernels
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
    exercise_tables()
    exercise_graphs()
    RdfLines("nt", few=0)(Lines(b"<a:b> <a:c> <a:d> .\n"), "")
    CsvLines(",", 2, few=0)(Lines(b"1,2\n"), "")
    starts.wait()
    subprocess.run([sys.executable, "-c", START], check=False)


def exercise_tables() -> None:
    """Runs every kernel for tables once on next to nothing."""
    engine = MemoryEngine(workers=1)
    dictionary = engine.dictionary
    dictionary.encode_values(["a", 1, 1.5, True])
    facts = np.array([[0, 1], [1, 0]], np.int32)
    order = dictionary.order()
    nothing16, nothing32 = np.empty(0, np.uint16), np.empty(0, np.int32)
    bounds = np.zeros(6, np.int64)
    mask = np.zeros(4, np.uint16)
    slots = np.zeros(32, np.int64)
    sources, twins = np.array([0, 1]), np.empty((0, 2), np.int64)
    out = np.empty((2, 4), np.int32)
    fresh = np.empty(4, np.int32)
    bit = np.uint16(1)
    view = (bounds, nothing16, nothing16, mask, nothing32)
    kernels.admit(facts, 0, 2, 0, 1, slots.copy(), 4, fresh, 0)
    kernels.route(facts, 2, sources, nothing32, 1, np.empty((1, 2, 4), np.int32), np.zeros(1, np.int64))
    kernels.rehash(0, 1, slots, slots.copy())
    kernels.enter_rows(facts, 0, 2, slots.copy())
    kernels.enter_sought(facts, 0, 2, facts, 2, slots.copy())
    kernels.enter_sorted(facts, 0, 0, np.zeros(1, np.int64), facts, 2, slots.copy())
    kernels.absorb(facts, 2, slots.copy(), facts, 0, 0, *view, bit, fresh, fresh.copy())
    kernels.tally(facts, 2, slots.copy(), facts, 0, np.zeros(2, np.int32), fresh, fresh.copy())
    kernels.place(facts, fresh, 0, 0, out)
    kernels.find_rows(facts, 2, slots, facts, fresh)
    run = kernels.build_run(facts, np.array([0]), 0, 2, 1)
    kernels.rows_with(fresh[:1], run[0], run[1], run[2], run[3], run[4], facts, sources[:1], fresh.copy())
    kernels.scan(nothing32, False, 0, 2, facts, sources[:0], nothing32, twins, *view, sources, out)
    join = (*run, facts, sources[:1], twins, False, False, *view, sources[:1], sources[1:], out)
    kernels.expand(facts, 0, -1, 2, sources[:1], nothing32, *join)
    kernels.probe(out, 0, sources, nothing32, slots, facts, *view, False)
    kernels.probe_presence(out, 0, sources, nothing32, slots, 1, False)
    kernels.keep_equal(out, 0, 0, 0)
    kernels.keep_compared(out, 0, 2, 0, 1, nothing32, order)
    kernels.drop_marked(out, 0, 0, mask, bit)
    kernels.collect(out, 0, 0, mask, bit, fresh)
    kernels.project(out, 0, 0, sources, nothing32, facts, 0)
    kernels.select(nothing32, False, 0, 0, *view, fresh)
    kernels.unselected(0, 0, *view, fresh)
    kernels.mark(nothing32, bit, mask)
    kernels.unmark(nothing32, bit, mask)
    kernels.marked(nothing32, bit, mask, np.empty(0, np.bool_))
    kernels.take_marked(0, 0, bit, bit, mask)


def exercise_graphs() -> None:
    """Runs every kernel for graphs once on next to nothing."""
    ids, ends = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    room, pairs, there = np.full(2, -1, np.int32), np.empty((2, 4), np.int32), np.empty(2, np.bool_)
    order = MemoryEngine(workers=1).dictionary.order()
    starts, targets = graph_kernels.adjacency(ids, ends, 2)
    component, found = graph_kernels.strong_components(starts, targets)
    closure = graph_kernels.reflexive_closure(starts, targets, component, found)
    bits = np.zeros((2, closure.shape[1]), np.uint64)
    graph_kernels.compose(starts, targets, component, closure, 0, 2, bits)
    graph_kernels.reached(ids, ends, ids, bits, there)
    marks = (np.uint16(0), np.uint16(1), np.zeros(2, np.uint16), ids.copy())
    graph_kernels.mark_unreached(ids, ends, 0, 2, ids, bits, *marks)
    graph_kernels.mark_unreached_sorted(starts, (0, 2), 0, 0, 2, ends, ids, bits, bits[:0], *marks)
    graph_kernels.clear(ids, ends, ids, bits, there)
    graph_kernels.clear_edges(starts, targets, bits)
    graph_kernels.clear_graph(ids, bits.copy(), ids, bits)
    graph_kernels.enumerate_bits(bits, 0, 2, ids, pairs, 0)
    graph_kernels.visit_sources(starts, targets, starts, targets, 0, 2, ids, room, ids.copy(), pairs)
    graph_kernels.visit_pairs(starts, targets, starts, targets, ends, np.arange(2), ids, room, ids.copy(), there)
    graph_kernels.connected_components(ids, ends, 2)
    graph_kernels.joined_pairs(starts, targets, (0, 0), room, ids, pairs)
    graph_kernels.joined_bits(starts, targets, room, bits)
    delta, finals = np.array([[1], [1]], np.int32), np.array([False, True])
    first, _ = chain_kernels.product(np.arange(1), ids, ends, np.array([0, 2]), delta, 2)
    heads, tails = graph_kernels.adjacency(first, first, 4)
    component, found = graph_kernels.strong_components(heads, tails)
    accepted = chain_kernels.accepted_closure(heads, tails, component, found, finals, 2)
    chain_kernels.accepted_rows(accepted, component, 0, 0, 2, bits)
    chain_kernels.leading_to(heads, tails, ids, np.zeros(4, np.bool_))
    stamps, seen, queue = np.full(4, -1, np.int32), room.copy(), np.empty(4, np.int32)
    chain_kernels.visit_accepted(heads, tails, finals, 2, 0, ids, 0, ids, stamps, seen, queue, pairs)
    chain_kernels.accepted_pairs(heads, tails, finals, 2, 0, ids, ends, np.arange(2), stamps, seen, queue, there)
    graph_kernels.sort_values(ids[:0], order)
    graph_kernels.ranks(ids[:0], order, 0, np.empty(0, np.int64))
    graph_kernels.neighbour_pairs(ids[:0], np.empty(0, np.int64), pairs)


if __name__ == "__main__":
    main()
