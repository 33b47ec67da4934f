"""Random programs and sequences of updates, every algorithm and stratification: the truth after each update."""

from __future__ import annotations

from hypothesis import Phase, given, settings

from maintenance import CONFIGURATIONS, assert_right
from sequences import Sequence, sequences

property_test = settings(deadline=None, derandomize=True, phases=[Phase.generate])


@settings(property_test, max_examples=80)
@given(sequences())
def test_every_algorithm_and_stratification(sequence: Sequence) -> None:
    """Some 2,000 pairs of a sequence and a way to follow it."""
    assert len(sequence.updates) >= 5
    assert_right(sequence, CONFIGURATIONS)
