"""Long random lives of a knowledge base: a program, its options, its facts, and dozens of things that happen to it.

Everything is decided when a life is made, and nothing depends on what the knowledge base answers: so a life can be lived
again, and made smaller when something went wrong. Programs come from all generators of these tests. What happens is mostly
an update, by the algorithm of the knowledge base or by another one; in between the state is compacted, or saved and opened.
Updates may be disturbed: by a failure at some call of `progress`, or by an interrupt after a part of the time that they
take.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, TypeAlias

from pyoxigraph import NamedNode

from everlog import EverlogError, KnowledgeBase
from everlog.datalog.printer import print_program, print_rule
from everlog.datalog.program_changes import is_same
from everlog.datalog.reader import parse_program
from everlog.datalog.syntax import Program, Rule
from everlog.datalog.values import RDF_TYPE, SAME_AS
from everlog.planning.modules.module_rules import KINDS
from everlog.planning.modules.unread_relations import asked_atoms
from long_sequences.surroundings import SURROUNDINGS
from oracles import naive
from oracles.naive import Fact, Facts
from support import complex_rules
from support.chain_programs import CHAINS
from support.computing_programs import computing
from support.equalities import random_case
from support.maintenance import ALGORITHMS
from support.minimum_programs import with_minima
from support.module_programs import PROGRAMS, patterned, some_facts
from support.sequences import made

MANY: Final = 200
"""Facts that there could be, of which a life has some at a time."""


@dataclass(frozen=True)
class Update:
    """Facts come and go; one that does both comes."""

    add: Facts
    delete: Facts
    algorithm: str | None = None
    waits: bool = False
    """Whether the facts to be added are given beforehand, by `add`."""
    fails_at: int | None = None
    """It fails at this call of `progress`, 0 for each of them in turn, and is then done again."""
    interrupted: float | None = None
    """It is interrupted after this part of the time that the last update took."""
    rules: frozenset[str] | None = None
    """The rules that the program has from now on, of all that the life has; None if they are the same as before."""

    def applied(self, explicit: Facts) -> Facts:
        return (explicit - self.delete) | self.add


@dataclass(frozen=True)
class Compaction:
    """The rows of facts that are gone are left out."""


@dataclass(frozen=True)
class Storing:
    """The knowledge base is saved and opened again, perhaps for another engine."""

    engine: str = "memory"


Event: TypeAlias = Update | Compaction | Storing


@dataclass(frozen=True)
class Life:
    """What a knowledge base goes through."""

    text: str
    options: dict[str, Any]
    facts: Facts
    events: tuple[Event, ...]
    surroundings: tuple[str, ...] = ()
    """The names of thresholds (`surroundings.py`) at which ways are taken that small data would never go."""
    kind: str = field(default="", compare=False)

    @property
    def program(self) -> Program:
        return parse_program(self.text)

    def __str__(self) -> str:
        lines = [self.text, f"{self.kind}: {self.options}, {', '.join(self.surroundings) or 'as usual'}"]
        lines.append(f"facts {shown(self.facts)}")
        for number, event in enumerate(self.events, 1):
            if isinstance(event, Update):
                more = [f"{name}={value}" for name, value in _unusual(event)]
                lines.append(f"{number}: add {shown(event.add)} delete {shown(event.delete)} {' '.join(more)}")
            else:
                lines.append(f"{number}: {event}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Interests:
    """What kinds of events there are."""

    updates: int = 40
    stores: float = 0.0
    """How often, of all events."""
    engines: tuple[str, ...] = ("memory",)
    failures: float = 0.06
    interrupts: float = 0.0
    kinds: tuple[str, ...] = ()
    """The kinds of programs; all, if none are named."""
    rules: float = 0.0
    """How often rules come or go with an update."""


def life(seed: int, interests: Interests) -> Life:
    """The life with a number."""
    random = Random(seed)
    kind = random.choice(interests.kinds or (*_PROGRAMS, *_AGAIN))
    text, possible = _PROGRAMS[kind](random)
    options = _options(random, kind)
    if options["equality"] == "axioms" and not _is_defined(text, equality="axioms"):
        options["equality"] = "rewrite"
    possible = possible[:MANY]
    density = random.choice([0.2, 0.4, 0.7])
    facts = frozenset(fact for fact in possible if random.random() < density)
    strangers = _strangers(random, possible, options["equality"] != "off")
    events = tuple(_events(random, facts, possible, strangers, interests))
    if interests.rules:
        events = tuple(_with_rules(random, parse_program(text).rules, events, interests))
    often = SURROUNDINGS | _OFTEN.get(kind, {})
    surroundings = tuple(name for name in SURROUNDINGS if random.random() < often[name])
    return Life(text, options, facts, events, surroundings, kind)


def shown(facts: Iterable[Fact]) -> str:
    found = (f"{name}{tuple(map(naive.value_of, arguments))}" for name, arguments in sorted(facts, key=repr))
    return "{" + ", ".join(found) + "}"


def _unusual(update: Update) -> list[tuple[str, object]]:
    usual = Update(update.add, update.delete)
    names = ("algorithm", "waits", "fails_at", "interrupted", "rules")
    return [(name, value) for name in names if (value := getattr(update, name)) != getattr(usual, name)]


# ---------------------------------------------------------------------------------------- programs


def _of_language(random: Random) -> tuple[str, list[Fact]]:
    sequence = made(random, rules=random.choice([3, 6, 10]), updates=5)
    return _written(sequence)


def _of_patterns(random: Random) -> tuple[str, list[Fact]]:
    return _written(patterned(random))


def _written(sequence: Any) -> tuple[str, list[Fact]]:
    """The program of a sequence, and all facts that it ever has."""
    program = sequence.case.program
    possible = {**dict.fromkeys(sorted(frozenset().union(*sequence.explicit()), key=repr))}
    return print_program(Program(program.rules)), list(possible)


def _of_modules(random: Random) -> tuple[str, list[Fact]]:
    texts = random.sample([*PROGRAMS.values(), *CHAINS.values()], random.choice([1, 1, 2]))
    text = " ".join(texts)
    if not _is_defined(text):
        text = texts[0]
    rows = some_facts(random, 60, random.choice([4, 5, 8]))
    return text, _distinct((name, row) for name, some in rows.items() for row in some)


def _of_complex_rules(random: Random) -> tuple[str, list[Fact]]:
    while True:
        text = complex_rules.random_program(random)
        if _is_defined(text):
            break
    rows = complex_rules.random_facts(random, random.choice([3, 5, 8, 14]), 70)
    return text, _distinct((name, row) for name, some in rows.items() for row in some)


def _is_defined(text: str, **options: Any) -> bool:
    """Whether some rules are a program that is accepted."""
    try:
        KnowledgeBase(parse_program(text), engine="memory", workers=1, **options).materialise()
    except EverlogError:
        return False
    return True


def _with_equality(random: Random) -> tuple[str, list[Fact]]:
    while True:
        case = random_case(random.randrange(2**40), updates=3, typed=random.random() < 0.3)
        text = "\n".join([case.text, *(rule for rule in _ABOVE_EQUALITY if random.random() < 0.25)])
        if _is_defined(text, equality="rewrite"):
            break
    facts = case.facts.union(*(add for add, _ in case.updates))
    return text, sorted(facts, key=repr)


_ABOVE_EQUALITY: Final = [
    "n(?x) :- q(?x, c0), NOT EXISTS ?y IN (r(?x, ?y), p(?y)) .",
    "n(?x) :- q(?x, c1), NOT EXISTS ?y IN (r(?x, ?y), p(?y)) .",
    "o(?x, ?z) :- q(?x, ?z), NOT EXISTS ?y IN (r(?x, ?y), q(?y, ?z)) .",
    "o(?x, ?x) :- q(?x, ?z), NOT EXISTS ?y IN (r(?y, ?x), q(?y, c1)) .",
    "l(?x, ?y, ?z) :- q(?x, ?y), r(?y, ?z), NOT EXISTS ?u IN (key(?u, ?z), r(?u, ?y)) .",
    "k(?x) :- q(?x, c0), r(?x, ?y), r(?y, ?z), r(?z, ?x) .",
    "k(?x) :- q(?x, c1), r(?x, ?y), r(?y, ?z), r(?z, ?x) .",
    "j(?x, ?z) :- q(?x, ?y), q(?y, ?z), q(?z, ?u), q(?u, ?x), r(?x, ?z) .",
    "j(?x, ?z) :- j(?x, ?y), r(?y, ?z) .",
    "i(?x) :- r(?x, ?y), q(?y, ?z), r(?z, c1), q(?x, ?z), not n(?x) .",
]
"""Rules that become one when `c0` and `c1` do, with negations and cycles."""


def _complex_with_equality(random: Random) -> tuple[str, list[Fact]]:
    """Rules with cyclic bodies about names, some of which are equal."""
    while True:
        rules = complex_rules.random_program(random).splitlines()
        rules = [
            rule
            for rule in rules
            if " < " not in rule and " <= " not in rule and not any(map(str.isdigit, _constants(rule)))
        ]
        more = [
            "?x = ?y :- same(?x, ?y) .",
            "?x = ?y :- key(?x, ?k), key(?y, ?k) .",
            "[?x, <http://x/h>, ?y] :- e(?x, ?y) .",
            "<http://x/V>[?y] :- not u(?y), [?y, <http://x/h>, ?w] .",
            "lo(?x, ?y) :- e(?x, ?y), NOT EXISTS ?z IN (f(?y, ?z)) .",
            "lo(?x, ?y) :- lo(?y, ?x), not m(?x, ?y) .",
        ]
        rules += [rule for rule in more if random.random() < 0.6]
        text = "\n".join(rules)
        if rules and _is_defined(text, equality="rewrite"):
            break
    rows = complex_rules.random_facts(random, random.choice([4, 6]), 50)
    names = [f"n{number}" for number in range(6)]
    possible = _distinct((name, tuple(names[one] for one in row)) for name, some in rows.items() for row in some)
    possible += [naive.fact("same", *random.sample(names, 2)) for _ in range(4)]
    possible += [
        naive.fact("triple", one, SAME_AS, other) for one, other in (random.sample(names, 2) for _ in range(3))
    ]
    possible += [naive.fact("key", random.choice(names), random.choice(names[:2])) for _ in range(4)]
    return text, list(dict.fromkeys(possible))


def _constants(rule: str) -> list[str]:
    """The terms of a rule that are no variables."""
    terms = rule.replace("(", ",").replace(")", ",").split(",")
    return [term.strip() for term in terms if term.strip() and not term.strip().startswith("?")]


def _of_triples(random: Random) -> tuple[str, list[Fact]]:
    """Classes and properties of RDF, with rules that ask for properties and classes by variables, and negation."""
    patterns = [
        "<http://x/V>[?y] :- not u(?y), [?y, <http://x/h>, ?w] .",
        "<http://x/C>[?y] :- <http://x/D>[?y], not <http://x/E>[?y] .",
        "<http://x/D>[?y] :- [?x, <http://x/p>, ?y] .",
        "[?x, <http://x/h>, ?y] :- [?y, <http://x/p>, ?x] .",
        "[?x, <http://x/h>, ?z] :- [?x, <http://x/h>, ?y], [?y, <http://x/h>, ?z] .",
        "[?x, <http://x/q>, ?z] :- [?x, <http://x/h>, ?y], [?y, <http://x/p>, ?z] .",
        "u(?x) :- [?x, rdf:type, <http://x/D>], [?x, <http://x/q>, ?y] .",
        "seen(?c) :- [?x, rdf:type, ?c], NOT EXISTS ?y IN ([?x, <http://x/q>, ?y]) .",
        "[?x, rdf:type, ?d] :- [?x, rdf:type, ?c], sub(?c, ?d) .",
        "[?x, ?r, ?y] :- [?x, ?q, ?y], subp(?q, ?r) .",
        "used(?p) :- [?x, ?p, ?y] .",
        "w(?x) :- u(?x), NOT EXISTS ?y, ?c IN ([?x, <http://x/p>, ?y], [?y, rdf:type, ?c]) .",
    ]
    while True:
        text = "\n".join(random.sample(patterns, random.randint(3, 7)))
        if _is_defined(text):
            break
    names = [NamedNode(f"http://x/{name}") for name in "abcd"]
    classes = [NamedNode(f"http://x/{name}") for name in "CDEV"]
    verbs = [NamedNode(f"http://x/{name}") for name in "hpq"]
    found = []
    for _ in range(60):
        x, y = random.choice(names), random.choice(names)
        found.append(
            random.choice(
                [
                    naive.fact("triple", x, random.choice(verbs), y),
                    naive.fact("triple", x, random.choice(verbs), y),
                    naive.fact("triple", x, RDF_TYPE, random.choice(classes)),
                    naive.fact("u", x),
                    naive.fact("sub", random.choice(classes), random.choice(classes)),
                    naive.fact("subp", random.choice([*verbs, RDF_TYPE]), random.choice(verbs)),
                ]
            )
        )
    return text, list(dict.fromkeys(found))


def _with_literals(random: Random) -> tuple[str, list[Fact]]:
    """Rules that make subjects of values unless these are literals, over values that sometimes are.

    Conditions that no literal comes are left out by planning, and count again when facts or rules bring one.
    """
    text = "\n".join(random.sample(_ABOUT_SUBJECTS, random.randint(3, 8)))
    names = [NamedNode(f"http://x/{name}") for name in "abcde"]
    values = [*names, *random.sample(["text", 1, 2.5, "c"], random.choice([1, 2]))]
    verbs = [NamedNode(f"http://x/{name}") for name in "hpq"]
    literal_verbs = random.sample(verbs, random.choice([1, 1, 2]))
    found = []
    for _ in range(60):
        x, verb = random.choice(names), random.choice(verbs)
        y = random.choice(values if verb in literal_verbs and random.random() < 0.4 else names)
        found.append(
            random.choice(
                [
                    naive.fact("triple", x, verb, y),
                    naive.fact("triple", x, verb, y),
                    naive.fact("e", x, random.choice(names)),
                    naive.fact("u", x),
                    naive.fact("subp", random.choice(verbs), random.choice(verbs)),
                ]
            )
        )
    found += [naive.fact("e", random.choice(names), random.choice(values)) for _ in range(random.choice([0, 0, 2]))]
    return text, list(dict.fromkeys(found))


def _literals_with_equality(random: Random) -> tuple[str, list[Fact]]:
    """The same where names are equal, and sometimes to a literal; without negation, for which the oracle knows no order."""
    while True:
        text, possible = _with_literals(random)
        rules = [rule for rule in text.splitlines() if " not " not in rule]
        text = "\n".join(["?x = ?y :- same(?x, ?y) .", *rules])
        if _is_defined(text, equality="rewrite"):
            break
    names = [NamedNode(f"http://x/{name}") for name in "abcde"]
    possible += [naive.fact("same", *random.sample(names, 2)) for _ in range(3)]
    possible += [naive.fact("same", random.choice(names), "text") for _ in range(random.choice([0, 1, 2]))]
    return text, list(dict.fromkeys(possible))


_ABOUT_SUBJECTS: Final = [
    "[?y, <http://x/p>, ?x] :- [?x, <http://x/p>, ?y], FILTER(!ISLITERAL(?y)) .",
    "[?x, <http://x/p>, ?z] :- [?x, <http://x/p>, ?y], [?y, <http://x/p>, ?z] .",
    "[?y, <http://x/q>, ?x] :- [?x, <http://x/h>, ?y], FILTER(!ISLITERAL(?y)) .",
    "[?x, <http://x/h>, ?y] :- [?x, <http://x/q>, ?y] .",
    "[?x, <http://x/p>, ?y] :- e(?x, ?y) .",
    "[?x, ?r, ?y] :- [?x, ?q, ?y], subp(?q, ?r) .",
    "[?y, ?q, ?x] :- [?x, ?q, ?y], subp(?q, ?q), FILTER(!ISLITERAL(?y)) .",
    "<http://x/C>[?y] :- [?x, <http://x/q>, ?y], FILTER(!ISLITERAL(?y)) .",
    "v(?y) :- [?x, <http://x/p>, ?y], FILTER(!ISLITERAL(?y)), not u(?y) .",
    "v(?y) :- [?x, <http://x/p>, ?y], [?y, <http://x/q>, ?z], FILTER(!ISLITERAL(?y)), FILTER(!ISLITERAL(?z)) .",
    "e(?y, ?x) :- e(?x, ?y), FILTER(!ISLITERAL(?y)) .",
    "[?x, <http://x/q>, 7] :- v(?x) .",
]
"""Rules about subjects, among them a symmetric relation that is transitive perhaps."""


def _that_closes(random: Random) -> tuple[str, list[Fact]]:
    """Relations that are closed, fed by rules of all sorts, and that no other rule asks about, or rules above."""
    closing = [
        "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .",
        "r(?x, ?z) :- r(?x, ?y), e(?y, ?z) .",
        "r(?x, ?z) :- e(?x, ?y), r(?y, ?z) .",
        "r(?x, ?z) :- r(?x, ?y), r(?y, ?z) . r(?y, ?x) :- r(?x, ?y) .",
        "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) .",
        "t(?x, ?z) :- t(?x, ?y), e(?y, ?z), not n(?y) .",
        "t(?x, ?z) :- t(?x, ?y), t(?y, ?z) . t(?y, ?x) :- t(?x, ?y) .",
        "[?x, <http://x/p>, ?z] :- [?x, <http://x/p>, ?y], [?y, <http://x/p>, ?z] .",
    ]
    feeding = [
        "r(?x, ?y) :- e(?x, ?y) .",
        "r(?x, ?y) :- f(?y, ?x) .",
        "t(?x, ?y) :- e(?x, ?y), not n(?x) .",
        "t(?x, ?y) :- e(?x, ?z), f(?z, ?y) .",
        "[?x, <http://x/p>, ?y] :- f(?x, ?y), not n(?y) .",
        "n(?x) :- f(?x, ?x) .",
        "e(?x, ?y) :- f(?x, ?y), n(?y) .",
    ]
    asking = [
        "a(?x, ?z) :- e(?x, ?y), r(?y, ?z) .",
        "a(?x, ?z) :- f(?y, ?x), t(?z, ?y) .",
        "a(?x, ?y) :- n(?x), t(?x, ?y), r(?y, ?x) .",
        "b(?x) :- e(?x, ?y), not r(?y, ?x) .",
        "b(?y) :- b(?x), r(?x, ?y) .",
        "b(?y) :- t(2, ?y), e(?y, ?z) .",
        "c(?x, ?z) :- e(?x, ?y), [?y, <http://x/p>, ?z] .",
        "c(?x, ?y) :- t(?x, ?y), not a(?x, ?y) .",
    ]
    wanted = random.sample(closing, random.choice([1, 1, 2]))
    asked = random.sample(asking, random.choice([0, 1, 1, 2, 4]))
    text = "\n".join([*wanted, *random.sample(feeding, random.randint(1, 5)), *asked])
    if not _is_defined(text):
        text = "\n".join([wanted[0], *feeding[:2]])
    names = range(random.choice([4, 7, 12]))
    predicates = ["e", "e", "f", "r", "t", "p", "n"]
    found = []
    for _ in range(70):
        predicate, x, y = random.choice(predicates), random.choice(names), random.choice(names)
        row = (x,) if predicate == "n" else (x, y)
        found.append(("triple", (x, NamedNode("http://x/p"), y)) if predicate == "p" else (predicate, row))
    return text, _distinct(found)


def _that_computes(random: Random) -> tuple[str, list[Fact]]:
    """Expressions and aggregates, or minima in recursion."""
    case = random.choice([computing, with_minima])(random, updates=8)
    parts = [case.facts, *(add for add, _ in case.updates)]
    return print_program(case.program), _distinct(
        (name, row) for part in parts for name, some in part.items() for row in some
    )


_PROGRAMS = {
    "language": _of_language,
    "patterns": _of_patterns,
    "modules": _of_modules,
    "complex": _of_complex_rules,
    "triples": _of_triples,
    "literals": _with_literals,
    "literals, equality": _literals_with_equality,
    "equality": _with_equality,
    "complex equality": _complex_with_equality,
    "computing": _that_computes,
    "closing": _that_closes,
}
_AGAIN: Final = ("closing",)
"""Kinds that come more often: mistakes in what few lives do take many."""
_OFTEN: Final = {"closing": {"kept closed": 0.9}}
"""Thresholds without which lives of a kind have little to tell."""


def _distinct(rows: Iterable[tuple[str, tuple[Any, ...]]]) -> list[Fact]:
    return list(dict.fromkeys(naive.fact(name, *row) for name, row in rows))


# ---------------------------------------------------------------------------------------- options and events


def _options(random: Random, kind: str) -> dict[str, Any]:
    some = random.sample(KINDS, random.randint(1, 3))
    return {
        "algorithm": random.choice(["auto", "auto", "auto", "counting", "dredc", "bfc", *ALGORITHMS]),
        "modules": random.choice(["auto", "auto", ",".join(KINDS), *([] if kind == "closing" else ["off", some])]),
        "hypertree": random.choice(["auto", "cyclic", "off", "all"]),
        "stratification": random.choice(["levels", "levels", "single"]),
        "equality": random.choice(["rewrite", "rewrite", "axioms"]) if "equality" in kind else "off",
        "checked": random.random() < 0.05,
        "workers": random.choice([1, 2]),
    }


def _strangers(random: Random, possible: list[Fact], equal: bool) -> list[Fact]:
    """Facts with values, or of predicates, that nobody has seen."""
    found = [naive.fact("late", "n0"), naive.fact("later", "n0", "n1"), naive.fact("latest", "new", 1, 2.5)]
    for name, arguments in random.sample(possible, min(6, len(possible))):
        if arguments and not (equal and name == "triple"):
            place = random.randrange(len(arguments))
            new = naive.key(random.choice(["new", "newer"]))
            found.append((name, tuple(new if at == place else one for at, one in enumerate(arguments))))
    return list(dict.fromkeys(found))


def _events(
    random: Random, facts: Facts, possible: list[Fact], strangers: list[Fact], interests: Interests
) -> Iterable[Event]:
    explicit = facts
    for number in range(interests.updates):
        if random.random() < interests.stores:
            yield Storing(random.choice(interests.engines))
        if random.random() < 0.05:
            yield Compaction()
        update = _update(random, explicit, facts, possible, strangers if number > 3 else [])
        if random.random() < 0.5:
            update = replace(update, algorithm=random.choice(["auto", "remat", *ALGORITHMS, "dredc", "counting"]))
        disturbed = random.random()
        if disturbed < interests.failures:
            update = replace(update, fails_at=random.choice([0, 1, 1, 2, 3, 5]))
        elif disturbed < interests.failures + interests.interrupts:
            update = replace(update, interrupted=random.random() * 1.5)
        yield update
        explicit = update.applied(explicit)


def _with_rules(
    random: Random, program: Sequence[Rule], events: Iterable[Event], interests: Interests
) -> Iterable[Event]:
    """The same events, some of which change rules, and perhaps nothing else.

    Rules that say the same as another one stay: whoever deletes one of them deletes both. Rules that no other rule asks
    about come and go more often: what they ask about may be kept in another way without them.
    """
    active = set(map(print_rule, program))
    alone = [one for one in program if sum(is_same(one, other) for other in program) == 1]
    rules = [print_rule(one) for one in alone]
    above = [print_rule(one) for one in alone if not any(_asks(other, one) for other in program)]
    for event in events:
        if not isinstance(event, Update) or random.random() >= interests.rules:
            yield event
            continue
        absent = [rule for rule in rules if rule not in active]
        there = [rule for rule in rules if rule in active]
        kind = random.choice(["go", "come", "both", "many", "all", "above", "above", "above"])
        if kind == "above":
            active = active ^ _few(random, above, random.choice([1, len(above)]))
        else:
            gone = _few(random, there, {"go": 1, "both": 1, "many": 4}.get(kind, 0))
            come = _few(random, absent, {"come": 1, "both": 1, "many": 4, "all": len(rules)}.get(kind, 0))
            active = (active - gone) | come
        if random.random() < 0.5:
            event = replace(event, add=frozenset(), delete=frozenset(), waits=False)
        yield replace(event, rules=frozenset(active))


def _asks(rule: Rule, other: Rule) -> bool:
    """Whether a rule asks about what another one derives, and derives something else."""
    name = other.head.predicate
    return rule.head.predicate != name and any(atom.predicate == name for atom in asked_atoms(rule.body))


def _few(random: Random, rules: list[str], number: int) -> set[str]:
    return set(random.sample(rules, min(number, len(rules))))


def _update(random: Random, explicit: Facts, first: Facts, possible: list[Fact], strangers: list[Fact]) -> Update:
    there = sorted(explicit, key=repr)
    absent = [fact for fact in possible if fact not in explicit]
    kind = random.choice(
        ["little", "little", "little", "little", "delete", "add", "both", "both", "odd", "strange", "nothing", "rare"]
    )
    waits = random.random() < 0.2
    if kind == "little":
        return Update(_some(random, absent, 1), _some(random, there, random.choice([0, 1, 1, 2])), None, waits)
    if kind == "delete":
        return Update(frozenset(), _part(random, there, random.choice([0.1, 0.3])))
    if kind == "add":
        return Update(_part(random, absent, random.choice([0.1, 0.3])), frozenset(), None, waits)
    if kind == "both":
        return Update(_part(random, absent, 0.2), _part(random, there, random.choice([0.1, 0.3])), None, waits)
    if kind == "odd":  # what is there comes, what is not goes, and some do both
        both = _part(random, [*there, *absent], 0.05)
        return Update(
            both | _part(random, there, 0.2) | _part(random, absent, 0.1),
            (_part(random, absent, 0.2) | _part(random, there, 0.2) | both),
            None,
            waits,
        )
    if kind == "strange":
        known = [fact for fact in strangers if fact in explicit]
        return Update(_part(random, strangers, 0.5), _part(random, known, 0.5) | _some(random, there, 1), None, waits)
    if kind == "nothing":
        return Update(frozenset(), frozenset())
    if random.random() < 0.5 and explicit:
        return Update(frozenset(), explicit)
    return Update(first, explicit - first)


def _part(random: Random, facts: list[Fact], density: float) -> Facts:
    return frozenset(fact for fact in facts if random.random() < density)


def _some(random: Random, facts: list[Fact], number: int) -> Facts:
    return frozenset(random.sample(facts, min(number, len(facts))))
