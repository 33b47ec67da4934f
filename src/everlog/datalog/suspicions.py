"""What can never match and is probably meant otherwise: warnings about programs and facts, with the nearest names.

Nothing here is wrong by itself, and a body predicate without facts may get some with a later update; so these are
warnings, said once, when everything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from everlog.datalog.arities import program_arities
from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import (
    EQUAL,
    QUAD,
    TRIPLE,
    Atom,
    BodyLiteral,
    Call,
    Comparison,
    Computation,
    Constant,
    Program,
    Rule,
    Term,
    Test,
    Variable,
    parts,
)

_SHOWN: Final = 5
"""So many names are said in one warning."""

_ENOUGH: Final = 5_000
"""Among more names nobody looks for the nearest one."""

_EVERLOGS: Final = frozenset({TRIPLE, QUAD, "violation", "sh: constraint", "sh: shape"})
"""Predicates that Everlog makes facts of by itself."""

_SETTLING: Final = frozenset({"DATA_FORM", "DATA_KIND", "DATA_VALUE", "DATATYPE", "LANG"})
"""Functions that make nothing new of what they have made."""

_LETTER = re.compile(r"[A-Z][0-9_]*")
_NAME = re.compile(r"[A-Za-z][0-9_]*|[A-Z][A-Za-z0-9_]*")
_IRI = re.compile(r"<.*[/#]")
"""The part of an IRI that many names share."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the nearest of some names, or nothing.

    >>> did_you_mean("egde", ["edge", "node"])
    '; did you mean edge?'
    """
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {near}?"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name that is most like another one, if any is; capitals do not matter."""
    shared = _IRI.match(name)
    start = shared.end() if shared else 0
    others = [one for one in known if one != name and one[:start] == name[:start]]
    folded = {one[start:].lower(): one for one in others}
    found = get_close_matches(name[start:].lower(), folded, n=1, cutoff=0.7) if len(folded) <= _ENOUGH else []
    return folded[found[0]] if found else None


def suspicions(program: Program, given: Collection[str], equality: bool = False) -> list[str]:
    """What can never match in a program whose explicit facts are of some predicates.

    With equality on, facts that no rule mentions are not in vain.
    """
    unused = () if equality else _unused(program, given)
    return [
        *_unmatched(program, given),
        *unused,
        *_constants(program),
        *_decided(program),
        *_each_with_each(program),
        *_endless(program),
    ]


def _unmatched(program: Program, given: Collection[str]) -> Iterator[str]:
    """Body predicates that no rule derives and no fact has."""
    if not given:  # facts are still to come
        return
    derived = {rule.head.predicate for rule in program.rules}
    asked = {part.predicate for rule in program.rules for part in _body(rule) if isinstance(part, Atom)}
    known = {*derived, *given, TRIPLE, EQUAL}
    missing = sorted(asked - known)
    if missing:
        yield f"no rule derives and no fact has {_listed(missing, known - {TRIPLE, EQUAL})}, which rules ask for"


def _unused(program: Program, given: Collection[str]) -> Iterator[str]:
    """Facts that no rule mentions."""
    mentioned = set(program_arities(Program(rules=program.rules)))
    unused = sorted(set(given) - mentioned - _EVERLOGS)
    if program.rules and unused:
        yield f"no rule mentions {_listed(unused, mentioned - set(given))}, of which there are facts"


def not_mentioned(program: Program, given: Collection[str]) -> list[str]:
    """A warning about predicates that facts come of for the first time, and that no rule mentions."""
    return list(_unused(program, given))


def goal_suspicions(literals: Iterable[BodyLiteral]) -> list[str]:
    """A warning about a goal whose names look as if variables were meant; beside variables only capital letters do."""
    terms = [term for literal in literals for part in parts(literal) for term in part.terms]
    pattern = _LETTER if any(isinstance(term, Variable) for term in terms) else _NAME
    named = sorted(name for name in _names(terms) if pattern.fullmatch(name))
    if not named:
        return []
    return [f"{_constant(named)} in this goal, since variables begin with a question mark: {_meant(named)}"]


def _constant(names: list[str]) -> str:
    return f"{_and(names)} {'is a constant' if len(names) == 1 else 'are constants'}"


def _meant(names: list[str]) -> str:
    return f"write ?{names[0]} if a variable is meant"


def _constants(program: Program) -> Iterator[str]:
    """Rules in which names without `?` stand where variables are meant; names look like variables if they are letters."""
    said = 0
    for rule in program.rules:
        body = [term for part in _body(rule) for term in part.terms]
        pattern = _NAME if all(isinstance(term, Constant) for term in (*rule.head.terms, *body)) else _LETTER
        shared = sorted(name for name in _names(rule.head.terms) & _names(body) if pattern.fullmatch(name))
        if shared and (said := said + 1) <= _SHOWN:
            yield (
                f"in `{print_rule(rule, program.prefixes)}` {_constant(shared)}, since variables begin with a question "
                f"mark: {_meant(shared)}"
            )


def _decided(program: Program) -> Iterator[str]:
    """A comparison of two constants."""
    for rule in program.rules:
        for part in _body(rule):
            if isinstance(part, Comparison) and all(isinstance(term, Constant) for term in part.terms):
                yield f"`{print_rule(rule, program.prefixes)}` compares two constants, whatever the facts are"
                return


def _each_with_each(program: Program) -> Iterator[str]:
    """A rule that compares the facts of two atoms, all with all, by an equality and nothing else that they share."""
    for rule in program.rules:
        groups: list[set[Variable]] = []
        for atom in rule.positive:
            mine = set(atom.variables())
            meeting = [group for group in groups if group & mine]
            groups = [*(group for group in groups if group not in meeting), mine.union(*meeting)]
        for comparison in rule.comparisons:
            ends = [next((n for n, group in enumerate(groups) if term in group), None) for term in comparison.terms]
            if comparison.operator == "=" and None not in ends and ends[0] != ends[1]:
                left, right = comparison.terms
                yield (
                    f"`{print_rule(rule, program.prefixes)}` compares each {left!r} with each {right!r} by value, which "
                    "takes long where there are many: write one variable for both if the same term is meant"
                )
                return


def _endless(program: Program) -> Iterator[str]:
    """A recursive rule that makes values out of those that it has made, where no condition looks at them."""
    above: dict[str, set[str]] = {}
    for rule in program.rules:
        for atom in rule.positive:
            above.setdefault(atom.predicate, set()).add(rule.head.predicate)
    kept = {(rule.head.predicate, rule.extreme.place) for rule in program.rules if rule.extreme is not None}
    for rule in program.rules:
        # Of a value that a head keeps the best of there is one for each group.
        terms = {term for place, term in enumerate(rule.head.terms) if (rule.head.predicate, place) not in kept}
        made = {one.result for one in rule.computations if one.result is not None and not _settles(one)} & terms
        given = {variable for atom in rule.positive for variable in atom.variables()}
        if not made - given or not _leads_to(rule.head.predicate, {atom.predicate for atom in rule.positive}, above):
            continue
        used = {variable for one in rule.computations for variable in one.variables()}
        filters = (one for one in rule.computations if one.result is None)
        tests: list[Test] = [*rule.comparisons, *filters]
        if not any(used & set(test.variables()) for test in tests):
            yield (
                f"`{print_rule(rule, program.prefixes)}` makes values out of those that it has made, and may never end: "
                "give it a condition, or set max_rounds or max_facts"
            )
            return


def _settles(computation: Computation) -> bool:
    """Whether a computation has nothing new to say of what it has made itself."""
    expression = computation.expression
    return isinstance(expression, Call) and expression.function in _SETTLING


def _leads_to(start: str, ends: set[str], above: Mapping[str, set[str]]) -> bool:
    """Whether what a predicate is used for reaches one of some predicates."""
    seen, waiting = set[str](), [start]
    while waiting:
        one = waiting.pop()
        if one in ends:
            return True
        if one not in seen:
            seen.add(one)
            waiting += above.get(one, ())
    return False


def _names(terms: Iterable[Term]) -> set[str]:
    return {term.value for term in terms if isinstance(term, Constant) and isinstance(term.value, str)}


def _body(rule: Rule) -> Iterator[Atom | Test]:
    return (part for literal in rule.body for part in parts(literal))


def nothing_to_delete(predicates: Iterable[str], known: Collection[str]) -> list[str]:
    """A warning about facts to be deleted of predicates that are not known."""
    unknown = sorted(predicate for predicate in predicates if predicate not in known)
    return [f"there are no facts of {_listed(unknown, known)} to delete"] if unknown else []


def none_deleted(count: int) -> str:
    """A warning about facts to be deleted of which none was there."""
    none = "the fact to delete is not" if count == 1 else f"none of the {count:,} facts to delete is"
    return f"{none} among the explicit facts; are the values of the same kinds, and spelled alike?"


def _listed(names: list[str], known: Collection[str]) -> str:
    """Names, each with the one that is nearest to it; of many the first."""
    shown = []
    for name in names[:_SHOWN]:
        near = nearest(name, known)
        shown.append(name if near is None else f"{name} (did you mean {near}?)")
    more = len(names) - _SHOWN
    return _and([*shown, f"{more:,} more predicates"] if more > 0 else shown)


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
