"""`complete` over small documents, of whose terms more is derived (`few_terms.py`), with cases in `rl_small_cases/`.

Each premise is needed here, too. As many cases as are small together are one document.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import everlog
from everlog.datalog.ntriples import write_term
from everlog.datalog.values import identity
from everlog.rdf.owl.few_terms import FEW, MOST_LITERALS, MOST_TERMS, TOO_MANY
from support.rl_cases import Case, follows, is_literal, read_cases

# Documents are materialised once, by the worker that has these tests.
pytestmark = pytest.mark.xdist_group("rl_cases")

CASES = read_cases(Path(__file__).parent / "rl_small_cases")


def packed() -> Iterator[list[Case]]:
    """Cases, and those with a premise less, in the order in which they stand, as many as are one small document.

    A literal belongs to one case, and to one of those with a premise less.
    """
    document: list[Case] = []
    for case in CASES:
        for each in (case, *(less for less in case.without_one if less.premises)):
            if document and not is_small([*document, each]):
                yield document
                document = []
            document.append(each)
    yield document


def is_small(document: list[Case]) -> bool:
    terms = {
        identity(term) for case in document for triple in case.triples("\n".join(case.premises)) for term in triple
    }
    literals = [
        {identity(term) for triple in case.triples(text) for term in triple if is_literal(term)}
        for case in document
        for text in ["\n".join((*case.premises, case.conclusion or ""))]
    ]
    number = sum(map(len, literals))
    return len(terms) <= MOST_TERMS and number <= MOST_LITERALS and number == len(set().union(*literals))


@cache
def materialised() -> dict[Case, everlog.KnowledgeBase]:
    found = {}
    for document in packed():
        triples = [triple for case in document for triple in case.triples("\n".join(case.premises))]
        text = "\n".join(" ".join(write_term(term) for term in triple) + " ." for triple in triples)
        kb = everlog.KnowledgeBase(everlog.ontology(text=text, profile="RL", complete=True), engine="memory", workers=1)
        kb.materialise()
        found |= dict.fromkeys(document, kb)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.number}")
def test_case(case: Case) -> None:
    assert follows(materialised()[case], case)
    for less in (less for less in case.without_one if less.premises):
        assert not follows(materialised()[less], less), f"follows without {set(case.premises) - set(less.premises)}"


def test_nothing_is_said_of_the_terms_of_a_large_document() -> None:
    text = "\n".join(f"<http://ex.org/{number}> <http://ex.org/p> <http://ex.org/o> ." for number in range(MOST_TERMS))
    program = everlog.ontology(text=text, profile="RL", complete=True)
    assert FEW not in {fact.predicate for fact in program.facts}
    assert FEW not in {atom.predicate for rule in program.rules for atom in rule.positive}
    assert [said for said in program.warnings if "all_pairs=True" in said] == [TOO_MANY]


def test_everything_is_said_of_a_large_document_if_it_is_asked_for() -> None:
    literals = " , ".join(
        f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in range(MOST_LITERALS + 1)
    )
    text = f"<http://ex.org/x> <http://ex.org/p> {literals} ."
    differ = '["0"^^xsd:integer, owl:differentFrom, "1"^^xsd:integer]'
    for all_pairs in (False, True):
        program = everlog.ontology(text=text, profile="RL", complete=True, all_pairs=all_pairs)
        assert (TOO_MANY in program.warnings) != all_pairs
        kb = everlog.KnowledgeBase(program, engine="memory", workers=1)
        kb.materialise()
        assert bool(kb.query(differ)) == all_pairs
    with pytest.raises(everlog.EverlogError, match="complete=True, too"):
        everlog.ontology(text=text, profile="RL", all_pairs=True)
