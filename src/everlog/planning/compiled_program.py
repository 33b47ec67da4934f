"""A program compiled for an engine: strata with their recursive and nonrecursive rules and their regions of facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.stratify import Stratum, stratify
from everlog.datalog.substitution import canonical_rule, pattern
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Graphs, Region, Rules
from everlog.planning.decomposition.join_tree import JoinTree
from everlog.planning.hidden_predicates import rewrite_negation
from everlog.planning.modules.module_choice import LeftOut, Verdicts
from everlog.planning.modules.module_rules import (
    KINDS,
    Module,
    Partition,
    meets,
    partition,
    sequence,
)

Stratification = Literal["levels", "single"]

Compiler: TypeAlias = Callable[[Sequence[Rule]], Rules]
"""Compiles some rules for an engine; it is asked for several parts of one program."""

Decomposing: TypeAlias = Callable[[Rule, Callable[[Atom], bool]], JoinTree | None]
"""The tree of a rule that is to be decomposed; it is told which atoms belong to the rule's stratum."""


@dataclass(frozen=True)
class CompiledStratum:
    """`Π^s`, `Π_r^s` and `Π_nr^s` without the rules of modules, `Out^s`, the modules, and the decomposed rules."""

    index: int
    rules: Rules
    recursive: Rules
    nonrecursive: Rules
    region: Region
    modules: tuple[Module, ...] = ()
    trees: tuple[JoinTree, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """Modules that were found and are not used; their rules are among the others."""


def solved(rules: Sequence[Rule]) -> list[Rule]:
    """Rules without equalities; those that can never fire, and second copies, are gone."""
    found = (kept for rule in rules if (kept := eliminate_equalities(rule)) is not None)
    return list({canonical_rule(rule): rule for rule in found}.values())


def prepared(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules without equalities, and with negated atoms instead of `NOT EXISTS`."""
    return rewrite_negation(solved(rules))


def compile_program(
    rules: Sequence[Rule],
    compiled: Compiler,
    stratification: Stratification = "levels",
    graphs: Graphs | None = None,
    decomposed: Decomposing | None = None,
    kinds: Collection[str] = KINDS,
    verdicts: Verdicts | None = None,
) -> tuple[CompiledStratum, ...]:
    """The strata of a program, lowest first; given graphs, with modules of some kinds, and with decomposed rules.

    Rules of a module that verdicts leave out are like others.
    """
    plain = solved(rules)
    sequences: dict[Rule, Module] = {}
    if graphs is not None and "seq" in kinds:
        sequences = _sequences(plain)
    rewritten = rewrite_negation([rule for rule in plain if rule not in sequences])
    strata = stratify((*rewritten, *sequences), mode=stratification)
    modules = [[] if graphs is None else _modules(stratum, sequences, kinds) for stratum in strata]
    every = [module for some in modules for module in some]
    reasons = iter([None] * len(every) if verdicts is None else verdicts(every))
    found = []
    for stratum, some in zip(strata, modules, strict=True):
        said = [(module, next(reasons)) for module in some]
        parts = _partition(stratum, [module for module, why in said if why is None])
        trees = () if decomposed is None else _trees(stratum, parts.generic, decomposed)
        taken = {tree.rule for tree in trees}
        rules = [rule for rule in parts.generic if rule not in taken]
        generic = set(rules)
        found.append(
            CompiledStratum(
                stratum.index,
                compiled(rules),
                compiled([rule for rule in stratum.recursive if rule in generic]),
                compiled([rule for rule in stratum.nonrecursive if rule in generic]),
                _region(stratum, strata),
                parts.modules,
                trees,
                tuple(LeftOut(module, why) for module, why in said if why is not None),
            )
        )
    return tuple(found)


def found_modules(
    rules: Sequence[Rule], stratification: Stratification = "levels", kinds: Collection[str] = KINDS
) -> list[Module]:
    """The modules that a program has by its rules alone, whatever engine and facts it gets."""
    plain = solved(rules)
    sequences = _sequences(plain) if "seq" in kinds else {}
    strata = stratify(
        (*rewrite_negation([rule for rule in plain if rule not in sequences]), *sequences), mode=stratification
    )
    return [module for stratum in strata for module in _modules(stratum, sequences, kinds)]


def _sequences(rules: Sequence[Rule]) -> dict[Rule, Module]:
    """The modules of sequencing rules, by their rule."""
    return {rule: module for rule in rules if (module := sequence(rule)) is not None}


def _modules(stratum: Stratum, sequences: Mapping[Rule, Module], kinds: Collection[str]) -> list[Module]:
    """The modules of a stratum."""
    return [*partition(stratum.recursive, _inside(stratum), kinds).modules, *_beside(stratum, sequences)]


def _partition(stratum: Stratum, modules: Sequence[Module]) -> Partition:
    """The partition of a stratum into the modules that are used and the rules that are in none of these."""
    modular = {rule for module in modules for rule in module.rules}
    return Partition(tuple(modules), tuple(rule for rule in stratum.rules if rule not in modular))


def _beside(stratum: Stratum, sequences: Mapping[Rule, Module]) -> Iterator[Module]:
    """The sequences of a stratum; recursive rules may derive more of their facts."""
    for rule in stratum.rules:
        if rule in sequences:
            fed = any(meets(other.head, rule.head) for other in stratum.recursive)
            yield replace(sequences[rule], grounded=not fed)


def _inside(stratum: Stratum) -> Callable[[Atom], bool]:
    """Whether an atom belongs to a stratum."""
    mine = {pattern(atom) for atom in stratum.patterns}
    return lambda atom: pattern(atom) in mine


def _trees(stratum: Stratum, rules: Sequence[Rule], decomposed: Decomposing) -> tuple[JoinTree, ...]:
    inside = _inside(stratum)
    found = (decomposed(rule, inside) for rule in rules)
    return tuple(tree for tree in found if tree is not None)


def _region(stratum: Stratum, strata: Sequence[Stratum]) -> Region:
    """`Out^s`; the lowest stratum also has every fact that no atom of the program matches."""
    if stratum.index > 1:
        return Region(stratum.patterns)
    elsewhere = tuple(atom for other in strata if other.index > 1 for atom in other.patterns)
    return Region(stratum.patterns, rest=True, elsewhere=elsewhere)
