"""The constants of rules, and the rules about other names for them: what the classes of both engines rewrite rules by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everlog.datalog.constants import Replacement, constants, replaced
from everlog.datalog.syntax import Constant, Rule

Encoding = Callable[[Sequence[Constant]], Sequence[int]]
"""The ids of some constants."""


class Vocabularies:
    """The vocabularies of the rules that were asked about, for all classes of an engine."""

    def __init__(self, encode: Encoding) -> None:
        self._encode = encode
        self._known: dict[int, Vocabulary] = {}

    def of(self, rules: tuple[Rule, ...]) -> Vocabulary:
        known = self._known.get(id(rules))
        if known is None:  # it has the rules, so that no others get their place
            known = self._known[id(rules)] = Vocabulary(rules, self._encode)
        return known


class Vocabulary:
    """The constants of some rules, as ids, and the rules with others in their place that were made last."""

    def __init__(self, rules: tuple[Rule, ...], encode: Encoding) -> None:
        self._rules = rules
        mentioned = [list(constants([rule])) for rule in rules]
        distinct = list(dict.fromkeys(one for some in mentioned for one in some))
        self.ids = list(encode(distinct))
        ids = dict(zip(distinct, self.ids, strict=True))
        self._ids = [{ids[one] for one in some} for some in mentioned]
        self._made: tuple[Sequence[int], tuple[Rule, ...]] = (self.ids, rules)

    def rewritten(self, names: Sequence[int], other: Replacement) -> tuple[Rule, ...]:
        """The rules with other names for the constants; the same tuple as before, if the names are the same."""
        if names == self.ids:
            return self._rules
        if self._made[0] != names:
            renamed = {id for id, name in zip(self.ids, names, strict=True) if id != name}
            found = (
                rule if ids.isdisjoint(renamed) else replaced(rule, other)
                for rule, ids in zip(self._rules, self._ids, strict=True)
            )
            self._made = names, tuple(found)
        return self._made[1]
