"""Rules, settings and an engine become a materialisation that has no facts yet.

Modules and decompositions are chosen on the way, unless somebody has decided about them before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from everlog.datalog.syntax import Rule
from everlog.engine.algebra import FactSet, Region
from everlog.engine.backend import Backend
from everlog.engine.kept_kinds import TRACE
from everlog.knowledge.materialisation import Materialisation
from everlog.knowledge.resuming import Chosen
from everlog.knowledge.settings import Settings
from everlog.planning.compiled_program import Decomposing, compile_program, prepared
from everlog.planning.decomposition.decomposition_choice import Decomposer
from everlog.planning.decomposition.size_estimates import Statistics
from everlog.planning.hidden_predicates import STEPS
from everlog.planning.modules.module_choice import Verdicts, keeping
from everlog.planning.modules.module_rules import Identity
from everlog.planning.modules.module_rules import Module as PlannedModule
from everlog.planning.modules.unread_relations import is_told_above
from everlog.planning.rule_changes import Planned, decided_trees, decided_verdicts, every_rule
from everlog.reasoning.boundaries import make_boundaries
from everlog.reasoning.bounds import Bounds
from everlog.reasoning.modules.chain import RegularChains
from everlog.reasoning.modules.make_modules import make_modules, planned_modules
from everlog.reasoning.modules.module import Module

_POOR: Final = "the rules found what follows as soon"


class Evaluated(NamedTuple):
    """Rules, the facts that they are applied to, and the predicates that rules about equality are made for."""

    rules: Sequence[Rule]
    given: FactSet
    equated: frozenset[str] = frozenset()


def new_materialisation(
    backend: Backend[Any, Any, Any],
    evaluated: Evaluated,
    settings: Settings,
    kinds: frozenset[str],
    verdicts: Verdicts | None = None,
    trees: Chosen | None = None,
    before: Materialisation | None = None,
) -> Materialisation:
    """A materialisation without facts; if modules are to be chosen and nobody has done so, it is done here.

    What was decided, compiled and made for the rules that one `before` has is taken over.
    """
    rules, given, equated = evaluated
    backend.prepare(rules)
    graphs, traced = backend.graphs(), TRACE in kinds
    compiler = backend.compiler() if before is None else before.compiler
    decomposer: Decomposing = Decomposer(
        settings.hypertree if settings.decomposed and not traced else "off",
        lambda: Statistics(prepared(rules), backend.statistics(given)),
        backend.policy.decomposed_from,
        trees,
    )
    modular = settings.modular and not traced
    if modular and verdicts is None and settings.modules == "auto":
        verdicts = backend.verdicts(rules, given)
    known: list[tuple[Planned, Module]] = []
    if before is not None:
        known = planned_modules(before.strata, before.modules)
        used = {module.identity for _, module in known}
        verdicts = decided_verdicts(used, _reasons(before), verdicts)
        decomposer = decided_trees(before.strata, decomposer)
    strata = compile_program(
        rules,
        compiler,
        settings.stratification,
        settings.kinds if modular else (),
        decomposer,
        verdicts,
        () if before is None else before.strata,
    )
    forced = settings.modules != "auto" or not backend.policy.tries_rules_before_chains
    matcher = backend.matcher()
    every = frozenset(every_rule(strata))
    listed = settings.equality != "off" or settings.checked or settings.max_facts is not None

    def closes(module: PlannedModule) -> bool:
        return not listed and is_told_above(module, strata, every)

    modules = make_modules(strata, backend.engine, graphs, matcher, compiler, forced, known, closes)
    boundaries = make_boundaries(strata, backend.engine, graphs, matcher, compiler)
    if before is not None:
        boundaries = boundaries.taking_over(before.boundaries)
    bounds = None
    if settings.checked and modules:
        steps = [rule for rule in every_rule(strata) if rule.head.predicate.startswith(STEPS)]
        plain = compile_program([*rules, *steps], compiler, settings.stratification)
        settle = partial(make_boundaries, plain, backend.engine, graphs, matcher, compiler)
        bounds = Bounds(plain, backend.engine, compiler, settle)
    made = Materialisation(strata, backend.engine, given, kinds, modules, boundaries, bounds, equated, compiler)
    made.every_rule = every
    return made


def without_poor_chains(
    backend: Backend[Any, Any, Any],
    before: Materialisation,
    evaluated: Evaluated,
    settings: Settings,
    kinds: frozenset[str],
) -> Materialisation:
    """A materialisation with regular chains left to the rules, for updates, if they turned out to derive little."""
    if settings.modules != "auto" or not backend.policy.tries_rules_before_chains:
        return before
    if before.kept.names() or len(before.module_list()) != len(before.backbones()):
        return before
    chains = [module for module in before.backbones() if isinstance(module, RegularChains)]
    poor = [module for module in chains if not module.pays(before.I)]
    if not poor:
        return before
    reasons = {module.identity: _POOR for module in poor}
    used = {module.identity for module in before.backbones()} - reasons.keys()
    after = new_materialisation(backend, evaluated, settings, kinds, keeping(used, reasons | _reasons(before)))
    for key, module in after.keys().items():
        module.X, module.closed = before.keys()[key].X, before.keys()[key].closed
    after.restore(_without_steps(before.I, before.every_rule - after.every_rule))
    after.cost = before.cost
    return after


def _reasons(materialisation: Materialisation) -> dict[Identity, str]:
    """Why modules were left out."""
    return {one.module.identity: one.why for one in materialisation.left_out()}


def _without_steps(I: FactSet, gone: Iterable[Rule]) -> FactSet:
    """Facts without those of relations of steps whose rules are gone."""
    steps = tuple(rule.head for rule in gone if rule.head.predicate.startswith(STEPS))
    return I.minus(I.within(Region(steps))) if steps else I
