"""Which of the modules that were found are used, with `modules="auto"`: judged before anything is derived.

A module does with a few calls what rules do with many instances. It does not pay

* where each call finds little: a chain that takes one step along a lower relation at a time, and that other recursive rules
  feed in every round, is asked as often as the rules are;
* where there are so many modules, and so few facts, that the calls cost more than all instances there can be;
* where the step of a linear rule is a join of far more matches than facts (`step_relations.py`): rules look for steps only
  from where they have come to;
* where hardly any fact continues another one: then there is next to nothing to skip. For chains that is counted over all
  their relations together: where a fact is continued by half a fact or less on average, all paths are short, and there are
  hardly more of them than facts.

What is unknown is presumed to pay: a module costs little more than its rules do, and rules may cost everything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from everlog.datalog.syntax import Rule
from everlog.planning.modules.chain_rules import relation_key
from everlog.planning.modules.module_rules import Identity, Module, relation_name
from everlog.planning.modules.step_relations import is_filter

_MANY_MODULES: Final = 8
_FACTS_EACH: Final = 64
"""From so many modules on, there are to be so many explicit facts for each."""

_KNOWN: Final = 1_000
"""With fewer facts neither a module nor its rules take long."""

_CONTINUED: Final = 4
"""One fact in so many is to be continued by another one."""

_WIDE: Final = 4
"""Steps are to be at most so many times the facts that they are joined of."""

_SHORT: Final = 2
"""Paths are short if there is at most one way to continue a fact for so many facts."""

LEFT_OUT_BEFORE: Final = "it was left out when everything was computed"
"""Why a state that was stored goes on without a module."""

Verdicts: TypeAlias = Callable[[Sequence[Module]], Sequence[str | None]]
"""For each of a program's modules why it is left out, or None if it is used."""


class PathCounts(NamedTuple):
    """The facts of a relation, and how many of them end where another one begins."""

    facts: int
    continued: int


Continued: TypeAlias = Callable[[Module], PathCounts | None]
"""What is known of the facts of a module's relation; None where other rules derive some."""


Spread: TypeAlias = Callable[[Sequence[Module]], PathCounts | None]
"""The facts of all relations that some chains are made of, and how many ways there are, in all, to continue one by another;
None where other rules derive some."""


Joined: TypeAlias = Callable[[Rule], PathCounts | None]
"""The facts that the rule of a relation of steps joins, and how many steps that is expected to give."""


class LeftOut(NamedTuple):
    """A module that was found and is not used."""

    module: Module
    why: str

    def described(self) -> dict[str, object]:
        names = [relation_name(atom) for atom in self.module.heads]
        return {"kind": self.module.kind, "predicates": names, "why": self.why}


def keeping(used: Collection[Identity], reasons: Mapping[Identity, str]) -> Verdicts:
    """Leaves out all modules but some; others than those that there are reasons for are of no use without those."""
    without = next(iter(reasons.values()), LEFT_OUT_BEFORE)
    return lambda modules: [
        None if module.identity in used else reasons.get(module.identity, without) for module in modules
    ]


def judged(
    modules: Sequence[Module],
    facts: int,
    continued: Continued | None = None,
    spread: Spread | None = None,
    joined: Joined | None = None,
) -> list[str | None]:
    """The verdicts on modules for a number of explicit facts."""
    if len(modules) >= _MANY_MODULES and facts < _FACTS_EACH * len(modules):
        return [f"{len(modules)} modules have too little to do with {facts:,} explicit facts"] * len(modules)
    short = _short(modules, spread) if spread else None
    return [
        _plodding(module)
        or _wide(module, joined)
        or (short if module.chains else _idle(module, continued) if continued else None)
        for module in modules
    ]


def _plodding(module: Module) -> str | None:
    """The reason if its rules take one step at a time and others feed it in every round."""
    plan = module.chains
    if plan is None or module.grounded:
        return None
    inside = set(map(relation_key, plan.letters_inside(True)))
    if any(sum(relation_key(atom) in inside for atom in rule.positive) != 1 for rule in module.rules):
        return None
    return "other recursive rules derive its facts, too, and each of its rules takes one step along lower relations"


def _wide(module: Module, joined: Joined | None) -> str | None:
    """The reason if the steps of a module are joins that are large, or of which nobody knows how large they are."""
    for definition in module.steps:
        if is_filter(definition):
            continue
        known = None if joined is None else joined(definition)
        if known is None:
            return "its steps are a join, and nobody knows how large it is"
        if known.continued > _WIDE * max(known.facts, _KNOWN):
            return f"its steps are a join of about {known.continued:,} matches of {known.facts:,} facts"
    return None


def _idle(module: Module, continued: Continued) -> str | None:
    """The reason if hardly any fact of a transitive relation continues another one."""
    known = continued(module) if module.kind == "tc" and module.grounded else None
    if known is None or known.facts < _KNOWN or _CONTINUED * known.continued >= known.facts:
        return None
    return f"of {known.facts:,} facts only {known.continued:,} are continued by another one"


def _short(modules: Sequence[Module], spread: Spread) -> str | None:
    """The reason if all paths that chains could follow are short."""
    chains = [module for module in modules if module.chains is not None]
    known = spread(chains) if chains and all(one.grounded and not one.steps for one in chains) else None
    if known is None or _SHORT * known.continued > known.facts:
        return None
    return f"there are {known.continued:,} ways to continue one of {known.facts:,} facts by another, so all paths are short"
