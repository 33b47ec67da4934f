"""Random programs of rules with cyclic and wide bodies: three to ten atoms, with whatever a rule may have beside."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from everlog.datalog.syntax import Atom
from support import decompositions

Rows = dict[str, list[tuple[int, ...]]]

ARITIES = {"e": 2, "f": 2, "g": 2, "p": 2, "h": 2, "u": 1, "w": 1, "n": 1, "m": 2, "t": 3, "on": 0}
_GIVEN = ["e", "e", "e", "f", "f", "g", "g", "p", "h", "u", "u", "w", "n", "m", "t", "on"]


def _shape(random: Random) -> list[Atom]:
    return random.choice(
        [
            lambda: decompositions.cycle(random.randint(3, 7)),
            lambda: decompositions.clique(random.choice([3, 4, 4, 5])),
            lambda: decompositions.petal(random.randint(2, 4)),
            lambda: decompositions.flower(random.choice([2, 2, 3])),
            lambda: decompositions.path(random.randint(3, 7)),
            lambda: decompositions.grid(2, random.choice([2, 3, 4])),
            lambda: [*decompositions.cycle(4), *decompositions.cycle(3)],
            lambda: [*decompositions.path(3), decompositions.edge("a", "b"), decompositions.edge("b", 0)],
            lambda: [atom for atom in decompositions.random_body(random, 6) if len(atom.terms) < 4] or _shape(random),
        ]
    )()


def _literals(random: Random, shape: Iterable[Atom]) -> list[tuple[str, list[str]]]:
    """Atoms in any order and direction, a constant here and there, predicates that may be those of heads."""
    found = []
    for atom in shape:
        terms = [f"?x{term.name}".replace(" ", "").translate(str.maketrans("(),", "___")) for term in atom.variables()]  # type: ignore[union-attr]
        random.shuffle(terms)
        if terms and random.random() < 0.05:
            terms[0] = str(random.randint(0, 3))
        names = {0: ["on"], 1: ["u", "w"], 2: ["e", "e", "f", "g", "p", "h"], 3: ["t"]}[len(terms)]
        found.append((random.choice(names), terms))
    if random.random() < 0.2:
        found.append((random.choice("uw"), [random.choice([terms for _, terms in found if terms] or [["?x0"]])[-1]]))
    random.shuffle(found)
    return found


def random_rule(random: Random, head: str | None = None) -> str:
    literals = _literals(random, _shape(random))
    variables = sorted({term for _, terms in literals for term in terms if term.startswith("?")})
    if not variables:
        return random_rule(random, head)
    name = head or random.choice(["h", "p", "p", "w", "t"])
    asked = [random.choice(variables) if random.random() < 0.97 else "1" for _ in range(ARITIES[name])]
    body = [f"{predicate}({', '.join(terms)})" for predicate, terms in literals]
    if random.random() < 0.4:
        negated = random.choice("nm")
        body.append(f"not {negated}({', '.join(random.choices(variables, k=ARITIES[negated]))})")
    if random.random() < 0.25:
        body.append(f"{random.choice(variables)} {random.choice(['<', '!=', '<='])} {random.choice(variables)}")
    return f"{name}({', '.join(asked)}) :- {', '.join(body)} ."


def random_program(random: Random) -> str:
    """A few such rules, beside simple ones that they depend on and that depend on them."""
    rules = [random_rule(random) for _ in range(random.randint(1, 3))]
    simple = {
        "p(?x, ?y) :- e(?x, ?y), u(?x) .": 0.5,
        "h(?x, ?y) :- p(?y, ?x) .": 0.3,
        "m(?x, ?y) :- g(?x, ?y), u(?y) .": 0.3,
        "n(?x) :- g(?x, ?y), u(?y) .": 0.2,
        "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .": 0.15,
    }
    return "\n".join([*rules, *(rule for rule, often in simple.items() if random.random() < often)])


def random_facts(random: Random, nodes: int, most: int) -> Rows:
    found: Rows = {}
    for _ in range(random.randint(0, most)):
        predicate = random.choice(_GIVEN)
        found.setdefault(predicate, []).append(tuple(random.randrange(nodes) for _ in range(ARITIES[predicate])))
    return found
