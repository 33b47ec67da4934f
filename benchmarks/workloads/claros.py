"""Claros's lower-bound programs over generated collections; the extended one makes cliques of related places."""

from __future__ import annotations

from functools import partial
from itertools import chain

from benchmarks.data import data_file
from benchmarks.generators.claros_collections import collection_triples
from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.triples import triple_table


def _claros(program: str, collections: int, seed: int) -> Instance:
    if collections < 1:
        raise BenchmarkMistake("claros wants one collection or more")
    text = data_file(f"programs/{program}.dlog").read_text(encoding="utf-8")
    made = (collection_triples(number, seed) for number in range(collections))
    return Instance(text, {"triple": triple_table(chain.from_iterable(made))})


CLAROS = Workload(
    "claros",
    "Claros's lower-bound program (1,312 rules) over generated collections",
    {"collections": 400, "seed": 1},
    partial(_claros, "Claros_L"),
)
CLAROS_EXTENDED = Workload(
    "claros-extended",
    "the same with the rules for related things, whose places form cliques (1,339 rules)",
    {"collections": 100, "seed": 1},
    partial(_claros, "Claros_LE"),
)
