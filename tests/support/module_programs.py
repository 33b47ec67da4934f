"""Programs with rules that form modules, beside others that feed and use them, and facts for them."""

from __future__ import annotations

from itertools import product
from random import Random

from everlog.datalog.reader import parse_program
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, Constant, Program
from oracles import naive
from support.sequences import Sequence, some_of, updated, web
from support.strategies import Case

TRANSITIVE = "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) . "
SYMMETRIC = "t(?y, ?x) :- t(?x, ?y) . "
PROGRAMS = {
    "tc": "t(?x, ?y) :- e(?x, ?y) . " + TRANSITIVE,
    "tc fed by what follows": "t(?x, ?y) :- e(?x, ?y) . s(?x, ?y) :- t(?x, ?y), not b(?x) . t(?x, ?y) :- s(?y, ?x) . "
    "u(?x) :- t(?x, ?x) . " + TRANSITIVE,
    "tc in a circle": "s(?x, ?y) :- t(?x, ?y) . t(?x, ?y) :- s(?x, ?y) . t(?x, ?y) :- v(?x, ?y) . " + TRANSITIVE,
    "stc": "t(?x, ?y) :- e(?x, ?y) . " + SYMMETRIC + TRANSITIVE,
    "stc beside tc": "t(?x, ?y) :- e(?x, ?y), not b(?y) . s(?x, ?y) :- t(?x, ?y), v(?y, ?x) . "
    "t(?x, ?y) :- s(?x, ?z), v(?z, ?y) . q(?x, ?z) :- q(?x, ?y), q(?y, ?z) . q(?x, ?y) :- s(?x, ?y) . "
    "t(?x, ?y) :- q(?x, ?y) . " + SYMMETRIC + TRANSITIVE,
    "reach": "t(?x, ?y) :- e(?x, ?y) . t(?x, ?z) :- t(?x, ?y), e(?y, ?z) .",
    "reach backwards": "t(?x, ?y) :- v(?x, ?y), not b(?y) . t(?x, ?z) :- e(?x, ?y), t(?y, ?z) . u(?x) :- t(?x, ?x) . "
    "w(?x, ?y) :- t(?x, ?y), u(?y) .",
    "reach after negation": "d(?x, ?y) :- e(?x, ?y), not b(?x) . t(?x, ?z) :- d(?y, ?z), t(?x, ?y) . "
    "t(?x, ?y) :- v(?x, ?y) . w(?x) :- b(?x), not t(?x, ?x) .",
    "tc asked above": "t(?x, ?y) :- e(?x, ?y) . w(?x, ?y) :- v(?x, ?z), t(?z, ?y), not b(?y) . "
    "u(?x) :- v(?x, ?y), t(?y, ?x) . q(?x) :- b(?x) . q(?y) :- q(?x), t(?x, ?y) . " + TRANSITIVE,
    "stc asked above": "t(?x, ?y) :- e(?x, ?y) . u(?x) :- b(?x), not t(?x, ?x) . "
    "w(?x, ?y) :- v(?z, ?x), t(?z, ?y), t(?y, ?x) . " + SYMMETRIC + TRANSITIVE,
    "reach asked above": "t(?x, ?y) :- v(?x, ?y) . t(?x, ?z) :- t(?x, ?y), e(?y, ?z) . q(?x) :- b(?x) . "
    "q(?y) :- q(?x), t(?x, ?y) . w(?x, ?y) :- b(?y), t(?x, ?y), not q(?x) . s(?x) :- t(1, ?x), v(?x, ?y) .",
    "reach by a filtered step": "t(?x, ?y) :- v(?x, ?y) . t(?x, ?z) :- e(?x, ?y), not b(?y), t(?y, ?z) . "
    "u(?x) :- b(?x), not t(?x, ?x) .",
    "reach by a joined step": "t(?x, ?y) :- e(?x, ?y), not b(?x) . "
    "t(?x, ?z) :- t(?x, ?y), e(?y, ?w), ?y != ?z, d(?w, ?z), b(?w) . d(?x, ?y) :- v(?y, ?x) . d(?x, ?y) :- e(?x, ?y) .",
    "chains of filtered steps": "t(?x, ?y) :- v(?x, ?y) . t(?x, ?z) :- t(?x, ?y), v(?y, ?z) . "
    "t(?x, ?z) :- t(?x, ?y), e(?y, ?z), NOT EXISTS ?w IN (v(?z, ?w), b(?w)) . "
    "s(?x, ?z) :- t(?x, ?y), e(?z, ?y), ?z >= ?y . t(?x, ?z) :- v(?x, ?y), ?x < ?y, t(?y, ?z) .",
    "filtered steps fed by what follows": "t(?x, ?y) :- e(?x, ?y) . t(?x, ?z) :- t(?x, ?y), v(?y, ?z), not b(?y) . "
    "s(?x, ?y) :- t(?x, ?y), e(?y, ?x) . t(?x, ?y) :- s(?y, ?x), b(?x) .",
    "seq": "q(?x) :- b(?x), not v(?x, ?x) . t(?x, ?y) :- q(?y), q(?x), ?y > ?x, "
    "NOT EXISTS ?z IN (q(?z), ?x < ?z, ?z < ?y) . u(?x, ?z) :- t(?x, ?y), t(?y, ?z) . t(?x, ?y) :- e(?x, ?y), q(?y) . "
    "u(?x, ?z) :- u(?x, ?y), u(?y, ?z) .",
    "seq fed by what follows": "t(?x, ?y) :- b(?x), b(?y), ?x < ?y, NOT EXISTS ?z IN (b(?z), ?x < ?z, ?z < ?y) . "
    "s(?x, ?y) :- t(?x, ?y), e(?x, ?y) . t(?y, ?x) :- s(?x, ?y) . t(?x, ?y) :- v(?x, ?y) .",
    "seq by keys": "t(?x, ?y) :- v(?y, ?l), v(?x, ?k), ?l > ?k, NOT EXISTS ?z, ?m IN (v(?z, ?m), ?k < ?m, ?m < ?l) . "
    "q(?k, ?x) :- e(?x, ?k), not b(?x) . u(?x, ?y) :- t(?x, ?y), b(?y) . "
    "u(?x, ?y) :- q(?k, ?x), q(?l, ?y), ?k < ?l, NOT EXISTS ?z, ?m IN (q(?m, ?z), ?k < ?m, ?m < ?l) .",
    "triples": "[?x, p, ?y] :- e(?x, ?y) . [?x, p, ?z] :- [?x, p, ?y], [?y, p, ?z] . [?y, q, ?x] :- [?x, q, ?y] . "
    "[?x, q, ?y] :- v(?x, ?y) . [?x, q, ?z] :- [?y, q, ?z], [?x, q, ?y] . t(?x, ?y) :- [?x, q, ?y], [?y, p, ?x] .",
}


def some_facts(random: Random, most: int, nodes: int) -> dict[str, list[tuple[int, ...]]]:
    found: dict[str, list[tuple[int, ...]]] = {}
    for _ in range(random.randint(0, most)):
        predicate = random.choice("eeevvtbb")
        arity = 1 if predicate == "b" else 2
        found.setdefault(predicate, []).append(tuple(random.randrange(nodes) for _ in range(arity)))
    return found


_PATTERNS = [
    "{r}(?x, ?z) :- {r}(?x, ?y), {r}(?y, ?z) .",
    "{r}(?x, ?z) :- {r}(?x, ?y), {r}(?y, ?z) . {r}(?y, ?x) :- {r}(?x, ?y) .",
    "{r}(?x, ?z) :- {r}(?x, ?y), {low}(?y, ?z) .",
    "{r}(?x, ?z) :- {low}(?x, ?y), {r}(?y, ?z) . {r}(?x, ?y) :- {low}(?x, ?y) .",
    "{r}(?x, ?z) :- {r}(?x, ?y), {s}(?y, ?z) .",
    "{r}(?x, ?z) :- {r}(?x, ?y), {low}(?y, ?z), not n(?z) .",
    "{r}(?x, ?z) :- {low}(?x, ?w), {r}(?y, ?z), {low}(?y, ?w), n(?w), ?x != ?y . {r}(?x, ?y) :- {low}(?x, ?y) .",
    "{r}(?x, ?z) :- {low}(?x, ?y), NOT EXISTS ?w IN ({low}(?y, ?w), n(?w)), {s}(?y, ?z) . {s}(?x, ?y) :- {r}(?x, ?y) .",
    "{r}(?x, ?y) :- n(?x), n(?y), ?x < ?y, NOT EXISTS ?z IN (n(?z), ?x < ?z, ?z < ?y) .",
]


def patterned(random: Random) -> Sequence:
    """A web of rules, some of which form modules about relations that others feed and use; with updates."""
    while True:
        case, atoms, _ = web(random, random.choice([4, 6, 8]))
        woven = {canonical_rule(rule): None for rule in case.program.rules}
        for _ in range(random.randint(1, 3)):
            relation, other = random.sample("efg", 2)
            text = random.choice(_PATTERNS).format(r=relation, s=other, low=random.choice("ab"))
            woven.update((canonical_rule(rule), None) for rule in parse_program(text).rules)
        nodes = [Constant(node) for node in range(5)]
        low = [Atom(name, pair) for name in "ab" for pair in product(nodes[:4], repeat=2)]
        low += [Atom("n", (node,)) for node in nodes]
        found = Case(Program(tuple(woven)), (*case.facts, *some_of(random, low, 0.25)))
        if len(naive.materialise(found.program.rules, found.explicit)) >= len(found.explicit) + 3:
            return updated(random, found, [*atoms, *low], [], 5)
