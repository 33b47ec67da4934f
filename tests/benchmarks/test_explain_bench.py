"""The benchmark of explanations checks every proof, and refuses one that is none."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks.explain import Request, run_explain
from benchmarks.proof_check import WrongProof, check_proofs
from everlog import KnowledgeBase


def test_lines_of_few_facts() -> None:
    said: list[str] = []
    run_explain(Request(("dag", "one-class", "many-proofs"), facts=5, scale=100), said.append)
    assert [line.partition(":")[0] for line in said] == ["dag", "one-class", "many-proofs"]
    assert "all proofs checked" in said[0]


def test_what_is_not_given_is_no_reason() -> None:
    facts = {"q": pa.table({"a0": [1, 2]})}
    kb = KnowledgeBase("p(?x) :- q(?x) .")
    kb.add(facts)
    kb.materialise()
    proofs = [kb.explain("p(1)").proofs[0]]
    assert check_proofs(kb, facts, proofs) == 1
    with pytest.raises(WrongProof, match="is not given"):
        check_proofs(kb, {"q": pa.table({"a0": [2]})}, proofs)
