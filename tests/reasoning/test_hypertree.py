"""Decomposed rules: right over sequences of updates, with the instantiations that there would be from scratch."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from random import Random

import pytest

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.sets import as_memory_facts
from everlog.engine.memory.joins.matcher import MemoryMatcher
from everlog.engine.memory.joins.rules import MemoryCompiler
from everlog.engine.memory.statistics import memory_facts
from everlog.knowledge.base import KnowledgeBase
from everlog.planning.compiled_program import compile_program, prepared
from everlog.planning.decomposition.decomposition_choice import Decomposer
from everlog.planning.decomposition.size_estimates import Statistics
from everlog.reasoning.modules.hypertree import Hypertree, Joined
from everlog.reasoning.modules.module import Update
from oracles import clingo_oracle, naive
from oracles.exchange import facts_of
from oracles.naive import Facts, fact
from support.complex_rules import random_facts, random_program, random_rule
from support.decomposed_rules import check_nodes, decomposed

ALGORITHMS = ["dred", "fbf", "bf", "dredc", "bfc", "auto", "counting", "remat"]
OPTIONS = ["all", "cyclic", "auto", "off"]
COLLABORATORS = "PC(?x, ?y) :- CW(?x, ?z1), CA(?x, ?z2), PC(?z1, ?y), PC(?z2, ?y) ."


@cache
def truth(rules: tuple[Rule, ...], explicit: Facts, naively: bool = False) -> Facts:
    found = clingo_oracle.materialise(rules, explicit)
    if naively:
        assert found == naive.materialise(rules, explicit)
    return found


def check_facts(kb: KnowledgeBase, naively: bool = False) -> None:
    assert facts_of(kb) == truth(kb.program.rules, facts_of(kb, "explicit"), naively)


def follow(seed: int, option: str, algorithm: str, checked: bool = False) -> KnowledgeBase:
    """A random program and five updates, right after each."""
    program = parse_program(random_program(Random(seed)))
    random = Random(seed)
    nodes, mode = random.randint(2, 6), random.choice(["levels", "single"])
    kb = KnowledgeBase(program, algorithm=algorithm, stratification=mode, hypertree=option, workers=1, checked=checked)
    kb.add(random_facts(random, nodes, 30))
    kb.materialise()
    for number in range(6):
        check_facts(kb, naively=number == 3)
        check_nodes(kb)
        kb.update(add=random_facts(random, nodes, 5), delete=random_facts(random, nodes, 12))
    return kb


@pytest.mark.parametrize("part", range(4))
def test_sequences_of_updates(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivations of instantiations are counted in some of them, and looked for in others."""
    ways = list(product(OPTIONS[:2], ALGORITHMS[:6]))
    ways += [("auto", "auto"), ("off", "fbf"), ("all", "counting"), ("cyclic", "remat")]
    for seed in range(part, 20, 4):
        for number in range(seed % 3, len(ways), 3):
            monkeypatch.setattr("everlog.reasoning.modules.hypertree._DEAR", (seed + number) % 2 * 1e9)
            follow(seed, *ways[number])


@pytest.mark.parametrize("option", ["all", "cyclic"])
def test_every_call_is_within_its_bounds(option: str) -> None:
    for seed in range(24, 30):
        follow(seed, option, "dredc", checked=True)


def test_what_is_followed_is_worth_it() -> None:
    """Many of the programs have decomposed rules of several nodes, recursive ones, and tests at the root."""
    found: Counter[str] = Counter()
    for seed in range(28):
        kb = follow(seed, "cyclic", "fbf")
        for module in decomposed(kb):
            found.update(["rules", f"{min(len(module.nodes), 3)} nodes"])
            found["recursive"] += module.tree.recursive
            found["counted"] += any(isinstance(node, Joined) and node.counts is not None for node in module.nodes)
            found["projected"] += any(isinstance(node, Joined) and not node.node.unique for node in module.nodes)
            found["tested"] += bool(module.tree.negative or module.tree.comparisons)
            found["used"] += bool(facts_of(kb, "derived"))
    assert found["rules"] > 30
    for what, least in {
        "2 nodes": 5,
        "3 nodes": 5,
        "recursive": 8,
        "projected": 10,
        "counted": 4,
        "tested": 2,
        "used": 10,
    }.items():
        assert found[what] >= least, found


# ---------------------------------------------------------------------------------------- the lemmas


def knows_nothing(facts: FactSet) -> FactSet:
    """An oracle."""
    return facts & (facts - facts)


class OneRule:
    """The functions of a module for one rule, between sets of facts; all atoms count as those of the head's stratum."""

    def __init__(self, text: str) -> None:
        self.rule = prepared(parse_program(text).rules)[0]
        self.engine = MemoryEngine(workers=1)
        compiler = MemoryCompiler(self.engine)
        decomposer = Decomposer("all", lambda: Statistics([self.rule], memory_facts(self.engine)))
        tree = decomposer(self.rule, lambda atom: True)
        assert tree is not None
        self.module = Hypertree(tree, self.engine, compiler, MemoryMatcher(self.engine))

    def stored(self, facts: Facts) -> FactSet:
        found = self.engine.empty()
        for predicate, arguments in facts:
            ids = [[self.engine.dictionary.encode_value(naive.value_of(one))] for one in arguments]
            columns = self.engine.insert_nullary(predicate) if not ids else None
            found |= columns if columns is not None else self.engine.insert(predicate, _array(ids))
        return found

    def shown(self, facts: FactSet) -> Facts:
        found = set()
        for table in as_memory_facts(facts).tables():
            for column in self.engine.columns(as_memory_facts(facts), table.predicate).T:
                found.add(fact(table.predicate, *self.engine.dictionary.values(column)))
        return frozenset(found)

    def derived(self, positive: Facts, some: Facts | None = None) -> Facts:
        """`r[I]`, or `r[I : Δ]`."""
        conditions = [] if some is None else [(some, frozenset())]
        found = naive.instances(self.rule, positive, positive, conditions)
        return frozenset(naive.instance_of(self.rule.head, one) for one in found)


def _array(ids: list[list[int]]) -> object:
    import numpy as np

    return np.array(ids, np.int32)


def one_rule_cases(count: int) -> list[tuple[OneRule, Facts, Facts]]:
    """Rules without negation with facts, and some of the facts."""
    random = Random(5)
    cases = []
    while len(cases) < count:
        text = random_rule(random)
        if "not " in text or not parse_program(text).rules[0].positive[1:]:
            continue
        nodes = random.randint(2, 4)
        rows = random_facts(random, nodes, 60)
        I = frozenset(fact(predicate, *row) for predicate, some in rows.items() for row in some)
        Δ = frozenset(one for one in sorted(I) if random.random() < 0.3)
        case = OneRule(text)
        head, arity = case.rule.head.predicate, len(case.rule.head.terms)
        # Some heads hold and some do not.
        heads = {fact(head, *row) for row in product(range(nodes), repeat=arity) if random.random() < 0.5}
        cases.append((case, I | heads, Δ - {one for one in Δ if one[0] == head and random.random() < 0.5}))
    return cases


def test_lemmas_1_to_3() -> None:
    """`Add` computes `r[I : Δ⁺] ∖ I`, `Del` computes `r[I : Δ⁻] ∩ (I ∖ Δ⁻)` and `Red` computes `r[I] ∩ Δ`."""
    busy: Counter[str] = Counter()
    for case, I, Δ in one_rule_cases(60):
        module, nothing = case.module, case.engine.empty()
        # The lemma speaks of materialisations: what follows from I ∖ Δ holds.
        below = I - Δ
        known = below | case.derived(below)
        module.rebuild(case.stored(known))
        after = known | Δ
        added = case.shown(module.add(case.stored(after), case.stored(Δ - known), nothing))
        expected = case.derived(after, Δ - known) - after
        busy["added"] += bool(expected)
        # What the old facts derive anew is for the next round to find.
        assert expected - case.derived(known) <= added <= expected
        update = module.begin(Update(case.stored(after), case.stored(after), nothing, nothing))
        module.delete_first(update, case.stored(after), nothing, knows_nothing)
        gone = Δ - known
        lost = case.shown(module.delete(update, case.stored(known), case.stored(gone), knows_nothing))
        expected = case.derived(after, gone) & known
        busy["lost"] += bool(expected)
        assert lost == expected
        module.delete(update, case.stored(known - lost), case.stored(lost), knows_nothing)
        left = known - lost
        again = case.shown(module.rederive(update, case.stored(left), case.stored(lost)))
        busy["again"] += bool(again)
        assert again == case.derived(left) & lost
    assert all(busy[what] >= 5 for what in ("added", "lost", "again")), busy


# ---------------------------------------------------------------------------------------- the examples


def collaborators(n: int, k: int) -> dict[str, list[tuple[str, str]]]:
    """The facts of *Hypertree* §3."""
    pairs = [(i, j) for i in range(n) for j in range(1, k + 1)]
    return {
        "CW": [(f"a{i}", f"b{i * k + j}") for i, j in pairs] + [(f"a{n}", "a2")],
        "CA": [(f"a{i}", f"c{i * k + j}") for i, j in pairs] + [(f"a{n}", "a3")],
        "PC": [(f"{one}{i * k + j}", f"d{j}") for i, j in pairs for one in "bc"],
    }


def instantiations(kb: KnowledgeBase, node: Joined) -> set[tuple[object, ...]]:
    return set(
        kb.reasoner.backend.rows(kb.reasoner.engine.columns(as_memory_facts(node.inst), node.node.atom.predicate), 0)
    )


def test_examples_1_to_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everlog.reasoning.modules.hypertree._DEAR", 0)  # to count them all would be derivations, too
    n, k = 6, 20
    kb = KnowledgeBase(parse_program(COLLABORATORS), algorithm="dred", hypertree="cyclic", workers=1)
    kb.add(collaborators(n, k))
    rounds: list[int] = []
    kb.materialise(progress=lambda stratum, number, new: rounds.append(new))
    [module] = decomposed(kb)
    first, second = module.nodes
    assert isinstance(first, Joined)
    assert isinstance(second, Joined)
    assert {node.node.atom.terms for node in (first, second)} == {module.tree.rule.head.terms}
    people = {(f"a{i}", f"d{j}") for i in range(n + 1) for j in range(1, k + 1)}
    # Example 1: the first round derives what is about a_0 … a_{n-1}, the second what is about a_n.
    assert rounds[-3:] == [n * k, k, 0]
    for node in (first, second):
        assert instantiations(kb, node) == people
    assert set(kb.rows("PC", "derived")) == people
    report = kb.update(add={"CW": [(f"a{n}", "a1")], "CA": [(f"a{n}", "a0")]})
    assert (report.added, report.deleted) == (2, 0)
    check_nodes(kb)
    # Examples 2 and 3: what depends on CA(a_n, a_3) is overdeleted, and comes back by the other fact.
    report = kb.update(delete={"CA": [(f"a{n}", "a3")]})
    assert (report.added, report.deleted) == (0, 1)
    assert report.derivations["overdeletion"] == k
    for node in (first, second):
        assert instantiations(kb, node) == people
    check_nodes(kb)


# ---------------------------------------------------------------------------------------- around the module


def test_a_failed_update_leaves_nodes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = KnowledgeBase(parse_program(COLLABORATORS), hypertree="all", algorithm="dredc", workers=1)
    kb.add(collaborators(4, 3))
    kb.materialise()
    before = facts_of(kb)

    def broken(*_: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no room"):
        patch.setattr("everlog.reasoning.modular.add", broken)
        kb.update(delete={"CW": [("a4", "a2")], "CA": [("a0", "c1")]})
    assert facts_of(kb) == before
    check_nodes(kb)
    kb.update(delete={"CW": [("a4", "a2")], "CA": [("a0", "c1")]})
    check_facts(kb, naively=True)
    check_nodes(kb)


def test_nodes_are_computed_again_where_they_were_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a store was opened; here, since most rows are dead and the others are moved."""
    monkeypatch.setattr("everlog.engine.memory.tuning.ROWS_WORTH_COMPACTING", 0)
    given = collaborators(6, 20)
    kb = KnowledgeBase(parse_program(COLLABORATORS), hypertree="cyclic", algorithm="dred", workers=1)
    kb.add(given)
    kb.materialise()
    kb.update(delete={"PC": given["PC"][:-60], "CW": given["CW"][:40]})
    assert kb.reasoner.materialisation is None
    kb.update(add={"PC": given["PC"][:30]}, delete={"CA": given["CA"][-1:]})
    assert len(decomposed(kb)) == 1
    check_nodes(kb)
    check_facts(kb)


def test_the_report_says_what_is_decomposed() -> None:
    kb = KnowledgeBase(parse_program(COLLABORATORS), hypertree="cyclic", workers=1)
    kb.add(collaborators(6, 20))
    report = kb.materialise()
    [module] = report.modules
    nodes = module["nodes"]
    assert isinstance(nodes, list)
    assert (module["kind"], module["predicates"], module["width"]) == ("hypertree", ["PC"], 2)
    assert {tuple(node["variables"]) for node in nodes} == {("x", "y")}
    assert all(node["bytes"] > 0 and node["facts"] == 140 for node in nodes)
    assert report.state_bytes == sum(node["bytes"] for node in nodes)


def test_several_threads() -> None:
    kb = KnowledgeBase(parse_program(COLLABORATORS), hypertree="auto", workers=2)
    kb.add(collaborators(60, 120))
    kb.materialise()
    assert len(decomposed(kb)) == 1
    assert kb.size("PC", "derived") == 61 * 120
    kb.update(delete={"CW": [("a60", "a2")]})
    assert kb.size("PC", "derived") == 60 * 120
    check_nodes(kb)


@pytest.mark.parametrize(
    ("rules", "option", "nodes"),
    [
        (COLLABORATORS, "cyclic", [2]),
        ("h(?x) :- e(?x, ?y), f(?y, ?z), g(?z, ?x) .", "cyclic", [1]),
        ("h(?x, ?z) :- e(?x, ?y), f(?y, ?z) .", "cyclic", []),
        ("h(?x, ?z) :- e(?x, ?y), f(?y, ?z) .", "all", [2]),
        ("h(?x) :- e(?x, ?y) .", "all", []),
        (COLLABORATORS, "auto", []),
        (COLLABORATORS, "off", []),
        ("h(?x, ?w) :- e(?x, ?y), f(?y, ?z), g(?z, ?w), f(?w, ?v) .", "all", [4]),
    ],
)
def test_what_is_decomposed(rules: str, option: str, nodes: list[int]) -> None:
    """With a handful of facts, `auto` leaves everything as it is."""
    engine = MemoryEngine(workers=1)
    program = parse_program(rules)
    decomposer = Decomposer(option, lambda: Statistics(program.rules, memory_facts(engine)))  # type: ignore[arg-type]
    strata = compile_program(program.rules, MemoryCompiler(engine), decomposed=decomposer)
    trees = [tree for stratum in strata for tree in stratum.trees]
    assert [len(tree.nodes) for tree in trees] == nodes
    for tree in trees:
        assert all((node.rule is None) == (len(node.atoms) == 1) for node in tree.nodes)
