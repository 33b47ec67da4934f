"""UOBM's lower bound: functional properties merge people, and updates split them again."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import RdfFormat, parse

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program


def texts(kb: Any) -> set[str]:
    """All triples in text form."""
    state = kb.reasoner
    columns = (state.engine.dictionary.ntriples_column(column) for column in state.listed("triple", "all", 3))
    found = set(pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string())).to_pylist())
    assert len(found) == kb.size("triple")
    return found


def test_rewriting_and_rules_agree_on_uobm(data: Path) -> None:
    program = parse_program((data / "programs" / "UOBM_L.dlog").read_text(encoding="utf-8"))
    text = gzip.decompress((data / "rdf" / "uobm1.nt.gz").read_bytes())
    triples = [(one.subject, one.predicate, one.object) for one in parse(text, RdfFormat.N_TRIPLES)]
    kbs = [KnowledgeBase(program, engine="memory", equality=mode) for mode in ("rewrite", "axioms")]
    reports = []
    for kb in kbs:
        kb.add({"triple": triples})
        reports.append(kb.materialise())
    assert reports[0].facts == {"explicit": 257_685, "total": 434_065, "representatives": 430_398}
    assert texts(kbs[0]) == texts(kbs[1])
    state = kbs[0].reasoner
    assert len(state.classes.members) == 45
    merged = {state.engine.dictionary.value(int(one)) for members in state.classes.members.values() for one in members}
    random, about = Random(1), [one for one in triples if one[0] in merged or one[2] in merged]
    sample = [*random.sample(about, 30), *random.sample(triples, 30)]
    for way in ("delete", "add"):
        reports = [kb.update(**{way: {"triple": sample}}) for kb in kbs]
        assert (reports[0].added, reports[0].deleted) == (reports[1].added, reports[1].deleted)
        if way == "delete":
            assert texts(kbs[0]) == texts(kbs[1])
    assert sum(kb.size("triple") for kb in kbs) == 2 * 434_065
