"""Materialisation: random programs against two oracles, no rule instance twice, any number of threads, the examples."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import Phase, given, settings

from everlog import KnowledgeBase, Report, parse_program
from everlog.datalog.syntax import HIDDEN, Program
from everlog.datalog.values import RDF_TYPE
from everlog.engine.memory import tuning
from everlog.planning.compiled_program import prepared
from oracles import clingo_oracle, naive
from oracles.exchange import facts_of, rows_of
from oracles.naive import Facts
from support.cramped import cramped
from support.strategies import Case, cases, smallest

property_test = settings(deadline=None, derandomize=True, max_examples=80, phases=[Phase.generate])


def materialised(case: Case, **options: object) -> tuple[KnowledgeBase, Report]:
    kb = KnowledgeBase(case.program, **options)  # type: ignore[arg-type]
    kb.add(rows_of(case.facts))
    return kb, kb.materialise()


def visible(facts: Facts) -> Facts:
    return frozenset(fact for fact in facts if not fact[0].startswith(HIDDEN))


def is_right(case: Case) -> bool:
    """Whether all ways to materialise a program agree with the oracles, in what follows and in how many instances fire."""
    rules = prepared(case.program.rules)
    everything = naive.materialise(rules, case.explicit)
    expected = visible(everything)
    instances = sum(len(naive.instances(rule, everything, everything)) for rule in rules)

    def agrees(**options: object) -> bool:
        kb, report = materialised(case, **options)
        return (
            facts_of(kb) == expected
            and facts_of(kb, "explicit") == case.explicit
            and facts_of(kb, "derived") == expected - case.explicit
            and report.derivations == {"materialise": instances}
            and report.facts == {"explicit": len(case.explicit), "total": len(expected)}
            and (report.added, report.deleted) == (len(expected), 0)
        )

    with cramped(2):
        small = agrees(stratification="single", workers=1) and agrees(stratification="levels", workers=2)
    return (
        small
        and clingo_oracle.materialise(case.program.rules, case.explicit) == expected
        and agrees(stratification="levels", workers=1)
        and agrees(stratification="single", workers=2)
    )


@property_test
@given(cases())
def test_random_programs(case: Case) -> None:
    """Also in blocks of two bindings, with sinks that are full at two heads."""
    assert is_right(case), smallest(case, lambda fewer: not is_right(fewer))


@settings(property_test, max_examples=90)
@given(cases())
def test_hidden_predicates_change_nothing(case: Case) -> None:
    """`NOT EXISTS`, equalities and copies of rules are rewritten before planning; what follows stays the same."""
    rewritten = naive.materialise(prepared(case.program.rules), case.explicit)
    assert visible(rewritten) == naive.materialise(case.program.rules, case.explicit)


@settings(property_test, max_examples=60)
@given(cases())
def test_known_heads_that_are_passed_over_change_nothing(case: Case) -> None:
    """Of those instances fewer are considered; in blocks of two heads become known in the middle of a round."""
    rules = prepared(case.program.rules)
    everything = naive.materialise(rules, case.explicit)
    instances = sum(len(naive.instances(rule, everything, everything)) for rule in rules)
    for size in (2, 1 << 12):
        with cramped(size), pytest.MonkeyPatch.context() as patch:
            patch.setattr(tuning, "MANY_BINDINGS", 0)
            kb, report = materialised(case, workers=2)
        assert facts_of(kb) == visible(everything)
        assert report.derivations["materialise"] <= instances


def test_who_comes_anyway_is_not_asked_about() -> None:
    """Friends of friends are gone through for those who are not known to come, here for one of a hundred."""
    rule = "comes(?x) :- friend(?x, ?a), comes(?a), friend(?x, ?b), comes(?b), ?a < ?b ."
    friends = [(x, y) for x in range(100) for y in range(100) if x != y]
    found = {}
    for many in (1, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tuning, "MANY_BINDINGS", many)
            kb = KnowledgeBase(rule)
            kb.add({"friend": friends, "comes": [(x,) for x in range(99)]})
            found[many] = kb.materialise().derivations["materialise"]
            assert kb.size("comes") == 100
    # Each of a hundred has 99 friends who come in the end, and so many pairs of them.
    assert found[1 << 30] == 100 * (99 * 98 // 2)
    assert found[1] == 99 * 98 // 2


# Enough rows for threads, several blocks and full sinks

LARGE = parse_program(
    """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    both(?x, ?y) :- reach(?x, ?y), reach(?y, ?x), ?x < ?y .
    far(?x, ?y, ?d) :- reach(?x, ?y), mark(?y, ?d), not edge(?x, ?y) .
    marked(?x) :- far(?x, _, _) .
    lonely(?x) :- edge(?x, _), NOT EXISTS ?y, ?z IN (edge(?x, ?y), reach(?y, ?z), mark(?z, _)) .
    [?x, ?d, ?y] :- far(?x, ?y, ?d), mark(?x, ?d) .
    [?x, rdf:type, ?d] :- [?x, ?d, ?y], [?y, ?d, ?x] .
    """
)


def large_graph(seed: int, nodes: int, edges: int) -> dict[str, list[tuple[object, ...]]]:
    generator = random.Random(seed)
    pairs = {(generator.randrange(nodes), generator.randrange(nodes)) for _ in range(edges)}
    marks = {(generator.randrange(nodes), generator.choice("abcd")) for _ in range(nodes // 3)}
    return {"edge": sorted(pairs), "mark": sorted(marks)}


def reachable(edges: list[tuple[object, ...]]) -> set[tuple[object, object]]:
    """By a search from every node."""
    after: dict[object, list[object]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    found = set()
    for source in after:
        waiting = list(after[source])
        while waiting:
            node = waiting.pop()
            if (source, node) not in found:
                found.add((source, node))
                waiting += after.get(node, ())
    return found


@pytest.mark.parametrize("size", [None, 7, 100])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_threads_and_blocks_change_nothing(workers: int, size: int | None) -> None:
    given_facts = large_graph(seed=1, nodes=130, edges=200)
    expected = reachable(given_facts["edge"])
    alone = KnowledgeBase(LARGE, workers=1)
    alone.add(given_facts)
    report = alone.materialise()
    assert set(alone.rows("reach")) == expected and len(expected) > 2000
    with cramped(size) if size else pytest.MonkeyPatch.context():
        kb = KnowledgeBase(LARGE, workers=workers)
        kb.add(given_facts)
        again = kb.materialise()
        assert facts_of(kb) == facts_of(alone)
        assert (again.derivations, again.facts) == (report.derivations, report.facts)


def test_many_thousand_rows_on_two_threads() -> None:
    given_facts = large_graph(seed=2, nodes=400, edges=1200)
    reach = reachable(given_facts["edge"])
    kb = KnowledgeBase(LARGE, workers=2)
    kb.add(given_facts)
    report = kb.materialise()
    assert set(kb.rows("reach")) == reach and len(reach) > 100_000
    edges, marks = set(given_facts["edge"]), set(given_facts["mark"])
    far = {(x, y, mark) for x, y in reach - edges for mark in "abcd" if (y, mark) in marks}
    triples = {(x, mark, y) for x, y, mark in far if (x, mark) in marks}
    typed = {(x, RDF_TYPE, mark) for x, mark, y in triples if (y, mark, x) in triples}
    both = {(x, y) for x, y in reach if x < y and (y, x) in reach}
    assert set(kb.rows("far")) == far
    assert set(kb.rows("both")) == both
    assert set(kb.rows("marked")) == {(x,) for x, _, _ in far}
    assert set(kb.rows("triple")) == triples | typed
    steps = sum(degree * reached for degree, reached in zip(*degrees(edges, reach), strict=True))
    assert report.derivations["materialise"] > len(edges) + steps


def degrees(edges: set[tuple[object, ...]], reach: set[tuple[object, object]]) -> tuple[list[int], list[int]]:
    """For each node, how many edges leave it and from how many nodes it is reached."""
    leaving, reaching = Counter(x for x, _ in edges), Counter(y for _, y in reach)
    return [leaving[node] for node in leaving], [reaching[node] for node in leaving]


# Examples of *Revisited*

EXAMPLE_1 = parse_program(
    """
    T(?x, ?y) :- R(?x, ?y), not A(?x) .
    T(?x, ?y) :- S(?x, ?y), A(?x) .
    B(?y) :- T(?x, ?y), B(?x) .
    R(b, e) . S(b, f) . B(a) .
    T(a, b) . T(b, c) . T(c, d) . T(d, c) . T(e, c) . T(f, g) . T(g, c) .
    """
)


@pytest.fixture(params=["levels", "single"])
def stratification(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_example_1(stratification: str) -> None:
    kb = KnowledgeBase(EXAMPLE_1, stratification=stratification)  # type: ignore[arg-type]
    report = kb.materialise()
    assert kb.rows("T", "derived") == [("b", "e")]
    assert sorted(kb.rows("B", "derived")) == [("b",), ("c",), ("d",), ("e",)]
    # (b,e) by rule (7); b, c, d, e and c twice again by rule (9): the instances (17)–(19) all derive B(c).
    assert report.derivations == {"materialise": 1 + 6}


def test_example_2(stratification: str) -> None:
    kb = KnowledgeBase(EXAMPLE_1, stratification=stratification)  # type: ignore[arg-type]
    kb.materialise()
    report = kb.update(add={"A": [("b",)]})
    assert kb.rows("T", "derived") == [("b", "f")]
    assert sorted(kb.rows("B", "derived")) == [("b",), ("c",), ("d",), ("f",), ("g",)]
    assert (report.added, report.deleted) == (4, 2)


def test_example_37() -> None:
    kb = KnowledgeBase(parse_program("A(?x1) :- R(?x1, ?x2), S(?x2, ?x3), T(?x3, ?x4) ."))
    kb.add({"R": [("a", "b1")], "S": [(f"b{i}", "c") for i in range(1, 101)], "T": [("c", "d")]})
    report = kb.materialise()
    assert kb.rows("A") == [("a",)]
    assert report.derivations == {"materialise": 1}
    kb.update(delete={"T": [("c", "d")]})
    assert kb.rows("A") == []


def test_example_38() -> None:
    n = 50
    kb = KnowledgeBase(parse_program("S(?y1, ?y2) :- R(?x, ?y1), R(?x, ?y2) ."))
    kb.add({"R": [pair for i in range(n) for pair in ((f"a{i}", "b"), (f"a{i}", f"c{i}"))]})
    report = kb.materialise()
    c = [f"c{i}" for i in range(n)]
    assert set(kb.rows("S")) == {("b", "b")} | {pair for ci in c for pair in (("b", ci), (ci, "b"), (ci, ci))}
    assert report.derivations == {"materialise": 4 * n}
    kb.update(delete={"R": [(f"a{i}", f"c{i}") for i in range(n)]})
    assert kb.rows("S") == [("b", "b")]


def test_a_program_without_rules_or_facts() -> None:
    kb = KnowledgeBase(Program())
    report = kb.materialise()
    assert (facts_of(kb), report.derivations, report.rounds) == (frozenset(), {"materialise": 0}, 0)
