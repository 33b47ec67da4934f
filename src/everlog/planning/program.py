"""A program compiled for an engine: strata with their recursive and nonrecursive rules and their regions of facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.stratify import Stratum, stratify
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import Rule
from everlog.engine.algebra import Region, Rules
from everlog.planning.negation import rewrite_negation

Stratification = Literal["levels", "single"]

Compiler: TypeAlias = Callable[[Sequence[Rule]], Rules]
"""Compiles some rules for an engine; it is asked for several parts of one program."""


@dataclass(frozen=True)
class CompiledStratum:
    """`Π^s`, `Π_r^s` and `Π_nr^s`, and `Out^s`."""

    index: int
    rules: Rules
    recursive: Rules
    nonrecursive: Rules
    region: Region


def prepared(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules without equalities and with negated atoms only; those that can never fire, and second copies, are gone."""
    solved = (kept for rule in rules if (kept := eliminate_equalities(rule)) is not None)
    return rewrite_negation(list({canonical_rule(rule): rule for rule in solved}.values()))


def compile_program(
    rules: Sequence[Rule], compiled: Compiler, stratification: Stratification = "levels"
) -> tuple[CompiledStratum, ...]:
    """The strata of a program, lowest first."""
    strata = stratify(prepared(rules), mode=stratification)
    return tuple(
        CompiledStratum(
            stratum.index,
            compiled(stratum.rules),
            compiled(stratum.recursive),
            compiled(stratum.nonrecursive),
            _region(stratum, strata),
        )
        for stratum in strata
    )


def _region(stratum: Stratum, strata: Sequence[Stratum]) -> Region:
    """`Out^s`; the lowest stratum also has every fact that no atom of the program matches."""
    if stratum.index > 1:
        return Region(stratum.patterns)
    elsewhere = tuple(atom for other in strata if other.index > 1 for atom in other.patterns)
    return Region(stratum.patterns, rest=True, elsewhere=elsewhere)
