"""Constraints that are enforced: an update that would violate one is refused, and everything is as before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import everlog
from everlog import ConstraintsViolated, EverlogError, KnowledgeBase
from everlog.knowledge.opened_updates import FactChange, update_opened

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = """
    reach(?x, ?y) :- edge(?x, ?y) .
    reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
    :- reach(?x, ?x), not loop(?x) .
    violation("too many", ?x) :- AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), ?n > 2 .
    [?x, a, rdfox:ConstraintViolation] :- closed(?x), reach(?x, _) .
"""


def state(kb: KnowledgeBase) -> dict[str, set[Any]]:
    """All facts, explicit and derived."""
    return {
        f"{name} {which}": set(kb.rows(name, which)) for name in kb.predicates() for which in ("explicit", "derived")
    }


def violated(kb: KnowledgeBase) -> set[Any]:
    names = [name for name in kb.predicates() if name.startswith("violation") or name == "triple"]
    return {(name, *row) for name in names for row in kb.rows(name)}


def test_a_refused_update_names_and_explains_what_it_would_violate() -> None:
    kb = KnowledgeBase(RULES, constraints="fail")
    kb.add({"edge": [("a", "b"), ("b", "c")]})
    kb.materialise()
    before = state(kb)
    with pytest.raises(ConstraintsViolated, match="nothing was changed") as raised:
        kb.update(add={"edge": [("c", "a")]})
    assert state(kb) == before
    assert "`:- reach(?x, ?x), not loop(?x) .` is violated by reach(a, a)" in str(raised.value)
    assert "edge(c, a)  given" in str(raised.value)
    assert len(raised.value.violations) == 3
    assert raised.value.explanations[0].fact == raised.value.violations[0].fact
    kb.update(add={"edge": [("c", "a")], "loop": [("a",), ("b",), ("c",)]})
    with pytest.raises(ConstraintsViolated, match=r"closed\(b\)"):
        kb.update(add={"closed": [("b",)]})
    assert kb.contradictions() == []


@pytest.mark.parametrize("algorithm", ["auto", "dred", "fbf", "remat"])
def test_a_constraint_that_comes_is_enforced_at_once_and_one_that_goes_no_more(algorithm: str) -> None:
    kb = KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) . edge(a, a) . edge(b, c) .", constraints="fail")
    kb.materialise()
    before, program = state(kb), kb.program
    no_loops = ":- reach(?x, ?x), not loop(?x) ."
    with pytest.raises(ConstraintsViolated, match=r"is violated by reach\(a, a\)"):
        kb.change_rules(add=no_loops, algorithm=algorithm)
    assert state(kb) == before and kb.program == program
    kb.update(add={"loop": [("a",)]}, add_rules=no_loops, algorithm=algorithm)
    with pytest.raises(ConstraintsViolated, match=r"is violated by reach\(c, c\)"):
        kb.update(add={"edge": [("c", "c")]}, algorithm=algorithm)
    kb.update({"edge": [("c", "c")]}, delete_rules=":- not loop(?y), reach(?y, ?y) .", algorithm=algorithm)
    assert kb.contradictions() == [] and len(kb.program.rules) == 1


def test_old_violations_refuse_nothing_unless_asked_to() -> None:
    kb = KnowledgeBase(RULES)
    kb.add({"edge": [("a", "a")]})
    kb.materialise()
    assert len(kb.contradictions()) == 1
    kb.update(add={"edge": [("a", "b")]}, constraints="fail")
    with pytest.raises(ConstraintsViolated, match="violated already"):
        kb.update(add={"edge": [("b", "c")]}, constraints="strict")
    kb.update(delete={"edge": [("a", "a")]}, constraints="strict")
    assert kb.contradictions() == []
    with pytest.raises(EverlogError, match="constraints='never' is not supported"):
        kb.update(constraints="never")  # type: ignore[arg-type]


def test_facts_that_violate_constraints_are_not_materialised() -> None:
    kb = KnowledgeBase(RULES, constraints="fail")
    kb.add({"edge": [("a", "a")]})
    with pytest.raises(ConstraintsViolated, match="nothing was materialised"):
        kb.materialise()
    with pytest.raises(EverlogError, match="call materialise"):
        kb.update(add={"loop": [("a",)]})
    kb.add({"loop": [("a",)]})
    kb.materialise()
    assert kb.rows("reach") == [("a", "a")]


def test_what_is_pending_waits_for_an_update_that_is_accepted() -> None:
    kb = KnowledgeBase(RULES, constraints="fail")
    kb.materialise()
    kb.add({"edge": [("a", "a")]})
    with pytest.raises(ConstraintsViolated):
        kb.update()
    kb.update(add={"loop": [("a",)]})
    assert kb.rows("reach") == [("a", "a")]


@pytest.mark.parametrize(
    ("algorithm", "equality"),
    [
        *((name, "off") for name in ("auto", "dred", "fbf", "counting", "remat")),
        ("auto", "rewrite"),
        ("auto", "axioms"),
    ],
)
def test_random_updates_are_accepted_if_they_add_no_violation(algorithm: str, equality: Any) -> None:
    rules = (
        RULES
        if equality != "axioms"
        else RULES.replace("AGGREGATE(edge(?x, ?y) ON ?x BIND COUNT(?y) AS ?n), ?n > 2", "edge(?x, d)")
    )
    guarded = KnowledgeBase(rules, constraints="fail", algorithm=algorithm, equality=equality, engine="memory")
    free = KnowledgeBase(rules, equality=equality, engine="memory")
    guarded.materialise()
    free.materialise()
    chosen, outcomes = random.Random(f"{algorithm} {equality}"), set[bool]()
    for _ in range(12):
        add, delete = ({"edge": some(chosen, 2), "loop": some(chosen, 1), "closed": some(chosen, 1)} for _ in range(2))
        before, then = violated(free), state(guarded)
        free.update(add=add, delete=delete)
        accepted = violated(free) <= before
        outcomes.add(accepted)
        if accepted:
            guarded.update(add=add, delete=delete)
        else:
            with pytest.raises(ConstraintsViolated):
                guarded.update(add=add, delete=delete)
            assert state(guarded) == then
            free = KnowledgeBase(rules, equality=equality, engine="memory")
            free.add(
                {name: guarded.rows(name, "explicit") for name in ("edge", "loop", "closed") if name in guarded.arities}
            )
            free.materialise()
        assert state(guarded) == state(free)
    assert outcomes == {True, False}


def some(chosen: random.Random, arity: int) -> list[tuple[str, ...]]:
    return [tuple(chosen.choice("abcd") for _ in range(arity)) for _ in range(chosen.randrange(3))]


def test_equal_names_are_looked_at_in_all_names() -> None:
    kb = KnowledgeBase(":- p(?x), q(?x) .", constraints="fail", equality="rewrite")
    kb.add({"p": [("a",)], "q": [("b",)]})
    kb.materialise()
    same = everlog.parse_program("[a, owl:sameAs, b] .").facts[0].terms[1].value  # type: ignore[union-attr]
    with pytest.raises(ConstraintsViolated):
        kb.update(add={"triple": [("a", same, "b")]})
    assert kb.rows("p") == [("a",)]
    kb.update(add={"triple": [("a", same, "c")]})
    assert sorted(kb.rows("p")) == [("a",), ("c",)]


def test_spark_refuses_the_same(spark: SparkSession) -> None:
    kb = KnowledgeBase(":- person(?x), not name(?x) .", constraints="fail", engine="spark", spark=spark)
    kb.add({"person": [("a",)], "name": [("a",)]})
    kb.materialise()
    before = state(kb)
    with pytest.raises(ConstraintsViolated, match=r"is violated by person\(b\)"):
        kb.update(add={"person": [("b",)]})
    assert state(kb) == before
    kb.update(add={"person": [("b",)], "name": [("b",)]})
    assert sorted(kb.rows("person")) == [("a",), ("b",)]


def test_a_store_remembers_what_violations_lead_to(tmp_path: Any) -> None:
    kb = KnowledgeBase(RULES, constraints="fail")
    kb.add({"edge": [("a", "b")]})
    kb.materialise()
    kb.save(tmp_path / "store")
    opened = everlog.open(tmp_path / "store")
    with pytest.raises(ConstraintsViolated):
        opened.update(add={"edge": [("b", "a")]})
    assert state(opened) == state(kb)
    opened.update(add={"edge": [("b", "c")]})
    opened.save(tmp_path / "store")
    assert ("a", "c") in everlog.open(tmp_path / "store").rows("reach")


def test_a_store_that_is_kept_open_goes_on_after_a_refusal(tmp_path: Any) -> None:
    kb = KnowledgeBase(RULES, constraints="fail")
    kb.add({"edge": [("a", "b")]})
    kb.materialise()
    kb.save(tmp_path / "store")
    opened = everlog.open(tmp_path / "store")
    with pytest.raises(ConstraintsViolated):
        update_opened(opened, FactChange(add={"edge": [('"b"', '"a"')]}))
    assert opened.stored is not None and opened.stored[1].version == 1
    _, manifest = update_opened(opened, FactChange(add={"edge": [('"b"', '"c"')]}))
    assert manifest.version == 2
    assert state(everlog.open(tmp_path / "store")) == state(opened)
