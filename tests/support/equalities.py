"""Random programs with equality, their facts, and sequences of updates.

The lower predicates may feed equalities; the upper ones use negation and `!=` over what is below. Constants are few, so
that classes grow, split and come back; rules mention some of them, so that their constants are rewritten, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from pyoxigraph import NamedNode

from everlog import EverlogError, KnowledgeBase
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.datalog.values import RDF_TYPE, SAME_AS, Value
from oracles import naive
from oracles.exchange import Rows
from oracles.naive import Facts

_IRI = "http://example.org/"
_LOWER = {"p": 1, "q": 2, "r": 2, "key": 2}
_UPPER = {"u": 1, "w": 2}
_MODULES = [
    "{r}(?x, ?z) :- {r}(?x, ?y), {r}(?y, ?z) .",
    "{r}(?x, ?z) :- {r}(?x, ?y), {r}(?y, ?z) . {r}(?y, ?x) :- {r}(?x, ?y) .",
    "{r}(?x, ?z) :- {r}(?x, ?y), {s}(?y, ?z) .",
    "w(?x, ?z) :- w(?x, ?y), {s}(?y, ?z) . w(?x, ?y) :- {r}(?x, ?y) .",
    "w(?x, ?z) :- w(?x, ?y), w(?y, ?z) . w(?x, ?y) :- {r}(?x, ?y) .",
    "[?x, ex:s, ?z] :- [?x, ex:s, ?y], [?y, ex:s, ?z] .",
]
"""Rules that form modules, if they are not part of the core."""


@dataclass(frozen=True)
class EqualityCase:
    """A program, its facts, and updates as what they add and delete."""

    text: str
    facts: Facts
    updates: tuple[tuple[Facts, Facts], ...]

    @property
    def program(self) -> Program:
        return parse_program(self.text)

    def __str__(self) -> str:
        lines = [self.text, f"facts {_shown(self.facts)}"]
        lines += [f"add {_shown(add)} delete {_shown(delete)}" for add, delete in self.updates]
        return "\n".join(lines)


def rows(facts: Facts) -> Rows:
    """Facts as a knowledge base takes them."""
    found: Rows = {}
    for name, arguments in sorted(facts, key=repr):
        found.setdefault(name, []).append(tuple(map(naive.value_of, arguments)))
    return found


def rewritten(case: EqualityCase, facts: Facts | None = None) -> KnowledgeBase:
    """A knowledge base in memory with a case's facts, or others, materialised by rewriting."""
    kb = KnowledgeBase(case.program, engine="memory", equality="rewrite", workers=1)
    kb.add(rows(case.facts if facts is None else facts))
    kb.materialise()
    return kb


def if_defined(case: EqualityCase, facts: Facts | None = None) -> KnowledgeBase | None:
    """The same; None if the program is refused."""
    try:
        return rewritten(case, facts)
    except EverlogError:
        return None


def r_materialisation(kb: Any) -> tuple[dict[str, set[str]], set[tuple[str, ...]]]:
    """`π`, as the constants by their representative, and `I`."""
    state = kb.reasoner
    value = state.engine.dictionary.value
    names = {
        str(value(name)): {str(value(int(one))) for one in members} for name, members in state.classes.members.items()
    }
    stored = {
        (predicate, *map(str, row))
        for predicate in state.engine.relations()
        for row in state.backend.rows(state.engine.columns(state.I, predicate), 0)
    }
    return names, stored


def random_case(seed: int, updates: int = 4, typed: bool = False) -> EqualityCase:
    """With `typed`, also with classes of rdf:type, some of which are made one."""
    random = Random(seed)
    writer = (_TypedWriter if typed else _Writer)(random, names=random.randint(3, 7))
    text = writer.program()
    possible = writer.facts(random.randint(6, 22))
    present = frozenset(fact for fact in possible if random.random() < 0.65)
    now, changes = present, []
    for _ in range(updates):
        delete = frozenset(fact for fact in sorted(now, key=repr) if random.random() < random.choice([0.1, 0.3, 0.6]))
        add = frozenset(fact for fact in possible if fact not in now and random.random() < random.choice([0, 0.2, 0.5]))
        changes.append((add, delete))
        now = (now - delete) | add
    return EqualityCase(text, present, tuple(changes))


class _Writer:
    def __init__(self, random: Random, names: int) -> None:
        self._random = random
        self._names = [f"c{number}" for number in range(names)]
        self._iris = [f"ex:i{number}" for number in range(3)]

    def program(self) -> str:
        rules = [self._rule(_LOWER) for _ in range(self._random.randint(1, 4))]
        rules += [self._equality() for _ in range(self._random.randint(1, 3))]
        rules += [self._upper() for _ in range(self._random.randint(0, 3))]
        relations = ["q", "r", "key"]
        if self._random.random() < 0.5:
            pattern, r, s = (
                self._random.choice(_MODULES),
                self._random.choice(relations),
                self._random.choice(relations),
            )
            rules.append(pattern.format(r=r, s=s))
        return "\n".join([f"@prefix ex: <{_IRI}> .", *rules])

    def _term(self) -> str:
        if self._random.random() < 0.12:
            return self._random.choice(self._names)
        return self._random.choice(["?x", "?y", "?z"])

    def _atom(self, predicates: dict[str, int]) -> str:
        if self._random.random() < 0.15:
            return f"[{self._term()}, ex:{self._random.choice('st')}, {self._term()}]"
        name = self._random.choice(list(predicates))
        return f"{name}({', '.join(self._term() for _ in range(predicates[name]))})"

    def _body(self, predicates: dict[str, int]) -> list[str]:
        body = [self._atom(predicates) for _ in range(self._random.choice([1, 2, 2, 3]))]
        if self._random.random() < 0.15:
            body.append(f"[{self._term()}, owl:sameAs, {self._term()}]")
        return body

    def _safe(self, head: str, body: list[str]) -> str:
        """A rule whose head has variables of the body only."""
        bound = [name for name in ("?x", "?y", "?z") if any(name in one for one in body)]
        for name in ("?x", "?y", "?z"):
            if name not in bound:
                head = head.replace(name, self._random.choice(bound or self._names))
        return f"{head} :- {', '.join(body)} ."

    def _rule(self, predicates: dict[str, int]) -> str:
        return self._safe(self._atom(predicates), self._body(predicates))

    def _equality(self) -> str:
        choice = self._random.random()
        if choice < 0.3:
            return "?x = ?y :- key(?x, ?z), key(?y, ?z) ."
        if choice < 0.5:
            return "?x = ?y :- q(?z, ?x), q(?z, ?y), ?x != ?y ."
        return self._safe(f"{self._term()} = {self._term()}", self._body(_LOWER))

    def _upper(self) -> str:
        body = self._body({**_LOWER, **_UPPER})
        bound = [name for name in ("?x", "?y", "?z") if any(name in one for one in body)]
        if bound and self._random.random() < 0.5:
            body.append(f"not q({self._random.choice(bound)}, {self._random.choice(bound)})")
        if bound and self._random.random() < 0.3:
            body.append(f"{self._random.choice(bound)} != {self._random.choice([*bound, *map(repr, self._names)])}")
        body = [one.replace("'", '"') for one in body]
        return self._safe(self._random.choice(["u(?x)", "w(?x, ?y)"]), body)

    def facts(self, number: int) -> list[naive.Fact]:
        found = {}
        for _ in range(number):
            kind = self._random.random()
            if kind < 0.2:
                found[naive.fact("triple", self._value(), SAME_AS, self._value())] = None
            elif kind < 0.35:
                verb = NamedNode(_IRI + self._random.choice("st"))
                found[naive.fact("triple", self._value(), verb, self._value())] = None
            else:
                predicates = {**_LOWER, **_UPPER, "alone": 1}
                name = self._random.choice(list(predicates))
                found[naive.fact(name, *(self._value() for _ in range(predicates[name])))] = None
        return list(found)

    def _value(self) -> Value:
        if self._random.random() < 0.12:
            return NamedNode(_IRI + self._random.choice(["i0", "i1", "s"]))
        return self._random.choice(self._names)


class _TypedWriter(_Writer):
    def _atom(self, predicates: dict[str, int]) -> str:
        if self._random.random() < 0.2:
            return f"[{self._term()}, rdf:type, {self._term()}]"
        return super()._atom(predicates)

    def _equality(self) -> str:
        if self._random.random() < 0.5:
            return "?x = ?y :- [?z, rdf:type, ?x], [?z, rdf:type, ?y] ."
        return super()._equality()

    def facts(self, number: int) -> list[naive.Fact]:
        types = {naive.fact("triple", self._value(), RDF_TYPE, self._value()): None for _ in range(number // 3)}
        return list({**types, **dict.fromkeys(super().facts(number))})


def _shown(facts: Facts) -> str:
    return "{" + ", ".join(f"{name}{tuple(map(naive.value_of, args))}" for name, args in sorted(facts, key=repr)) + "}"
