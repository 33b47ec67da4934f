"""The W3C's tests of SPARQL 1.1 queries, all but those of entailment and SERVICE, which are not in the data."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat, Store, parse, parse_query_results

import everlog
from everlog.errors import EverlogError
from support.w3c_queries import Case, Outcome, cases, outcome_of, passes

ROOT = Path(__file__).resolve().parent.parent.parent
FORMATS = {
    "json": QueryResultsFormat.JSON,
    "xml": QueryResultsFormat.XML,
    "tsv": QueryResultsFormat.TSV,
    "csv": QueryResultsFormat.CSV,
}


def ask_everlog(case: Case, form: str | None) -> Outcome:
    kb = everlog.KnowledgeBase("")
    kb.add({"triple": [(one.subject, one.predicate, one.object) for one in case.triples()]})
    if quads := case.quads():
        kb.add({"quad": [(one.subject, one.predicate, one.object, one.graph_name) for one in quads]})
    kb.materialise()
    answer = kb.sparql(case.text(), base=case.base)
    if answer.form in ("construct", "describe"):
        return Outcome(graph=[one.triple for one in parse(answer.serialize("nt"), format=RdfFormat.N_TRIPLES)])
    text = answer.serialize(form or "json")
    if form == "csv":
        return Outcome(text=text)
    return outcome_of(parse_query_results(text, format=FORMATS[form or "json"]))


def ask_pyoxigraph(case: Case, form: str | None) -> Outcome:
    store = Store()
    store.extend([*case.triples(), *case.quads()])
    result = store.query(case.text(), base_iri=case.base)
    return Outcome(text=result.serialize(format=FORMATS["csv"]).decode()) if form == "csv" else outcome_of(result)


def failures(
    found: list[Case], ask: Callable[[Case, str | None], Outcome], refused: tuple[type[Exception], ...]
) -> set[str]:
    failed = set()
    for case in found:
        try:
            passed = passes(case, ask, refused)
        except Exception:
            passed = False
        if not passed:
            failed.add(case.name)
    return failed


@pytest.mark.filterwarnings("ignore:there is no function")
def test_all_pass_but_those_that_the_docs_name(data: Path) -> None:
    folders = sorted((data / "sparql11").iterdir())
    found = [case for folder in folders for case in cases(folder)]
    documented = (ROOT / "docs" / "sparql.md").read_text(encoding="utf-8").partition("## Where it departs")[2]
    named = set(re.findall(r"^\* `([\w-]+/[\w-]+)`", documented, re.MULTILINE))
    assert len(found) > 250
    assert failures(found, ask_everlog, (EverlogError,)) == named
    assert len(named) <= len(failures(found, ask_pyoxigraph, (SyntaxError,)))
