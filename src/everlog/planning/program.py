"""A program compiled for an engine: strata with their recursive and nonrecursive rules and their regions of facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.stratify import Stratum, stratify
from everlog.datalog.substitution import canonical_rule, pattern
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Region, Rules
from everlog.planning.modules import Module, Partition, partition
from everlog.planning.negation import rewrite_negation

Stratification = Literal["levels", "single"]

Compiler: TypeAlias = Callable[[Sequence[Rule]], Rules]
"""Compiles some rules for an engine; it is asked for several parts of one program."""


@dataclass(frozen=True)
class CompiledStratum:
    """`Π^s`, `Π_r^s` and `Π_nr^s` without the rules of modules, `Out^s`, and the modules."""

    index: int
    rules: Rules
    recursive: Rules
    nonrecursive: Rules
    region: Region
    modules: tuple[Module, ...] = ()


def prepared(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules without equalities and with negated atoms only; those that can never fire, and second copies, are gone."""
    solved = (kept for rule in rules if (kept := eliminate_equalities(rule)) is not None)
    return rewrite_negation(list({canonical_rule(rule): rule for rule in solved}.values()))


def compile_program(
    rules: Sequence[Rule],
    compiled: Compiler,
    stratification: Stratification = "levels",
    binary: Callable[[Atom], bool] | None = None,
) -> tuple[CompiledStratum, ...]:
    """The strata of a program, lowest first; with modules if it is told which atoms can be edges of a graph."""
    strata = stratify(prepared(rules), mode=stratification)
    found = []
    for stratum in strata:
        parts = Partition((), stratum.rules) if binary is None else _partition(stratum, binary)
        generic = set(parts.generic)
        found.append(
            CompiledStratum(
                stratum.index,
                compiled(parts.generic),
                compiled([rule for rule in stratum.recursive if rule in generic]),
                compiled(stratum.nonrecursive),
                _region(stratum, strata),
                parts.modules,
            )
        )
    return tuple(found)


def _partition(stratum: Stratum, binary: Callable[[Atom], bool]) -> Partition:
    """The modules of a stratum; a rule of one is recursive."""
    mine = {pattern(atom) for atom in stratum.patterns}
    found = partition(stratum.recursive, lambda atom: pattern(atom) in mine, binary)
    modular = {rule for module in found.modules for rule in module.rules}
    return Partition(found.modules, tuple(rule for rule in stratum.rules if rule not in modular))


def _region(stratum: Stratum, strata: Sequence[Stratum]) -> Region:
    """`Out^s`; the lowest stratum also has every fact that no atom of the program matches."""
    if stratum.index > 1:
        return Region(stratum.patterns)
    elsewhere = tuple(atom for other in strata if other.index > 1 for atom in other.patterns)
    return Region(stratum.patterns, rest=True, elsewhere=elsewhere)
