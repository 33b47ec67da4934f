"""Random programs with minima and maxima in recursion: paths of several kinds, labels, and what is made of them."""

from __future__ import annotations

from random import Random
from typing import Final

from pyoxigraph import Literal, NamedNode

from everlog.datalog.reader import parse_program
from everlog.datalog.values import XSD, Value
from support.computing_programs import Computing, Rows

_SHORTEST: Final = "d(?y, MIN(?d + ?w)) :- d(?x, ?d), w(?x, ?y, ?w) ."
_RECURSIONS: Final = (
    f"d(?x, MIN(0)) :- s(?x) . {_SHORTEST}",
    f"d(?x, 1) :- s(?x) . {_SHORTEST}",
    f"d(?x, MIN(?w)) :- w(?x, ?x, ?w) . {_SHORTEST} d(?y, MIN(?d + 2)) :- d(?x, ?d), e(?x, ?y), not s(?y) .",
    "d(?x, MIN(0)) :- s(?x) . d(?y, MIN(?d + ?w)) :- d(?x, ?d), w(?x, ?y, ?w), FILTER(?d < 4 && ?w > 0) .",
    "d(?x, MIN(?x)) :- s(?x) . d(?y, MIN(?l)) :- d(?x, ?l), e(?x, ?y) . d(?x, MIN(?l)) :- d(?y, ?l), e(?x, ?y) .",
    "d(?x, MAX(?x)) :- s(?x) . d(?y, MAX(?l)) :- d(?x, ?l), w(?x, ?y, _) .",
    "d(?x, MAX(9)) :- s(?x) . d(?y, MAX(IF(?c < ?w, ?c, ?w))) :- d(?x, ?c), w(?x, ?y, ?w) .",
    "d(?x, MAX(0)) :- s(?x) . d(?y, MAX(?d + ?w)) :- d(?x, ?d), w(?x, ?y, ?w), ?x < ?y .",
    "d(?x, MAX(1)) :- s(?x) . d(?y, MAX(?d * ?w / 4)) :- d(?x, ?d), w(?x, ?y, ?w), FILTER(?w >= 0 && ?w <= 4) .",
    "d(?x, MIN(0)) :- s(?x) . r(?y) :- d(?x, ?d), e(?x, ?y), FILTER(?d + 1 < 5) . d(?y, MIN(?w)) :- r(?x), w(?x, ?y, ?w) ."
    " d(?y, MIN(?d + 1)) :- d(?x, ?d), r(?y), e(?x, ?y) .",
    "d(?x, MIN(0)) :- s(?x) . m(?y, MIN(?d + ?w)) :- d(?x, ?d), w(?x, ?y, ?w) ."
    " d(?y, MIN(?m + 1)) :- m(?x, ?m), e(?x, ?y) .",
    "d(?x, MIN(?w + 1)) :- w(?x, ?y, ?w), BIND(?w * 2 AS ?v), FILTER(?v > 2) .",
    "d(?x, MIN(5)) :- s(?x) . d(?y, MIN(?c)) :- d(?x, ?d), w(?x, ?y, ?w), BIND(?d - 1 AS ?b), BIND(?b + ?w + 1 AS ?c) .",
    "d(?y, MIN(?c)) :- p(?x, ?y, ?c), s(?x) . p(?x, ?y, MIN(?w)) :- w(?x, ?y, ?w) ."
    " p(?x, ?z, MIN(?a + ?b)) :- p(?x, ?y, ?a), p(?y, ?z, ?b) .",
)
_ABOVE: Final = (
    "far(?x) :- d(?x, ?v), FILTER(?v > 2) .",
    "many(?n) :- AGGREGATE(d(?x, ?v) BIND COUNT(*) AS ?n) .",
    "least(MIN(?v)) :- d(?x, ?v) .",
    "off(?x) :- e(?x, _), not d(?x, _) .",
    "next(?v, MAX(?x)) :- d(?x, ?v), e(?x, ?y), d(?y, _) .",
)
_DECIMALS: Final = [Literal(text, datatype=NamedNode(f"{XSD}decimal")) for text in ("2.5", "0.5")]


def with_minima(random: Random, updates: int = 6) -> Computing:
    """A random program over facts of `s`, `e`, `w` (with a weight) and, given, `d`."""
    recursion = random.choice(_RECURSIONS)
    text = "\n".join([recursion, *random.sample(_ABOVE, random.randint(0, 2))])
    nodes: list[Value] = list(range(7)) if random.random() < 0.6 or "?x)" in recursion[:12] else [*"abcdefg"]
    weights: list[Value] = [0, 1, 1, 2, 3, 4, *random.choice(([], [], [0.5, 2.5, 10], [*_DECIMALS, 1.5, 12]))]
    if random.random() < 0.3:
        rounded = not any(added in recursion for added in ("+ 1", "+ 2"))  # integers and rounded sums have no order
        weights = [0.0, 0.1, 0.2, 0.7, 12.0] if rounded and random.random() < 0.5 else [0.0, 0.5, 1.0, 2.0, 3.25]
    shapes = {"s": [nodes], "e": [nodes, nodes], "w": [nodes, nodes, weights], "d": [nodes, weights]}

    def some(name: str, size: int) -> list[tuple[Value, ...]]:
        rows = [tuple(random.choice(values) for values in shapes[name]) for _ in range(size)]
        return list(dict.fromkeys(rows))

    sizes = {"s": 2, "e": 8, "w": 14, "d": random.choice((0, 0, 2))}
    facts = {name: some(name, size) for name, size in sizes.items()}
    held = {name: set(rows) for name, rows in facts.items()}
    changes = []
    for _ in range(updates):
        add: Rows = {}
        delete: Rows = {}
        for name, size in sizes.items():
            delete[name] = random.sample(sorted(held[name], key=repr), min(len(held[name]), random.randint(0, 3)))
            add[name] = some(name, random.randint(0, min(size, 3)))
            held[name] = (held[name] - set(delete[name])) | set(add[name])
        changes.append((add, delete))
    return Computing(parse_program(text), facts, tuple(changes))
