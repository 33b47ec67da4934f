"""Sets of facts are values: random operations, computed and as views, against Python's sets and multisets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from everlog.datalog.syntax import TRIPLE, Atom, Constant, Variable
from everlog.datalog.values import RDF_TYPE
from everlog.engine.algebra import Region
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.facts.annotations import CountedFacts, as_counted
from everlog.engine.memory.facts.rows import NO_ROWS, full_facts, listed
from everlog.engine.memory.facts.sets import ComputedFacts, MemoryFacts, as_memory_facts
from everlog.engine.memory.facts.table import Table
from everlog.engine.memory.kernels import table_kernels as kernels
from support.cramped import cramped

Fact = tuple[str, tuple[int, ...]]

property_test = settings(deadline=None, derandomize=True, max_examples=60, phases=[Phase.generate])
seeds = st.integers(0, 2**32)

ARITIES = {"on": 0, "u": 1, "e": 2, "t": 3, TRIPLE: 3}
VALUES = 6
TYPE = VALUES


@pytest.fixture(autouse=True, params=[2, 10, 4096], ids="small={}".format)
def small(request: pytest.FixtureRequest) -> Iterable[None]:
    """Sets of more rows than this, with holes, are a bit in the mask and nothing else."""
    with cramped(request.param):
        yield


class Sets:
    """An engine over the values 0, 1, …, whose ids are themselves, and sets of facts in it and in Python."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.engine = MemoryEngine(workers=self.random.choice([1, 2]))
        self.engine.dictionary.encode_values([*range(VALUES), RDF_TYPE])

    def some_facts(self) -> frozenset[Fact]:
        density = self.random.choice([1, 4, 30, 60])
        return frozenset(self._fact() for _ in range(self.random.randrange(density)))

    def _fact(self) -> Fact:
        predicate = self.random.choice(list(ARITIES))
        terms = [self.random.randrange(VALUES) for _ in range(ARITIES[predicate])]
        if predicate == TRIPLE and self.random.random() < 0.5:
            terms[1] = TYPE
        return predicate, tuple(terms)

    def stored(self, facts: Iterable[Fact], excluding: MemoryFacts | None = None) -> ComputedFacts:
        found = self.engine.empty()
        groups: dict[str, list[tuple[int, ...]]] = {}
        for predicate, terms in facts:
            groups.setdefault(predicate, []).append(terms)
        for predicate, rows in groups.items():
            columns = np.array(rows, np.int32).reshape(len(rows), ARITIES[predicate]).T
            found |= self.engine.insert(predicate, np.ascontiguousarray(columns), excluding)
        return found

    def tables(self) -> list[Table]:
        return [table for relation in self.engine.relations().values() for table in relation.tables()]

    def facts(self, table: Table, rows: Iterable[int]) -> list[Fact]:
        wanted = listed(table, np.fromiter(rows, np.int32))
        return [
            (table.predicate, tuple(map(int, one))) for one in full_facts(table, wanted, ARITIES[table.predicate]).T
        ]

    def computed(self, facts: MemoryFacts) -> frozenset[Fact]:
        """The facts of a set, by its rows."""
        found = [one for table in facts.tables() for one in self.facts(table, facts.rows(table).array())]
        assert len(found) == len(set(found)) == len(facts)
        for rows in map(facts.rows, facts.tables()):
            assert np.array_equal(rows.tuples(), rows.table.tuples(rows.array())), "of whatever form"
        assert bool(facts) == bool(found)
        return frozenset(found)

    def tested(self, facts: MemoryFacts) -> frozenset[Fact]:
        """The facts of a set, by testing every row as a join does."""
        found: list[Fact] = []
        for table in self.tables():
            view = facts.view(table)
            out = np.empty(table.n, np.int32)
            n = kernels.select(NO_ROWS, False, 0, table.n, *view.test(table), out)
            assert n <= facts.at_most(table)
            found += self.facts(table, out[:n])
        return frozenset(found)


Pair = tuple[MemoryFacts, frozenset[Fact]]


def expression(sets: Sets, pool: list[Pair], depth: int) -> Pair:
    """A random view over some sets."""
    if depth == 0:
        return sets.random.choice(pool)
    left, right = expression(sets, pool, sets.random.randrange(depth)), expression(sets, pool, depth - 1)
    if sets.random.random() < 0.5:
        left, right = right, left
    sign = sets.random.choice("|-&")
    if sign == "|":
        return left[0] | right[0], left[1] | right[1]
    if sign == "-":
        return left[0] - right[0], left[1] - right[1]
    return left[0] & right[0], left[1] & right[1]


def in_place(sign: str, one: Pair, other: Pair) -> Pair:
    facts, expected = one
    if sign == "|":
        facts |= other[0]
        return facts, expected | other[1]
    if sign == "-":
        facts -= other[0]
        return facts, expected - other[1]
    facts &= other[0]
    return facts, expected & other[1]


@property_test
@given(seeds)
def test_sets_are_values(seed: int) -> None:
    """Whatever is done to one set in place, all others, and its old value under another name, stay as they are."""
    sets = Sets(seed)
    pool: list[Pair] = [(sets.stored(facts), facts) for facts in (sets.some_facts() for _ in range(4))]
    for _ in range(20):
        place = sets.random.randrange(len(pool))
        other = expression(sets, pool, sets.random.randrange(3))
        changed = in_place(sets.random.choice("||--&"), pool[place], other)
        if sets.random.random() < 0.3:
            fresh = sets.some_facts()
            changed = in_place("|", changed, (sets.stored(fresh, changed[0]), fresh))
        assert sets.computed(changed[0]) == changed[1]
        if sets.random.random() < 0.5:
            for facts, expected in pool:
                assert sets.computed(facts) == expected
        # Sometimes the old value stays under its name, and sometimes it is forgotten.
        pool[sets.random.choice([place, place, sets.random.randrange(len(pool))])] = changed
    for facts, expected in pool:
        assert sets.computed(facts) == sets.tested(facts) == expected


@property_test
@given(seeds)
def test_what_came_and_went_since_an_old_value(seed: int) -> None:
    """A set that changes in place in several steps, some of which undo others."""
    sets = Sets(seed)
    facts, holes = sets.some_facts() | sets.some_facts(), sets.some_facts()
    old = now = in_place("-", (sets.stored(facts), facts), (sets.stored(holes), holes))
    for _ in range(sets.random.randint(1, 4)):
        some = sets.some_facts() if sets.random.random() < 0.7 else now[1] ^ old[1]
        now = in_place(sets.random.choice("|-"), now, (sets.stored(some), some))
    assert sets.computed(as_memory_facts(now[0].minus(old[0]))) == now[1] - old[1]
    assert sets.computed(as_memory_facts(old[0].minus(now[0]))) == old[1] - now[1]
    assert sets.computed(old[0]) == old[1] and sets.computed(now[0]) == now[1]


@property_test
@given(seeds)
def test_new_sets_leave_those_alone_that_they_are_computed_from(seed: int) -> None:
    sets = Sets(seed)
    pool: list[Pair] = [(sets.stored(facts), facts) for facts in (sets.some_facts() for _ in range(4))]
    for _ in range(8):
        (one, facts), (other, others) = (expression(sets, pool, sets.random.randrange(3)) for _ in range(2))
        assert sets.computed(as_memory_facts(one.plus(other))) == facts | others
        assert sets.computed(as_memory_facts(one.minus(other))) == facts - others
        assert sets.computed(as_memory_facts(one.common(other))) == facts & others
        assert sets.computed(one) == facts
        assert sets.computed(other) == others
    for known, expected in pool:
        assert sets.computed(known) == expected


@property_test
@given(seeds)
def test_views_test_for_what_they_compute(seed: int) -> None:
    sets = Sets(seed)
    pool: list[Pair] = [(sets.stored(facts), facts) for facts in (sets.some_facts() for _ in range(4))]
    pool[0] = in_place("-", pool[0], pool[1])
    for _ in range(8):
        view, expected = expression(sets, pool, sets.random.randint(1, 4))
        assert sets.tested(view) == expected
        assert sets.computed(view) == expected
        assert sets.tested(view) == expected, "after it was computed"
    for facts, expected in pool:
        assert sets.computed(facts) == expected


@property_test
@given(seeds)
def test_regions(seed: int) -> None:
    """`within` keeps the instances of patterns; with `rest`, also what is no instance of those elsewhere."""
    sets = Sets(seed)
    known = sets.some_facts()
    facts, _ = pair = sets.stored(known), known
    for _ in range(6):
        patterns, elsewhere = ([random_pattern(sets) for _ in range(sets.random.randrange(4))] for _ in range(2))
        rest = sets.random.random() < 0.5
        region = Region(tuple(patterns), rest, tuple(elsewhere))
        inside = {
            fact
            for fact in known
            if any(is_instance(fact, one) for one in patterns)
            or (rest and not any(is_instance(fact, one) for one in elsewhere))
        }
        assert sets.computed(facts.within(region)) == inside
        view, expected = expression(sets, [pair, (sets.stored(known), known)], 1)
        assert sets.computed(view.within(region)) == expected & inside


def random_pattern(sets: Sets) -> Atom:
    predicate, terms = sets._fact()
    values = [RDF_TYPE if term == TYPE else term for term in terms]
    choose = sets.random.choice
    return Atom(predicate, tuple(choose([Constant(value), Variable(choose("xyz"))]) for value in values))


def is_instance(fact: Fact, pattern: Atom) -> bool:
    if fact[0] != pattern.predicate:
        return False
    bound: dict[Variable, int] = {}
    for value, term in zip(fact[1], pattern.terms, strict=True):
        wanted = bound.setdefault(term, value) if isinstance(term, Variable) else term.value
        if (TYPE if wanted == RDF_TYPE else wanted) != value:
            return False
    return True


@property_test
@given(seeds)
def test_multisets(seed: int) -> None:
    """⊕ adds and ⊖ subtracts multiplicities; what is not positive is gone."""
    sets = Sets(seed)
    counted: CountedFacts = as_counted(sets.engine.empty())
    expected: Counter[Fact] = Counter()
    others: list[tuple[CountedFacts, Counter[Fact]]] = []
    for _ in range(12):
        facts = sets.some_facts()
        more: CountedFacts | ComputedFacts = sets.stored(facts)
        times = Counter(facts)
        if others and sets.random.random() < 0.4:
            more, times = sets.random.choice(others)
        if sets.random.random() < 0.6:
            counted, expected = counted + more, expected + times
        else:
            counted, expected = counted - more, expected - times
        others.append((counted, expected))
        assert multiplicities(sets, counted) == expected
        assert (counted.total(), bool(counted)) == (expected.total(), bool(expected))
        assert sets.computed(counted.support()) == frozenset(expected)
    for one, times in others:
        assert multiplicities(sets, one) == times, "an older multiset has changed"


def multiplicities(sets: Sets, counted: CountedFacts) -> Counter[Fact]:
    found: Counter[Fact] = Counter()
    for table, (rows, counts) in counted.parts().items():
        for fact, count in zip(sets.facts(table, rows), counts, strict=True):
            assert fact not in found and count > 0
            found[fact] = int(count)
    return found


@property_test
@given(seeds)
def test_annotations(seed: int) -> None:
    sets = Sets(seed)
    annotation = sets.engine.annotation()
    expected: dict[Fact, int] = {}
    pool: list[Pair] = [(sets.stored(facts), facts) for facts in (sets.some_facts() for _ in range(3))]
    for _ in range(8):
        facts, known = expression(sets, pool, sets.random.randrange(3))
        if sets.random.random() < 0.5:
            value = sets.random.randrange(-2, 4)
            annotation.set(facts, value)
            expected.update(dict.fromkeys(known, value))
        else:
            sign = sets.random.choice([-1, 1])
            annotation.add(as_counted(facts) + facts, sign)
            expected.update((fact, expected.get(fact, 0) + 2 * sign) for fact in known)
        fresh = sets.some_facts()
        pool[sets.random.randrange(3)] = sets.stored(fresh), fresh
        least = sets.random.randrange(-2, 3)
        greatest = least + sets.random.randrange(3)
        between = annotation.between(least, greatest)
        inside = {one for one in pool[0][1] | pool[1][1] if least <= expected.get(one, 0) <= greatest}
        both = pool[0][0] | pool[1][0]
        for view in (both & between, between & both):
            assert sets.tested(view) == sets.computed(view) == inside
        outside = pool[0][0] - between
        assert sets.tested(outside) == sets.computed(outside) == pool[0][1] - inside
        mixed = (pool[0][0] & between) | pool[1][0]
        assert sets.tested(mixed) == sets.computed(mixed) == (pool[0][1] & inside) | pool[1][1]
        times = Counter({fact: expected.get(fact, 0) for fact in known if expected.get(fact, 0) > 0})
        assert multiplicities(sets, annotation.counted(facts)) == times


@property_test
@given(seeds)
def test_marks_are_given_back(seed: int) -> None:
    sets = Sets(seed)
    pool: list[Pair] = [(sets.stored(facts), facts) for facts in (sets.some_facts() for _ in range(4))]
    for _ in range(10):
        place = sets.random.randrange(len(pool))
        pool[place] = in_place(sets.random.choice("|-&"), pool[place], expression(sets, pool, 2))
        sets.tested(pool[place][0] - pool[0][0])
    pool.clear()  # no cycles keep a set: the last name gone, its mark is too
    for table in sets.tables():
        table.clear_bits()
        assert sorted(table.free_bits) == [1 << bit for bit in range(16)]
        assert not table.mask.any(), "a bit was given back and not cleared"


def test_a_mark_outlives_the_set_in_a_view() -> None:
    sets = Sets(0)
    holes = frozenset(("e", (x, y)) for x in range(VALUES) for y in range(VALUES) if (x + y) % 2)
    everything = sets.stored(("e", (x, y)) for x in range(VALUES) for y in range(VALUES))
    view = everything - sets.stored(holes)
    (table,) = sets.tables()
    compiled = view.view(table)
    assert table.bits_left() < 16
    del view
    assert table.bits_left() < 16, "the compiled view still tests the bit"
    del compiled
    assert table.bits_left() == 16


def test_more_sets_than_bits() -> None:
    """Any number of sets can be tested in turn; of those that a view tests at the moment, sixteen."""
    sets = Sets(0)
    ordered = [("u", (x,)) for x in range(100)]
    whole = frozenset(ordered)
    everything = sets.stored(ordered)
    chosen = [frozenset(ordered[:3] + ordered[k : k + 50 : 2]) for k in range(5, 45)]
    held = [sets.stored(facts) for facts in chosen]
    for _ in range(2):
        for one, facts in zip(held, chosen, strict=True):
            assert sets.tested(one) == facts
            assert sets.tested(everything - one) == whole - facts
    (table,) = sets.tables()
    views = []
    with pytest.raises(RuntimeError, match="more than 16 sets of facts of u are tested at once"):
        for one in held:
            views.append(one.view(table))
    assert len(views) == 16
    del views
    assert [sets.tested(one) for one in held] == chosen


def test_a_range_of_annotations_has_no_facts_of_its_own() -> None:
    between = Sets(0).engine.annotation().between(0, 1)
    ask: list[Callable[[], object]] = [lambda: len(between), lambda: bool(between)]
    for question in ask:
        with pytest.raises(TypeError, match="intersect it with a set"):
            question()
