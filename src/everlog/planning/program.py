"""A program compiled for an engine: strata with their recursive and nonrecursive rules and their regions of facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.stratify import Stratum, stratify
from everlog.datalog.substitution import canonical_rule, pattern
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Graphs, Region, Rules
from everlog.planning.jointree import JoinTree
from everlog.planning.modules import Module, Partition, partition, sequence
from everlog.planning.negation import rewrite_negation

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


def solved(rules: Sequence[Rule]) -> list[Rule]:
    """Rules without equalities; those that can never fire, and second copies, are gone."""
    found = (kept for rule in rules if (kept := eliminate_equalities(rule)) is not None)
    return list({canonical_rule(rule): rule for rule in found}.values())


def prepared(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The same with negated atoms only."""
    return rewrite_negation(solved(rules))


def compile_program(
    rules: Sequence[Rule],
    compiled: Compiler,
    stratification: Stratification = "levels",
    graphs: Graphs | None = None,
    decomposed: Decomposing | None = None,
) -> tuple[CompiledStratum, ...]:
    """The strata of a program, lowest first; with modules if it is given graphs for them, and decomposed rules."""
    plain = solved(rules)
    sequences: dict[Rule, Module] = {}
    if graphs is not None:
        found_in = {rule: sequence(rule, graphs.binary, graphs.unary) for rule in plain}
        sequences = {rule: module for rule, module in found_in.items() if module is not None}
    rewritten = rewrite_negation([rule for rule in plain if rule not in sequences])
    strata = stratify((*rewritten, *sequences), mode=stratification)
    found = []
    for stratum in strata:
        parts = Partition((), stratum.rules) if graphs is None else _partition(stratum, sequences, graphs)
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
            )
        )
    return tuple(found)


def _partition(stratum: Stratum, sequences: Mapping[Rule, Module], graphs: Graphs) -> Partition:
    """The modules of a stratum, and the other rules."""
    mine = {pattern(atom) for atom in stratum.patterns}
    found = partition(stratum.recursive, lambda atom: pattern(atom) in mine, graphs.binary, graphs.has_chains)
    modules = (*found.modules, *(sequences[rule] for rule in stratum.rules if rule in sequences))
    modular = {rule for module in modules for rule in module.rules}
    return Partition(modules, tuple(rule for rule in stratum.rules if rule not in modular))


def _trees(stratum: Stratum, rules: Sequence[Rule], decomposed: Decomposing) -> tuple[JoinTree, ...]:
    mine = {pattern(atom) for atom in stratum.patterns}
    found = (decomposed(rule, lambda atom: pattern(atom) in mine) for rule in rules)
    return tuple(tree for tree in found if tree is not None)


def _region(stratum: Stratum, strata: Sequence[Stratum]) -> Region:
    """`Out^s`; the lowest stratum also has every fact that no atom of the program matches."""
    if stratum.index > 1:
        return Region(stratum.patterns)
    elsewhere = tuple(atom for other in strata if other.index > 1 for atom in other.patterns)
    return Region(stratum.patterns, rest=True, elsewhere=elsewhere)
