"""What is done when a stratum begins: groups of facts below it, and best facts, get what they should have.

No maintenance algorithm knows of either. To the rules of the stratum and above they are facts that came and went below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Engine, FactSet, Graphs, Matcher
from everlog.planning.compiled_program import CompiledMinima, CompiledStratum, Compiler
from everlog.planning.rule_changes import concerns, same_minima
from everlog.reasoning.grouping import Grouping
from everlog.reasoning.minima import Below, Minima, Note


@dataclass(frozen=True)
class Boundaries:
    """Groups and best facts by the index of their stratum."""

    groupings: Mapping[int, Sequence[Grouping]] = field(default_factory=dict)
    minima: Mapping[int, Minima] = field(default_factory=dict)
    gone: frozenset[Rule] = frozenset()
    come: frozenset[Rule] = frozenset()
    """Grouping rules, among the others, that leave the program with an update or come to it."""
    again: frozenset[int] = frozenset()
    """The strata whose best facts have other rules than before the update."""

    def begin(
        self,
        stratum: CompiledStratum,
        I: FactSet,
        E: FactSet,
        nothing: FactSet,
        progress: Callable[[int, int, int], None],
    ) -> tuple[FactSet, int]:
        """What follows before the rules of a stratum are applied, and the number of rounds that took."""
        found, rounds = nothing, 0

        def note(facts: FactSet) -> None:
            nonlocal rounds
            rounds += 1
            progress(stratum.index, rounds, len(facts))

        members: dict[Atom, FactSet] = {}
        for grouping in self.groupings.get(stratum.index, ()):
            found |= grouping.begin(I, members)
        if stratum.index in self.minima:
            found |= self.minima[stratum.index].begin(I, E, note)
        return found, rounds

    def update(self, stratum: CompiledStratum, below: Below, note: Note) -> Iterator[tuple[FactSet, FactSet]]:
        """What is gone and what is new before the rules of a stratum are applied, given what changed below."""
        for grouping in self.groupings.get(stratum.index, ()):
            if grouping.rule in self.gone:
                yield grouping.ended(below.I)
            elif grouping.rule in self.come:
                yield grouping.begun(below.I, below.D, below.A)
            else:
                yield grouping.update(below.I, below.D, below.A)
        if stratum.index in self.again:
            yield self.minima[stratum.index].computed_again(below, note)
        elif stratum.index in self.minima:
            yield self.minima[stratum.index].update(below, note)

    def hold(self, I: FactSet) -> None:
        """Is told of a materialisation that counts from now on, after everything was computed or updated."""
        for minima in self.minima.values():
            minima.hold(I)

    def nbytes(self) -> int:
        """The memory of what is kept for updates."""
        return sum(minima.nbytes() for minima in self.minima.values())

    def losing(
        self, strata: Sequence[CompiledStratum], gone: frozenset[Rule], made: Callable[[CompiledMinima], Minima]
    ) -> Boundaries:
        """The same while some rules leave the program; `strata` are without them."""
        touched = frozenset(
            stratum.index
            for stratum in strata
            if stratum.index in self.minima and concerns(self.minima[stratum.index].compiled, gone)
        )
        minima = {
            stratum.index: made(stratum.minima)
            for stratum in strata
            if stratum.index in touched and stratum.minima is not None
        }
        return Boundaries(self.groupings, {**self.minima, **minima}, gone=gone, again=touched)

    def gaining(self, come: frozenset[Rule]) -> Boundaries:
        """The same while some rules come to the program."""
        touched = (index for index, minima in self.minima.items() if concerns(minima.compiled, come))
        return Boundaries(self.groupings, self.minima, come=come, again=frozenset(touched))

    def taking_over(self, before: Boundaries) -> Boundaries:
        """The same with what earlier ones know about best facts that have just the same rules."""

        def earlier(minima: Minima) -> Minima:
            return next((one for one in before.minima.values() if same_minima(one.compiled, minima.compiled)), minima)

        return Boundaries(self.groupings, {index: earlier(minima) for index, minima in self.minima.items()})


NO_BOUNDARIES: Final = Boundaries()


def make_boundaries(
    strata: Sequence[CompiledStratum], engine: Engine, graphs: Graphs, matcher: Matcher, compiled: Compiler
) -> Boundaries:
    """The groups and best facts of a program."""
    return Boundaries(
        {
            stratum.index: [
                Grouping(rule, graphs.groups(rule), matcher, compiled, engine) for rule in stratum.groupings
            ]
            for stratum in strata
            if stratum.groupings
        },
        {
            stratum.index: Minima(stratum.minima, engine, graphs, matcher, compiled)
            for stratum in strata
            if stratum.minima is not None
        },
    )
