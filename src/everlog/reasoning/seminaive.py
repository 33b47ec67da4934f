"""Seminaïve materialisation (*Revisited*, Algorithm 1).

It departs from the paper in one point: explicit facts of a stratum enter `I` before the nonrecursive rules are applied
(lines 3, 5 and 7 in another order). The bodies of those rules lie in lower strata, so they see no difference, and what
they derive can be kept apart from what is there already in one step. Where a stratum has modules, it is Algorithm 2 of
*Modular*: they are asked in each round for what follows from its new facts. The lines beside the code are those of
Algorithm 1; modules are asked in lines 11, 12, 17 and 18 of Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterable

from everlog.engine.algebra import Engine, FactSet
from everlog.planning.compiled_program import CompiledStratum
from everlog.reasoning.boundaries import NO_BOUNDARIES, Boundaries
from everlog.reasoning.change import Progress
from everlog.reasoning.modular import Added, Modules
from everlog.reasoning.modules.asked_closures import NOBODY_ASKS, AskedAbove, with_closures


def materialise(
    strata: Iterable[CompiledStratum],
    E: FactSet,
    engine: Engine,
    progress: Progress,
    modules: Modules,
    boundaries: Boundaries = NO_BOUNDARIES,
    asked: AskedAbove = NOBODY_ASKS,
) -> tuple[FactSet, int]:
    """`mat(Π, E)`, and the number of rounds; of relations that are closed, it has the backbones."""
    I = nothing = engine.empty()
    rounds = 0
    for stratum in strata:  # 2
        found, number = boundaries.begin(stratum, I, E, nothing, progress)
        I |= found
        rounds += number
        mine = Added(modules.get(stratum.index, ()), nothing)
        begun = mine.begin(I)
        Δ = E.within(stratum.region)  # 3
        I |= Δ
        derived = stratum.nonrecursive.apply(I, excluding=I).plus(begun)  # 3, 5
        I |= derived  # 7
        Δ |= derived
        progress(stratum.index, 0, len(Δ))
        number = 0
        while Δ and (stratum.recursive.rules or mine.modules):  # 4, 6
            N = stratum.recursive.apply(I, some=[(Δ, nothing)], excluding=I)  # 8, 5
            Δ = N.plus(mine.add(I, Δ))
            I |= Δ  # 7
            number += 1
            progress(stratum.index, number, len(Δ))
        rounds += number
        I = with_closures(engine, I, asked.get(stratum.index, ()))
    return I.base, rounds
