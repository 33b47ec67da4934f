"""Programs in the peers' languages."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.encoding import NotExpressible
from benchmarks.relational import Relational, relational
from benchmarks.sql import only_stratum, recursive_query
from benchmarks.translate import CLINGO, NEMO, SOUFFLE, Dialect, rule_text
from benchmarks.workload import BenchmarkMistake, Instance
from everlog.datalog.reader import parse_program

PREFIX = "@prefix ex: <http://example.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def numbers(program: str, **facts: list[tuple[int, ...]]) -> Relational:
    tables = {
        name: pa.table({f"a{at}": pa.array(column) for at, column in enumerate(zip(*rows, strict=True))})
        for name, rows in facts.items()
    }
    return relational(parse_program(program), Instance(program, tables))


def _query(work: Relational) -> str:
    return recursive_query(only_stratum(work))


def triples(program: str, rows: list[tuple[str, str, str]]) -> Relational:
    texts = pa.array(sorted({term for row in rows for term in row}))
    code = {text: at for at, text in enumerate(texts.to_pylist())}
    columns = [
        pa.DictionaryArray.from_arrays(pa.array([code[row[at]] for row in rows], pa.int32()), texts) for at in range(3)
    ]
    table = pa.Table.from_arrays(columns, ["a0", "a1", "a2"])
    return relational(parse_program(PREFIX + program), Instance(PREFIX + program, {"triple": table}))


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (CLINGO, "r_P(X0) :- r_q(X0,X1), not r_s(X1,_), X0 != 3."),
        (NEMO, "r_P(?x0) :- r_q(?x0,?x1), ~r_s(?x1,_), ?x0 != 3 ."),
        (SOUFFLE, "r_P(x0) :- r_q(x0,x1), !r_s(x1,_), x0 != 3."),
    ],
)
def test_a_rule_in_each_dialect(dialect: Dialect, text: str) -> None:
    work = numbers("P(?a) :- q(?a, ?b), not s(?b, _), ?a != 3 .", q=[(1, 2)], s=[(2, 3)])
    assert rule_text(work.rules[0], dialect) == text


def test_a_wide_negation_is_refused() -> None:
    work = numbers("p(?a) :- q(?a, ?b), NOT EXISTS ?c IN (s(?b, ?c), s(?c, ?a)) .", q=[(1, 2)], s=[(2, 3)])
    with pytest.raises(NotExpressible, match="NOT EXISTS"):
        rule_text(work.rules[0], CLINGO)


def test_triples_become_relations_of_properties_and_classes() -> None:
    work = triples(
        "[?x, rdf:type, ex:Person] :- [?x, ex:knows, ?y], [?y, rdf:type, ex:Agent] .",
        [
            ("<http://a>", "<http://example.org/knows>", "<http://b>"),
            ("<http://b>", TYPE, "<http://example.org/Agent>"),
            ("<http://b>", "<http://example.org/name>", '"B"'),
        ],
    )
    assert rule_text(work.rules[0], CLINGO) == "r_Person(X0) :- r_knows(X0,X1), r_Agent(X1)."
    described = {r.name: (r.arity, r.predicate, r.derived, r.rows) for r in work.relations}
    assert described == {
        "r_Person": (1, "triple", True, 0),
        "r_knows": (2, "triple", False, 1),
        "r_Agent": (1, "triple", False, 1),
        "r_name": (2, "triple", False, 1),
    }


def test_a_class_and_a_property_of_one_name_stay_apart() -> None:
    work = triples("[?x, ex:chair, ?x] :- [?x, rdf:type, ex:chair] .", [("<http://a>", "<http://p>", "<http://b>")])
    assert len({relation.name for relation in work.relations}) == len(work.relations) == 3


def test_names_that_differ_in_capitals_alone_stay_apart() -> None:
    work = numbers("Death(?x) :- death(?x) .", death=[(1,)])
    assert len({relation.name.lower() for relation in work.relations}) == 2


def test_constants_become_the_codes_of_their_terms() -> None:
    rows = [("<http://a>", "<http://example.org/p>", "<http://b>")]
    work = triples("[?x, ex:q, <http://new>] :- [?x, ex:p, <http://b>], [?x, ex:p, <http://other>] .", rows)
    known, new, other = 1, 3, 4
    assert rule_text(work.rules[0], CLINGO) == f"r_q(X0,{new}) :- r_p(X0,{known}), r_p(X0,{other})."


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("[?x, ex:p, ?y] :- [?x, ?p, ?y] .", "property is a variable"),
        ("[?x, ex:p, ?c] :- [?x, rdf:type, ?c] .", "class is a variable"),
        ("[?x, ex:p, ?y] :- [?x, ex:q, ?y], ?x < ?y .", "order"),
        ("[ex:a, ex:p, ex:b] .", "stands in the program"),
    ],
)
def test_what_relations_cannot_say_is_refused(program: str, message: str) -> None:
    with pytest.raises(NotExpressible, match=message):
        triples(program, [("<http://a>", "<http://p>", "<http://b>")])


def test_a_text_beside_integers_is_refused() -> None:
    with pytest.raises(NotExpressible, match="'here'"):
        numbers('p(?x) :- q(?x, "here") .', q=[(1, 2)])


def test_columns_of_two_kinds_are_a_mistake() -> None:
    table = pa.table({"a0": np.arange(2), "a1": pa.array(["x", "y"])})
    with pytest.raises(BenchmarkMistake, match="share one dictionary"):
        relational(parse_program("p(?x) :- q(?x, ?y) ."), Instance("", {"q": table}))


def test_a_linear_rule_reads_the_last_round() -> None:
    query = _query(numbers("reach(?x,?y) :- edge(?x,?y) . reach(?x,?z) :- reach(?x,?y), edge(?y,?z) .", edge=[(1, 2)]))
    assert query == (
        "WITH RECURSIVE step(a0, a1) AS ((SELECT t0.a0 AS a0, t0.a1 AS a1 FROM r_edge t0) UNION (SELECT * FROM "
        "(SELECT t0.a0 AS a0, t1.a1 AS a1 FROM step t0, r_edge t1 WHERE t1.a0 = t0.a1))) SELECT a0, a1 FROM step"
    )


def test_a_nonlinear_rule_has_a_branch_for_each_recursive_atom() -> None:
    query = _query(numbers("R(?x,?z) :- R(?x,?y), R(?y,?z) .", R=[(1, 2)]))
    assert "FROM step t0, recurring.step t1" in query
    assert "FROM recurring.step t0, step t1" in query


def test_a_recursive_query_has_one_derived_relation() -> None:
    with pytest.raises(NotExpressible, match="2 derived relations"):
        _query(numbers("p(?x) :- q(?x) . r(?x) :- p(?x) .", q=[(1,)]))
