"""Programs whose rules come and go: a rule that is to go is named by its text, whatever its variables are called.

Neither does the order of its conditions matter. What stands inside a negation or an aggregate is one condition, as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias

from everlog.datalog.constraints import is_of_shapes
from everlog.datalog.printer import NAMELESS, print_rule
from everlog.datalog.substitution import REMEMBERED, canonical_rule
from everlog.datalog.syntax import Atom, BodyLiteral, Constant, Negation, Program, Rule, Term, Variable
from everlog.errors import EverlogError
from everlog.wording import counted

_NEAREST: Final = 3
"""So many rules are shown that are like one which is not there."""
_LISTED: Final = 5
"""So many rules that are not there are listed."""

_NO_HEAD: Final = Atom("", ())

_Key: TypeAlias = tuple[object, ...]


def changed_program(program: Program, add: Program, delete: Program) -> Program:
    """A program without some rules and facts, and with others; a rule, or a fact, that is both is there.

    Nobody looks at the program as a whole: that is done when it is compiled.

    >>> from everlog.datalog.reader import parse_program
    >>> before = parse_program("p(?x) :- q(?x, ?y), r(?y) . s(?x) :- q(?x, ?y) .")
    >>> after = changed_program(before, parse_program("s(?x) :- r(?x) ."), parse_program("p(?a) :- r(?b), q(?a, ?b) ."))
    >>> [print_rule(rule) for rule in after.rules]
    ['s(?x) :- q(?x, ?y) .', 's(?x) :- r(?x) .']
    """
    gone = found_rules(program, delete)
    facts = set(delete.facts).difference(add.facts)
    places = set(map(id, gone))  # which is faster than to compare thousands of rules
    left = Program(
        tuple([rule for rule in program.rules if id(rule) not in places]) if gone else program.rules,
        tuple([fact for fact in program.facts if fact not in facts]) if facts else program.facts,
    )
    new = _without_known(add, left)
    origins = _copied(program.origins)
    for rule in (*gone, *(Rule(fact, ()) for fact in facts)):
        origins.pop(rule, None)
    return Program(
        (*left.rules, *new.rules),
        tuple(dict.fromkeys((*left.facts, *new.facts))),
        MappingProxyType({**new.prefixes, **program.prefixes}),
        MappingProxyType(origins if not new.origins else {**new.origins, **origins}),
    )


def _copied(origins: Mapping[Rule, str]) -> dict[Rule, str]:
    """A copy that, as a rule, asks no rule for its hash."""
    return origins.copy() if isinstance(origins, dict | MappingProxyType) else dict(origins)


_PLACE: Final = re.compile(r".*:[0-9]+")
"""What says that a rule comes from a line of a file; what else a rule may come from is an axiom."""


def ontology_change(program: Program, ontology: Program) -> tuple[Program, Program]:
    """What is to be added to a program and deleted from it, so that it has what an ontology says by now.

    Rules and facts of a program are the ontology's if it has them from axioms.
    """
    mine = {rule for rule, origin in program.origins.items() if not _PLACE.fullmatch(origin) and not is_of_shapes(rule)}
    return _new_state(program, ontology, mine)


def shapes_change(program: Program, shapes: Program) -> tuple[Program, Program]:
    """The same for rules and facts that a program has from shapes."""
    facts = (Rule(fact, ()) for fact in program.facts)
    return _new_state(program, shapes, {rule for rule in (*program.rules, *facts) if is_of_shapes(rule)})


def _new_state(program: Program, now: Program, mine: Collection[Rule]) -> tuple[Program, Program]:
    """What is to be added and deleted, so that instead of some rules, and of facts as rules, a program has others."""
    wanted, said = set(map(canonical_rule, now.rules)), set(now.facts)
    delete = Program(
        tuple(rule for rule in program.rules if rule in mine and canonical_rule(rule) not in wanted),
        tuple(fact for fact in program.facts if Rule(fact, ()) in mine and fact not in said),
    )
    known, given = set(map(canonical_rule, program.rules)), set(program.facts)
    add = Program(
        tuple(rule for rule in now.rules if canonical_rule(rule) not in known),
        tuple(fact for fact in now.facts if fact not in given),
        now.prefixes,
        now.origins,
    )
    return add, delete


def rules_between(old: Program, new: Program) -> tuple[list[Rule], list[Rule]]:
    """The rules that came from one program to another, and those that went."""
    before, after = (set(map(canonical_rule, program.rules)) for program in (old, new))
    came = [rule for rule in new.rules if canonical_rule(rule) not in before]
    return came, [rule for rule in old.rules if canonical_rule(rule) not in after]


def found_rules(program: Program, wanted: Program) -> list[Rule]:
    """The rules of a program that others name; an error that lists those which it does not have."""
    index = _by_key(program.rules, wanted.rules)
    found, missing = list[Rule](), list[Rule]()
    for rule in wanted.rules:
        same = next((one for one in index.get(_key(rule), ()) if is_same(one, rule)), None)
        if same is None:
            missing.append(rule)
        else:
            found.append(same)
    if missing:
        raise EverlogError(_not_there(missing, program, wanted))
    return found


def is_same(one: Rule, other: Rule) -> bool:
    """Whether two rules differ in nothing but names of variables and the order of conditions.

    >>> from everlog.datalog.reader import parse_program
    >>> is_same(*parse_program("p(?x) :- q(?x, ?y), q(?y, ?x), r(?y) . p(?x) :- r(?z), q(?z, ?x), q(?x, ?z) .").rules)
    True
    """
    one, other = _as_written(one), _as_written(other)
    if _key(one) != _key(other) or sorted(map(_blank, one.body)) != sorted(map(_blank, other.body)):
        return False
    return any(True for _ in _orders(one, other, ()))


def _orders(one: Rule, other: Rule, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The orders of the conditions of a rule in which it is the same as another one, given the first ones."""
    length = len(chosen)
    if length == len(one.body):
        yield chosen
        return
    begun = canonical_rule(replace(one, body=one.body[: length + 1]))
    for number in range(len(other.body)):
        if number not in chosen:
            body = tuple(other.body[place] for place in (*chosen, number))
            if canonical_rule(replace(other, body=body)) == begun:
                yield from _orders(one, other, (*chosen, number))


def _by_key(rules: Iterable[Rule], wanted: Sequence[Rule]) -> Mapping[_Key, list[Rule]]:
    """Those of some rules that may be among others that are wanted, by what they have in common with these."""
    found: dict[_Key, list[Rule]] = {_key(rule): [] for rule in wanted}
    sizes = {len(rule.body) for rule in wanted}
    for rule in rules:
        if len(rule.body) in sizes and (same := found.get(_key(rule))) is not None:
            same.append(rule)
    return found


@lru_cache(REMEMBERED)
def _key(rule: Rule) -> _Key:
    """What rules have in common that are the same, and few others have."""
    rule = _as_written(rule)
    terms = (term if isinstance(term, Constant) else None for term in rule.head.terms)
    return rule.head.predicate, *terms, len(rule.body), rule.extreme


def _as_written(rule: Rule) -> Rule:
    """A constraint without a head has one that depends on how its conditions are written: it is left out."""
    return replace(rule, head=_NO_HEAD) if NAMELESS.fullmatch(rule.head.predicate) else rule


def _blank(literal: BodyLiteral) -> str:
    """A condition without the names of its variables."""
    nameless = Variable("")

    def unnamed(term: Term) -> Term:
        return nameless if isinstance(term, Variable) else term

    found = literal.mapped(unnamed)
    return repr(replace(found, local=()) if isinstance(found, Negation) else found)


def _without_known(add: Program, program: Program) -> Program:
    """Rules to be added, but for those that a program has, perhaps with conditions in another order."""
    index = _by_key(program.rules, add.rules)
    known = {rule for rule in add.rules if any(is_same(one, rule) for one in index.get(_key(rule), ()))}
    if not known:
        return add
    origins = {rule: origin for rule, origin in add.origins.items() if rule not in known}
    rules = tuple(rule for rule in add.rules if rule not in known)
    return Program(rules, add.facts, add.prefixes, MappingProxyType(origins))


def _not_there(missing: list[Rule], program: Program, wanted: Program) -> str:
    prefixes = {**wanted.prefixes, **program.prefixes}
    texts = [print_rule(rule, prefixes) for rule in program.rules]
    are = "is" if len(missing) == 1 else "are"
    lines = [f"{counted(len(missing), 'rule')} to be deleted {are} not in the program, and nothing was changed:"]
    for rule in missing[:_LISTED]:
        text = print_rule(rule, prefixes)
        lines.append(f"  {text}")
        near = get_close_matches(text, texts, _NEAREST)
        lines += [f"    did you mean: {one}" for one in near]
    if len(missing) > _LISTED:
        lines.append(f"  … and {len(missing) - _LISTED:,} more")
    return "\n".join(lines)
