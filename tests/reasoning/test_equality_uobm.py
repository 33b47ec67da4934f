"""UOBM's lower bound: functional properties merge people, and updates split them again."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

from pyoxigraph import RdfFormat, parse

from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from oracles.exchange import facts_of


def test_rewriting_and_rules_agree_on_uobm(data: Path) -> None:
    """On what is said about people who are merged, and some of the rest."""
    program = parse_program((data / "programs" / "UOBM_L.dlog").read_text(encoding="utf-8"))
    text = gzip.decompress((data / "rdf" / "uobm1.nt.gz").read_bytes())
    triples = [(one.subject, one.predicate, one.object) for one in parse(text, RdfFormat.N_TRIPLES)]
    whole = KnowledgeBase(program, engine="memory", equality="rewrite")
    whole.add({"triple": triples})
    assert whole.materialise().facts == {"explicit": 257_685, "total": 434_065, "representatives": 430_398}
    state = whole._state
    assert len(state.classes.members) == 45
    merged = {state.engine.dictionary.value(int(one)) for members in state.classes.members.values() for one in members}
    chosen = [one for number, one in enumerate(triples) if one[0] in merged or one[2] in merged or number % 2000 == 0]
    kbs = [KnowledgeBase(program, engine="memory", equality=mode) for mode in ("rewrite", "axioms")]
    for kb in kbs:
        kb.add({"triple": chosen})
        kb.materialise()
    assert facts_of(kbs[0]) == facts_of(kbs[1])
    sample = Random(1).sample(chosen, 50)
    for way in ("delete", "add"):
        reports = [kb.update(**{way: {"triple": sample}}) for kb in kbs]
        assert facts_of(kbs[0]) == facts_of(kbs[1])
        assert (reports[0].added, reports[0].deleted) == (reports[1].added, reports[1].deleted)
