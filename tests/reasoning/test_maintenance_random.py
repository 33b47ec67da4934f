"""Random programs and sequences of updates, every algorithm and stratification: the truth after each update."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import Phase, given, settings

from support.maintenance import CONFIGURATIONS, Truth, assert_right
from support.sequences import Sequence, made, sequences

property_test = settings(deadline=None, derandomize=True, phases=[Phase.generate])


@settings(property_test, max_examples=6)
@given(sequences())
def test_every_algorithm_and_stratification(sequence: Sequence) -> None:
    """Over 150 pairs of a sequence and a way to follow it; the tests of modules and decompositions have as many more."""
    assert len(sequence.updates) >= 5
    assert_right(sequence, CONFIGURATIONS)


def test_the_sequences_are_worth_it() -> None:
    """Many updates delete, rederive, and look for proofs, some of them at length."""
    busy: Counter[str] = Counter()
    for seed in range(30):
        truth = Truth(made(Random(seed)))
        for algorithm in ("bf", "dred"):
            for record in truth.recorded(algorithm, "levels"):
                busy["updates"] += algorithm == "bf"
                busy.update(f"{algorithm} {phase}" for phase, number in record.numbers().items() if number > 0)
                busy.update(f"{algorithm} {phase}, often" for phase, number in record.numbers().items() if number > 5)
    for phase in ("bf backward", "bf forward", "bf deletion_propagation", "bf insertion", "dred overdeletion, often"):
        assert 4 * busy[phase] > busy["updates"], (phase, busy)
    for phase in ("dred one_step_rederivation", "bf backward, often", "bf forward, often"):
        assert 10 * busy[phase] > busy["updates"], (phase, busy)
