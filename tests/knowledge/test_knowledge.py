"""The knowledge base as a user meets it: facts in and out, updates, queries, and what is said about mistakes."""

from __future__ import annotations

import builtins
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

import everlog
from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.datalog.printer import print_goal
from everlog.datalog.syntax import HIDDEN, Atom, Program, Rule
from everlog.datalog.values import RDF_TYPE, Value
from everlog.errors import ArityMistake
from everlog.sources.problems import SourceMistake
from oracles import naive
from oracles.exchange import facts_of, rows_of
from support.strategies import Writer

property_test = settings(deadline=None, derandomize=True, max_examples=48, phases=[Phase.generate])
seeds = st.integers(0, 2**32)

REACH = parse_program("reach(?x, ?y) :- edge(?x, ?y) .  reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .")

# fmt: off
KINDS: list[Value] = [
    "a", "", "a b", 'say "hi"\n', "1", "<x>", "é😀", 1, -1, 2**62, 1.0, -0.0, 0.0, 1e300, float("inf"), True, False,
    NamedNode("http://example.org/a"), BlankNode("b"), Literal("x", language="en"),
    Literal("2024-01-01", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#date")),
]
# fmt: on


def knowledge(text: str, facts: dict[str, Any] | None = None, **options: Any) -> KnowledgeBase:
    """A materialised knowledge base."""
    kb = KnowledgeBase(parse_program(text), **options)
    kb.add(facts or {})
    kb.materialise()
    return kb


def keyed(rows: list[tuple[Value, ...]]) -> set[naive.Fact]:
    found = [naive.fact("", *row) for row in rows]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("algorithm", ["auto", "counting"])
def test_a_report_has_the_seconds_of_each_stratum(algorithm: str) -> None:
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x) . r(?x) :- q(?x), not p(?x) ."), algorithm=algorithm)
    kb.add({"q": [(1,), (2,)]})
    for report in (kb.materialise(), kb.update(add={"q": [(3,)]}), kb.update(algorithm="remat")):
        assert len(report.strata) == 3
        assert 0 < sum(report.strata.values()) <= report.seconds["reasoning"]
        assert report.stats()["strata"] == report.strata


# Facts in and out


def test_the_example_of_the_design() -> None:
    kb = KnowledgeBase(REACH, engine="memory")
    kb.add({"edge": [("a", "b"), ("b", "c")]})
    assert kb.materialise().added == 5
    report = kb.update(add={"edge": [("c", "d")]}, delete={"edge": [("a", "b")]})
    assert sorted(kb.rows("reach")) == [("b", "c"), ("b", "d"), ("c", "d")]
    assert kb.facts("reach").column_names == ["a0", "a1"]
    assert (report.added, report.deleted) == (1 + 2, 1 + 2)
    assert report.facts == {"explicit": 2, "total": 5}
    assert set(report.seconds) >= {"total", "reasoning"}
    assert report.stats()["rounds"] == report.rounds


@pytest.mark.parametrize(
    "given_facts",
    [
        [("a", 1), ("b", 2)],
        [["a", 1], ["b", 2]],
        (("a", 1), ("b", 2)),
        {("a", 1), ("b", 2)},
        (row for row in [("a", 1), ("b", 2)]),
        [("a", 1), ("b", 2), ("a", 1)],
        pa.table({"x": ["a", "b"], "y": [1, 2]}),
        pa.table({"x": ["a", "b"], "y": pa.array([1, 2], pa.int8())}),
        pa.table({"x": pa.array(["a", "b"]).dictionary_encode(), "y": pa.chunked_array([[1], [2]])}),
        pa.record_batch({"x": ["a", "b"], "y": [1, 2]}),
        pd.DataFrame({"x": ["a", "b"], "y": [1, 2]}),
        pd.DataFrame({"x": ["a", "b"], "y": [1, 2]}, index=[7, 9]),
    ],
    ids=lambda given_facts: type(given_facts).__name__,
)
def test_forms_of_facts(given_facts: object) -> None:
    kb = knowledge("q(?y, ?x) :- p(?x, ?y) .", {"p": given_facts})
    assert sorted(kb.rows("p")) == [("a", 1), ("b", 2)]
    assert sorted(kb.rows("q")) == [(1, "a"), (2, "b")]
    assert kb.size("p") == kb.size("q") == 2


def test_one_two_point_five_and_true_are_different() -> None:
    kb = knowledge("same(?x) :- p(?x), q(?x) .  one(?x) :- p(?x), ?x = 1 .", {"p": [(1,), (1.0,), (True,), ("1",)]})
    assert keyed(kb.rows("p")) == keyed([(1,), (1.0,), (True,), ("1",)])
    assert keyed(kb.rows("one")) == keyed([(1,), (1.0,)])
    kb.update(add={"q": [(1.0,)]})
    assert keyed(kb.rows("same")) == keyed([(1.0,)])
    kb.update(delete={"p": [(True,)]})
    assert keyed(kb.rows("p")) == keyed([(1,), (1.0,), ("1",)])


def test_facts_of_every_kind_round_trip() -> None:
    rows = [(number, value) for number, value in enumerate(KINDS)]
    kb = knowledge("copy(?n, ?v) :- p(?n, ?v) .", {"p": rows})
    assert keyed(kb.rows("copy")) == keyed(rows)
    table = kb.facts("copy")
    assert table.schema.field("a0").metadata is None
    again = knowledge("", {"copy": table})
    assert keyed(again.rows("copy")) == keyed(rows)
    for number, value in rows:
        alone = knowledge("", {"v": [(value,)]}).facts("v")
        assert keyed(knowledge("", {"v": alone}).rows("v")) == keyed([(value,)]), f"row {number}"


def test_facts_are_arrow_columns_of_their_kind() -> None:
    kb = knowledge("", {"p": [("a", 1, 1.5, True, NamedNode("a:b"))]})
    types = [pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.string()]
    assert kb.facts("p").schema.types == types
    assert kb.facts("p").to_pylist() == [{"a0": "a", "a1": 1, "a2": 1.5, "a3": True, "a4": "<a:b>"}]


def test_explicit_and_derived() -> None:
    kb = knowledge("p(?x) :- q(?x) .  p(a) .", {"p": [("b",)], "q": [("b",), ("c",)]})
    assert sorted(kb.rows("p")) == [("a",), ("b",), ("c",)]
    assert sorted(kb.rows("p", "explicit")) == [("a",), ("b",)]
    assert kb.rows("p", "derived") == [("c",)]
    assert [kb.size("p", which) for which in ("all", "explicit", "derived")] == [3, 2, 1]
    assert kb.facts("p", "derived").to_pylist() == [{"a0": "c"}]


def test_the_first_facts_are_sorted_and_of_very_many_they_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase(everlog.parse_program("p(?x) :- q(?x) ."))
    kb.add({"q": [(number,) for number in (7, 3, 10, 2)]})
    kb.materialise()
    assert kb.head("p", 3) == [(2,), (3,), (7,)]
    monkeypatch.setattr("everlog.knowledge.base.WORTH_SORTING", 3)
    few = kb.head("p", 3)
    assert len(few) == 3 and few == sorted(few) and set(few) <= set(kb.rows("p"))


def test_facts_of_the_program_can_be_deleted() -> None:
    kb = knowledge("p(a) . q(?x) :- p(?x) .")
    report = kb.update(delete={"p": [("a",)]})
    assert (facts_of(kb), report.added, report.deleted) == (frozenset(), 0, 2)


def test_before_materialise_there_are_explicit_facts_only() -> None:
    kb = KnowledgeBase(REACH)
    kb.add({"edge": [("a", "b")]})
    assert (kb.rows("edge"), kb.rows("reach"), kb.rows("edge", "derived")) == ([("a", "b")], [], [])


def test_nullary_predicates() -> None:
    kb = knowledge("on() :- switch(), not broken() .  lit(?x) :- on(), lamp(?x) .", {"switch": [()], "lamp": [(1,)]})
    assert (kb.rows("on"), kb.rows("lit"), kb.rows("broken")) == ([()], [(1,)], [])
    assert (kb.facts("on").num_rows, kb.facts("broken").num_rows) == (1, 0)
    assert (kb.query("on()"), kb.query("broken()")) == ([()], [])
    again = knowledge("", {"on": kb.facts("on"), "broken": kb.facts("broken")})
    assert (again.rows("on"), again.rows("broken")) == ([()], [])
    kb.update(add={"broken": [(), ()]})
    assert (kb.rows("on"), kb.rows("lit"), kb.size("broken")) == ([], [], 1)
    kb.update(delete={"broken": [()]})
    assert kb.rows("lit") == [(1,)]


def test_empty_relations_and_unknown_predicates() -> None:
    kb = knowledge("p(?x) :- q(?x), r(?x) .", {"q": [], "new": [], "e": pa.table({"x": pa.array([], pa.int64())})})
    for predicate in ("p", "q", "r", "e", "new", "triple"):
        assert (kb.rows(predicate), kb.size(predicate), kb.facts(predicate).num_rows) == ([], 0, 0)
    assert kb.facts("q").column_names == ["a0"]
    assert kb.predicates() == ["e", "p", "q", "r"]
    kb.update(add={"q": [(1,)], "r": [(1,)], "new": [(1, 2)]})
    assert (kb.rows("p"), kb.rows("new")) == ([(1,)], [(1, 2)])


def test_a_program_without_rules() -> None:
    kb = KnowledgeBase(Program())
    kb.add({"p": [(1,)]})
    report = kb.materialise()
    assert (kb.rows("p"), report.derivations, report.rounds) == ([(1,)], {"materialise": 0}, 0)


def test_triples() -> None:
    ex, a = NamedNode("http://example.org/p"), NamedNode("http://example.org/a")
    kb = knowledge(
        "@prefix ex: <http://example.org/> .  ex:C[?x] :- [?x, ex:p, ?y] .  used(?p) :- [?x, ?p, ?y] .",
        {"triple": [(a, ex, 1), (a, RDF_TYPE, "D")]},
    )
    assert keyed(kb.rows("used")) == keyed([(ex,), (RDF_TYPE,)])
    assert keyed(kb.rows("triple", "derived")) == keyed([(a, RDF_TYPE, NamedNode("http://example.org/C"))])
    assert keyed(knowledge("", {"triple": kb.facts("triple")}).rows("triple")) == keyed(kb.rows("triple"))
    kb.update(delete={"triple": [(a, ex, 1)]})
    assert keyed(kb.rows("triple")) == keyed([(a, RDF_TYPE, "D")])


# Updates


def test_add_waits_for_the_next_update() -> None:
    kb = knowledge("q(?x) :- p(?x) .", {"p": [(1,)]})
    kb.add({"p": [(2,)]})
    kb.add({"p": [(3,)]})
    assert (kb.rows("p"), kb.rows("q")) == ([(1,)], [(1,)])
    report = kb.update(delete={"p": [(1,), (3,)]})
    assert sorted(kb.rows("q")) == [(2,), (3,)], "what was added and deleted is added"
    assert (report.added, report.deleted) == (4, 2)
    assert kb.update().added == 0
    kb.add({"p": [(4,)]})
    assert kb.materialise().added == 2, "materialise() again is an update"


@property_test
@given(seeds)
def test_update_sequences(seed: int) -> None:
    """`E` becomes `(E ∖ E⁻) ∪ E⁺`, whatever was explicit, derived, absent, or added and deleted at once."""
    writer = Writer(Random(seed))
    case = writer.case(5)
    kb = KnowledgeBase(case.program, stratification=writer.random.choice(["levels", "single"]))
    kb.add(rows_of(case.facts))
    kb.materialise()
    explicit, known = case.explicit, naive.materialise(case.program.rules, case.explicit)
    for _ in range(3):
        waiting, add, delete = (writer.facts(writer.random.choice([0.02, 0.2, 0.5])) for _ in range(3))
        kb.add(rows_of(waiting))
        assert facts_of(kb) == known
        report = kb.update(add=rows_of(add), delete=rows_of(delete))
        explicit = (explicit - naive.facts(delete)) | naive.facts(add) | naive.facts(waiting)
        before, known = known, naive.materialise(case.program.rules, explicit)
        assert facts_of(kb) == known
        assert facts_of(kb, "explicit") == explicit
        assert (report.added, report.deleted) == (len(known - before), len(before - known))
        assert report.facts == {"explicit": len(explicit), "total": len(known)}


@property_test
@given(seeds)
def test_changes_are_what_the_update_did(seed: int) -> None:
    writer = Writer(Random(seed))
    case = writer.case(6)
    kb = KnowledgeBase(case.program)
    kb.add(rows_of(case.facts))
    kb.materialise()
    before = facts_of(kb)
    kb.update(add=rows_of(writer.facts(0.2)), delete=rows_of(writer.facts(0.5)))
    after = facts_of(kb)
    for side, expected in enumerate((after - before, before - after)):
        tables = {predicate: kb.changes(predicate)[side] for predicate in kb.predicates()}
        assert facts_of(changed(tables)) == expected


def changed(tables: dict[str, pa.Table]) -> KnowledgeBase:
    kb = KnowledgeBase(Program())
    kb.add(tables)
    return kb


def test_a_failed_add_or_update_changes_nothing() -> None:
    kb = knowledge("q(?x) :- p(?x) .", {"p": [(1,)]})
    kb.add({"p": [(2,)]})
    known, predicates = facts_of(kb), kb.predicates()
    good, bad = {"p": [(3,)], "new": [(1, 2)]}, {"p": [(4,)], "other": [(None,)]}
    attempts = [
        lambda: kb.add({**good, **bad}),
        lambda: kb.update(add={**good, **bad}),
        lambda: kb.update(add=good, delete=bad),
        lambda: kb.update(add=good, delete={"p": [(1, 2)]}),
        lambda: kb.update(add=good, algorithm="magic"),
        lambda: kb.update(add=good, progress=failing),
    ]
    for attempt in attempts:
        with pytest.raises((EverlogError, Interruption)):
            attempt()
        assert (facts_of(kb), kb.predicates()) == (known, predicates)
    report = kb.update()
    assert sorted(kb.rows("q")) == [(1,), (2,)], "what waited before still waits, and nothing else does"
    assert report.added == 2


class Interruption(Exception):
    pass


def failing(stratum: int, number: int, new: int) -> None:
    raise Interruption


def test_progress_is_told() -> None:
    told: list[tuple[int, int, int]] = []
    kb = KnowledgeBase(REACH)
    kb.add({"edge": [(i, i + 1) for i in range(5)], "reach": [(9, 0)]})
    report = kb.materialise(progress=lambda *numbers: told.append(numbers))
    assert sum(new for _, _, new in told) == report.facts["total"]


# Queries


@pytest.fixture(scope="module")
def queried() -> KnowledgeBase:
    return knowledge(
        """
        reach(?x, ?y) :- edge(?x, ?y) .  reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
        lonely(?x) :- alone(?x), not edge(?x, _) .
        """,
        {
            "edge": [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")],
            "alone": [(0,)],
            "number": [(10,), (2.5,), (1.0,), (2,), (1,)],
        },
    )


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("edge(?x, ?y)", [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]),
        ("edge(?x, ?y), edge(?y, ?z), ?x != ?z", [("a", "b", "c"), ("b", "c", "a"), ("b", "c", "d"), ("c", "a", "b")]),
        ("reach(?x, ?x)", [("a",), ("b",), ("c",)]),
        ("edge(_, ?y), not edge(?y, _)", [("d",)]),
        ("edge(?x, _), NOT EXISTS ?y IN (edge(?x, ?y), number(?y))", [("a",), ("b",), ("c",)]),
        ("edge(a, b)", [()]),
        ("edge(b, a)", []),
        ("not edge(b, a)", [()]),
        ("lonely(?x)", [(0,)]),
        ("?x = 5", [(5,)]),
        ("number(?x), ?x > 1", [(2,), (2.5,), (10,)]),
        ("number(?x)", [(1.0,), (1,), (2,), (2.5,), (10,)]),
        ("number(?_x), ?_x < 2", [(1.0,), (1,)]),
        ("edge(?x, ?y), edge(?x, ?z), ?y < ?z", [("c", "a", "d")]),
    ],
)
def test_queries(queried: KnowledgeBase, goal: str, expected: list[tuple[Value, ...]]) -> None:
    """Distinct answers, sorted; a hidden predicate of the program is no answer to a goal's negation."""
    kb = queried
    assert kb.query(goal) == expected
    assert [keyed([row]) for row in kb.query(goal)] == [keyed([row]) for row in expected]
    assert kb.query(goal + " .") == expected, "a query leaves nothing behind"


@property_test
@given(seeds)
def test_random_queries(seed: int) -> None:
    writer = Writer(Random(seed))
    case = writer.case(4)
    kb = KnowledgeBase(case.program)
    kb.add(rows_of(case.facts))
    kb.add({atom.predicate: [] for atom in writer.vocabulary.atoms()})
    kb.materialise()
    known, size = naive.materialise(case.program.rules, case.explicit), kb.materialise().facts
    for _ in range(3):
        body = writer.rule().body
        if body:
            names = dict.fromkeys(variable for literal in body for variable in literal.variables())
            answer = Rule(Atom("answer", tuple(names)), body)
            expected = {naive.instance_of(answer.head, one)[1] for one in naive.instances(answer, known, known)}
            found = kb.query(print_goal(body))
            assert {naive.fact("", *row)[1] for row in found} == expected and len(found) == len(expected)
    assert facts_of(kb) == known and kb.materialise().facts == size


# Mistakes


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"p": [(1, 2)]}, "row 1 of p has 2 values instead of 1: (1, 2)"),
        ({"new": [(1,), (1, 2)]}, "row 2 of new has 2 values instead of 1: (1, 2)"),
        ({"triple": [(1, 2)]}, "row 1 of triple has 2 values instead of 3: (1, 2)"),
        ({"p": [1]}, "row 1 of p is 1; a row is a tuple, such as (1,)"),
        ({"p": [(1,), "ab"]}, "row 2 of p is 'ab'; a row is a tuple, such as ('ab',)"),
        ({"p": 5}, "the facts of p are a int; give a list of tuples, an Arrow table or a DataFrame"),
        ({"p": "ab"}, "the facts of p are a str; give a list of tuples, an Arrow table or a DataFrame"),
        ({"p": None}, "the facts of p are a NoneType; give a list of tuples, an Arrow table or a DataFrame"),
        ([("p", 1)], "the facts are a list; give them by predicate: {'edge': [('a', 'b')]}"),
        ({5: [(1,)]}, "5 is not the name of a predicate, which is a string"),
        ({"¬0": [(1,)]}, "the predicate ¬0 needs another name: those with ¬ are Everlog's own"),
        ({"p": [(None,)]}, "row 1 of p: argument 1 is None, and a fact holds no nulls; fill it in, or leave such"),
        ({"new": [(1, b"x")]}, "new, argument 2: b'x' is of type bytes; a fact holds str"),
        ({"p": [([1],)]}, "p, argument 1: [1] is of type list; a fact holds str"),
        ({"p": [(2**63,)]}, "p, argument 1: the integer 9223372036854775808 does not fit into 64 bits"),
        ({"p": [("\ud800",)]}, "p, argument 1: the string '\\ud800' holds a lone surrogate"),
        ({"p": pa.table({"x": [1], "y": [2]})}, "p has 1 argument, but the table has 2 columns"),
        (
            {"p": pa.table({"x": [1, None]})},
            "p, argument 1: the column x holds 1 null, the first in row 2, and a fact",
        ),
        ({"p": pa.table({"x": pa.nulls(2)})}, "p, argument 1: "),
        ({"p": pd.DataFrame({"x": ["a", None]})}, "p, argument 1: the column x holds 1 null"),
        ({"p": pa.table({"x": [[1]]})}, "p, argument 1: a column of type list<"),
        ({"p": pa.table({"x": [{"y": 1}]})}, "p, argument 1: a column of type struct<"),
        ({"new": pa.table({"x": [1], "y": pa.array([b"x"])})}, "new, argument 2: a column of type binary"),
    ],
)
def test_facts_that_cannot_be(facts: Any, message: str) -> None:
    kb = KnowledgeBase(parse_program("q(?x) :- p(?x) ."))
    kb.add({"p": [(0,)]})
    with pytest.raises(EverlogError) as raised:
        kb.add(facts)
    assert str(raised.value).startswith(message)
    assert (kb.rows("p"), kb.predicates()) == ([(0,)], ["p", "q"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "gpu"}, "engine='gpu' is not supported; choose one of: auto, memory"),
        ({"algorithm": "magic"}, "algorithm='magic' is not supported; choose one of: auto"),
        ({"modules": ["x"]}, "modules=['x'] is not supported; choose auto, off, or some of: tc"),
        ({"hypertree": None}, "hypertree=None is not supported; choose one of: auto, cyclic, off, all"),
        ({"stratification": "fine"}, "stratification='fine' is not supported; choose one of: levels, single"),
        ({"equality": "on"}, "equality='on' is not supported; choose one of: off"),
    ],
)
def test_options_that_are_not(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EverlogError) as raised:
        KnowledgeBase(REACH, **options)
    assert str(raised.value).startswith(message)


def test_other_mistakes() -> None:
    kb = KnowledgeBase(REACH)
    with pytest.raises(EverlogError, match="call materialise\\(\\) first"):
        kb.update(add={"edge": [("a", "b")]})
    kb.materialise()
    with pytest.raises(EverlogError, match="algorithm='magic' is not supported"):
        kb.update(algorithm="magic")
    with pytest.raises(EverlogError, match="which='some' is not supported; choose one of: all, explicit, derived"):
        kb.rows("edge", "some")  # type: ignore[arg-type]
    with pytest.raises(EverlogError, match="edge has 2 arguments elsewhere and 1 here"):
        kb.query("edge(?x)")
    with pytest.raises(EverlogError, match="<goal>:1:"):
        kb.query("edge(?x")
    with pytest.raises(EverlogError, match=f"the predicate {HIDDEN}0 needs another name"):
        KnowledgeBase(parse_program(f'"{HIDDEN}0"(a) .'))
    with pytest.raises(EverlogError, match="not stratified"):
        KnowledgeBase(parse_program("p(?x) :- q(?x), not p(?x) .")).materialise()


def test_importing_everlog_loads_neither_numba_nor_spark() -> None:
    code = (
        "import everlog, sys; everlog.KnowledgeBase(everlog.parse_program('p(?x) :- q(?x) .')); "
        "print([name for name in ('numba', 'pyspark', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_store_on_another_file_system_is_refused_before_anything_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x) ."))
    for path in ("hdfs://nn/x.store", Path("s3a://bucket/x.store")):
        with pytest.raises(EverlogError, match="is on another file system"):
            kb.save(path)
        with pytest.raises(EverlogError, match="is on another file system"):
            everlog.open(path)
    with pytest.raises(EverlogError, match="the folder scratch hdfs://nn/tmp is on another file system"):
        KnowledgeBase(parse_program("p(?x) :- q(?x) ."), scratch="hdfs://nn/tmp")
    assert not list(tmp_path.iterdir())


def test_a_report_says_what_contradicts_an_ontology() -> None:
    kb = knowledge('violation("a and b are disjoint", ?x) :- a(?x), b(?x) .', {"a": [(1,), (2,)], "b": [(2,)]})
    said = ["a and b are disjoint is violated by a(2), b(2)"]
    assert kb.contradictions() == said
    assert kb.update(add={"b": [(3,)]}).warnings == said
    report = kb.update(delete={"b": [(2,)]})
    assert report.warnings == kb.contradictions() == []


def test_a_rule_about_violations_may_have_anonymous_variables() -> None:
    kb = knowledge('violation("late", ?x) :- due(?x, _) .', {"due": [(1, 2)]})
    assert kb.contradictions() == ["late is violated by due(1, _)"]


def test_a_violation_has_any_number_of_arguments() -> None:
    kb = knowledge("violation(?x) :- a(?x), not b(?x) .", {"a": [(1,), (2,)], "b": [(2,)]})
    assert kb.rows("violation") == [(1,)]
    assert kb.contradictions() == ["`violation(?x) :- a(?x), not b(?x) .` is violated by a(1)"]


def test_scalars_of_numpy_are_values() -> None:
    kb = knowledge("q(?x) :- p(?x) .", {"p": [(np.int64(1),), (np.float32(0.5),), (np.str_("a"),), (np.bool_(True),)]})
    assert {(type(value), value) for (value,) in kb.rows("q")} == {(int, 1), (float, 0.5), (str, "a"), (bool, True)}


@pytest.mark.parametrize(
    "facts",
    [
        pd.Series([1, 2]),
        pd.DataFrame({"a": [1, "x"], "b": [object(), None]}),
        {"a": 1},
        3,
    ],
)
def test_facts_in_forms_that_are_not_known_are_refused_with_a_remedy(facts: Any) -> None:
    kb = KnowledgeBase(REACH)
    with pytest.raises(EverlogError, match="edge"):
        kb.add({"edge": facts})
    kb.add({"edge": [(1, 2)]})
    assert kb.materialise().facts["total"] == 2


def test_what_a_notebook_shows() -> None:
    kb = KnowledgeBase(REACH)
    assert repr(kb) == "<KnowledgeBase: 2 rules, 2 predicates, not materialised yet>"
    assert repr(REACH) == "<Program: 2 rules, 0 facts>"
    one = everlog.parse_program("q(?x) :- p(?x), ?x < 5 .  p(a) .")
    assert repr(one) == "<Program: 1 rule, 1 fact>"
    assert one._repr_html_().endswith("</p><pre>q(?x) :- p(?x), ?x &lt; 5 .</pre>")
    kb.add({"edge": [(1, 2)], "<b>": [(1,)]})
    report = kb.materialise()
    assert repr(report).startswith("<Report: 3 facts (2 explicit), 3 added, 0 deleted, remat, ")
    assert repr(report).endswith(" s, 1 warning>")
    assert repr(kb) == "<KnowledgeBase: 2 rules, 3 predicates, materialised in memory>"
    assert "<td>&lt;b&gt;</td><td>1</td>" in kb._repr_html_()
    assert "<th>facts, total</th><td>3</td>" in report._repr_html_()
    assert "<li>no rule mentions &lt;b&gt;, of which there are facts</li>" in report._repr_html_()


def test_the_package_hides_nothing_of_python_and_knows_its_version() -> None:
    names: dict[str, Any] = {}
    exec("from everlog import *", names)
    assert not [name for name in names if hasattr(builtins, name) and not name.startswith("_")]
    assert everlog.open is not open
    assert everlog.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        everlog.nothing  # noqa: B018
    run = subprocess.run([sys.executable, "-m", "everlog", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"everlog {everlog.__version__}\n"


@pytest.mark.parametrize("equality", ["off", "rewrite"])
def test_a_limit_gives_some_answers_and_their_number(equality: str) -> None:
    kb = everlog.KnowledgeBase(everlog.parse_program("q(?x) :- p(?x) ."), equality=equality)  # type: ignore[arg-type]
    kb.add({"p": [(number,) for number in range(20_000)]})
    kb.materialise()
    assert kb.query("q(?x), ?x < 100", limit=3) == [(0,), (1,), (2,)]
    rows, number = kb.first_answers("q(?x)", 5)
    assert len(rows) == 5 and rows == sorted(rows) and number == 20_000
    assert kb.first_answers("q(?x), ?x < 2", 5) == ([(0,), (1,)], 2)
    with pytest.raises(everlog.EverlogError, match="at least 1"):
        kb.query("q(?x)", limit=0)


def test_a_frame_without_its_predicate_is_no_change() -> None:
    kb = knowledge("q(?x) :- p(?x) .", {"p": [(1,)]})
    kb.materialise()
    with pytest.raises(EverlogError, match="the facts are a DataFrame; give them by predicate"):
        kb.update(add=pd.DataFrame({"a": [1]}))  # type: ignore[arg-type]


def test_one_row_is_not_rows_and_arrays_are() -> None:
    kb = knowledge("q(?x) :- p(?x, ?y) .", {"p": np.array([["a", "b"]])})
    kb.materialise()
    assert kb.rows("q") == [("a",)]
    with pytest.raises(ArityMistake, match=r"the facts of p are \('a', 'b'\), which is one row; give \[\('a', 'b'\)\]"):
        kb.add({"p": ("a", "b")})


def test_names_without_question_marks_in_goals() -> None:
    kb = knowledge("q(?x) :- p(?x, ?y) .", {"p": [("a", "b")]})
    kb.materialise()
    with pytest.warns(UserWarning, match=r"x and y are constants in this goal, .*: write \?x if a variable is meant"):
        assert kb.query("p(x, y)") == []
    with pytest.warns(UserWarning, match=r"X is a constant in this goal, .*: write \?X if a variable is meant"):
        assert kb.query("p(X, ?y)") == []


def test_a_measured_materialisation_is_one_also_the_second_time() -> None:
    kb = knowledge("q(?x) :- p(?x, ?y) .", {"p": [("a", "b")]})
    kb.materialise()
    kb.materialise(profile=True)
    assert [line.derivations for line in kb.profile().lines] == [1]


def test_facts_that_no_rule_mentions_come_with_an_update() -> None:
    kb = knowledge("q(?x) :- p(?x, ?y) .", {"p": [("a", "b")]})
    kb.materialise()
    report = kb.update(add={"new": [(1,)]})
    assert any(warning.startswith("no rule mentions new") for warning in report.warnings)


def test_a_missing_file_is_found_without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.spark.session.start_session", None)
    with pytest.raises(SourceMistake, match=r"/nowhere/edge\.csv: no such file or folder"):
        everlog.KnowledgeBase("").load("/nowhere/edge.csv")
