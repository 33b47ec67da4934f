"""`crdt`: a text's order from the edits of its characters, after Kleppmann's rules for a replicated list.

A character is inserted behind another one, later ones before earlier ones, and may be removed. People type on: most
characters are behind the one before, so that the tree of characters is a few long lines; and they delete on, so that a
`run` of removed characters has to be skipped, which takes as many rounds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks.workload import BenchmarkMistake, Instance, Workload
from benchmarks.workloads.linked import unary
from benchmarks.workloads.pairs import binary

RULES: Final = """
parent(?p) :- insert(_, ?p) .
laterChild(?p, ?c) :- insert(?c, ?p), insert(?d, ?p), ?d > ?c .
firstChild(?p, ?c) :- insert(?c, ?p), not laterChild(?p, ?c) .
laterSibling(?x, ?y) :- insert(?x, ?p), insert(?y, ?p), ?x > ?y .
between(?x, ?z) :- insert(?x, ?p), insert(?y, ?p), insert(?z, ?p), ?x > ?y, ?y > ?z .
nextSibling(?x, ?y) :- laterSibling(?x, ?y), not between(?x, ?y) .
hasNext(?x) :- laterSibling(?x, _) .
after(?x, ?n) :- nextSibling(?x, ?n) .
after(?x, ?n) :- insert(?x, ?p), not hasNext(?x), after(?p, ?n) .
next(?x, ?n) :- firstChild(?x, ?n) .
next(?x, ?n) :- after(?x, ?n), not parent(?x) .
full(?x) :- insert(?x, _), not removed(?x) .
skip(?f, ?t) :- next(?f, ?t) .
skip(?f, ?t) :- next(?f, ?v), not full(?v), skip(?v, ?t) .
visible(?f, ?t) :- full(?f), skip(?f, ?t), full(?t) .
"""


def _edits(edits: int, jumps: int, run: int, seed: int) -> Instance:
    """`jumps` times somebody goes on typing at another place; the last `run` characters of the longest line are removed."""
    if not 1 <= jumps < edits or not 0 <= run <= edits // jumps:
        raise BenchmarkMistake("crdt wants 1 ≤ jumps < edits, and a run no longer than edits / jumps")
    random = np.random.default_rng(seed)
    element = np.arange(1, edits + 1)
    behind = element - 1
    turns = np.sort(random.choice(np.arange(1, edits), jumps, replace=False))
    behind[turns] = (random.random(jumps) * turns).astype(np.int64)  # somewhere in what was there before
    gone = random.random(edits) < 0.2
    lengths = np.diff(np.append(turns, edits))
    longest = int(np.argmax(lengths))
    until = int(turns[longest] + lengths[longest])
    gone[max(0, until - run) : until] = True
    return Instance(RULES, {"insert": binary(element, behind), "removed": unary(element[gone])})


CRDT: Final = Workload(
    "crdt",
    "a text's order from its edits, with negation and many rounds",
    {"edits": 20_000, "jumps": 200, "run": 100, "seed": 1},
    _edits,
)
