"""What starting again says of an update: the differences of random worlds, by predicate, explicit facts apart."""

from __future__ import annotations

import random

import pytest

from everlog import KnowledgeBase

PROGRAM = """
reach(?x, ?y) :- edge(?x, ?y) .
reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) .
far(?x, ?y) :- node(?x), node(?y), not reach(?x, ?y) .
some() :- far(?x, ?x) .
"""
PREDICATES = ("edge", "node", "reach", "far", "some")


def _state(kb: KnowledgeBase) -> dict[str, tuple[set[tuple[object, ...]], set[tuple[object, ...]]]]:
    return {name: (set(kb.rows(name, "explicit")), set(kb.rows(name))) for name in PREDICATES}


@pytest.mark.parametrize("seed", range(12))
def test_the_difference_is_that_of_what_was_and_what_is(seed: int) -> None:
    """Facts come and go, follow and stop to follow, and become explicit or only follow from then on."""
    draw = random.Random(seed)
    pairs = [(x, y) for x in range(5) for y in range(5)]
    kb = KnowledgeBase(PROGRAM, engine="memory")
    kb.add({"edge": draw.sample(pairs, 6), "node": [(x,) for x in range(4)], "reach": draw.sample(pairs, 3)})
    kb.materialise()
    for _ in range(4):
        before = _state(kb)
        ways = {
            way: {"edge": draw.sample(pairs, draw.randint(0, 4)), "reach": draw.sample(pairs, draw.randint(0, 5))}
            for way in draw.choice((("add",), ("delete",), ("add", "delete")))
        }
        kb.update(**ways, algorithm="remat")
        after, found = _state(kb), kb.reasoner.difference
        arities = kb.arities
        for name in PREDICATES:
            (explicit, known), (now_explicit, now) = before[name], after[name]
            expected = (
                (found.explicit_added, now_explicit - explicit),
                (found.explicit_deleted, explicit - now_explicit),
                (found.added, now - known),
                (found.deleted, known - now),
                (found.derived_added, (now - now_explicit) - (known - explicit)),
                (found.derived_deleted, (known - explicit) - (now - now_explicit)),
            )
            for part, wanted in expected:
                ids = kb.reasoner.backend.part_listed(part, name, arities.get(name, 0))
                table = kb.reasoner.backend.table(ids, arities.get(name, 0))
                rows = (
                    {tuple(row.values()) for row in table.to_pylist()}
                    if table.num_columns
                    else {()}
                    if table.num_rows
                    else set()
                )
                assert rows == wanted, (name, ways)
