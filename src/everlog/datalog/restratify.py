"""The strata of a program that differs by a few rules from one whose strata are known.

Only what the rules that come or go depend on, and what they derive, is looked at, as long as nothing moves:

* all patterns of atoms are those of other rules, too, so that the same atoms share a stratum as before;
* a rule that comes depends on what is below its head, or is of one component with it already;
* a rule that goes leaves the component of its head connected, and as high as it was: another rule derives something of the
  component from the stratum just below.

Otherwise, and where strata are not levels, everything is stratified again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import compress
from typing import Final, NamedTuple

from everlog.datalog.extremes import is_choice
from everlog.datalog.stratify import Mode, Node, Stratified, Stratum, patterns_of, stratified
from everlog.datalog.syntax import Rule

_FEW: Final = 64
"""So many rules are few."""

_REMEMBERED: Final = 8
"""Of so many programs the strata are remembered: planning asks for those of several forms of one."""


class _Ties(NamedTuple):
    """What holds strata where they are. All counts are of rules."""

    uses: Counter[Node]
    """How often a pattern occurs."""
    inner: Counter[tuple[int, int]]
    """How often one class of atoms depends on another one of its component."""
    support: Counter[int]
    """How often a component depends on what is in the stratum just below it."""


class _Known(NamedTuple):
    """A program, its strata, and what holds these."""

    rules: tuple[Rule, ...]
    members: frozenset[Rule]
    found: Stratified
    ties: _Ties

    @classmethod
    def of(cls, rules: tuple[Rule, ...], found: Stratified) -> _Known:
        known = cls(rules, frozenset(rules), found, _Ties(Counter(), Counter(), Counter()))
        for rule in rules:
            known._tie(known.ties, rule, 1)
        return known

    def changed(self, rules: tuple[Rule, ...], members: frozenset[Rule]) -> _Known | None:
        """The same for other rules, if these are few and nothing moves for them."""
        if len(rules) != len(members) or abs(len(rules) - len(self.rules)) > _FEW:
            return None
        gone, come = self.members - members, members - self.members
        if len(gone) + len(come) > _FEW:
            return None
        if any(stratum.choosing for stratum in self.found.strata) or any(map(is_choice, come)):
            return None
        if not all(map(self._fits, come)):
            return None
        ties = _Ties(self.ties.uses.copy(), self.ties.inner.copy(), self.ties.support.copy())
        for rule in come:
            self._tie(ties, rule, 1)
        for rule in gone:
            self._tie(ties, rule, -1)
        if not all(map(bool, self._needed(ties, gone))):
            return None
        return _Known(rules, members, self.found._replace(strata=tuple(self._strata(rules, gone, come))), ties)

    def _tie(self, ties: _Ties, rule: Rule, number: int) -> None:
        """Counts a rule so often."""
        _, class_of, component_of, level_of = self.found
        (node, _, _), *body = patterns_of(rule)
        head = class_of[node]
        ties.uses[node] += number
        for node, _, _ in body:
            source = class_of[node]
            ties.uses[node] += number
            if component_of[source] == component_of[head]:
                ties.inner[source, head] += number
            elif level_of[source] + 1 == level_of[head]:
                ties.support[component_of[head]] += number

    def _fits(self, rule: Rule) -> bool:
        """Whether a rule that comes moves nothing."""
        _, class_of, component_of, level_of = self.found
        (node, _, _), *body = patterns_of(rule)
        if node not in class_of or any(other not in class_of for other, _, _ in body):
            return False
        head = class_of[node]
        return all(
            not negative if component_of[source] == component_of[head] else level_of[source] < level_of[head]
            for source, negative in ((class_of[other], negative) for other, _, negative in body)
        )

    def _needed(self, ties: _Ties, gone: Iterable[Rule]) -> Iterator[int]:
        """What has to be left when rules have gone."""
        _, class_of, component_of, level_of = self.found
        for rule in gone:
            (node, _, _), *body = patterns_of(rule)
            head = class_of[node]
            yield ties.uses[node]
            if level_of[head] > 1:
                yield ties.support[component_of[head]]
            for node, _, _ in body:
                source = class_of[node]
                yield ties.uses[node]
                if component_of[source] == component_of[head] and source != head:
                    yield ties.inner[source, head]

    def _strata(self, rules: tuple[Rule, ...], gone: frozenset[Rule], come: frozenset[Rule]) -> Iterator[Stratum]:
        _, class_of, component_of, level_of = self.found
        turning = set[Rule]()
        touched = dict[int, tuple[set[Rule], set[Rule]]]()
        for stratum in self.found.strata if _without(self.rules, gone) != _without(rules, come) else ():
            touched[stratum.index] = set(), set()  # where rules have another order
        for changed, sign in ((gone, 0), (come, 1)):
            for rule in changed:
                (node, _, _), *body = patterns_of(rule)
                head = class_of[node]
                touched.setdefault(level_of[head], (set(), set()))[sign].add(rule)
                if any(not negative and component_of[class_of[one]] == component_of[head] for one, _, negative in body):
                    turning.add(rule)
        strata = {one.index: one for one in self.found.strata if one.index in touched}
        home = {rule: one.index for one in strata.values() for rule in one.rules if rule not in touched[one.index][0]}
        home |= {rule: index for index, (_, new) in touched.items() for rule in new}
        turning.update(rule for one in strata.values() for rule in one.recursive)
        ordered: dict[int, list[Rule]] = {index: [] for index in strata}
        for rule in rules:
            if (index := home.get(rule)) is not None:
                ordered[index].append(rule)
        for stratum in self.found.strata:
            if stratum.index not in touched:
                yield stratum
                continue
            mine = ordered[stratum.index]
            recursive = [rule in turning for rule in mine]
            yield replace(
                stratum,
                rules=tuple(mine),
                recursive=tuple(compress(mine, recursive)),
                nonrecursive=tuple([rule for rule, again in zip(mine, recursive, strict=True) if not again]),
            )


_LATELY: Final[deque[_Known]] = deque(maxlen=_REMEMBERED)


def restratified(rules: tuple[Rule, ...], mode: Mode, apart: Callable[[Rule], bool]) -> tuple[Stratum, ...]:
    """As `stratify`, and faster if a program like this one was asked for lately."""
    if mode != "levels":
        return stratified(rules, mode, apart).strata
    lately = tuple(_LATELY)[::-1]
    for known in lately:
        if known.rules == rules:
            return known.found.strata
    members = frozenset(rules)
    for known in lately:
        if (after := known.changed(rules, members)) is not None:
            break
    else:
        after = _Known.of(rules, stratified(rules, mode, apart))
    _LATELY.append(after)
    return after.found.strata


def _without(rules: tuple[Rule, ...], others: frozenset[Rule]) -> tuple[Rule, ...]:
    return tuple([rule for rule in rules if rule not in others]) if others else rules
