"""Closures that no rule asks about are not derived, and nobody can tell: questions, changes, proofs and stores."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyoxigraph import NamedNode

import everlog
from everlog import KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.engine.memory import tuning
from everlog.engine.memory.facts.closed_facts import ClosedFacts
from support.proving import check_all

P = NamedNode("http://x/p")
PROGRAMS = {
    "tc": "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) . r(?x, ?y) :- e(?x, ?y) .",
    "stc": "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) . r(?y, ?x) :- r(?x, ?y) . r(?x, ?y) :- e(?x, ?y) .",
    "reach": "r(?x, ?y) :- e(?x, ?y) . r(?x, ?z) :- r(?x, ?y), e(?y, ?z) .",
    "front": "r(?x, ?y) :- e(?x, ?y), not n(?x) . r(?x, ?z) :- e(?x, ?y), r(?y, ?z) .",
    "triples": "[?x, <http://x/p>, ?z] :- [?x, <http://x/p>, ?y], [?y, <http://x/p>, ?z] .",
}
GOALS = [
    "R(2, ?y)",
    "R(?x, 3)",
    "R(2, 3)",
    "R(?x, ?y)",
    "R(?x, ?x)",
    "R(99, ?y)",
    "e(?x, ?y), R(?y, ?z)",
    "e(1, ?y), R(?z, ?y)",
    "n(?x), n(?y), R(?x, ?y)",
    "e(?x, ?y), R(?x, ?y)",
    "R(2, ?y), R(?y, ?z), R(?z, ?x)",
    "n(?x), not R(?x, 3)",
    "e(?x, ?y), NOT EXISTS ?z IN (R(?y, ?z), n(?z))",
    "e(?x, ?y), NOT EXISTS ?z IN (R(?z, ?y), R(?z, ?x), ?z < ?x)",
    "AGGREGATE(R(2, ?y) BIND COUNT(?y) AS ?n)",
    "AGGREGATE(e(?x, ?u), R(?x, ?y) ON ?x BIND COUNT(?y) AS ?n)",
]
ASKING = """
    a(?x, ?z) :- e(?x, ?y), R(?y, ?z) .
    c(?x, ?z) :- e(?y, ?x), R(?z, ?y) .
    d(?x, ?y) :- e(?x, ?y), R(?y, ?x) .
    g(?x, ?y) :- e(?x, ?y), not R(?y, ?x), R(?x, ?z), n(?z) .
    q(?x) :- n(?x) .
    q(?y) :- q(?x), R(?x, ?y) .
    h(?x, ?z) :- n(?x), R(?x, ?y), R(?y, ?z), not q(?z) .
    k(?y) :- R(2, ?y), e(?y, ?z) .
"""
"""Rules above, each of which knows an end of the pairs that it asks for."""
TRIPLES = ["[?x, ?p, ?y]", "[2, ?p, ?y]", "[?x, ?p, ?y], e(?x, ?y)"]


@pytest.fixture(autouse=True)
def _closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "CLOSED_FACTS", 0)
    monkeypatch.setattr(tuning, "ASKED_CLOSED_FACTS", 0)
    monkeypatch.setattr(tuning, "CLOSED_CLIQUE_FACTS", 0)
    monkeypatch.setattr(tuning, "CLOSED_PAIR_BYTES", 1e9)


def some(random: Random, most: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: [(random.randrange(7), random.randrange(7)) for _ in range(random.randrange(1, most))] for name in "er"
    }
    found["triple"] = [(x, P, y) for x, y in found["r"]]
    return found | {"n": [(random.randrange(7),)]}


def both(name: str, random: Random, asking: str = "") -> tuple[KnowledgeBase, KnowledgeBase]:
    """The same knowledge twice; only the first has a closed relation, though there are rules that ask about it."""
    text = PROGRAMS[name] + written(name, asking)
    made = tuple(KnowledgeBase(text, engine="memory", workers=1, modules=way) for way in ("auto", "off"))
    facts = some(random, 9)
    for kb in made:
        kb.add(facts)
        kb.materialise()
    assert isinstance(made[0].reasoner.I, ClosedFacts)
    assert not isinstance(made[1].reasoner.I, ClosedFacts)
    return made[0], made[1]


def written(name: str, text: str) -> str:
    """A text about `R` as one about the closed relation of a program."""
    atom = "[X, <http://x/p>, Y]" if name == "triples" else "r(X, Y)"
    parts = text.split("R(")
    for number, part in enumerate(parts[1:], 1):
        ends, _, rest = part.partition(")")
        x, y = ends.split(", ")
        parts[number] = atom.replace("X", x).replace("Y", y) + rest
    return "".join(parts)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, (row.values() for row in table.to_pylist())), key=repr)


def check_alike(kb: KnowledgeBase, plain: KnowledgeBase) -> None:
    for predicate in ("e", "r", "triple"):
        for which in ("all", "explicit", "derived"):
            assert kb.size(predicate, which) == plain.size(predicate, which)
            assert set(kb.rows(predicate, which)) == set(plain.rows(predicate, which))


@pytest.mark.parametrize("name", PROGRAMS)
def test_questions_find_what_follows(name: str) -> None:
    kb, plain = both(name, Random(name))
    for text in (written(name, goal) for goal in [*GOALS, *(TRIPLES if name == "triples" else ())]):
        assert set(kb.query(text)) == set(plain.query(text)), text
    if name == "triples":
        for pattern in ("?x p: ?y", "2 p: ?y . ?y p: ?z", "?x p: 3", "?x ?q ?y", "?x p:+ 3", "2 p:/p: ?y"):
            text = f"SELECT * WHERE {{ {pattern} }}".replace("p:", "<http://x/p>")
            found = [sorted(map(str, kb_.sparql(text))) for kb_ in (kb, plain)]
            assert found[0] == found[1], text


@pytest.mark.parametrize("name", PROGRAMS)
def test_updates_change_what_follows(name: str, tmp_path: Path) -> None:
    random = Random(f"updates {name}")
    kb, plain = both(name, random)
    for step in range(8):
        add, delete = some(random, 3), some(random, 5)
        reports = [one.update(add, delete) for one in (kb, plain)]
        assert len({(one.added, one.deleted, *one.facts.values(), *one.warnings) for one in reports}) == 1
        for predicate in ("r", "triple"):
            assert [*map(rows, kb.changes(predicate))] == [*map(rows, plain.changes(predicate))]
        check_alike(kb, plain)
        if step % 3 == 2:
            kb.save(tmp_path / "store")
            opened = everlog.open(tmp_path / "store")
            check_alike(opened, plain)
            # Files of triples have those of other properties, too, and are read.
            assert isinstance(opened.reasoner.I, ClosedFacts) == (name != "triples")
            kb = opened if step == 5 else kb


def test_another_module_of_the_relation_is_not_closed_by_its_closure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours and paths are of one relation; after a compaction both had its closure, and deletions were lost."""
    monkeypatch.setattr(tuning, "ROWS_WORTH_COMPACTING", 0)
    neighbours = "r(?x, ?y) :- n(?x), n(?y), ?x < ?y, NOT EXISTS ?z IN (n(?z), ?x < ?z, ?z < ?y) ."
    kb = KnowledgeBase(f"{neighbours} r(?x, ?y) :- e(?x, ?z), r(?z, ?y) .", stratification="single", workers=1)
    passing = {"k": [(number,) for number in range(40)]}
    kb.add({"r": [(3, 3), (5, 5)], "e": [(4, 5)], **passing})
    kb.materialise()
    engine = kb.reasoner.engine
    kb.update(delete=passing)
    assert kb.reasoner.engine is not engine and isinstance(kb.reasoner.I, ClosedFacts)
    kb.update(delete={"r": [(3, 3)]}, algorithm="fbf")
    assert sorted(kb.rows("r")) == [(4, 5), (5, 5)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_rules_above_follow_it(name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # pairs are never listed
        monkeypatch.setattr(tuning, "ASKED_ENDS_SHARE", 0)
    random = Random(f"above {name} {seed}")
    kb, plain = both(name, random, ASKING)
    for step in range(8):
        add, delete = some(random, 3), some(random, 5)
        algorithm = random.choice(["auto", "fbf", "dred"])
        reports = [one.update(add, delete, algorithm=algorithm) for one in (kb, plain)]
        assert len({(one.added, one.deleted, *one.facts.values()) for one in reports}) == 1
        for predicate in ("r", "triple", *"acdgqhk"):
            assert [*map(rows, kb.changes(predicate))] == [*map(rows, plain.changes(predicate))]
            assert set(kb.rows(predicate)) == set(plain.rows(predicate))
        if step % 3 == 2:
            kb.save(tmp_path / "store")
            kb = everlog.open(tmp_path / "store")
    assert isinstance(kb.reasoner.I, ClosedFacts) == (name != "triples")


@pytest.mark.parametrize("name", ["tc", "stc", "reach"])
def test_facts_that_follow_are_explained(name: str) -> None:
    kb, _ = both(name, Random(f"why {name}"))
    check_all(kb, parse_program(PROGRAMS[name]))


def test_a_rule_that_asks_about_it_has_it_derived() -> None:
    kb, plain = both("tc", Random(1))
    for one in (kb, plain):
        one.change_rules(add="s(?x) :- r(?x, ?x) .")
    assert not isinstance(kb.reasoner.I, ClosedFacts)
    assert set(kb.rows("s")) == set(plain.rows("s"))
    check_alike(kb, plain)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rules_change_while_others_ask_about_it(name: str) -> None:
    random = Random(f"rules {name}")
    kb, plain = both(name, random, ASKING)
    rule, fewer = written(name, "m(?x, ?y) :- n(?x), R(?x, ?y) ."), written(name, "q(?y) :- q(?x), R(?x, ?y) .")
    for come, gone in ((rule, ""), ("o(?x) :- a(?x, ?y), n(?y) .", ""), ("", fewer), (fewer, rule)):
        for one in (kb, plain):
            one.change_rules(add=come, delete=gone)
            one.update(add=(facts := some(random, 4)) if one is kb else facts)
        for predicate in kb.predicates():
            assert set(kb.rows(predicate)) == set(plain.rows(predicate)), (come, gone, predicate)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_only_rule_that_asks_about_it_goes(name: str) -> None:
    random = Random(f"only {name}")
    asking = "a(?x, ?z) :- e(?x, ?y), R(?y, ?z) ."
    kb, plain = both(name, random, asking)
    for come, gone in (("", asking), (asking, "")):
        for one in (kb, plain):
            one.change_rules(add=written(name, come), delete=written(name, gone))
            one.update(add=(facts := some(random, 4)) if one is kb else facts)
        for predicate in kb.predicates():
            assert set(kb.rows(predicate)) == set(plain.rows(predicate)), (come, gone, predicate)
