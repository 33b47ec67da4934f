"""With `auto`, modules that do not pay are left to rules, which is decided before anything is derived."""

from __future__ import annotations

from everlog import KnowledgeBase, parse_program
from everlog.planning.modules.module_rules import KINDS

POINTS_TO = """
    pt(?y, ?x) :- of(?y, ?x) .
    pt(?y, ?x) :- assign(?y, ?z), pt(?z, ?x) .
    pt(?y, ?w) :- load(?y, ?x), pt(?x, ?z), pt(?z, ?w) .
"""
TRANSITIVE = "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) ."


def used(program: str, facts: dict[str, list[tuple[int, int]]], modules: str = "auto") -> tuple[list, dict]:
    """The kinds of modules that are used, and why others are not."""
    kb = KnowledgeBase(parse_program(program), modules=modules)
    kb.add(facts)
    report = kb.materialise()
    left = {(one["kind"], *one["predicates"]): one["why"] for one in report.left_out}
    assert report.stats()["left_out"] == report.left_out
    return [module["kind"] for module in report.modules], left


def test_chains_that_take_a_step_at_a_time_between_other_rules() -> None:
    facts = {"of": [(1, 2), (3, 4)], "assign": [(2, 3), (5, 2)], "load": [(4, 5)]}
    kinds, left = used(POINTS_TO, facts)
    assert kinds == []
    assert "one step along lower relations" in left[("rch", "pt")]
    assert used(POINTS_TO, facts, "rch") == (["rch"], {})


def test_chains_that_only_their_own_rules_feed_are_used() -> None:
    program = "pt(?y, ?x) :- of(?y, ?x) . pt(?y, ?x) :- assign(?y, ?z), pt(?z, ?x) ."
    assert used(program, {"of": [(1, 2)], "assign": [(2, 1)]}) == (["reach"], {})


def test_relations_that_hardly_continue() -> None:
    apart = [(2 * number, 2 * number + 1) for number in range(3_000)]
    kinds, left = used(TRANSITIVE, {"r": [*apart, (1, 2)]})
    assert kinds == [] and left[("tc", "r")] == "of 3,001 facts only 2 are continued by another one"
    fed = TRANSITIVE + " r(?x, ?y) :- s(?x, ?y) ."
    assert used(fed, {"r": apart}) == (["tc"], {}), "nobody knows what other rules derive"
    chain = [(number, number + 1) for number in range(50)]
    assert used(TRANSITIVE, {"r": chain}) == (["tc"], {})


def test_chains_whose_paths_are_short() -> None:
    program = "r(?x, ?z) :- r(?x, ?y), s(?y, ?z) . r(?x, ?z) :- r(?x, ?y), u(?y, ?z) ."
    facts = {"r": [(1, 2), (3, 4)], "s": [(2, 10), (5, 6)], "u": [(7, 8)]}
    kinds, left = used(program, facts)
    assert kinds == []
    assert left[("rch", "r")] == "there are 1 ways to continue one of 5 facts by another, so all paths are short"
    ladder = [(number, number + 1) for number in range(300)]
    steps = {"s": ladder, "u": [(second, first) for first, second in ladder], "r": ladder}
    assert used(program, steps) == (["rch"], {})
    fed = program + " s(?x, ?y) :- w(?x, ?y) ."
    assert "short" not in str(used(fed, facts)), "nobody knows what other rules derive"


def test_many_modules_for_few_facts() -> None:
    names = [f"r{number}" for number in range(9)]
    program = " ".join(TRANSITIVE.replace("r(", f"{name}(") for name in names)
    kinds, left = used(program, {name: [(1, 2), (2, 3)] for name in names})
    assert kinds == [] and len(left) == 9
    assert used(program, {names[0]: [(number, number + 1) for number in range(600)]})[0] == ["tc"] * 9
    assert used(program, {names[0]: [(1, 2)]}, ",".join(KINDS))[0] == ["tc"] * 9
