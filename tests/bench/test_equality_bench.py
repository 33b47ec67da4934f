"""The benchmark `equality` on something small."""

from __future__ import annotations

from everlog.bench.equality import Measured, measure, one_class, row_text


def test_rewriting_and_rules_count_the_same() -> None:
    instance = one_class(names=8, facts=400)
    ways = [Measured(way, **measure(instance, way, 1)) for way in ("rewrite", "axioms")]
    text = row_text("one-class", ways)
    assert "DISAGREE" not in text
    assert "in all names" in text
    assert ways[0].facts["total"] == ways[1].facts["total"] > ways[0].facts["representatives"]
    assert ways[0].deleted == ways[1].deleted
