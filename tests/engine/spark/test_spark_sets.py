"""Sets on Spark are values: random operations, computed and as views, against Python's sets and multisets."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.engine.algebra import FactSet, Region
from everlog.engine.spark import tuning
from everlog.engine.spark.facts.runs import merged_length
from everlog.engine.spark.facts.sets import as_spark_facts
from everlog.engine.spark.facts.sql_text import absent, own_keys, select, union
from oracles import naive
from oracles.naive import Fact
from support.spark_sets import Facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERYTHING = [
    naive.fact("on"),
    *(naive.fact("u", x) for x in range(6)),
    *(naive.fact("e", x, y) for x in range(4) for y in range(4)),
    *(naive.fact("t", x, "a", y) for x in range(2) for y in range(3)),
]


@pytest.fixture(params=["tiny", "mixed", "both", "few", "many"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the sets of these tests count as: few enough for the driver, some of them, to be broadcast, or neither.

    With `both` the driver has sets that Spark gets, too, where they meet others.
    """
    tiny, few = {"tiny": (30, 30), "mixed": (14, 16), "both": (14, 3), "few": (0, 30), "many": (0, 3)}[request.param]
    if request.param == "both":
        monkeypatch.setattr(tuning, "FETCHED_FACTS", 6)
    monkeypatch.setattr(tuning, "DRIVER_FACTS", tiny)
    monkeypatch.setattr(tuning, "BROADCAST_LOOK_UP_FACTS", few)
    monkeypatch.setattr(tuning, "BROADCAST_JOIN_FACTS", few)
    return str(request.param)


def some(random: Random, density: float = 0.4) -> frozenset[Fact]:
    return frozenset(one for one in EVERYTHING if random.random() < density)


def test_operations(spark: SparkSession, size: str) -> None:
    """Views and computed sets, which are values: nobody else's set changes."""
    random = Random(5)
    facts = Facts(spark, [*range(6), "a"])
    sets: list[tuple[FactSet, frozenset[Fact]]] = [(facts.engine.empty(), frozenset())]
    for _ in range(2):
        chosen = some(random)
        sets.append((facts.stored(chosen), chosen))
    for step in range(18):
        (left, X), (right, Y) = random.choice(sets), random.choice(sets)
        operator = "|-&"[step % 3]
        expected = {"|": X | Y, "-": X - Y, "&": X & Y}[operator]
        if step % 2:
            found = {"|": left | right, "-": left - right, "&": left & right}[operator]
        else:
            found = left
            if operator == "|":
                found |= right
            elif operator == "-":
                found -= right
            else:
                found &= right
        sets.append((found, expected))
    for found, expected in sets:
        assert facts.facts_in(found) == expected
        assert bool(found) == bool(expected)


def test_regions(spark: SparkSession) -> None:
    facts = Facts(spark, [*range(6), "a"])
    x, y = Variable("x"), Variable("y")
    patterns = (Atom("u", (Constant(1),)), Atom("u", (Constant(2),)), Atom("e", (x, x)), Atom("t", (Constant(1), y, x)))

    def inside(fact: Fact) -> bool:
        name, ids = fact
        return (
            (name == "u" and ids[0][1] in (1, 2))
            or (name == "e" and ids[0] == ids[1])
            or (name == "t" and ids[0][1] == 1)
        )

    everything = facts.stored(EVERYTHING)
    expected = {one for one in EVERYTHING if inside(one)}
    assert facts.facts_in(everything.within(Region(patterns))) == expected
    within_rest = everything.within(Region(patterns[:1], rest=True, elsewhere=patterns))
    assert facts.facts_in(within_rest) == (set(EVERYTHING) - expected) | {naive.fact("u", 1)}
    assert everything.within(Region((), rest=True)) is everything
    assert not facts.stored([naive.fact("e", 0, 1)]).within(Region(patterns[:2]))


@pytest.mark.parametrize("size", ["tiny", "mixed"], indirect=True)
def test_multisets_and_annotations(spark: SparkSession, size: str) -> None:
    random = Random(7)
    facts = Facts(spark, [*range(6), "a"])
    everything = facts.stored(EVERYTHING)
    annotation, other = facts.engine.annotation(), facts.engine.annotation()
    values = Counter(dict.fromkeys(EVERYTHING, 0))

    def in_range(least: int, greatest: int) -> set[Fact]:
        return {one for one in EVERYTHING if least <= values[one] <= greatest}

    def check(*ranges: tuple[int, int]) -> None:
        positive = Counter({one: n for one, n in values.items() if n > 0})
        assert facts.multiplicities(annotation.counted(everything)) == positive
        for least, greatest in ranges:
            assert facts.facts_in(everything & annotation.between(least, greatest)) == in_range(least, greatest)
            outside = set(EVERYTHING) - in_range(least, greatest)
            assert facts.facts_in(everything - annotation.between(least, greatest)) == outside

    check((0, 0), (-9, -1))
    annotation.add(everything)
    values.update(EVERYTHING)
    chosen, more = some(random), some(random)
    annotation.set(facts.stored(chosen), 5)
    values.update({one: 5 - values[one] for one in chosen})
    annotation.add(facts.stored(more), sign=-1)
    values.subtract(more)
    check((2, 2), (3, 9), (0, 1))
    undo, before = annotation.savepoint(), Counter(values)
    counted = annotation.counted(facts.stored(chosen)) + facts.stored(more)
    expected = Counter({one: values[one] for one in chosen if values[one] > 0}) + Counter(more)
    assert facts.multiplicities(counted) == expected and counted.total() == expected.total()
    assert facts.multiplicities(counted - facts.stored(chosen)) == expected - Counter(chosen)
    assert facts.facts_in(counted.support()) == expected.keys()
    annotation.add(counted)
    values.update(expected)
    other.set(facts.stored(more), 7)
    annotation.assign(everything, other)
    values = Counter({one: 7 if one in more else 0 for one in EVERYTHING})
    check((-9, 9), (3, 9))
    undo()
    values = before
    check((0, 1))


def test_runs_are_merged_before_their_number_hurts(spark: SparkSession) -> None:
    """And facts are copied a few times only."""
    sizes: list[int] = []
    copied = 0
    for _ in range(1000):
        length = merged_length(sizes, 8)
        if length:
            copied += sum(sizes[-length:])
            sizes[-length:] = [sum(sizes[-length:])]
        sizes.append(1)
        assert len(sizes) <= 8
    assert copied < 1000 * 10
    facts = Facts(spark, range(40))
    found: FactSet = facts.engine.empty()
    for x in range(12):
        found |= facts.stored([naive.fact("e", x, x + 1)])
    assert facts.facts_in(found) == {naive.fact("e", x, x + 1) for x in range(12)}


def test_narrow_facts_are_no_instances_of_wider_atoms(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even of one whose last column is only compared with another."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 30)
    facts = Facts(spark, range(4))
    pairs = frozenset(naive.fact("e", x, x) for x in range(4))
    narrow = facts.stored(pairs)
    atoms = (Atom("t", (Variable("x"), Variable("y"), Variable("x"))), Atom("e", (Variable("x"), Variable("x"))))
    assert facts.facts_in(narrow.within(Region(atoms[:1]))) == frozenset()
    assert facts.facts_in(narrow.within(Region(atoms))) == pairs


def test_what_a_large_run_was_asked_is_forgotten_but_for_what_is_asked_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 4)
    monkeypatch.setattr(tuning, "BROADCAST_LOOK_UP_FACTS", 1)
    facts = Facts(spark, range(20))
    many = facts.stored(naive.fact("e", x, x + 1) for x in range(9))
    for asked in ((0, 1), (1, 2), (2, 0, 12)):
        few = facts.stored(naive.fact("e", x, x + 1) for x in asked)
        assert facts.facts_in(few.minus(many)) == {naive.fact("e", x, x + 1) for x in asked if x > 8}


def test_partitions_are_as_many_as_facts_are_worth(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session with many partitions does not cut few facts into pieces; there are more when there are more facts."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    wide = spark.newSession()
    wide.conf.set("spark.sql.shuffle.partitions", "64")
    facts = Facts(wide, range(40))
    frame = wide.createDataFrame([(x, x + 1) for x in range(30)], "a0 bigint, a1 bigint")

    def parts(found: FactSet) -> int:
        return len(
            {
                row["part"]
                for row in facts.rows(f"(SELECT spark_partition_id() AS part FROM {as_spark_facts(found).table()})")
            }
        )

    found = facts.engine.facts({"e": frame})
    assert (len(found), facts.engine.partitions, parts(found)) == (30, 1, 1)
    with monkeypatch.context() as worth:
        worth.setattr(tuning, "FACTS_PER_PARTITION", 1)
        many = Facts(wide, range(40))
        assert many.engine.partitions == 1
        assert len(many.engine.facts({"e": frame})) == 30
        assert many.engine.partitions == 64, "many facts are not read into one partition"
    monkeypatch.setattr(tuning, "FACTS_PER_PARTITION", 3)
    more = facts.engine.computed(f"(SELECT DISTINCT p, a0, -a1 AS a1 FROM {found.table()})")
    assert (len(more), facts.engine.partitions) == (30, 16)
    assert 4 < parts(more) <= 16
    assert len(more | found) == 60 and len(more & found) == 0


def test_a_union_of_parts_whose_shuffles_are_used_again(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark forgets while it plans that such parts are partitioned alike; rows were then not told apart any more."""
    monkeypatch.setattr(tuning, "BROADCAST_LOOK_UP_FACTS", 3)
    engine = Facts(spark, []).engine
    engine.spark.conf.set("spark.sql.shuffle.partitions", "2")
    for name, numbers, is_partitioned in [
        ("low", range(60, 80), False),
        ("high", range(75, 100), False),
        ("threes", range(60, 100, 3), True),
        ("twos", range(60, 100, 2), True),
    ]:
        frame = engine.spark.createDataFrame([(1, number) for number in numbers], "p bigint, a0 bigint")
        parted = frame.repartition(2, "p", "a0") if is_partitioned else frame
        parted.localCheckpoint().createOrReplaceTempView(f"{name}_rows")
    keys = own_keys(1)
    low, high = (absent(f"{name}_rows", keys, "threes_rows", 14, 25, 1) for name in ("low", "high"))
    turned = select(["l.a0 AS p", "l.p AS a0"], f"{low} l")
    left = [number for number in range(60, 100) if number % 3]
    for table, expected in [
        (select(["DISTINCT *"], union([low, high])), left),
        (
            absent(union([low, high]), keys, "twos_rows", 20, 45, 1),
            [one for one in sorted([*left, 76, 77, 79]) if one % 2],
        ),
    ]:
        frame = engine.spark.sql(f"SELECT * FROM {union([turned, table])}")
        assert sorted(row.a0 for row in frame.collect() if row.p == 1) == expected
    for name in ("low", "high", "threes", "twos"):
        engine.spark.catalog.dropTempView(f"{name}_rows")
    engine.release()
