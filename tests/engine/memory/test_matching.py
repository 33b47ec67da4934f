"""`match` against trying everything: each match once, every projection, and the same when it is kept."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from everlog.datalog.syntax import Atom
from everlog.engine.algebra import Labelled
from everlog.engine.memory.engine import MemoryEngine
from everlog.engine.memory.joins.matcher import MemoryMatcher
from oracles import naive
from oracles.naive import Facts, Substitution
from support.cramped import cramped
from support.stored import disguised, facts_in, stored
from support.strategies import Writer

property_test = settings(deadline=None, derandomize=True, max_examples=120, phases=[Phase.generate])


@pytest.mark.parametrize("size", [2, 1 << 12], ids="block={}".format)
@property_test
@given(seed=st.integers(0, 2**32))
def test_match(size: int, seed: int) -> None:
    with cramped(size):
        check(Writer(Random(seed)))


def check(writer: Writer) -> None:
    random, engine = writer.random, MemoryEngine(workers=writer.random.choice([1, 2]))
    everything = naive.facts(writer.vocabulary.atoms())
    rule = writer.plain_rule()
    literals: list[Labelled] = []
    views: list[Facts] = []
    for atom, negative in [(atom, False) for atom in rule.positive] + [(no.atoms[0], True) for no in rule.negative]:
        views.append(naive.facts(writer.facts(random.choice([0.2, 0.5]))))
        # A table has bits for sixteen sets, and a disguise takes two.
        view = disguised(engine, views[-1], everything, random) if len(views) < 3 else stored(engine, views[-1])
        literals.append(Labelled(atom, view, negative))
    expected = [one for one in matches(literals, views) if all(naive.holds(c, one) for c in rule.comparisons)]
    found = MemoryMatcher(engine).match(literals, rule.comparisons)
    hidden = Atom("¬pairs", rule.head.terms)
    for atom in (rule.head, hidden):
        heads = {naive.instance_of(atom, one) for one in expected}
        assert facts_in(engine, found.facts(atom)) == heads
    excluded = naive.facts(writer.facts(0.3))
    without = found.facts(rule.head, stored(engine, excluded))
    assert facts_in(engine, without) == {naive.instance_of(rule.head, one) for one in expected} - excluded


def matches(literals: list[Labelled], views: list[Facts]) -> list[Substitution]:
    """The matches when each literal has a set of its own."""
    found: list[Substitution] = [{}]
    for literal, view in zip(literals, views, strict=True):
        if literal.negative:
            found = [one for one in found if naive.instance_of(literal.atom, one) not in view]
        else:
            found = [longer for one in found for longer in naive.matches([literal.atom], view, one)]
    return found
