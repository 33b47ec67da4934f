"""Random programs with sequences of updates: deletions, additions, and everything odd that a user may ask for.

Programs are of three kinds: those of `strategies`, which use the whole language; *knots*, rules between a few propositions
that depend on each other in many ways; and *webs*, chains, inverses and steps over the edges of a small graph. The last
two are dense with facts that support each other, where deletions are hard.

Updates follow what is explicit at the time, so that most of them do something: they delete facts that are there, add
some that are not, and now and then delete what is not explicit, add what is, do both with one fact, bring values that
nobody has seen, empty everything, or put everything back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from hypothesis import strategies as st

from everlog.datalog.printer import print_atom
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Atom, BodyLiteral, Constant, Negation, Program, Rule, Variable
from oracles import naive
from oracles.naive import Facts
from support.strategies import Case, Writer, smallest


@dataclass(frozen=True)
class Update:
    """A fact that is in both is added."""

    add: tuple[Atom, ...] = ()
    delete: tuple[Atom, ...] = ()

    @property
    def plus(self) -> Facts:
        return naive.facts(self.add)

    @property
    def minus(self) -> Facts:
        return naive.facts(self.delete) - self.plus

    def applied(self, explicit: Facts) -> Facts:
        return (explicit - self.minus) | self.plus

    def __repr__(self) -> str:
        return f"add {_shown(self.add)}; delete {_shown(self.delete)}"


@dataclass(frozen=True)
class Sequence:
    """A program, its facts, and updates."""

    case: Case
    updates: tuple[Update, ...]

    def explicit(self) -> list[Facts]:
        """The explicit facts at the start and after each update."""
        found = [self.case.explicit]
        for update in self.updates:
            found.append(update.applied(found[-1]))
        return found

    def __repr__(self) -> str:
        return "\n".join([repr(self.case), *(f"{number}: {one!r}" for number, one in enumerate(self.updates, 1))])


def sequences(rules: int = 8, updates: int = 5) -> st.SearchStrategy[Sequence]:
    """A program with at least some updates."""
    return st.integers(0, 2**40).map(lambda seed: made(Random(seed), rules, updates))


def made(random: Random, rules: int = 8, updates: int = 5) -> Sequence:
    """A sequence of any kind; mostly one where something follows from the facts."""
    make = random.choice([_language, _language, _knot, web])
    for _ in range(8):
        case, atoms, strangers = make(random, rules)
        if len(naive.materialise(case.program.rules, case.explicit)) >= len(case.explicit) + 3:
            break
    return updated(random, case, atoms, strangers, updates)


def _language(random: Random, rules: int) -> tuple[Case, list[Atom], list[Atom]]:
    writer = Writer(random)
    return writer.case(rules), writer.vocabulary.atoms(), _strangers(writer)


def updated(random: Random, case: Case, atoms: list[Atom], strangers: list[Atom], updates: int) -> Sequence:
    """A sequence of updates of a case with facts of some atoms."""
    possible = {naive.instance_of(atom, {}): atom for atom in [*atoms, *case.program.facts, *strangers]}
    explicit, sequence = case.explicit, []
    for _ in range(random.randint(updates, updates + 1)):
        there = [atom for fact, atom in possible.items() if fact in explicit]
        absent = [atom for fact, atom in possible.items() if fact not in explicit]
        sequence.append(_update(random, there, absent, case, strangers))
        explicit = sequence[-1].applied(explicit)
    return Sequence(case, tuple(sequence))


def _knot(random: Random, rules: int) -> tuple[Case, list[Atom], list[Atom]]:
    """Rules between propositions."""
    atoms = [Atom(f"p{number}", ()) for number in range(random.randint(5, 10))]
    level = {atom: random.choice([0, 0, 1]) for atom in atoms}
    knotted = {}
    for _ in range(random.randint(rules, 2 * rules)):
        head = random.choice(atoms)
        body: list[BodyLiteral] = random.choices(
            [one for one in atoms if level[one] <= level[head]], k=random.choice([1, 1, 2, 2, 3])
        )
        below = [one for one in atoms if level[one] < level[head]]
        if below and random.random() < 0.3:
            body.append(Negation((random.choice(below),)))
        knotted[canonical_rule(Rule(head, tuple(dict.fromkeys(body))))] = None
    return Case(Program(tuple(knotted)), some_of(random, atoms, 0.3)), atoms, []


def web(random: Random, rules: int) -> tuple[Case, list[Atom], list[Atom]]:
    """Edges `e`, `f`, `g` and marks `u`, which depend on each other; `v` and `w` ask what is not there."""
    x, y, z = (Variable(name) for name in "xyz")
    edges, woven = ["e", "f", "g"], {}
    for _ in range(random.randint(2, max(2, rules // 2))):
        head, one, other = random.choices(edges, k=3)
        rule = random.choice(
            [
                Rule(Atom(head, (x, z)), (Atom(one, (x, y)), Atom(other, (y, z)))),
                Rule(Atom(head, (x, z)), (Atom(one, (x, y)), Atom(other, (y, z)))),
                Rule(Atom(head, (y, x)), (Atom(one, (x, y)),)),
                Rule(Atom("u", (y,)), (Atom("u", (x,)), Atom(one, (x, y)))),
                Rule(Atom("u", (x,)), (Atom(one, (x, x)),)),
                Rule(Atom("v", (x,)), (Atom(one, (x, y)), Negation((Atom("u", (y,)),)))),
                Rule(Atom("w", (x, y)), (Atom("u", (x,)), Atom("u", (y,)), Negation((Atom(one, (x, y)),)))),
            ]
        )
        woven[canonical_rule(rule)] = None
    nodes = [Constant(node) for node in range(random.randint(3, 5))]
    atoms = [Atom(name, pair) for name in edges for pair in product(nodes, repeat=2)]
    atoms += [Atom(name, (node,)) for name in ("u", "v") for node in nodes]
    return Case(Program(tuple(woven)), some_of(random, atoms, random.choice([0.1, 0.2, 0.3]))), atoms, []


def _update(random: Random, there: list[Atom], absent: list[Atom], case: Case, strangers: list[Atom]) -> Update:
    kinds = ["delete", "delete", "delete", "add", "both", "both", "odd", "empty", "little", "little", "little"]
    # With little left there is little to lose: mostly everything comes back first.
    poor = 3 * len(there) < 2 * len(case.explicit) and random.random() < 0.8
    kind = "restore" if poor else random.choice(kinds)
    if kind == "delete":
        return Update(delete=some_of(random, there, random.choice([0.1, 0.3])))
    if kind == "add":
        return Update(add=some_of(random, absent, 0.1))
    if kind == "both":
        return Update(some_of(random, absent, 0.1), some_of(random, there, random.choice([0.1, 0.3])))
    if kind == "odd":
        again = some_of(random, there, 0.15)
        return Update(
            (*some_of(random, absent, 0.05), *some_of(random, there, 0.2), *again, *some_of(random, strangers, 0.2)),
            (*some_of(random, absent, 0.2), *some_of(random, there, 0.2), *again),
        )
    if kind == "restore":
        return Update(add=(*case.program.facts, *case.facts), delete=some_of(random, there, 0.3))
    if kind == "empty":
        return Update(delete=tuple(there))
    return Update(_one(random, absent), _one(random, there))


def _strangers(writer: Writer) -> list[Atom]:
    """A few facts with a value that the program does not know."""
    new = Constant("new")
    atoms = [atom for atom in writer.vocabulary.atoms() if atom.terms]
    chosen = writer.random.sample(atoms, min(4, len(atoms)))
    return [
        replace(atom, terms=tuple(new if place == position else term for place, term in enumerate(atom.terms)))
        for atom in chosen
        for position in [writer.random.randrange(len(atom.terms))]
    ]


def some_of(random: Random, atoms: list[Atom], density: float) -> tuple[Atom, ...]:
    return tuple(atom for atom in atoms if random.random() < density)


def _one(random: Random, atoms: list[Atom]) -> tuple[Atom, ...]:
    return (random.choice(atoms),) if atoms else ()


def _shown(atoms: Iterable[Atom]) -> str:
    return ", ".join(map(print_atom, atoms)) or "nothing"


def smallest_sequence(failing: Sequence, fails: Callable[[Sequence], bool]) -> Sequence:
    """A failing sequence without the updates, rules and facts that do not matter."""
    while True:
        fewer = _smaller(failing, fails)
        if fewer == failing:
            return failing
        failing = fewer


def _smaller(failing: Sequence, fails: Callable[[Sequence], bool]) -> Sequence:
    for number in reversed(range(len(failing.updates))):
        fewer = replace(failing, updates=failing.updates[:number] + failing.updates[number + 1 :])
        failing = fewer if fails(fewer) else failing
    failing = replace(failing, case=smallest(failing.case, lambda case: fails(replace(failing, case=case))))
    for number in range(len(failing.updates)):
        for part in ("add", "delete"):
            for atom in getattr(failing.updates[number], part):
                left = tuple(one for one in getattr(failing.updates[number], part) if one != atom)
                changed = list(failing.updates)
                changed[number] = replace(changed[number], **{part: left})
                fewer = replace(failing, updates=tuple(changed))
                failing = fewer if fails(fewer) else failing
    return failing
