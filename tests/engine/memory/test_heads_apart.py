"""Heads that are known to differ are appended without a look at each; what is derived later finds them all the same."""

from __future__ import annotations

import pytest

from everlog import KnowledgeBase
from support.cramped import cramped

RISING = [(number, number % 3, 10 * number) for number in range(40)]
FALLING = [(-number, kind, value) for number, kind, value in RISING]
"""Ids are given as values come, so that these rise as well; values that come back do not."""
AGAIN = [(number % 7, kind, value) for number, kind, value in RISING]


@pytest.mark.parametrize("rows", [RISING, FALLING, AGAIN], ids=["rising", "falling", "again"])
@pytest.mark.parametrize(
    ("head", "made"),
    [
        ("p(?x, ?s)", lambda x, k, v: (x, k + v)),
        ("p(?k, ?s)", lambda x, k, v: (k, k + v)),
        ("p(?x, ?k, ?v)", lambda x, k, v: (x, k, v)),
        ("p(?k, ?x, ?s)", lambda x, k, v: (k, x, k + v)),
        ("p(?k, ?k)", lambda x, k, v: (k, k)),
    ],
)
def test_as_sets_of_python(rows, head, made) -> None:  # type: ignore[no-untyped-def]
    rule = f"{head} :- given(?x, ?k, ?v), BIND(?k + ?v AS ?s) ."
    further = "q(?x) :- p(?x, ?y), p(?y, ?z) ." if head.count(",") == 1 else "q(?x) :- p(?x, ?y, ?z), p(?y, ?x, ?u) ."
    with cramped():
        kb = KnowledgeBase(f"{rule} {further}", engine="memory")
        kb.add({"given": rows})
        kb.materialise()
        held = set(rows)
        for number in range(4):
            expected = {made(*row) for row in held}
            assert sorted(kb.rows("p")) == sorted(expected), number
            more, fewer = [(100 + number, 1, number), rows[number]], rows[2 * number : 2 * number + 3]
            held = (held - set(fewer)) | set(more)
            kb.update(add={"given": more}, delete={"given": [row for row in fewer if row not in more]})


def test_beside_another_rule_for_the_same_facts() -> None:
    with cramped():
        kb = KnowledgeBase("p(?x, ?s) :- given(?x, ?k, ?s) . p(?x, ?s) :- given(?x, ?s, _) .", engine="memory")
        kb.add({"given": [(number, number, number) for number in range(30)]})
        kb.materialise()
        assert sorted(kb.rows("p")) == [(number, number) for number in range(30)]
