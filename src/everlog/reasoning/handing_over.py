"""What is kept for updates goes from one shape of a program to another: counts, the trace, backbones.

A shape says who counts the instances of a rule: as nonrecursive or as recursive ones, or nobody, where a module or a
decomposition evaluates it. When rules have come or gone, or are about to, others may be counted differently, because they
are recursive now, or a module's. Then their instances are counted, and moved. What stays as it is costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from everlog.datalog.substitution import pattern
from everlog.datalog.syntax import Rule
from everlog.engine.algebra import Annotation, Engine, FactSet, Region
from everlog.engine.kept_kinds import NONRECURSIVE, RECURSIVE
from everlog.planning.compiled_program import CompiledStratum, Compiler
from everlog.planning.modules.module_rules import meets
from everlog.planning.rule_changes import rules_of
from everlog.reasoning.kept import Kept, Trace
from everlog.reasoning.modules.module import Backbone, Module


class Entangled(Exception):
    """What a new module has from elsewhere is not known, since another module derives it, too."""


Counting = Mapping[Rule, str]
"""How the instances of rules are counted, where they are."""


class OtherIterations(Exception):
    """Rules that stay belong to other iterations than before, so that the trace is of no use."""


def counting_of(strata: Sequence[CompiledStratum]) -> Counting:
    """Who counts what."""
    found: dict[Rule, str] = {}
    for stratum in strata:
        parts = [(stratum.recursive, stratum.nonrecursive), stratum.gone, stratum.come]
        for recursive, nonrecursive in filter(None, parts):
            found.update(dict.fromkeys(recursive.rules, RECURSIVE))
            found.update(dict.fromkeys(nonrecursive.rules, NONRECURSIVE))
    return found


def move_counts(
    before: Sequence[CompiledStratum],
    after: Sequence[CompiledStratum],
    apart: Set[Rule],
    I: FactSet,
    kept: Kept,
    compiled: Compiler,
) -> None:
    """Moves the counts of rules that are counted differently from now on, but for those that are `apart`."""
    if before is after or (kept.nonrecursive is None and kept.recursive is None):
        return
    old, new = counting_of(before), counting_of(after)
    moved: dict[tuple[str | None, str | None], list[Rule]] = {}
    for rule in dict.fromkeys((*old, *new)):
        if rule not in apart and old.get(rule) != new.get(rule):
            moved.setdefault((old.get(rule), new.get(rule)), []).append(rule)
    for (here, there), rules in moved.items():
        counts = [(annotation, sign) for name, sign in ((here, -1), (there, 1)) if (annotation := _counts(kept, name))]
        if counts:
            derived = compiled(rules).apply_counted(I)
            for annotation, sign in counts:
                annotation.add(derived, sign)


def _counts(kept: Kept, name: str | None) -> Annotation | None:
    return {NONRECURSIVE: kept.nonrecursive, RECURSIVE: kept.recursive}.get(name or "")


def move_explicit(before: Sequence[CompiledStratum], after: Sequence[CompiledStratum], E: FactSet, kept: Kept) -> None:
    """An explicit fact is a derivation that is counted, but for those of relations with best facts."""
    old, new = _chosen(before), _chosen(after)
    if kept.nonrecursive is not None and set(old.patterns) != set(new.patterns):
        kept.nonrecursive.add(E.within(old))
        kept.nonrecursive.add(E.within(new), -1)


def _chosen(strata: Sequence[CompiledStratum]) -> Region:
    return Region(tuple(atom for one in strata if one.minima is not None for atom in one.minima.region.patterns))


# ------------------------------------------------------------------------------------ the trace


def moved_trace(
    trace: Trace,
    before: Sequence[CompiledStratum],
    after: Sequence[CompiledStratum],
    I: FactSet,
    engine: Engine,
) -> Trace:
    """The trace for strata in which rules that stay belong to the same iterations as before; or `OtherIterations`."""
    if before is after:
        return trace
    _check_iterations(before, after)
    found = Trace.empty(engine, after)
    for place, stratum in enumerate(after):
        same = next((at for at, other in enumerate(before) if other.region == stratum.region), None)
        if same is not None:
            found.iterations[place], found.totals[place] = list(trace.iterations[same]), list(trace.totals[same])
            found.old[place], found.new[place] = trace.old[same], trace.new[same]
            continue
        mine = I.within(stratum.region)
        for at, other in enumerate(before):
            facts = mine.within(other.region)
            if not facts:
                continue
            found.old[place].assign(facts, trace.old[at])
            found.new[place].assign(facts, trace.new[at])
            for number, counts in enumerate(trace.iterations[at], start=1):
                if derived := counts.counted(facts):
                    found.change(engine, place, number, derived)
    return found


def _check_iterations(before: Sequence[CompiledStratum], after: Sequence[CompiledStratum]) -> None:
    """The iteration of an instance depends on which of its facts are of the stratum of its head; best facts have none."""
    old, new = _own_atoms(before), _own_atoms(after)
    moved = any(old[rule] != new[rule] for rule in old.keys() & new.keys())
    if moved or set(_chosen(before).patterns) != set(_chosen(after).patterns):
        raise OtherIterations


def _own_atoms(strata: Sequence[CompiledStratum]) -> dict[Rule, tuple[bool, ...]]:
    """For each rule, which of the positive atoms of its body are of its stratum."""
    found: dict[Rule, tuple[bool, ...]] = {}
    for stratum in strata:
        mine = set(map(pattern, stratum.region.patterns))
        for rule in stratum.rules.rules:
            found[rule] = tuple(pattern(atom) in mine for atom in rule.positive)
    return found


# ------------------------------------------------------------------------------------ modules


def begin_modules(
    strata: Sequence[CompiledStratum],
    modules: Mapping[int, Sequence[Module]],
    new: Iterable[Module],
    E: FactSet,
    I: FactSet,
    compiled: Compiler,
) -> None:
    """Gives modules that are new what they keep, given the materialisation."""
    wanted = set(map(id, new))
    for stratum in strata:
        beside = modules.get(stratum.index, ())
        for module in beside:
            if id(module) in wanted:
                if isinstance(module, Backbone):
                    module.X = _from_elsewhere(module, stratum, beside, E, I, compiled)
                module.rebuild(I)


def _from_elsewhere(
    module: Backbone,
    stratum: CompiledStratum,
    beside: Sequence[Module],
    E: FactSet,
    I: FactSet,
    compiled: Compiler,
) -> FactSet:
    """The facts of a module's relations that are explicit or that something else derives."""
    others = (head for other in beside if other is not module and isinstance(other, Backbone) for head in other.heads)
    if any(meets(head, atom) for head in others for atom in module.region.patterns):
        raise Entangled
    rules = [*stratum.rules.rules, *(rule for tree in stratum.trees for rule in rules_of(tree))]
    fed = [rule for rule in rules if any(meets(rule.head, atom) for atom in module.region.patterns)]
    X = E.within(module.region)
    if fed:
        X |= compiled(fed).apply(I).within(module.region)
    return X
