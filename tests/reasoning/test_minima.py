"""Minima and maxima in recursion: by definition, after updates, through stores, and what is refused."""

from __future__ import annotations

from itertools import product
from math import inf, nan
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from everlog import EverlogError, KnowledgeBase
from everlog.engine.memory import tuning as memory_tuning
from everlog.engine.spark import tuning
from everlog.reasoning import minima
from oracles.exchange import facts_of
from oracles.naive import fact
from reasoning.test_computing import ALGORITHMS, followed
from support.computing_programs import Rows
from support.minimum_programs import with_minima
from support.on_spark import all_facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHORTEST = """
dist(?x, MIN(0)) :- source(?x) .
dist(?y, MIN(?d + ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) .
"""


def made(program: str, facts: Rows, **options: Any) -> KnowledgeBase:
    kb = KnowledgeBase(program, engine="memory", **options)
    kb.add(facts)
    kb.materialise()
    return kb


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_programs_and_updates(algorithm: str) -> None:
    for seed, mode in product(range(4), ("levels", "single")):
        followed(with_minima(Random(f"{algorithm} {seed}")), algorithm=algorithm, stratification=mode)


def test_in_rounds_as_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds alone, and everything settled again for the least deletion, in buckets and by a heap, come to the same."""
    for seed in range(4):
        with monkeypatch.context() as changed:
            changed.setattr(memory_tuning, "LOOKS_AT_ALL_STEPS", 0)
            followed(with_minima(Random(seed), updates=3))
            changed.setattr(memory_tuning, "UNTHOUGHT_VALUES", -1)
            changed.setattr(memory_tuning, "SPARSE_GROUPS", 0)
            followed(with_minima(Random(seed), updates=3))
            changed.setattr(minima, "_FEW", 0)
            followed(with_minima(Random(seed), updates=3))
            changed.setattr(memory_tuning, "NEAR_WEIGHTS", 0)
            followed(with_minima(Random(seed), updates=3))
            changed.setattr(minima, "steps_of", lambda *_: None)
            followed(with_minima(Random(seed), updates=3))


def test_saved_and_opened_in_between(tmp_path: Path) -> None:
    for seed in range(5):
        followed(with_minima(Random(seed)), tmp_path / str(seed))


def graph(random: Random, nodes: int, edges: int, weights: range) -> set[tuple[int, int, int]]:
    """Edges with one weight for each pair of nodes."""
    ends = {(random.randrange(nodes), random.randrange(nodes)) for _ in range(edges)}
    return {(*pair, random.choice(weights)) for pair in ends}


def lengths(edges: set[tuple[int, int, int]], given: list[tuple[int, int]], nodes: int) -> dict[int, int]:
    """The least values of nodes, by Bellman and Ford."""
    best: dict[int, int] = {}
    for node, value in given:
        best[node] = min(value, best.get(node, value))
    for _ in range(nodes):
        for x, y, weight in edges:
            if x in best and best[x] + weight < 2**63:
                best[y] = min(best.get(y, best[x] + weight), best[x] + weight)
    return best


def test_shortest_paths_are_those_of_scipy() -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy, which is an oracle here, is not installed")
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    random, nodes = Random(1), 60
    edges = graph(random, nodes, 240, range(1, 9))
    kb = made(SHORTEST, {"source": [(0,)], "edge": sorted(edges)})
    for _ in range(12):
        matrix = sparse.csr_array(
            ([w for *_, w in edges], ([x for x, *_ in edges], [y for _, y, _ in edges])), shape=(nodes, nodes)
        )
        found = csgraph.bellman_ford(matrix, indices=0)
        assert set(kb.rows("dist")) == {
            (node, int(found[node])) for node in np.flatnonzero(np.isfinite(found)).tolist()
        }
        gone = set(random.sample(sorted(edges), 12))
        pairs = {edge[:2] for edge in edges - gone}
        come = {edge for edge in graph(random, nodes, 12, range(1, 9)) if edge[:2] not in pairs}
        kb.update(add={"edge": sorted(come)}, delete={"edge": sorted(gone)})
        edges = (edges - gone) | come


@pytest.mark.parametrize("near", [0, 4096], ids=["by a heap", "in buckets"])
@pytest.mark.parametrize("largest", [1, 63, 64, 700, 9_000])
def test_sources_with_values_far_apart(near: int, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given values come in between what waits, long before or after it; weights are zero, too."""
    monkeypatch.setattr(memory_tuning, "NEAR_WEIGHTS", near)
    random, nodes = Random(largest), 40
    edges = graph(random, nodes, 120, range(0, largest + 1))
    given = [(random.randrange(nodes), random.choice([-(2**40), -500, 0, 3, 900, 10**6, 2**62])) for _ in range(6)]
    given.append((0, 2**63 - 2))
    program = SHORTEST.replace("dist(?x, MIN(0)) :- source(?x)", "dist(?x, MIN(?v)) :- source(?x, ?v)")
    kb = made(program, {"source": given, "edge": sorted(edges)})
    assert dict(kb.rows("dist")) == lengths(edges, given, nodes)


def test_negative_weights_are_right_and_a_negative_cycle_is_said() -> None:
    edges = [("a", "b", 4), ("a", "c", 5), ("c", "b", -3), ("b", "d", 0), ("d", "c", 3)]
    kb = made(SHORTEST, {"source": [("a",)], "edge": edges})
    assert sorted(kb.rows("dist")) == [("a", 0), ("b", 2), ("c", 5), ("d", 2)]
    with pytest.raises(
        EverlogError, match=r"^some facts lead back to themselves .* by `dist\(\?y, MIN\(\?d \+ \?w\)\)"
    ):
        kb.update(delete={"edge": [("d", "c", 3)]}, add={"edge": [("d", "c", 2)]})
    assert sorted(kb.rows("dist")) == [("a", 0), ("b", 2), ("c", 5), ("d", 2)]
    kb.update(delete={"edge": [("c", "b", -3)]})
    assert sorted(kb.rows("dist")) == [("a", 0), ("b", 4), ("c", 5), ("d", 4)]


def test_what_is_rounded_does_not_depend_on_history() -> None:
    """Of sums of several kinds the better one may lead to the worse of two that are equal."""
    first, better = ("a", "x", 1), [("a", "b", 0.1), *((f"b{n}", f"b{n + 1}", 0.1) for n in range(8))]
    chain = [*better, ("b", "b0", 0.1), ("b8", "x", 0.0)]
    facts: Rows = {"source": [("a",)], "edge": [first, ("x", "y", 1000)]}
    kb = made(SHORTEST, facts)
    assert ("y", 1001) in kb.rows("dist")
    kb.update(add={"edge": chain})
    anew = made(SHORTEST, {"source": [("a",)], "edge": [*facts["edge"], *chain]})
    assert facts_of(kb) == facts_of(anew)
    kb.update(delete={"edge": chain})
    assert ("y", 1001) in kb.rows("dist")


def test_given_facts_stay_and_count() -> None:
    kb = made(SHORTEST, {"dist": [("a", 1), ("c", 2), ("c", 9)], "edge": [("a", "b", 1), ("b", "c", 1)]})
    assert sorted(kb.rows("dist")) == [("a", 1), ("b", 2), ("c", 2), ("c", 9)]
    kb.update(delete={"dist": [("c", 2)]})
    assert sorted(kb.rows("dist")) == [("a", 1), ("b", 2), ("c", 3), ("c", 9)]
    kb.update(delete={"dist": [("a", 1), ("c", 9)]}, add={"dist": [("b", 5)]})
    assert sorted(kb.rows("dist")) == [("b", 5), ("c", 6)]


def test_what_is_no_number_does_not_count_where_numbers_are_added() -> None:
    kb = made(SHORTEST, {"dist": [("a", "far"), ("a", 3)], "edge": [("a", "b", "x"), ("a", "b", 2)]})
    assert sorted(kb.rows("dist"), key=repr) == [("a", "far"), ("a", 3), ("b", 5)]


def test_triples_have_minima_too() -> None:
    prefix = "@prefix : <http://ex.org/> . "
    kb = made(
        prefix + "[?x, :label, MIN(?x)] :- [?x, :to, _] . [?y, :label, MIN(?l)] :- [?x, :label, ?l], [?x, :to, ?y] ."
        ":to[:b, :a] . :to[:a, :c] . :to[:c, :b] . :to[:d, :e] .",
        {},
    )
    found = {(str(x), str(label)) for x, label in kb.query(prefix + "[?x, :label, ?l]")}
    names = {(x.removeprefix("<http://ex.org/")[0], label.removeprefix("<http://ex.org/")[0]) for x, label in found}
    assert names == {("a", "a"), ("b", "a"), ("c", "a"), ("d", "d"), ("e", "d")}


def test_where_names_are_rewritten_groups_are_of_things() -> None:
    program = "?x = ?y :- same(?x, ?y) ." + SHORTEST
    kb = made(program, {"source": [("a",)], "edge": [("a", "b", 5), ("bb", "c", 1)]}, equality="rewrite")
    assert sorted(kb.rows("dist")) == [("a", 0), ("b", 5)]
    kb.update(add={"same": [("b", "bb")], "edge": [("a", "bb", 3)]})
    assert sorted(kb.rows("dist")) == [("a", 0), ("b", 3), ("bb", 3), ("c", 4)]
    kb.update(delete={"same": [("b", "bb")]})
    assert sorted(kb.rows("dist")) == [("a", 0), ("b", 5), ("bb", 3), ("c", 4)]
    with pytest.raises(EverlogError, match="has a MIN in its head, which would be about names"):
        made(program, {}, equality="axioms")
    with pytest.raises(EverlogError, match="has a MIN, which is not well defined together with equality"):
        made(program + "?x = ?d :- dist(?x, ?d) .", {}, equality="rewrite")


NOT_WELL_DEFINED = (
    "is not well defined in its recursion through MIN or MAX, where a better value must only ever improve"
)
REFUSED = {
    "dist(?y, MIN(?w - ?d)) :- dist(?x, ?d), edge(?x, ?y, ?w) .": "?w - ?d, of which the MIN is kept, gets larger",
    "dist(?y, MIN(?d * ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w) .": (
        "the sign of ?w in ?d * ?w is not known: add FILTER(?w >= 0)"
    ),
    "dist(?y, MIN(?d / ?w)) :- dist(?x, ?d), edge(?x, ?y, ?w), ?w >= 0 .": (
        "the sign of ?w in ?d / ?w is not known: add FILTER(?w > 0)"
    ),
    "dist(?y, MIN(ABS(?d))) :- dist(?x, ?d), edge(?x, ?y, ?w) .": "whether ABS(?d) rises or falls is not known",
    "dist(?y, MIN(?d - ?d / 2)) :- dist(?x, ?d), edge(?x, ?y, ?w) .": "whether ?d - ?d / 2 rises or falls is not known",
    "dist(?y, MIN(?d)) :- dist(?x, ?d), edge(?x, ?y, ?w), FILTER(?d > ?w) .": "?d > ?w may cease to hold",
    "dist(?y, MIN(?d)) :- dist(?x, ?d), edge(?x, ?y, ?w), FILTER(?w > 1 && ?d + 1 != 4) .": (
        "FILTER(?w > 1 && ?d + 1 != 4) may cease to hold"
    ),
    "dist(?y, MIN(?w)) :- dist(?x, 5), edge(?x, ?y, ?w) .": "dist(?x, 5) asks for one value, which a better one takes away",
    "dist(?y, MIN(?d)) :- dist(?x, ?d), edge(?x, ?y, ?d) .": (
        "?d stands in two places, which may cease to be the same value"
    ),
    "dist(?y, MIN(?w)) :- dist(?x, ?d), edge(?x, ?y, ?w), BIND(?d + 1 AS ?w) .": (
        "BIND(?d + 1 AS ?w) compares with a value that has to be the very same"
    ),
    "dist(?y, MIN(?d)) :- dist(?x, ?d), edge(?x, ?y, _), not edge(?y, ?x, ?d) .": "not edge(?y, ?x, ?d) asks about ?d",
    "dist(?d, MIN(?d)) :- dist(?x, ?d), edge(?x, ?y, ?w) .": (
        "its head has ?d, which changes, and keeps no MIN or MAX of it"
    ),
    "step(?y, ?d) :- dist(?x, ?d), edge(?x, ?y, _) . dist(?y, MIN(?d + 1)) :- step(?y, ?d) .": (
        "its head has ?d, which changes, and keeps no MIN or MAX of it"
    ),
    "[?x, ex:d, MIN(0)] :- source(?x) . [?y, ex:d, MIN(?d)] :- [?x, ?p, ?d], [?x, ex:to, ?y] .": (
        "[?x, ?p, ?d] may be about any property; name it"
    ),
}


@pytest.mark.parametrize("rules", REFUSED)
def test_recursions_that_are_not_well_defined_are_refused(rules: str) -> None:
    with pytest.raises(EverlogError) as caught:
        made(f"@prefix ex: <http://ex.org/> . dist(?x, MIN(0)) :- source(?x) . {rules}", {})
    assert NOT_WELL_DEFINED in str(caught.value)
    assert str(caught.value).endswith(REFUSED[rules])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("p(?x, MIN(?y)) :- q(?x, ?y) . p(?x, MAX(?y)) :- r(?x, ?y) .", "do not agree on what is kept"),
        ("p(?x, MIN(?y)) :- q(?x, ?y) . p(MIN(?x), ?y) :- r(?x, ?y) .", "MIN, or MAX, in the same place"),
        ("[?x, ?p, MIN(?y)] :- q(?x, ?p, ?y) .", "has MIN of triples with any property: name one"),
        (
            "[?x, rdf:value, MIN(?y)] :- q(?x, ?y) . [?x, ?p, ?y] :- r(?x, ?p, ?y) .",
            "may derive triples with any property, also of those",
        ),
        (
            "p(?x, MIN(?y)) :- q(?x, ?y) . [?x, rdf:value, MIN(?y)] :- q(?x, ?y) . [?x, ?p, ?y] :- r(?x, ?p, ?y) .",
            "also of those that `[?x, rdf:value, MIN(?y)] :- q(?x, ?y) .` keeps the best of: name the property",
        ),
        ("[?x, ?p, MIN(?y)] <http://ex.org/g> :- q(?x, ?p, ?y) .", "has MIN of triples with any property: name one"),
        ("p(?x, MIN(?y)) :- q(?x, ?y), not p(?x, 3) .", "depend on each other through negation"),
        (
            "p(?x, MIN(?n)) :- AGGREGATE(p(?x, ?y) ON ?x BIND COUNT(?y) AS ?n) .",
            "depend on each other through an aggregate",
        ),
        ("p(?x, SUM(?y)) :- q(?x, ?y) .", "<program>:1:7: only MIN and MAX can stand in a head, found 'SUM'"),
        ("p(MIN(?x), MAX(?y)) :- q(?x, ?y) .", "<program>:1:12: a head has one MIN or MAX; write a rule for each"),
        ("p(MIN(3)) .", "<program>:1:3: a fact has constants only: MIN and MAX keep the best of what a rule derives"),
    ],
)
def test_other_heads_that_are_refused(rules: str, message: str) -> None:
    with pytest.raises(EverlogError) as caught:
        made(rules, {})
    assert message in str(caught.value)


def test_a_minimum_in_recursion_is_no_reason_for_a_warning() -> None:
    kb = KnowledgeBase(SHORTEST, engine="memory")
    kb.add({"source": [("a",)], "edge": [("a", "b", 1)]})
    assert not kb.materialise().warnings


def example(name: str) -> KnowledgeBase:
    """An example with its facts."""
    folder = Path(__file__).resolve().parents[2] / "examples"
    facts: Rows = {}
    for path in (folder / name).glob("*.csv"):
        lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
        facts[path.stem] = [tuple(int(field) if field.isdigit() else field for field in line) for line in lines]
    return made((folder / f"{name}.dlog").read_text(encoding="utf-8"), facts)


def test_the_examples_are_routes_and_parts() -> None:
    routes = example("routes")
    assert ("ravensburg", 85) in routes.rows("distance")
    assert sorted(routes.query("before(bregenz, ?x)")) == [("ravensburg",)]
    assert ("bregenz", 30) in routes.rows("load")
    assert routes.rows("cut_off") == [("wangen",)]
    routes.update(delete={"road": [("ulm", "biberach", 45, 7)]})
    assert ("bregenz", 135) in routes.rows("distance")
    parts = example("parts")
    assert {("bicycle", "tube", 5), ("bicycle", "spoke", 64)} <= set(parts.rows("takes"))
    assert sorted(parts.rows("ready"))[0] == ("bicycle", 7)


def test_a_deletion_costs_what_it_concerns() -> None:
    edges = [(x, y, 1) for x in range(300) for y in (x + 1, x + 2)]
    kb = made(SHORTEST.replace(" ?w) .", " ?w), FILTER(?d < 1000) ."), {"source": [(0,)], "edge": edges})
    engine = kb.reasoner.engine
    before = engine.derivations
    kb.update(delete={"edge": [(297, 299, 1)]})
    assert engine.derivations - before < 40
    assert (299, 150) in kb.rows("dist")


def test_on_spark_as_in_memory(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few facts are looked at on the driver, and others by jobs."""
    edges = {("a", "b", 4), ("a", "c", 1), ("c", "b", 2), ("b", "d", 1)}
    kb = KnowledgeBase(SHORTEST, engine="spark", spark=spark)
    kb.add({"source": [("a",)], "edge": sorted(edges)})
    kb.materialise()
    kb.update(add={"edge": [("c", "d", 1)]}, delete={"edge": [("c", "b", 2)]})
    assert all_facts(kb) >= {fact("dist", *row) for row in [("a", 0), ("b", 4), ("c", 1), ("d", 2)]}
    for threshold in ("DRIVER_FACTS", "SETTLED_FACTS"):
        monkeypatch.setattr(tuning, threshold, 0)
    by_jobs = KnowledgeBase(SHORTEST, engine="spark", spark=spark)
    by_jobs.add({"source": [("a",)], "edge": [("a", "b", 4), ("a", "b", 3)]})
    by_jobs.materialise()
    assert {one for one in all_facts(by_jobs) if one[0] == "dist"} == {fact("dist", "a", 0), fact("dist", "b", 3)}


ODD = "b(?x, {0}(?v)) :- s(?x, ?v) . b(?y, {0}(?d + ?w)) :- b(?x, ?d), e(?x, ?y, ?w){1} ."


@pytest.mark.parametrize(
    ("program", "given", "steps", "best"),
    [
        (
            ODD.format("MIN", ""),
            0.0,
            [("a", "b", inf), ("b", "c", 1.0), ("a", "c", nan), ("c", "c", -0.0)],
            "0.0 inf inf",
        ),
        (ODD.format("MIN", ""), -inf, [("a", "b", inf), ("a", "c", 1.0)], "-inf - -inf"),
        (ODD.format("MAX", ""), inf, [("a", "b", -inf), ("a", "c", -1.0)], "inf - inf"),
        (ODD.format("MIN", ""), -0.0, [("a", "b", 0.0), ("a", "c", -0.0)], "-0.0 0.0 -0.0"),
        (ODD.format("MIN", ""), 0, [("a", "b", -0.0), ("b", "c", -0.0)], "0 0.0 0.0"),
        (ODD.format("MIN", ""), 2**63 - 2, [("a", "b", 1), ("b", "c", 1)], f"{2**63 - 2} {2**63 - 1} -"),
        (
            ODD.format("MIN", ""),
            2**53,
            [("a", "b", 1.0), ("a", "c", 1), ("b", "c", 1)],
            f"{2**53} {2.0**53!r} {2.0**53!r}",
        ),
        (ODD.format("MAX", ", FILTER(?w <= 0)"), -0.0, [("a", "a", 0.0), ("a", "b", -1.5)], "0.0 -1.5 -"),
    ],
)
def test_numbers_at_the_edges(program: str, given: float, steps: list[tuple[str, str, float]], best: str) -> None:
    """Infinities, signed zeros, what is no number, and what 64 or 53 bits do not hold: found, kept and gone again."""
    names = [*"abc"]
    kb = made(program, {"s": [("a", given)], "e": steps})
    for _ in range(2):
        found = {name: repr(value) for name, value in kb.rows("b")}
        assert " ".join(found.get(name, "-") for name in names) == best
        kb.update(add={"e": [("c", "d", 0.5)], "s": [("d", 3.5)]})
        kb.update(delete={"e": [("c", "d", 0.5), steps[0]], "s": [("d", 3.5)]})
        kb.update(add={"e": [steps[0]]})
    kb.update(delete={"s": [("a", given)]})
    assert kb.rows("b") == []
