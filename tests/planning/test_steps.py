"""Linear rules whose step is more than an edge: which have a relation of steps, when it is worth it, what is kept of it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import everlog
from everlog import KnowledgeBase, parse_program
from everlog.planning.compiled_program import found_modules
from everlog.planning.hidden_predicates import STEPS
from oracles import naive

SKIP = "skip(?f, ?t) :- next(?f, ?t) . skip(?f, ?t) :- next(?f, ?v), not full(?v), skip(?v, ?t) ."


@pytest.mark.parametrize(
    ("rule", "kinds"),
    [
        ("h(?x, ?z) :- e(?x, ?y), not b(?y), h(?y, ?z) .", ["reach"]),
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?z), ?y < ?z .", ["reach"]),
        ("h(?x, ?z) :- t(?y, ?z, _), h(?x, ?y) .", ["reach"]),
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?w), e(?z, ?w), b(?w) .", ["reach"]),
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?z), NOT EXISTS ?w IN (e(?z, ?w), b(?w)) .", ["reach"]),
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?z), b(?y) . h(?x, ?z) :- h(?x, ?y), e(?y, ?z), b(?z) .", ["rch"]),
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?z), b(?x) .", []),  # a step depends on where the path began
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?z), ?x != ?z .", []),
        ("h(?x, ?z) :- h(?x, ?y), b(?z) .", []),  # nothing says from where steps go
        ("h(?x, ?z) :- h(?x, ?y), h(?y, ?z), b(?y) .", []),
        ("h(?x, ?z) :- h(?x, ?y), e(?y, ?w), BIND(?w + 1 AS ?z) .", []),
    ],
)
def test_which_rules_have_steps(rule: str, kinds: list[str]) -> None:
    modules = found_modules(parse_program(f"h(?x, ?y) :- e(?x, ?y) . {rule}").rules)
    assert [module.kind for module in modules if module.steps] == kinds
    assert found_modules(parse_program(rule).rules, steps=False) == []


def test_people_see_the_rules_that_they_wrote() -> None:
    kb = KnowledgeBase(parse_program(SKIP))
    kb.add({"next": [(1, 2), (2, 3)], "full": [(3,)]})
    report = kb.materialise(profile=True)
    (module,) = report.modules
    assert module["rules"] == ["skip(?f, ?t) :- next(?f, ?v), not full(?v), skip(?v, ?t) ."]
    assert "¬" not in f"{module}{kb.profile()}{kb.explain('skip(1, 3)')}"
    assert report.facts == {"explicit": 3, "total": 6}


def test_joins_that_are_too_wide_are_left_to_rules() -> None:
    program = "h(?x, ?z) :- h(?x, ?y), e(?y, ?w), e(?z, ?w), b(?w) ."
    for spokes, kinds in ((3, ["reach"]), (120, [])):
        kb = KnowledgeBase(parse_program(program))
        kb.add({"e": [(spoke, -1) for spoke in range(spokes)], "b": [(-1,)], "h": [(0, 0)]})
        report = kb.materialise()
        assert [module["kind"] for module in report.modules] == kinds
        assert bool(report.left_out) is not bool(kinds)
        rules = {rule for stratum in kb.reasoner.materialisation.strata for rule in stratum.rules.rules}
        assert any(rule.head.predicate.startswith(STEPS) for rule in rules) is bool(kinds), (
            "else the rule is as written"
        )
        assert len(kb.rows("h")) == spokes


def test_steps_in_stores_and_among_rules_that_come_and_go(tmp_path: Path) -> None:
    random, text = Random(5), SKIP
    other = "skip(?f, ?t) :- skip(?f, ?v), next(?v, ?t), full(?t) ."
    kb = KnowledgeBase(parse_program(text))
    kb.add({"next": [(number, number + 1) for number in range(12)], "full": [(4,), (9,)]})
    kb.materialise()
    for turn in range(8):
        if turn in (2, 5):
            kb.change_rules(**{"add" if turn == 2 else "delete": other})
        if turn % 3 == 1:
            kb.save(tmp_path / "store")
            kb = everlog.open(tmp_path / "store")
        pair = random.randrange(12), random.randrange(12)
        report = kb.update(add={"full": [(random.randrange(12),)]}, delete={"full": [(4,)], "next": [pair]})
        assert not report.reasons or "computed anew" not in str(report.reasons), turn
        given = frozenset(naive.fact(name, *row) for name in ("next", "full") for row in kb.rows(name, "explicit"))
        expected = naive.materialise(kb.program.rules, given)
        assert {naive.fact("skip", *row) for row in kb.rows("skip")} == {one for one in expected if one[0] == "skip"}
