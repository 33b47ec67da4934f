"""The modules of a program's strata, made out of what the planner found."""

from __future__ import annotations

from collections import abc

from everlog.engine.algebra import Engine, Graphs, Matcher
from everlog.planning import modules as planned
from everlog.planning.program import CompiledStratum
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.module import Module
from everlog.reasoning.modules.reachability import Reachability
from everlog.reasoning.modules.sequence import Sequence
from everlog.reasoning.modules.symmetric import SymmetricTransitive
from everlog.reasoning.modules.transitive import Transitive


def make_modules(strata: abc.Sequence[CompiledStratum], engine: Engine, graphs: Graphs, matcher: Matcher) -> Modules:
    """New modules, with nothing in their backbones."""

    def made(module: planned.Module) -> Module:
        if module.kind == "stc":
            return SymmetricTransitive(module.atom, engine.empty(), module.grounded, graphs.cliques(module.atom))
        if module.kind == "seq":
            neighbours = graphs.neighbours(module.atom, module.step)
            return Sequence(module.atom, module.step, engine.empty(), neighbours)
        paths = graphs.paths(module.atom, module.step, module.backwards)
        if module.kind == "tc":
            return Transitive(module.atom, engine.empty(), module.grounded, paths, matcher)
        return Reachability(module.atom, module.step, module.rules[0], engine.empty(), paths, matcher)

    return {stratum.index: [made(module) for module in stratum.modules] for stratum in strata if stratum.modules}
