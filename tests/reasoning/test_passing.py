"""Rules that are decomposed to be materialised only: right over sequences of updates, and nothing of a node is left."""

from __future__ import annotations

from collections import Counter
from math import inf
from random import Random

import pytest

from everlog.datalog.reader import parse_program
from everlog.engine.memory.engine import MemoryEngine
from everlog.knowledge.base import KnowledgeBase
from everlog.planning.decomposition.cardinality import Cardinalities, Estimate
from everlog.planning.decomposition.decomposition_choice import TREES, Decomposer, Worth
from everlog.planning.decomposition.decomposition_cost import gain
from everlog.planning.decomposition.join_tree import JoinTree
from everlog.reasoning.modules.unkept_decomposition import Passing
from oracles import clingo_oracle
from oracles.exchange import facts_of
from support.complex_rules import random_facts, random_program

CYCLE = "cycle(?x, ?z) :- e(?x, ?y), f(?y, ?z), g(?z, ?w), e(?w, ?x) ."
PETAL = "q(?s, ?t) :- e(?s, ?a), f(?a, ?t), g(?s, ?b), e(?b, ?t), f(?s, ?c), g(?c, ?t), not m(?a, ?t) ."
ALGORITHMS = ["dred", "fbf", "bf", "dredc", "auto"]

IN_MEMORY = "everlog.planning.decomposition.decomposition_choice.IN_MEMORY"


def passing(kb: KnowledgeBase) -> list[Passing]:
    assert kb.reasoner.materialisation is not None
    return [module for module in kb.reasoner.materialisation.module_list() if isinstance(module, Passing)]


def left(engine: MemoryEngine, module: Passing) -> int:
    """The rows of hidden predicates of a rule."""
    hidden = [one for name, one in engine.relations().items() if name.startswith(module.tree.prefix)]
    return sum(table.n for relation in hidden for table in relation.tables())


def test_sequences_of_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IN_MEMORY, Worth(cheaper=0.0, much=0.0, kept=inf))
    found: Counter[str] = Counter()
    for seed in range(24):
        program = parse_program("\n".join([random_program(Random(seed)), *[PETAL] * (seed % 3 == 0)]))
        random = Random(seed)
        nodes, algorithm = 12 if seed % 3 == 0 else random.randint(2, 6), ALGORITHMS[seed % len(ALGORITHMS)]
        kb = KnowledgeBase(program, algorithm=algorithm, hypertree="auto", workers=1)
        kb.add(random_facts(random, nodes, 40))
        kb.add({name: [(random.randrange(nodes), random.randrange(nodes)) for _ in range(3 * nodes)] for name in "efg"})
        kb.materialise()
        for module in passing(kb):
            found["rules"] += 1
            found["one by one" if module._last is not None else "at once"] += 1
            found["not stored"] += len(module._steps) < sum(node.rule is not None for node in module.tree.nodes)
            found["tested"] += bool(module.tree.negative or module.tree.comparisons)
            assert left(kb.reasoner.engine, module) == 0
        changed = 0
        for _ in range(4):
            derived = facts_of(kb, "derived")
            add, delete = random_facts(random, nodes, 6), random_facts(random, nodes, 14)
            for change in (add, delete):  # of what is negated, too
                change.setdefault("m", []).extend((random.randrange(nodes), random.randrange(nodes)) for _ in range(3))
            kb.update(add=add, delete=delete)
            assert facts_of(kb) == clingo_oracle.materialise(program.rules, facts_of(kb, "explicit"))
            changed += derived != facts_of(kb, "derived")
        found["changed"] += bool(changed and passing(kb))
    least = {"rules": 15, "one by one": 6, "at once": 2, "not stored": 3, "tested": 1, "changed": 8}
    assert all(found[what] >= number for what, number in least.items()), found


def test_nodes_are_kept_where_updates_gain() -> None:
    """A changed edge closes few cycles; that a group of people has something in common is found by its members."""

    def tree(text: str, sizes: dict[str, tuple[float, float, float]]) -> tuple[JoinTree, Cardinalities]:
        [rule] = parse_program(text).rules
        known = [
            Estimate(sizes[atom.predicate][0], dict(zip(atom.variables(), sizes[atom.predicate][1:], strict=True)))
            for atom in rule.positive
        ]
        decomposer = Decomposer("all", lambda: Fixed(Cardinalities(known)))  # type: ignore[arg-type,return-value]
        found = decomposer(rule, lambda atom: False)
        assert found is not None
        return found, Cardinalities(known)

    edges = (40_000.0, 1_200.0, 1_200.0)
    assert gain(*tree(CYCLE, dict.fromkeys("efg", edges))) < 1
    flower = "flower(?m) :- e(?m, ?a), e(?a, ?b), e(?b, ?m), f(?m, ?c), f(?c, ?d), f(?d, ?m) ."
    assert gain(*tree(flower, dict.fromkeys("ef", edges))) > 2


class Fixed:
    """Statistics for one body."""

    def __init__(self, costs: Cardinalities) -> None:
        self._costs = costs

    def body(self, atoms: object) -> Cardinalities:
        return self._costs


def test_the_report_says_that_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IN_MEMORY, Worth(cheaper=0.0, much=0.0, kept=inf))
    random = Random(1)
    kb = KnowledgeBase(parse_program(CYCLE), hypertree="auto", workers=1)
    kb.add({name: [(random.randrange(60), random.randrange(60)) for _ in range(400)] for name in "efg"})
    report = kb.materialise()
    [module] = report.modules
    nodes = module["nodes"]
    assert isinstance(nodes, list)
    assert module["kept"] is False
    assert [node["bytes"] for node in nodes] == [0, 0]
    assert report.state_bytes == 0
    # The second node has the variables of the first: its matches are tested, and become heads, without being stored.
    assert nodes[0]["facts"] > 0
    assert nodes[1]["facts"] == 0
    [cycle] = passing(kb)
    assert cycle.tree.prefix.startswith(TREES)
    assert left(kb.reasoner.engine, cycle) == 0


def test_a_node_has_what_the_nodes_before_it_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IN_MEMORY, Worth(cheaper=0.0, much=0.0, kept=inf))
    random = Random(1)
    given = {name: [(random.randrange(90), random.randrange(90)) for _ in range(600)] for name in "efgm"}
    sides = []
    for option in ("auto", "off"):
        kb = KnowledgeBase(parse_program(PETAL), hypertree=option, workers=1)
        kb.add(given)
        kb.materialise()
        sides.append((kb, facts_of(kb)))
    assert sides[0][1] == sides[1][1]
    [module] = passing(sides[0][0])
    assert len(module.tree.nodes) == 3
    (_, first), (number, second) = module._steps
    node = module.tree.nodes[number].rule
    assert node is not None
    _, common = module._before
    assert set(second.rules[0].body) == {*node.body, first.rules[0].head, *(rule.head for rule in common.rules)}


def test_nodes_have_values_that_all_atoms_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the petals' starts and ends, those that lead on, and come back, by every kind of edge."""
    monkeypatch.setattr(IN_MEMORY, Worth(cheaper=0.0, much=0.0, kept=inf))
    kb = KnowledgeBase(parse_program(PETAL), hypertree="auto", workers=1)
    whole = {"e": [("s", "a"), ("b", "t")], "f": [("a", "t"), ("s", "c")], "g": [("s", "b"), ("c", "t")]}
    ends = [f"x{number}" for number in range(40)]
    more = {
        "e": [(end, "a") for end in ends],
        "f": [("a", end) for end in ends],
        "g": [(end, "b") for end in ends[:20]],
    }
    for given in (whole, more):
        kb.add(given)
    [module] = kb.materialise().modules
    assert kb.rows("q") == [("s", "t")]
    nodes = module["nodes"]
    assert isinstance(nodes, list)
    assert sum(node["facts"] for node in nodes) <= 3, "and not a node with forty ends"
    [petal] = passing(kb)
    assert left(kb.reasoner.engine, petal) == 0
