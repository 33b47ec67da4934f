"""A program compiled for an engine: strata with their recursive and nonrecursive rules and their regions of facts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from everlog.datalog.equalities import eliminate_equalities
from everlog.datalog.extremes import CANDIDATES, is_choice
from everlog.datalog.restratify import restratified
from everlog.datalog.stratify import Stratum
from everlog.datalog.substitution import REMEMBERED, canonical_rule, pattern
from everlog.datalog.syntax import HIDDEN, Atom, Rule
from everlog.engine.algebra import Region, Rules
from everlog.planning.aggregates import is_grouping, rewrite_aggregates
from everlog.planning.candidates import check_minima, rewrite_minima
from everlog.planning.decomposition.join_tree import JoinTree
from everlog.planning.hidden_predicates import STEPS, rewrite_negation
from everlog.planning.modules.module_choice import LeftOut, Verdicts
from everlog.planning.modules.module_rules import KINDS, Module, meets, modules_of, sequence
from everlog.planning.modules.step_relations import Stepped, along_steps, steps_of

_STRATA: Final = 256
"""So many strata are remembered: most are as they were when a rule comes or goes."""

Stratification = Literal["levels", "single"]

Compiler: TypeAlias = Callable[[Sequence[Rule]], Rules]
"""Compiles some rules for an engine; it is asked for several parts of one program."""

Decomposing: TypeAlias = Callable[[Rule, Callable[[Atom], bool]], JoinTree | None]
"""The tree of a rule that is to be decomposed; it is told which atoms belong to the rule's stratum."""


@dataclass(frozen=True)
class CompiledMinima:
    """Rules that depend on each other through minima and maxima: those that choose, the others, and what they derive."""

    choices: tuple[Rule, ...]
    rules: Rules
    recursive: Rules
    nonrecursive: Rules
    region: Region


class RuleParts(NamedTuple):
    """Some rules of a stratum: those that are recursive, and the others."""

    recursive: Rules
    nonrecursive: Rules


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
    groupings: tuple[Rule, ...] = ()
    """Rules about groups of facts below the stratum (`aggregates.py`)."""
    minima: CompiledMinima | None = None
    """Rules that choose the best facts of groups, with all that depend on each other through them."""
    gone: RuleParts | None = None
    come: RuleParts | None = None
    """Rules that leave the program with an update, or come to it; the others are those that stay (`rule_changes.py`)."""
    source: Stratum | None = None
    """What it was compiled of."""


def _without(rules: Sequence[Rule], others: Sequence[Rule]) -> list[Rule]:
    if not others:
        return list(rules)
    left = set(rules).difference(others)
    return [rule for rule in rules if rule in left]


def solved(rules: Sequence[Rule]) -> list[Rule]:
    """Rules without aggregates, minima in heads, and equalities; those that can never fire, and second copies, are gone."""
    extremes = check_minima(rules)
    plain = rewrite_minima(rewrite_aggregates(rules), extremes)
    return list(dict(kept for rule in plain if (kept := _kept(rule)) is not None).values())


@lru_cache(REMEMBERED)
def _kept(rule: Rule) -> tuple[Rule, Rule] | None:
    """A rule without equalities, with what it shares with its copies; None if it can never fire."""
    kept = eliminate_equalities(rule)
    return None if kept is None else (canonical_rule(kept), kept)


def prepared(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules without equalities, and with negated atoms instead of `NOT EXISTS`."""
    return rewrite_negation(solved(rules))


def compile_program(
    rules: Sequence[Rule],
    compiled: Compiler,
    stratification: Stratification = "levels",
    kinds: Collection[str] = (),
    decomposed: Decomposing | None = None,
    verdicts: Verdicts | None = None,
    earlier: Sequence[CompiledStratum] = (),
) -> tuple[CompiledStratum, ...]:
    """The strata of a program, lowest first, with modules of some kinds and with decomposed rules.

    Rules of a module that verdicts leave out are like others. A stratum that there was `earlier` is not compiled again.
    """
    plan = _planned(rules, stratification, kinds, verdicts, earlier)
    strata = plan.strata
    found = []
    for stratum, same, said in zip(strata, plan.again, plan.said, strict=True):
        if same is not None:
            region = _region(stratum, strata) if stratum.index == 1 or same.region.rest else same.region
            found.append(replace(same, index=stratum.index, region=region, source=stratum))
            continue
        inside = _inside(stratum)
        taken_back = (one for one in plan.taken_back if inside(one.module.atom))
        used = tuple(module for module, why in said if why is None)
        modular = {rule for module in used for rule in module.rules}
        apart = {*modular, *stratum.choosing, *filter(is_grouping, stratum.rules)}
        generic = [rule for rule in stratum.rules if rule not in apart]
        trees = () if decomposed is None else _trees(stratum, generic, decomposed)
        left = set(generic) - {tree.rule for tree in trees}
        found.append(
            CompiledStratum(
                stratum.index,
                compiled([rule for rule in stratum.rules if rule in left]),
                compiled([rule for rule in stratum.recursive if rule in left]),
                compiled([rule for rule in stratum.nonrecursive if rule in left]),
                _region(stratum, strata),
                used,
                trees,
                (*(LeftOut(module, why) for module, why in said if why is not None), *taken_back),
                tuple(filter(is_grouping, stratum.rules)),
                _minima(stratum, compiled) if stratum.choosing else None,
                source=stratum,
            )
        )
    return tuple(found)


def _same(stratum: Stratum, compiled: CompiledStratum | None) -> CompiledStratum | None:
    """A compiled stratum with the same rules, if it has them for the same atoms."""
    if compiled is None or compiled.source is None:
        return None
    now, then = stratum, compiled.source
    if (now.recursive, now.choosing) != (then.recursive, then.choosing):
        return None
    same = _same_atoms(now.patterns, then.patterns) and _same_atoms(now.chosen, then.chosen)
    return compiled if same else None


def _same_atoms(some: Sequence[Atom], others: Sequence[Atom]) -> bool:
    """Whether atoms are the same up to their order and the names of variables."""
    return some == others or set(map(pattern, some)) == set(map(pattern, others))


def found_modules(
    rules: Sequence[Rule], stratification: Stratification = "levels", kinds: Collection[str] = KINDS, steps: bool = True
) -> list[Module]:
    """The modules that a program has by its rules alone, whatever engine and facts it gets; perhaps without such whose
    rules step along hidden relations."""
    plan = _planned(rules, stratification, kinds, None if steps else _without_steps)
    return [module for said in plan.said for module, why in said if why is None]


def _without_steps(modules: Sequence[Module]) -> list[str | None]:
    return ["steps are hidden" if module.steps else None for module in modules]


def stratified(
    rules: Sequence[Rule], stratification: Stratification, kinds: Collection[str]
) -> tuple[Sequence[Stratum], list[list[Module]]]:
    """The strata of a program by its rules alone, lowest first, and the modules of each."""
    plan = _planned(rules, stratification, kinds)
    return plan.strata, [[module for module, _ in said] for said in plan.said]


class _Plan(NamedTuple):
    """The strata of a program, those that are as they were before, and modules of others, with why they are left out."""

    strata: Sequence[Stratum]
    again: list[CompiledStratum | None]
    said: list[list[tuple[Module, str | None]]]
    taken_back: list[LeftOut]
    """Modules that are left out, whose rules are as they were written, and do not step along hidden relations."""


def _planned(
    rules: Sequence[Rule],
    stratification: Stratification,
    kinds: Collection[str],
    verdicts: Verdicts | None = None,
    earlier: Sequence[CompiledStratum] = (),
) -> _Plan:
    """The strata of a program with its modules. Rules step along hidden relations only where a module uses these."""
    plain = solved(rules)
    negative = [rule for rule in plain if "seq" in kinds and rule.negative]
    sequences = {rule: module for rule in negative if (module := sequence(rule)) is not None}
    rewritten = rewrite_negation([rule for rule in plain if rule not in sequences])
    known = {one.source.rules: one for one in earlier if one.source is not None}

    def strata_of(others: Sequence[Rule]) -> Sequence[Stratum]:
        return restratified((*others, *sequences), stratification, is_grouping)

    as_written = strata_of(rewritten)
    steps: dict[Rule, Stepped] = {}
    if not {"reach", "rch"}.isdisjoint(kinds):
        for stratum in as_written:
            steps |= _steps(stratum.recursive, stratum.choosing, stratum.patterns)
    taken_back: list[LeftOut] = []
    while True:
        strata = strata_of(along_steps(rewritten, steps)) if steps else as_written
        again = [_same(stratum, known.get(stratum.rules)) for stratum in strata]
        hidden = {one.head.predicate: one for some in strata for one in some.rules if _is_hidden(one)} if steps else {}
        modules = [
            [] if same is not None else _modules(stratum, sequences, kinds, hidden)
            for stratum, same in zip(strata, again, strict=True)
        ]
        every = [module for some in modules for module in some]
        reasons = iter([None] * len(every) if verdicts is None else verdicts(every))
        said = [[(module, next(reasons)) for module in some] for some in modules]
        used = {rule for some in said for module, why in some if why is None for rule in module.rules}
        used.update(rule for same in again if same is not None for module in same.modules for rule in module.rules)
        idle = {one.rule for one in steps.values()} - used
        if not idle:
            return _Plan(strata, again, said, taken_back)
        left = (LeftOut(module, why) for some in said for module, why in some if why is not None)
        taken_back += (one for one in left if not idle.isdisjoint(one.module.rules))
        steps = {rule: one for rule, one in steps.items() if one.rule not in idle}


@lru_cache(_STRATA)
def _steps(
    recursive: tuple[Rule, ...], choosing: tuple[Rule, ...], patterns: tuple[Atom, ...]
) -> Mapping[Rule, Stepped]:
    """What recursive rules of a stratum with some patterns become that may go along relations of steps."""
    return steps_of(_without(recursive, choosing), _among(patterns))


def _is_hidden(rule: Rule) -> bool:
    return rule.head.predicate.startswith(HIDDEN)


def _modules(
    stratum: Stratum, sequences: Mapping[Rule, Module], kinds: Collection[str], hidden: Mapping[str, Rule]
) -> list[Module]:
    """The modules of a stratum; some relations that rules step along may be hidden."""
    recursive = _without(stratum.recursive, stratum.choosing)
    found = modules_of(recursive, _inside(stratum), kinds)
    return [*(_with_hidden(module, hidden) for module in found), *_beside(stratum, sequences)]


def _with_hidden(module: Module, hidden: Mapping[str, Rule]) -> Module:
    """A module with the rules of the hidden relations that it steps along, and of those that they negate."""
    steps = (hidden[atom.predicate] for rule in module.rules for atom in rule.positive if atom.predicate in hidden)
    own = tuple(dict.fromkeys(one for one in steps if one.head.predicate.startswith(STEPS)))
    negated = (atom.predicate for rule in own for negation in rule.negative for atom in negation.atoms)
    return replace(module, hidden=(*own, *(hidden[name] for name in negated if name in hidden))) if own else module


def _minima(stratum: Stratum, compiled: Compiler) -> CompiledMinima:
    choices = tuple(filter(is_choice, stratum.choosing))
    others = _without(stratum.choosing, choices)
    recursive = [rule for rule in stratum.recursive if rule in set(others)]
    return CompiledMinima(
        choices,
        compiled(others),
        compiled(recursive),
        compiled(_without(others, recursive)),
        Region(tuple(atom for atom in stratum.chosen if not atom.predicate.startswith(CANDIDATES))),
    )


def _beside(stratum: Stratum, sequences: Mapping[Rule, Module]) -> Iterator[Module]:
    """The sequences of a stratum; recursive rules may derive more of their facts."""
    for rule in stratum.rules:
        if rule in sequences:
            fed = any(meets(other.head, rule.head) for other in stratum.recursive)
            yield replace(sequences[rule], grounded=not fed)


def _inside(stratum: Stratum) -> Callable[[Atom], bool]:
    """Whether an atom belongs to a stratum."""
    return _among(stratum.patterns)


@lru_cache(_STRATA)
def _among(patterns: tuple[Atom, ...]) -> Callable[[Atom], bool]:
    """Whether an atom is one of some, up to the names of variables."""
    mine = frozenset(map(pattern, patterns))
    return lambda atom: pattern(atom) in mine


def _trees(stratum: Stratum, rules: Sequence[Rule], decomposed: Decomposing) -> tuple[JoinTree, ...]:
    inside = _inside(stratum)
    found = (decomposed(rule, inside) for rule in rules)
    return tuple(tree for tree in found if tree is not None)


def _region(stratum: Stratum, strata: Sequence[Stratum]) -> Region:
    """`Out^s` without best facts; the lowest stratum also has every fact that no atom of the program matches."""
    chosen = set(stratum.chosen)
    mine = tuple(atom for atom in stratum.patterns if atom not in chosen)
    if stratum.index > 1:
        return Region(mine)
    elsewhere = tuple(atom for other in strata if other.index > 1 for atom in other.patterns)
    return Region(mine, rest=True, elsewhere=(*elsewhere, *stratum.chosen))
