"""Random programs over integers whose expressions and aggregates mean the same everywhere: in clingo, and in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from everlog.datalog.reader import parse_program
from support.computing_programs import Computing, Rows, changes

_NUMBERS: Final = ("?b + 1", "?b * 2 - 1", "-?b", "ABS(?b - 3)", "?a * ?b - ?a", "3")
_FILTERS: Final = ("?b + 1 > 3", "?a * ?b < 10", "?b - ?a != 2", "ABS(?a) <= ?b + 2")
_TEXTS: Final = (
    "STR(?b)",
    'CONCAT(STR(?a), "-", STR(?b))',
    'UCASE(CONCAT("x", STR(?b)))',
    "SUBSTR(STR(?a + 100), 2, 1)",
    'IF(?a > ?b, "more", "less")',
    'REPLACE(STR(?a * 11), "1", "l")',
)
_GROUPED: Final = (
    "COUNT(*)",
    "COUNT(?b)",
    "COUNT(DISTINCT ?b)",
    "SUM(?b)",
    "SUM(DISTINCT ?b)",
    "SUM(?b * ?b + 1)",
    "MIN(?b)",
    "MAX(?b)",
    "MIN(?b - ?a)",
)


def over_integers(random: Random, updates: int = 3, recursion: bool = True, texts: bool = False) -> Computing:
    """A random program with facts of `e` and `f`, which have two arguments, and `n`, which has one.

    What is made of text is not asked about any further.
    """
    known = ["e", "f"]
    lines: list[str] = []
    for number in range(random.randint(3, 6)):
        lines += _rules(random, f"d{number}", known, recursion)
        known.append(f"d{number}")
    if texts:
        source = random.choice(known)
        lines += [f"text(?a, ?c) :- {source}(?a, ?b), BIND({one} AS ?c) ." for one in random.sample(_TEXTS, 2)]
        joined = 'GROUP_CONCAT(STR(?b); SEPARATOR = "+")'
        lines.append(f"listed(?a, ?v) :- AGGREGATE({source}(?a, ?b) ON ?a BIND {joined} AS ?v) .")
        lines.append('long(?a) :- text(?a, ?c), FILTER(STRLEN(?c) > 1 && CONTAINS(?c, "1")) .')
    values = list(range(-2, 6))
    sizes = {"e": 9, "f": 7, "n": 4}
    facts: Rows = {
        name: list({tuple(random.choice(values) for _ in range(1 if name == "n" else 2)): None for _ in range(size)})
        for name, size in sizes.items()
    }
    return Computing(parse_program("\n".join(lines)), facts, changes(random, facts, updates, values))


def _rules(random: Random, name: str, known: list[str], recursion: bool) -> Iterator[str]:
    one, other = random.choice(known), random.choice(known)
    kind = random.randrange(7 if recursion else 6)
    if kind == 0:
        yield f"{name}(?a, ?c) :- {one}(?a, ?b), BIND({random.choice(_NUMBERS)} AS ?c), FILTER({random.choice(_FILTERS)}) ."
    elif kind == 1:
        yield f"{name}(?a, ?c) :- {one}(?a, ?b), BIND({random.choice(_NUMBERS)} AS ?c), {other}(?c, _) ."
    elif kind == 2:
        yield f"{name}(?a, ?b) :- {one}(?a, ?b), not {other}(?b, ?a), n(?b) ."
    elif kind == 3:
        grouped = f"{one}(?a, ?c), {other}(?c, ?b) ON ?a BIND {random.choice(_GROUPED)} AS ?v"
        yield f"{name}(?a, ?v) :- AGGREGATE({grouped}), n(?a) ."
    elif kind == 4:
        first, second = random.choice(_GROUPED), random.choice(_GROUPED)
        inside = f"{one}(?a, ?b), FILTER({random.choice(_FILTERS)}), not {other}(?b, ?a)"
        yield f"{name}(?v, ?w) :- AGGREGATE({inside} ON ?a BIND {first} AS ?v BIND {second} AS ?w) ."
    elif kind == 5:
        function = random.choice(("COUNT(*)", "SUM(?y)", "COUNT(DISTINCT ?y)"))
        yield f"{name}(?b, ?v) :- n(?b), AGGREGATE({one}(?x, ?y), FILTER(?y != 2) BIND {function} AS ?v) ."
    else:
        yield f"{name}(?a, ?b) :- {one}(?a, ?b) ."
        yield f"{name}(?a, ?c) :- {name}(?a, ?b), FILTER(?b < 6), BIND(?b + 1 AS ?c), n(?c) ."
