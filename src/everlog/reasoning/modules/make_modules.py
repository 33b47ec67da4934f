"""The modules of a program's strata, made out of what the planner found."""

from __future__ import annotations

from collections import abc

from everlog.datalog.printer import print_rule
from everlog.datalog.syntax import Rule
from everlog.engine.algebra import Closing, Engine, Graphs, Matcher
from everlog.planning.compiled_program import CompiledStratum, Compiler
from everlog.planning.modules import module_rules as planned
from everlog.planning.rule_changes import Planned, planned_in, rules_of
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.chain import RegularChains
from everlog.reasoning.modules.hypertree import Hypertree
from everlog.reasoning.modules.module import Backbone, Module
from everlog.reasoning.modules.reachability import Reachability
from everlog.reasoning.modules.sequence import Sequence
from everlog.reasoning.modules.symmetric import SymmetricTransitive
from everlog.reasoning.modules.transitive import Transitive
from everlog.reasoning.modules.unkept_decomposition import Passing


def make_modules(
    strata: abc.Sequence[CompiledStratum],
    engine: Engine,
    graphs: Graphs,
    matcher: Matcher,
    compiled: Compiler,
    forced: bool = False,
    known: abc.Sequence[tuple[Planned, Module]] = (),
    closes: abc.Callable[[planned.Module], bool] = lambda module: False,
) -> Modules:
    """New modules, with nothing in their backbones and nodes; `forced`, chains are searched without trying rules first.

    If a module `closes` its relation, facts of that need not be derived, where the engine can do without.

    Where just the same was planned for a module that is known, it is that one; then `restrict_exactness` is left to others.
    """

    nothing = engine.empty()
    earlier: dict[abc.Sequence[Rule], tuple[Planned, Module]] = {rules_of(one[0]): one for one in known}

    def adopted(one: Planned) -> Module | None:
        before, module = earlier.get(rules_of(one), (None, None))
        return module if before == one else None

    def closing(module: planned.Module) -> Closing | None:
        if not closes(module):
            return None
        if module.kind == "stc":
            return graphs.closing_cliques(module.atom)
        return graphs.closing_paths(module.atom, module.step, module.backwards)

    def made(module: planned.Module) -> Module:
        atom, step, grounded = module.atom, module.step, module.grounded
        if module.kind == "tc":
            return Transitive(atom, nothing, grounded, graphs.paths(atom, step), matcher)
        if module.kind == "stc":
            return SymmetricTransitive(atom, nothing, grounded, graphs.cliques(atom))
        if module.kind == "reach":
            paths = graphs.paths(atom, step, module.backwards)
            return Reachability(atom, step, module.rules[0], nothing, paths, matcher)
        if module.kind == "seq":
            key = module.key
            items = graphs.neighbours(atom, step) if key is None else graphs.keyed_neighbours(atom, step, key)
            return Sequence(atom, step, nothing, grounded, items)
        plan = module.chains
        assert plan is not None, "what regular chains have"
        inside, below = plan.letters_inside(True), plan.letters_inside(False)
        chains = graphs.chains(plan.heads, plan.letters, list(zip(plan.moves, plan.finals, strict=True)))
        rules = None if forced else compiled(module.rules)
        return RegularChains(plan.heads, inside, below, nothing, grounded, chains, rules)

    def all_of(stratum: CompiledStratum) -> abc.Iterator[Module]:
        for planned_one in stratum.modules:
            if (before := adopted(planned_one)) is not None:
                yield before
                continue
            module = made(planned_one)
            if isinstance(module, Backbone):
                module.closing = closing(planned_one)
            module.rules, module.identity = planned_one.rules, planned_one.identity
            module.about = {"rules": [print_rule(rule) for rule in planned_one.written], "why": planned_one.why}
            yield module
        for tree in stratum.trees:
            if (before := adopted(tree)) is not None:
                yield before
                continue
            decomposed = (Hypertree if tree.kept else Passing)(tree, engine, compiled, matcher)
            decomposed.rules = (tree.rule,)
            yield decomposed

    found = {stratum.index: list(all_of(stratum)) for stratum in strata if stratum.modules or stratum.trees}
    if not known:
        restrict_exactness(found)
    return found


def restrict_exactness(modules: Modules, known: abc.Container[int] = ()) -> None:
    """A fact that another module derives as well may be back by that one, of which the oracle knows nothing.

    Of modules that are known, by `id`, it has been said what they are beside each other.
    """
    for beside in modules.values():
        new = [module for module in beside if id(module) not in known]
        for module in beside:
            others = new if id(module) in known else beside
            module.exact &= not any(_meet(module, other) for other in others if other is not module)


def planned_modules(strata: abc.Sequence[CompiledStratum], modules: Modules) -> list[tuple[Planned, Module]]:
    """The modules of some strata, each with what was planned for it."""
    return [
        pair
        for stratum in strata
        if stratum.index in modules
        for pair in zip(planned_in(stratum), modules[stratum.index], strict=True)
    ]


def _meet(one: Module, other: Module) -> bool:
    return any(planned.meets(head, relation) for head in one.heads for relation in other.heads)
