"""Random programs with sequences of updates: deletions, additions, and everything odd that a user may ask for.

Updates follow what is explicit at the time, so that most of them do something: they delete facts that are there, add
some that are not, and now and then delete what is not explicit, add what is, do both with one fact, bring values that
nobody has seen, empty everything, or put everything back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from everlog.datalog.printer import print_atom
from everlog.datalog.syntax import Atom, Constant
from oracles import naive
from oracles.naive import Facts
from strategies import Case, Writer, seeded, smallest


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


def sequences(rules: int = 6, updates: int = 5) -> st.SearchStrategy[Sequence]:
    """A program with at least some updates."""
    return seeded(lambda writer: sequence(writer, rules, updates))


def sequence(writer: Writer, rules: int, updates: int) -> Sequence:
    case = writer.case(rules)
    possible = {naive.instance_of(atom, {}): atom for atom in [*writer.vocabulary.atoms(), *case.program.facts]}
    strangers = _strangers(writer)
    possible |= {naive.instance_of(atom, {}): atom for atom in strangers}
    explicit, made = case.explicit, []
    for _ in range(writer.random.randint(updates, updates + 1)):
        there = [atom for fact, atom in possible.items() if fact in explicit]
        absent = [atom for fact, atom in possible.items() if fact not in explicit]
        made.append(_update(writer.random, there, absent, case, strangers))
        explicit = made[-1].applied(explicit)
    return Sequence(case, tuple(made))


def _update(random: Random, there: list[Atom], absent: list[Atom], case: Case, strangers: list[Atom]) -> Update:
    kind = random.choice(
        ["delete", "delete", "delete", "add", "both", "both", "both", "odd", "restore", "empty", "little"]
    )
    if kind == "delete":
        return Update(delete=_some(random, there, 0.25))
    if kind == "add":
        return Update(add=_some(random, absent, 0.1))
    if kind == "both":
        return Update(_some(random, absent, 0.1), _some(random, there, 0.3))
    if kind == "odd":
        again = _some(random, there, 0.15)
        return Update(
            (*_some(random, absent, 0.05), *_some(random, there, 0.2), *again, *_some(random, strangers, 0.2)),
            (*_some(random, absent, 0.2), *_some(random, there, 0.2), *again),
        )
    if kind == "restore":
        return Update(add=(*case.program.facts, *case.facts), delete=_some(random, there, 0.5))
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


def _some(random: Random, atoms: list[Atom], density: float) -> tuple[Atom, ...]:
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
