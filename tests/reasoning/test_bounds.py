"""Development mode: modules that keep the bounds of *Modular*, Table 1, and what happens to one that does not.

Examples 2–5 are the closures that modules exist for; the checks run beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from everlog.datalog.reader import parse_program
from everlog.knowledge.base import KnowledgeBase
from everlog.reasoning.bounds import BrokenBound
from everlog.reasoning.modules.module import Backbone
from everlog.reasoning.modules.transitive import Transitive

TRANSITIVE = "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) ."
SYMMETRIC = "r(?y, ?x) :- r(?x, ?y) ."


def line(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(n)]


@pytest.mark.parametrize("n", [5, 12])
def test_examples_2_and_4(n: int) -> None:
    """A line: seminaïve evaluation derives `r(i, j)` in j − i − 1 ways; the module considers no instance at all."""
    expected = {(i, j) for i in range(n + 1) for j in range(i + 1, n + 1)}
    plain = KnowledgeBase(parse_program(TRANSITIVE), modules="off", workers=1)
    plain.add({"r": line(n)})
    instances = plain.materialise().derivations["materialise"]
    assert instances == sum(j - i - 1 for i, j in expected)
    kb = KnowledgeBase(parse_program(TRANSITIVE), workers=1, checked=True)
    kb.add({"r": line(n)})
    report = kb.materialise()
    assert [module["kind"] for module in report.modules] == ["tc"]
    assert set(kb.rows("r")) == set(plain.rows("r")) == expected
    assert report.derivations["materialise"] == 0, "what the checks consider is not counted"
    kb.update(delete={"r": [(2, 3)]}, add={"r": [(1, n)]})
    plain.update(delete={"r": [(2, 3)]}, add={"r": [(1, n)]})
    assert set(kb.rows("r")) == set(plain.rows("r"))


@pytest.mark.parametrize("n", [4, 9])
def test_examples_3_and_5(n: int) -> None:
    """A circle: everything is related to everything, in n ways each; components say so at once."""
    circle = [*line(n - 1), (n - 1, 0)]
    expected = {(i, j) for i in range(n) for j in range(n)}
    plain = KnowledgeBase(parse_program(TRANSITIVE + SYMMETRIC), modules="off", workers=1)
    plain.add({"r": circle})
    assert plain.materialise().derivations["materialise"] == n**3 + n**2
    kb = KnowledgeBase(parse_program(TRANSITIVE + SYMMETRIC), workers=1, checked=True)
    kb.add({"r": circle})
    report = kb.materialise()
    assert [module["kind"] for module in report.modules] == ["stc"]
    assert set(kb.rows("r")) == set(plain.rows("r")) == expected
    assert report.derivations["materialise"] == 0
    kb.update(delete={"r": [(0, 1), (2, 3)]})
    plain.update(delete={"r": [(0, 1), (2, 3)]})
    assert set(kb.rows("r")) == set(plain.rows("r")) != expected


def less(*_: Any) -> Any:
    """A call that finds nothing."""
    module = _[0]
    return module._nothing


def more(call: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(module: Any, now: Any, *rest: Any) -> Any:
        found = call(module, now, *rest)
        found |= now
        return found

    return wrong


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("add", less, "add of tc for .* leaves out what a rule derives"),
        ("add", more(Backbone.add), "add of tc for .* derives what holds already"),
        ("delete", less, "delete of tc for .* leaves what no longer holds"),
        ("delete", lambda self, update, now, Δ, oracle: Δ, "delete of tc for .* deletes what is gone already"),
        ("rederive", less, "rederive of tc for .* leaves out what a rule derives"),
        ("rederive", lambda self, update, now, deleted: deleted, "rederive of tc for .* derives what does not hold"),
    ],
)
def test_what_breaks_a_bound_fails(name: str, wrong: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only other rules feed the relation, in a circle, so that what is deleted is overdeleted and comes back.
    program = parse_program(TRANSITIVE + "s(?x, ?y) :- r(?x, ?y) . r(?x, ?y) :- s(?x, ?y) . r(?x, ?y) :- e(?x, ?y) .")
    kb = KnowledgeBase(program, algorithm="dred", workers=1, checked=True)
    kb.add({"e": [(1, 2), (2, 3), (3, 4), (1, 3)]})
    kb.materialise()
    before = set(kb.rows("r"))
    with monkeypatch.context() as patch, pytest.raises(BrokenBound, match=said):
        patch.setattr(Transitive, name, wrong)
        kb.update(delete={"e": [(2, 3)]}, add={"e": [(4, 5)]})
    assert set(kb.rows("r")) == before
    kb.update(delete={"e": [(2, 3)]}, add={"e": [(4, 5)]})
    assert set(kb.rows("r")) == {(1, 2), (1, 3), (1, 4), (1, 5), (3, 4), (3, 5), (4, 5)}


def test_groups_and_best_facts_are_part_of_what_holds() -> None:
    """The target of the bounds once lacked them, and decomposed rules that asked for some were said to derive too much."""
    rules = """
        total(?x, ?v) :- node(?x), AGGREGATE(edge(?y, ?z), FILTER(?z > 2) BIND SUM(?z) AS ?v) .
        reach(?x, ?y) :- edge(?x, ?y) .
        reach(?x, ?z) :- reach(?x, ?y), reach(?y, ?z) .
        far(?x, MAX(?y)) :- reach(?x, ?y) .
    """
    kb = KnowledgeBase(rules, engine="memory", hypertree="all", checked=True)
    kb.add({"node": [(1,)], "edge": [(1, 2)]})
    kb.materialise()
    assert (kb.rows("total"), kb.rows("far")) == ([(1, 0)], [(1, 2)])
    kb.update(add={"edge": [(2, 3)]})
    assert (kb.rows("total"), sorted(kb.rows("far"))) == ([(1, 3)], [(1, 3), (2, 3)])
