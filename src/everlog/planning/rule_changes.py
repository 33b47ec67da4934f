"""Compiled programs whose rules change: what differs between two, and strata with rules that come or go apart from others.

Rules go before others come. While they go, strata are those of the old program, and while they come those of the new one;
in both the rules that stay are in their places, and the others beside them (`gone` and `come` of `CompiledStratum`). A
module or a decomposition that loses or gets a rule is *open* then: its rules are rules like others. What was decided about
modules and decompositions of rules that stay is not decided again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Rules
from everlog.planning.compiled_program import (
    CompiledMinima,
    CompiledStratum,
    Compiler,
    Decomposing,
    RuleParts,
)
from everlog.planning.decomposition.join_tree import JoinTree
from everlog.planning.modules.module_choice import Verdicts
from everlog.planning.modules.module_rules import Identity, Module

_NO_RULES: Final[frozenset[Rule]] = frozenset()

Planned = Module | JoinTree
"""What is evaluated as a whole."""


class RuleChange(NamedTuple):
    """The rules, as they are compiled, that leave a program, and those that come to it."""

    gone: frozenset[Rule] = _NO_RULES
    come: frozenset[Rule] = _NO_RULES

    @classmethod
    def between(cls, old: Set[Rule], new: Set[Rule]) -> RuleChange:
        return cls(frozenset(old - new), frozenset(new - old))

    def but_for(self, exchanged: Mapping[Rule, Rule]) -> RuleChange:
        """The change without rules that go and others that come for them."""
        pairs = [(one, other) for one, other in exchanged.items() if one in self.gone and other in self.come]
        return RuleChange(self.gone.difference(one for one, _ in pairs), self.come.difference(two for _, two in pairs))


def every_rule(strata: Sequence[CompiledStratum]) -> Iterator[Rule]:
    """All rules of a compiled program, whoever evaluates them."""
    for stratum in strata:
        yield from stratum.rules.rules
        yield from stratum.groupings
        for planned in planned_in(stratum):
            yield from rules_of(planned)
        if stratum.minima is not None:
            yield from stratum.minima.choices
            yield from stratum.minima.rules.rules


def planned_in(stratum: CompiledStratum) -> tuple[Planned, ...]:
    """What a stratum evaluates as a whole."""
    return (*stratum.modules, *stratum.trees)


def rules_of(planned: Planned) -> tuple[Rule, ...]:
    """The rules that are evaluated as a whole."""
    return (planned.rule,) if isinstance(planned, JoinTree) else planned.rules


def losing(
    strata: Sequence[CompiledStratum], gone: Set[Rule], compiled: Compiler
) -> tuple[tuple[CompiledStratum, ...], list[Planned]]:
    """Strata of a program with the rules that leave it apart, and what is open for that."""

    def is_open(planned: Planned) -> bool:
        return not gone.isdisjoint(rules_of(planned))

    found = []
    for stratum in strata:
        stay, apart = _parted(stratum, gone, is_open, compiled)
        if stratum.minima is not None and concerns(stratum.minima, gone):
            stay = replace(stay, minima=_reduced(stratum.minima, gone, compiled))
        found.append(stay if apart is None else replace(stay, gone=apart))
    return tuple(found), _planned(strata, is_open)


def gaining(
    strata: Sequence[CompiledStratum], come: Set[Rule], compiled: Compiler, is_new: Callable[[Planned], bool]
) -> tuple[tuple[CompiledStratum, ...], list[Planned]]:
    """Strata of a program with the rules that come to it apart; what is new is open, and given, too."""
    found = []
    for stratum in strata:
        stay, apart = _parted(stratum, come, is_new, compiled)
        found.append(stay if apart is None else replace(stay, come=apart))
    return tuple(found), _planned(strata, is_new)


def _planned(strata: Sequence[CompiledStratum], wanted: Callable[[Planned], bool]) -> list[Planned]:
    return [one for stratum in strata for one in planned_in(stratum) if wanted(one)]


def _parted(
    stratum: CompiledStratum, changed: Set[Rule], is_open: Callable[[Planned], bool], compiled: Compiler
) -> tuple[CompiledStratum, RuleParts | None]:
    """A stratum with the rules that stay, where some of its modules are open, and the other rules."""
    opened = [one for one in planned_in(stratum) if is_open(one)]
    if not opened and changed.isdisjoint(stratum.rules.rules):
        return stratum, None
    recursive, nonrecursive = list(stratum.recursive.rules), list(stratum.nonrecursive.rules)
    for planned in opened:
        is_recursive = planned.recursive if isinstance(planned, JoinTree) else True
        (recursive if is_recursive else nonrecursive).extend(rules_of(planned))

    def divided(rules: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
        return [rule for rule in rules if rule not in changed], [rule for rule in rules if rule in changed]

    (recursive, moved), (nonrecursive, moved_nonrecursive) = divided(recursive), divided(nonrecursive)
    stay = replace(
        stratum,
        rules=compiled([*nonrecursive, *recursive]),
        recursive=compiled(recursive),
        nonrecursive=compiled(nonrecursive),
        modules=tuple(one for one in stratum.modules if not is_open(one)),
        trees=tuple(one for one in stratum.trees if not is_open(one)),
    )
    return stay, RuleParts(compiled(moved), compiled(moved_nonrecursive))


def concerns(minima: CompiledMinima, changed: Set[Rule]) -> bool:
    """Whether some rules are among those that choose, or that depend on each other through a choice."""
    return not changed.isdisjoint((*minima.choices, *minima.rules.rules))


def same_minima(one: CompiledMinima, other: CompiledMinima) -> bool:
    """Whether two are made of the same rules."""
    parts = ((minima.choices, minima.region, *minima.rules.rules) for minima in (one, other))
    return len(set(parts)) == 1


def _reduced(minima: CompiledMinima, gone: Set[Rule], compiled: Compiler) -> CompiledMinima:
    def left(rules: Rules) -> Rules:
        return compiled([rule for rule in rules.rules if rule not in gone])

    choices = tuple(rule for rule in minima.choices if rule not in gone)
    return CompiledMinima(choices, left(minima.rules), left(minima.recursive), left(minima.nonrecursive), minima.region)


# ------------------------------------------------------------------------------------ what is decided already


def decided_verdicts(
    used: Collection[Identity], left_out: Mapping[Identity, str], verdicts: Verdicts | None
) -> Verdicts:
    """Verdicts as they were on modules that were used or left out, and as somebody else says on others."""

    def decided(modules: Sequence[Module]) -> list[str | None]:
        others = [one for one in modules if one.identity not in used and one.identity not in left_out]
        said = iter(verdicts(others) if others and verdicts is not None else [None] * len(others))
        unknown: dict[Identity, str | None] = {one.identity: next(said) for one in others}
        return [{**left_out, **unknown}.get(one.identity) for one in modules]

    return decided


def decided_trees(strata: Sequence[CompiledStratum], decomposing: Decomposing) -> Decomposing:
    """The decompositions that rules of some strata have, or none, and what somebody else says of other rules."""
    trees = {tree.rule: (tree, stratum) for stratum in strata for tree in stratum.trees}

    @cache
    def known() -> frozenset[Rule]:
        return frozenset(rule for stratum in strata for rule in stratum.rules.rules)

    def decided(rule: Rule, inside: Callable[[Atom], bool]) -> JoinTree | None:
        if rule in trees:
            tree, stratum = trees[rule]
            mine = set(map(pattern, stratum.region.patterns))
            if all(inside(atom) == (pattern(atom) in mine) for atom in rule.positive):
                return tree
        return None if rule in known() else decomposing(rule, inside)

    return decided
