"""What rules took: measuring changes nothing but the time, and whatever is counted is counted once."""

from __future__ import annotations

import json

import pytest

from everlog import EverlogError, KnowledgeBase, Report, parse_program
from everlog.knowledge.rule_profile import Profile
from oracles.exchange import rows_of
from support.on_spark import joint_sequence

GRAPHS = parse_program("""
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    pair(?x, ?y) :- edge(?x, ?y), ?x < ?y .
    last(?x) :- reach(_, ?x), not edge(?x, _) .
""")


def lines(kb: KnowledgeBase) -> dict[tuple[str, ...], tuple[int, int]]:
    """The derivations and facts of rules."""
    return {(line.kind, *line.rules): (line.derivations, line.facts) for line in kb.profile().lines}


def test_rules_modules_and_negations_have_lines_of_their_own() -> None:
    kb = KnowledgeBase(GRAPHS, modules=["reach"])
    kb.add({"edge": [(1, 2), (2, 3), (3, 1), (3, 4)]})
    report = kb.materialise(profile=True)
    assert lines(kb) == {
        ("", "reach(?x, ?y) :- edge(?x, ?y) ."): (4, 4),
        ("reach", "reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."): (0, 8),
        ("", "pair(?x, ?y) :- edge(?x, ?y), ?x < ?y ."): (3, 3),
        ("negation", "edge(?0, ?1)"): (4, 3),
        ("", "last(?x) :- reach(_, ?x), NOT EXISTS ?1 IN (edge(?x, ?1)) ."): (3, 1),
    }
    profile = kb.profile()
    seconds = [line.seconds for line in profile.lines]
    assert seconds == sorted(seconds, reverse=True) and seconds[-1] > 0
    assert profile.strata == report.strata and sum(seconds) <= sum(report.strata.values())
    kb.update(delete={"edge": [(3, 1)]}, profile=True)
    assert lines(kb)["", "pair(?x, ?y) :- edge(?x, ?y), ?x < ?y ."] == (0, 0)
    assert lines(kb)["reach", "reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."][1] == 6
    kb.update(add={"edge": [(4, 1)]})
    with pytest.raises(EverlogError, match=r"nothing was measured last: call materialise\(profile=True\)"):
        kb.profile()


def test_rules_with_aggregates_are_shown_as_they_are_written() -> None:
    busy = "busy(?p, ?n) :- AGGREGATE(works(?p, ?d), wage(?p, ?w) ON ?p BIND COUNT(*) AS ?n), not idle(?p, _) ."
    mean = "mean(?d, ?m) :- AGGREGATE(works(?p, ?d) ON ?d BIND AVG(?p) AS ?m) ."
    kb = KnowledgeBase(parse_program(f"{busy} {mean}"))
    kb.add({"works": [(1, 2), (3, 2)], "wage": [(1, 5)], "idle": [(7, 1)]})
    kb.materialise(profile=True)
    assert {rule for _, *rules in lines(kb) for rule in rules if rule.startswith(("busy", "mean"))} == {busy, mean}
    assert [line.kind for line in kb.profile().lines if line.rules == ["works(?0, ?1), wage(?0, ?2)"]] == ["aggregate"]
    groups = [line.rules[0] for line in kb.profile().lines if line.kind == "groups"]
    assert "AGGREGATE(works(?0, ?2), wage(?0, ?3) ON ?0 BIND COUNT(*) AS ?1)" in groups
    assert len(groups) == 3  # a mean is a sum and a count
    assert "¬" not in repr(kb.profile())


def test_rules_that_keep_the_best_have_a_line() -> None:
    rules = ["dist(?x, MIN(0)) :- source(?x) .", "dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) ."]
    kb = KnowledgeBase(parse_program(" ".join(rules)))
    kb.add({"source": [("a",)], "edge": [("a", "b", 4), ("a", "c", 1), ("c", "b", 2)]})
    kb.materialise(profile=True)
    (line,) = (line for line in kb.profile().lines if line.kind == "minima")
    assert (sorted(line.rules), line.facts) == (sorted(rules), 3)
    kb.update(delete={"edge": [("c", "b", 2)]}, profile=True)
    (line,) = (line for line in kb.profile().lines if line.kind == "minima")
    assert (sorted(line.rules), line.facts) == (sorted(rules), 2)


@pytest.mark.parametrize("algorithm", ["dred", "fbf", "bf", "dredc", "bfc", "counting", "remat"])
def test_measuring_changes_no_numbers(algorithm: str) -> None:
    sequence = joint_sequence(5, size=6, updates=3, rules=4)
    seen = []
    for profile in (False, True):
        kb = KnowledgeBase(sequence.case.program, algorithm=algorithm, hypertree="all")
        kb.add(rows_of(sequence.case.facts))
        reports = [kb.materialise(profile=profile)]
        for update in sequence.updates:
            reports.append(kb.update(add=rows_of(update.add), delete=rows_of(update.delete), profile=profile))
        seen.append([(one.facts, one.derivations, one.rounds, one.added, one.deleted) for one in reports])
        if profile:
            assert all(accounted(report) for report in reports)
    assert seen[0] == seen[1]


def accounted(report: Report) -> bool:
    """Whether the lines have all rule instances."""
    assert report.profile is not None
    return sum(line.derivations for line in report.profile.lines) == sum(report.derivations.values())


def test_rules_that_equality_depends_on_have_a_line() -> None:
    program = parse_program("?x = ?y :- key(?x, ?k), key(?y, ?k) . found(?x) :- seen(?x) .")
    kb = KnowledgeBase(program, equality="rewrite")
    kb.add({"key": [("a", 1), ("b", 1)], "seen": [("a",)]})
    kb.materialise(profile=True)
    assert {line.kind for line in kb.profile().lines} == {"", "equality"}
    kb.update(add={"seen": [("c",)]}, profile=True)
    assert {line.kind for line in kb.profile().lines} == {"", "equality"}
    assert kb.query("found(?x)") == [("a",), ("b",), ("c",)]


def test_a_profile_is_a_table_a_picture_and_json() -> None:
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x), ?x < 3 . r(?x) :- p(?x) ."))
    kb.add({"q": [(1,), (2,), (3,)]})
    report = kb.materialise(profile=True)
    heads, *rows = repr(kb.profile()).splitlines()
    assert heads.split() == ["seconds", "derivations", "facts", "stratum", "rules"]
    assert any(row.endswith("p(?x) :- q(?x), ?x < 3 .") for row in rows)
    assert rows[-1].startswith("seconds by stratum: 1: ")
    html = kb.profile()._repr_html_()
    assert "?x &lt; 3" in html and html.count("<rect") == 2 + len(report.strata)
    assert kb.profile().page().startswith("<!DOCTYPE html>") and html in kb.profile().page()
    stats = json.loads(json.dumps(report.stats()))["profile"]
    assert {row["rules"][0] for row in stats["rules"]} == {"p(?x) :- q(?x), ?x < 3 .", "r(?x) :- p(?x) ."}
    assert set(stats["rules"][0]) == {"seconds", "derivations", "facts", "stratum", "kind", "rules"}
    assert "profile" not in kb.update(add={"q": [(0,)]}).stats()


def test_nothing_to_do_has_a_profile_too() -> None:
    assert repr(Profile([], {})).splitlines()[-1] == "seconds by stratum: none"
    assert Profile([], {})._repr_html_()
