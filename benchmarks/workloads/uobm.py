"""UOBM's lower-bound program over generated universities."""

from __future__ import annotations

from itertools import chain

from benchmarks.data import data_file
from benchmarks.generators.uobm_universities import uobm_university_triples
from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.triples import triple_table


def _uobm(universities: int, seed: int) -> Instance:
    if universities < 1:
        raise BenchmarkMistake("uobm wants one university or more")
    program = data_file("programs/UOBM_L.dlog").read_text(encoding="utf-8")
    made = (uobm_university_triples(number, seed) for number in range(universities))
    return Instance(program, {"triple": triple_table(chain.from_iterable(made))})


UOBM = Workload(
    "uobm",
    "UOBM's lower-bound program (208 rules) over generated universities of some 290,000 triples",
    {"universities": 4, "seed": 1},
    _uobm,
)
