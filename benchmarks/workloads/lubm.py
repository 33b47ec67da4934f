"""LUBM's lower-bound program over k copies of one university.

A copy renames the individuals: subjects and objects that are IRIs and belong to no vocabulary. Classes, properties and
literals are shared, so k copies have k times the triples and k times the result. Work is on integer codes: a copy adds
a block of codes, and one dictionary of N-Triples texts serves the three columns.
"""

from __future__ import annotations

import gzip
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import RdfFormat, parse

from benchmarks.data import data_file
from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.pairs import Column
from everlog import KnowledgeBase

VOCABULARIES = ("<http://swat.cse.lehigh.edu/onto/univ-bench.owl", "<http://www.w3.org/")
NTRIPLES = {b"everlog": b"ntriples"}


def _lubm(program: str, k: int) -> Instance:
    if k < 1:
        raise BenchmarkMistake("lubm wants k ≥ 1 copies")
    rules = data_file(f"programs/{program}.dlog").read_text(encoding="utf-8")
    texts, triples, individuals = _university()
    return Instance(rules, {"triple": _copies(texts, triples, individuals, k)})


def _university() -> tuple[list[str], Column, int]:
    """The terms' texts, individuals first; the triples as codes, of shape (n, 3); the number of individuals."""
    text = gzip.decompress(data_file("rdf/lubm1.nt.gz").read_bytes())
    read = [(str(t.subject), str(t.predicate), str(t.object)) for t in parse(text, RdfFormat.N_TRIPLES)]
    predicates = {triple[1] for triple in read}
    terms = dict.fromkeys(term for triple in read for term in triple)
    is_individual = {
        term: term.startswith("<") and term not in predicates and not term.startswith(VOCABULARIES) for term in terms
    }
    texts = sorted(terms, key=lambda term: not is_individual[term])
    code = {text: number for number, text in enumerate(texts)}
    triples = np.array([[code[term] for term in triple] for triple in read], dtype=np.int64)
    return texts, triples, sum(is_individual.values())


def _copies(texts: list[str], triples: Column, individuals: int, k: int) -> pa.Table:
    dictionary = _renamed(texts, individuals, k)
    schema = pa.schema(
        pa.field(f"a{position}", pa.dictionary(pa.int32(), pa.string()), metadata=NTRIPLES) for position in range(3)
    )
    block = np.arange(k)[:, None]  # copy c > 0 has its individuals after all terms of the copies before it
    moved = np.where(block > 0, len(texts) + (block - 1) * individuals, 0)
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(_moved(triples[:, position], moved, individuals)), dictionary)
        for position in range(3)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _moved(codes: Column, moved: Column, individuals: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """One column of all copies: the codes of individuals are moved into each copy's block, all others stay."""
    return np.where(codes[None, :] < individuals, codes[None, :] + moved, codes[None, :]).astype(np.int32).ravel()


def _renamed(texts: list[str], individuals: int, k: int) -> pa.Array:
    """The dictionary: the terms as they are, then the individuals of each further copy, `<…?copy=1>` and so on."""
    stems = pa.array([text[:-1] for text in texts[:individuals]])
    copies = [pc.binary_join_element_wise(stems, f"?copy={copy}>", "") for copy in range(1, k)]
    return pa.concat_arrays([pa.array(texts, pa.string()), *copies])


LUBM = Workload(
    "lubm", "LUBM's lower-bound program (98 rules) over k copies of a university", {"k": 100}, partial(_lubm, "LUBM_L")
)
LUBM_EXTENDED = Workload(
    "lubm-extended", "the same with rules that make cliques (107 rules)", {"k": 13}, partial(_lubm, "LUBM_LE")
)


def materialised_lubm(copies: int) -> KnowledgeBase:
    """A knowledge base in memory with what follows from so many copies of a university."""
    instance = LUBM.build(copies)
    kb = KnowledgeBase(instance.program, engine="memory")
    kb.add(instance.facts)
    kb.materialise()
    return kb
