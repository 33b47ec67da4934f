"""Random programs that compute: expressions, values made in recursion, aggregates, each over what is below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from pyoxigraph import Literal, NamedNode

from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program
from everlog.datalog.values import XSD, Value

Rows = dict[str, list[tuple[Value, ...]]]

_NUMBERS: Final = ("?b + 1", "?b * 2 - 1", "-?b", "ABS(?b - 3)", "IF(?b > 2, ?b, 0)", "?b / 2", "FLOOR(?b / 2)")
_TEXTS: Final = (
    "STR(?b)",
    'CONCAT(STR(?a), "-", STR(?b))',
    "UCASE(STR(?a))",
    "SUBSTR(STR(?b), 1, 1)",
    "COALESCE(?b + 1, ?a)",
)
_FILTERS: Final = (
    "?b + 1 > 3",
    "?a * ?b < 10 || ?b = 2",
    "!(?b IN (1, 3, 5))",
    "ISNUMERIC(?a) && ?a >= ?b",
    'CONTAINS(STR(?a), "1")',
    "xsd:integer(?b) = ?b",
    "STRLEN(STR(?b)) = 1",
)
_GROUPED: Final = (
    "COUNT(*)",
    "COUNT(?b)",
    "COUNT(DISTINCT ?b)",
    "SUM(?b)",
    "MIN(xsd:integer(?b))",
    "MAX(xsd:integer(?b))",
    "AVG(?b)",
    "SUM(DISTINCT ?b)",
    "SUM(?b * ?b + 1)",
    "GROUP_CONCAT(STR(?b))",
    "GROUP_CONCAT(DISTINCT STR(?b))",
    "SAMPLE(xsd:integer(?b))",
    "COUNT_MIN(xsd:integer(?b))",
    "COUNT_MAX(xsd:integer(?b))",
    "MIN_ARGMAX(STR(?b), xsd:integer(?b))",
    "MAX_ARGMIN(xsd:integer(?b) * -1, xsd:integer(?a) - xsd:integer(?b))",
)


_DECIMALS: Final = [Literal(text, datatype=NamedNode(f"{XSD}decimal")) for text in ("2.5", "0.5")]


@dataclass(frozen=True)
class Computing:
    """A program, its first facts, and updates: what to add and what to delete."""

    program: Program
    facts: Rows
    updates: tuple[tuple[Rows, Rows], ...]


def computing(random: Random, aggregates: bool = True, updates: int = 6) -> Computing:
    """A random program with facts of `e` and `f`, which have two arguments, and `n`, which has one."""
    known = ["e", "f"]
    lines: list[str] = []
    for number in range(random.randint(2, 6)):
        name = f"d{number}"
        lines += _rules(random, name, known, aggregates)
        known.append(name)
    text = "\n".join(lines)
    program = parse_program(text)
    # How a double is written is not the same everywhere.
    values = [*range(7), *range(7), "x", "a1", *(_DECIMALS if "STR(" in text else [2.5, 0.5])]
    facts = {name: _some(random, name, 8, values) for name in ("e", "f", "n")}
    return Computing(program, facts, changes(random, facts, updates, values))


def changes(random: Random, facts: Rows, updates: int, values: Sequence[Value]) -> tuple[tuple[Rows, Rows], ...]:
    """Updates of some facts, each with a few that come and a few that go."""
    held = {name: set(rows) for name, rows in facts.items()}
    found = []
    for _ in range(updates):
        add: Rows = {}
        delete: Rows = {}
        for name in held:
            delete[name] = random.sample(sorted(held[name], key=repr), min(len(held[name]), random.randint(0, 3)))
            add[name] = _some(random, name, random.randint(0, 3), values)
            held[name] = (held[name] - set(delete[name])) | set(add[name])
        found.append((add, delete))
    return tuple(found)


def _rules(random: Random, name: str, known: list[str], aggregates: bool) -> Iterator[str]:
    one, other = random.choice(known), random.choice(known)
    kind = random.randrange(9 if aggregates else 6)
    if kind == 0:
        yield f"{name}(?a, ?c) :- {one}(?a, ?b), BIND({random.choice(_NUMBERS + _TEXTS)} AS ?c) ."
    elif kind == 1:
        yield f"{name}(?a, ?b) :- {one}(?a, ?b), FILTER({random.choice(_FILTERS)}) ."
    elif kind == 2:
        yield f"{name}(?a, ?c) :- {one}(?a, ?b), BIND({random.choice(_NUMBERS)} AS ?c), {other}(?c, _) ."
    elif kind == 3:
        yield f"{name}(?a, ?b) :- {one}(?a, ?b) ."
        yield f"{name}(?a, ?c) :- {name}(?a, ?b), FILTER(?b < 6), BIND(?b + 1 AS ?c), n(?c) ."
    elif kind == 4:
        inside = f"{other}(?y, ?a), FILTER(?y + 1 > ?b)" if random.random() < 0.5 else f"{other}(?b, ?y)"
        yield f"{name}(?a, ?b) :- {one}(?a, ?b), NOT EXISTS ?y IN ({inside}) ."
    elif kind == 5:
        yield f"{name}(?a, ?b) :- {one}(?a, ?b) ."
        yield f"{name}(?a, ?c) :- {name}(?a, ?b), {other}(?b, ?c), FILTER({random.choice(_FILTERS)}) ."
    elif kind == 6:
        yield f"{name}(?a, ?v) :- AGGREGATE({one}(?a, ?b) ON ?a BIND {random.choice(_GROUPED)} AS ?v) ."
    elif kind == 7:
        first, second = random.choice(_GROUPED), random.choice(_GROUPED)
        grouped = f"{one}(?a, ?c), {other}(?c, ?b) ON ?a BIND {first} AS ?v BIND {second} AS ?w"
        yield f"{name}(?v, ?w) :- AGGREGATE({grouped}), FILTER(STRLEN(STR(?v)) > 0) ."
    else:
        function = random.choice(("COUNT(*)", "SUM(?y)"))
        yield f"{name}(?b, ?v) :- n(?b), AGGREGATE({one}(?x, ?y), FILTER(?y != 2) BIND {function} AS ?v) ."


def _some(random: Random, name: str, size: int, values: Sequence[Value]) -> list[tuple[Value, ...]]:
    rows = [tuple(random.choice(values) for _ in range(1 if name == "n" else 2)) for _ in range(size)]
    return list(dict.fromkeys(rows))
