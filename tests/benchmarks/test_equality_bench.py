"""The benchmark `equality` on something small."""

from __future__ import annotations

from benchmarks.equality import Measured, large_class, measure, one_class, row_text


def test_rewriting_and_rules_count_the_same() -> None:
    instance = one_class(names=5, facts=200)
    ways = [Measured(way, **measure(instance, way, 1)) for way in ("rewrite", "axioms")]
    text = row_text("one-class", ways)
    assert "DISAGREE" not in text
    assert "in all names" in text
    assert ways[0].facts["total"] == ways[1].facts["total"] > ways[0].facts["representatives"]
    assert ways[0].deleted == ways[1].deleted


def test_what_was_stopped_is_shown_as_far_as_it_came() -> None:
    done = Measured("rewrite", **measure(large_class(names=4, facts=2), "rewrite", 1))
    stopped = Measured("axioms", "stopped after 90 s", 90.0)
    text = row_text("large-class", [done, stopped])
    assert "axioms: stopped after 90 s" in text and "axioms / rewrite: more than" in text
    assert "the first deletion" in text
