"""Rules that come and go equal starting again with the program as it is then; what is refused changes nothing."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.workloads import workload
from everlog import EverlogError, KnowledgeBase, parse_program
from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import Program
from long_sequences.following import Follower, Tally
from long_sequences.scenarios import Interests, life
from oracles import computing as oracle
from oracles.exchange import facts_of
from oracles.naive import fact
from support.computing_programs import Computing, computing
from support.maintenance import check_backbones
from support.minimum_programs import with_minima
from support.on_spark import kept_counts

REACH = """
reach(?x, ?y) :- edge(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
far(?x, ?y) :- reach(?x, ?y), not edge(?x, ?y) .
edge(a, b) . edge(b, c) . edge(c, d) .
"""
ALGORITHMS = ("auto", "dred", "fbf", "bf", "dredc", "bfc", "counting", "remat")


def made(program: str | Program, facts: Any = None, **options: Any) -> KnowledgeBase:
    kb = KnowledgeBase(program, engine="memory", **options)
    kb.add(facts or {})
    kb.materialise()
    return kb


# ------------------------------------------------------------------------------------ random edits


@pytest.mark.parametrize("block", range(4))
def test_lives_in_which_rules_change(block: int) -> None:
    """Updates of facts and rules, by all algorithms, with failures and interrupts: facts, counts, trace, backbones."""
    tally = Tally()
    for number in range(100 + 3 * block, 103 + 3 * block):
        one = life(number, Interests(updates=12, failures=0.05, interrupts=0.03, rules=0.7))
        try:
            Follower(one, tally).live()
        except Exception as found:
            raise AssertionError(f"life {number}: {found}\n{one}") from found
    assert tally.rules >= 15


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rules_that_compute(algorithm: str) -> None:
    for seed in range(4):
        edited(computing(Random(f"{algorithm} {seed}")), Random(seed), algorithm=algorithm)
        edited(with_minima(Random(f"{algorithm} {seed}")), Random(seed), algorithm=algorithm)


def edited(one: Computing, random: Random, **options: Any) -> None:
    """A knowledge base whose rules and facts change is held to the definition."""
    held = {name: set(rows) for name, rows in one.facts.items()}
    kb = made(one.program, one.facts, **options)
    active = list(one.program.rules)
    for add, delete in one.updates:
        wanted = [rule for rule in one.program.rules if random.random() < 0.7]
        for name in held:
            held[name] = (held[name] - set(delete.get(name, ()))) | set(add.get(name, ()))
        come = Program(tuple(rule for rule in wanted if rule not in active))
        gone = Program(tuple(rule for rule in active if rule not in wanted))
        kb.update(add=add, delete=delete, add_rules=come, delete_rules=gone)
        active = wanted
        explicit = frozenset(fact(name, *row) for name, some in held.items() for row in some)
        assert facts_of(kb) == oracle.materialise(active, explicit), [print_rule(rule) for rule in active]


# ------------------------------------------------------------------------------------ one rule at a time


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_rule_goes_and_comes_back(algorithm: str) -> None:
    kb = made(REACH, algorithm=algorithm)
    before = facts_of(kb)
    step = "reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
    report = kb.change_rules(delete=step)
    assert sorted(kb.rows("reach")) == [("a", "b"), ("b", "c"), ("c", "d")] and not kb.rows("far")
    assert (report.added, report.deleted) == (0, 6)
    added, deleted = kb.changes("far")
    assert (added.num_rows, deleted.num_rows) == (0, 3)
    report = kb.change_rules(add=step)
    assert facts_of(kb) == before and (report.added, report.deleted) == (6, 0)
    assert set(kb.program.rules) == set(parse_program(REACH).rules)


def test_facts_and_rules_in_one_update() -> None:
    kb = made(REACH)
    kb.update(
        add={"edge": [("d", "a")]},
        delete={"edge": [("a", "b")]},
        add_rules="back(?y, ?x) :- edge(?x, ?y) . edge(e, a) .",
        delete_rules="far(?x, ?y) :- reach(?x, ?y), not edge(?x, ?y) . edge(b, c) .",
    )
    assert sorted(kb.rows("edge")) == [("c", "d"), ("d", "a"), ("e", "a")]
    assert sorted(kb.rows("back")) == [("a", "d"), ("a", "e"), ("d", "c")] and not kb.rows("far")
    assert sorted(kb.rows("reach")) == [("c", "a"), ("c", "d"), ("d", "a"), ("e", "a")]


def test_a_rule_is_named_whatever_its_variables_and_the_order_of_its_conditions() -> None:
    kb = made(
        "p(?x) :- q(?x, ?y), q(?y, ?x), r(?y), ?x != ?y, NOT EXISTS ?z IN (s(?z, ?x)) . q(1, 2) . q(2, 1) . r(2) ."
    )
    assert kb.rows("p") == [(1,)]
    kb.change_rules(delete="p(?a) :- NOT EXISTS ?c IN (s(?c, ?a)), r(?b), ?a != ?b, q(?b, ?a), q(?a, ?b) .")
    assert not kb.rows("p") and not kb.program.rules


def test_a_rule_that_is_there_already_is_not_added_again() -> None:
    kb = made(REACH)
    kb.change_rules(add="reach(?a, ?c) :- edge(?b, ?c), reach(?a, ?b) .")
    assert len(kb.program.rules) == 3


def test_a_deleted_rule_that_is_not_there_is_a_mistake_with_the_nearest() -> None:
    kb = made(REACH)
    before = facts_of(kb)
    with pytest.raises(EverlogError) as found:
        kb.change_rules(delete="reach(?x, ?z) :- reach(?x, ?y), edges(?y, ?z) .", add="new(?x) :- edge(?x, ?y) .")
    assert "did you mean: reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ." in str(found.value)
    assert facts_of(kb) == before and len(kb.program.rules) == 3 and "new" not in kb.predicates()


@pytest.mark.parametrize(
    ("add", "message"),
    [
        ("edge(?x, ?y) :- far(?x, ?y) .", "not stratified"),
        ("p(?x) :- edge(?y, ?z) .", "unsafe"),
        ("p(?x) :- edge(?x, ?y, ?z) .", "edge has 2 arguments"),
        ("?x = ?y :- edge(?x, ?y) .", "equality is off"),
    ],
)
def test_a_program_that_is_refused_changes_nothing(add: str, message: str) -> None:
    kb = made(REACH, algorithm="counting")
    before, counts = facts_of(kb), kept_counts(kb)
    with pytest.raises(EverlogError, match=message):
        kb.change_rules(add=add)
    assert facts_of(kb) == before and kept_counts(kb) == counts
    assert kb.program.rules == parse_program(REACH).rules
    kb.update(add={"edge": [("d", "e")]})
    assert ("a", "e") in kb.rows("reach")


@pytest.mark.parametrize("algorithm", ["auto", "dredc", "counting"])
def test_a_failure_leaves_everything_as_it_was(algorithm: str) -> None:
    kb = made(REACH, algorithm=algorithm)
    before, counts = facts_of(kb), kept_counts(kb)
    change = {"delete": "reach(?x, ?y) :- edge(?x, ?y) .", "add": "reach(?y, ?x) :- edge(?x, ?y) ."}

    class Injected(Exception):
        pass

    for at in range(1, 100):
        calls = 0

        def progress(stratum: int, number: int, new: int) -> None:
            nonlocal calls
            calls += 1
            if calls == at:  # noqa: B023
                raise Injected

        try:
            kb.change_rules(**change, progress=progress)
            break
        except Injected:
            assert facts_of(kb) == before and kept_counts(kb) == counts
            assert kb.program.rules == parse_program(REACH).rules
    assert at > 3 and {("b", "a"), ("b", "b")} <= set(kb.rows("reach"))


def test_modules_come_and_go() -> None:
    """A relation that becomes a module's has a backbone, and one that ceases to be has none."""
    edges = [(number, number + 1) for number in range(30)]
    kb = made("r(?x, ?y) :- e(?x, ?y) .", {"e": edges, "r": [(5, 50)]}, modules="tc,stc,reach")
    tc = "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) ."
    report = kb.change_rules(add=tc)
    assert [one["kind"] for one in report.modules] == ["tc"]
    check_backbones(kb)
    kb.update(delete={"e": [(10, 11)]}, add={"e": [(50, 51)]})
    check_backbones(kb)
    anew = made(f"r(?x, ?y) :- e(?x, ?y) . {tc}", {"e": kb.rows("e"), "r": [(5, 50)]}, modules="off")
    assert facts_of(kb) == facts_of(anew)
    report = kb.change_rules(add="r(?y, ?x) :- r(?x, ?y) .")
    assert [one["kind"] for one in report.modules] == ["stc"]
    check_backbones(kb)
    report = kb.change_rules(delete=f"{tc} r(?y, ?x) :- r(?x, ?y) .")
    assert not report.modules
    assert set(kb.rows("r")) == {*kb.rows("e"), (5, 50)}


def test_a_module_that_is_new_beside_another_one() -> None:
    """What a relation has from its neighbours in an order is nothing that a new module could tell from its own facts."""
    step, between = "f(?x, ?z) :- f(?x, ?y), a(?y, ?z) .", "f(?x, ?z) :- f(?x, ?y), f(?y, ?z) ."
    order = "f(?x, ?y) :- n(?x), n(?y), ?x < ?y, NOT EXISTS ?z IN (n(?z), ?x < ?z, ?z < ?y) ."
    kb = made(f"{step} {between} {order}", {"a": [(2, 0)], "f": [(4, 2)], "n": [(7,), (8,), (9,)]})
    kb.change_rules(delete=step)
    report = kb.change_rules(add=step)
    assert any("two modules derive the same relation" in reason for reason in report.reasons)
    kb.update(delete={"f": [(4, 2)]})
    assert sorted(kb.rows("f")) == [(7, 8), (7, 9), (8, 9)]


@pytest.mark.parametrize("equality", ["rewrite", "axioms"])
def test_equal_names(equality: Any) -> None:
    rules = ["?x = ?y :- key(?x, ?k), key(?y, ?k) .", "p(?x) :- q(?x) .", "r(?x) :- p(?x), key(?x, ?k) ."]
    facts = {"key": [("a", 1), ("b", 1), ("c", 2)], "q": [("a",), ("c",)]}
    kb = made("\n".join(rules), facts, equality=equality)
    for active in ([1, 2], [0, 1, 2], [0, 2], [0, 1], [0, 1, 2]):
        wanted = Program(tuple(rule for number in active for rule in parse_program(rules[number]).rules))
        anew = made(wanted, facts, equality=equality)
        come = [rule for rule in anew.program.rules if rule not in kb.program.rules]
        gone = [rule for rule in kb.program.rules if rule not in anew.program.rules]
        kb.change_rules(add=Program(tuple(come)), delete=Program(tuple(gone)))
        assert facts_of(kb) == facts_of(anew), active


def test_rules_that_no_equality_depends_on_are_changed_above_it() -> None:
    program = "?x = ?y :- key(?x, ?k), key(?y, ?k) . p(?x) :- q(?x) . r(?x) :- p(?x), key(?x, ?k) ."
    kb = made(program, {"key": [("a", 1), ("b", 1), ("c", 2)], "q": [("a",), ("c",)]}, equality="rewrite")
    report = kb.change_rules(add="s(?x, ?y) :- r(?x), r(?y) .", delete="p(?x) :- q(?x) .")
    assert report.algorithm != "remat" and not kb.rows("r")
    report = kb.update(add={"q": [("b",)]}, delete={"q": [("c",)]}, add_rules="p(?x) :- q(?x) .")
    assert report.algorithm != "remat" and sorted(kb.rows("s")) == [(x, y) for x in "ab" for y in "ab"]
    report = kb.change_rules(add="?x = ?y :- s(?x, ?y), s(?y, ?x), key(?x, 2) .")
    assert any("equality depends on" in reason for reason in report.reasons)


# ------------------------------------------------------------------------------------ ontologies, axiom by axiom


def gene_ontology(data: Path) -> tuple[str, dict[str, list[tuple[str, ...]]]]:
    """Classes below others, as rules, and instances of some."""
    with gzip.open(data / "go" / "trixie_mf_edges.tsv.gz", "rt", encoding="utf-8") as lines:
        edges = [line.rstrip("\n").split("\t") for line in lines][:600]
    text = "\n".join(f"t({above!r}, ?x) :- t({below!r}, ?x) .".replace("'", '"') for below, _, above in edges)
    return text, {"t": [(below, f"i{number % 7}") for number, (below, *_) in enumerate(edges[::9])]}


def test_ontologies_edited_axiom_by_axiom_end_where_they_began(data: Path) -> None:
    relations = workload("relations").instance(groups=2, individuals=12, facts=30)
    universities = workload("lubm-extended").instance(k=1)
    some = {"triple": universities.facts["triple"].slice(0, 4_000)}
    for (program, facts), number in (
        (gene_ontology(data), 20),
        ((relations.program, relations.facts), 10),
        ((universities.program, some), 10),
    ):
        kb = made(program, facts)
        before = kb.program.rules
        rows, chosen = facts_of(kb), Random(1).sample(before, number)
        reports = [kb.change_rules(delete=Program((rule,))) for rule in chosen]
        reports += [kb.change_rules(add=Program((rule,))) for rule in Random(2).sample(chosen, number)]
        assert set(kb.program.rules) == set(before) and facts_of(kb) == rows
        assert any(report.algorithm != "remat" for report in reports)
