"""The modules of a program's strata, made out of what the planner found."""

from __future__ import annotations

from collections import abc

from everlog.datalog.printer import print_rule
from everlog.engine.algebra import Engine, Graphs, Matcher
from everlog.planning.compiled_program import CompiledStratum, Compiler
from everlog.planning.modules import module_rules as planned
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.chain import RegularChains
from everlog.reasoning.modules.hypertree import Hypertree
from everlog.reasoning.modules.module import Module
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
) -> Modules:
    """New modules, with nothing in their backbones and nodes; `forced`, chains are searched without trying rules first."""

    def made(module: planned.Module) -> Module:
        if module.kind == "stc":
            return SymmetricTransitive(module.atom, engine.empty(), module.grounded, graphs.cliques(module.atom))
        if module.kind == "seq":
            if module.key is None:
                neighbours = graphs.neighbours(module.atom, module.step)
            else:
                neighbours = graphs.keyed_neighbours(module.atom, module.step, module.key)
            return Sequence(module.atom, module.step, engine.empty(), module.grounded, neighbours)
        if (plan := module.chains) is not None:
            moves = list(zip(plan.moves, plan.finals, strict=True))
            inside, below = (
                [atom for atom, mine in zip(plan.letters, plan.inside, strict=True) if mine is within]
                for within in (True, False)
            )
            chains = graphs.chains(plan.heads, plan.letters, moves)
            return RegularChains(
                plan.heads,
                inside,
                below,
                engine.empty(),
                module.grounded,
                chains,
                None if forced else compiled(module.rules),
            )
        paths = graphs.paths(module.atom, module.step, module.backwards)
        if module.kind == "tc":
            return Transitive(module.atom, engine.empty(), module.grounded, paths, matcher)
        return Reachability(module.atom, module.step, module.rules[0], engine.empty(), paths, matcher)

    def all_of(stratum: CompiledStratum) -> abc.Iterator[Module]:
        for planned_one in stratum.modules:
            module = made(planned_one)
            module.rules = planned_one.rules
            module.about = {"rules": [print_rule(rule) for rule in planned_one.rules], "why": planned_one.why}
            yield module
        for tree in stratum.trees:
            decomposed = (Hypertree if tree.kept else Passing)(tree, engine, compiled, matcher)
            decomposed.rules = (tree.rule,)
            yield decomposed

    found = {stratum.index: list(all_of(stratum)) for stratum in strata if stratum.modules or stratum.trees}
    for beside in found.values():
        for module in beside:
            # A fact that another module derives as well may be back by that one, of which the oracle knows nothing.
            module.exact &= not any(_meet(module, other) for other in beside if other is not module)
    return found


def _meet(one: Module, other: Module) -> bool:
    return any(planned.meets(head, relation) for head in one.heads for relation in other.heads)
