"""Which of the modules that were found are used, with `modules="auto"`: judged before anything is derived.

A module does with a few calls what rules do with many instances. It does not pay

* where each call finds little: a chain that takes one step along a lower relation at a time, and that other recursive rules
  feed in every round, is asked as often as the rules are;
* where there are so many modules, and so few facts, that the calls cost more than all instances there can be;
* where hardly any fact continues another one: then there is next to nothing to skip. For chains that is counted over all
  their relations together: where a fact is continued by half a fact or less on average, all paths are short, and there are
  hardly more of them than facts.

What is unknown is presumed to pay: a module costs little more than its rules do, and rules may cost everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from everlog.datalog.syntax import Atom
from everlog.planning.modules.chain_rules import relation_key
from everlog.planning.modules.module_rules import Module, relation_name

_MANY_MODULES: Final = 8
_FACTS_EACH: Final = 64
"""From so many modules on, there are to be so many explicit facts for each."""

_KNOWN: Final = 1_000
"""With fewer facts neither a module nor its rules take long."""

_CONTINUED: Final = 4
"""One fact in so many is to be continued by another one."""

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


class LeftOut(NamedTuple):
    """A module that was found and is not used."""

    module: Module
    why: str

    def described(self) -> dict[str, object]:
        names = [relation_name(atom) for atom in self.module.heads]
        return {"kind": self.module.kind, "predicates": names, "why": self.why}


def refusing(reasons: Mapping[tuple[str, tuple[Atom, ...]], str]) -> Verdicts:
    """Leaves out modules by their kind and heads, and no others."""
    return lambda modules: [reasons.get((module.kind, module.heads)) for module in modules]


def judged(
    modules: Sequence[Module], facts: int, continued: Continued | None = None, spread: Spread | None = None
) -> list[str | None]:
    """The verdicts on modules for a number of explicit facts."""
    if len(modules) >= _MANY_MODULES and facts < _FACTS_EACH * len(modules):
        return [f"{len(modules)} modules have too little to do with {facts:,} explicit facts"] * len(modules)
    short = _short(modules, spread) if spread else None
    return [
        _plodding(module) or (short if module.chains else _idle(module, continued) if continued else None)
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


def _idle(module: Module, continued: Continued) -> str | None:
    """The reason if hardly any fact of a transitive relation continues another one."""
    known = continued(module) if module.kind == "tc" and module.grounded else None
    if known is None or known.facts < _KNOWN or _CONTINUED * known.continued >= known.facts:
        return None
    return f"of {known.facts:,} facts only {known.continued:,} are continued by another one"


def _short(modules: Sequence[Module], spread: Spread) -> str | None:
    """The reason if all paths that chains could follow are short."""
    chains = [module for module in modules if module.chains is not None]
    known = spread(chains) if chains and all(module.grounded for module in chains) else None
    if known is None or _SHORT * known.continued > known.facts:
        return None
    return f"there are {known.continued:,} ways to continue one of {known.facts:,} facts by another, so all paths are short"
