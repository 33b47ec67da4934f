"""Rules, modules, groups and best facts whose work is measured: what each derived, considered and took.

Rules are evaluated one after the other, so that each is measured by itself, or all of a stratum at once where an engine
would need a job for each. What they give, and how many instances are considered for it, is as without measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from everlog import clock
from everlog.datalog.syntax import Atom, Rule
from everlog.engine.algebra import Counted, Engine, FactSet, Region, Rules, Some
from everlog.planning.compiled_program import CompiledStratum, Compiler, RuleParts
from everlog.reasoning.boundaries import Boundaries
from everlog.reasoning.grouping import Grouping
from everlog.reasoning.minima import Below, Minima, Note
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.module import Module, Oracle, Update


@dataclass
class Work:
    """What some rules did that were measured together; `kind` is that of their module, or empty."""

    stratum: int
    kind: str
    rules: tuple[Rule, ...]
    facts: int = 0
    derivations: int = 0
    seconds: float = 0.0


class Profiler:
    """Measures one materialisation or update. With a compiler, each rule is compiled and measured by itself."""

    def __init__(self, engine: Engine, compiler: Compiler | None) -> None:
        self._engine, self._compiler = engine, compiler
        self._work: dict[tuple[int, str, tuple[Rule, ...]], Work] = {}
        self._within = 0.0, 0
        """The seconds and rule instances of blocks within the one that is measured."""

    def work(self) -> list[Work]:
        """What was done, most seconds first."""
        return sorted(self._work.values(), key=lambda work: -work.seconds)

    def strata(self, strata: Sequence[CompiledStratum]) -> list[CompiledStratum]:
        """Strata whose rules are measured."""
        return [
            replace(
                stratum,
                rules=self._measured(stratum, stratum.rules),
                recursive=self._measured(stratum, stratum.recursive),
                nonrecursive=self._measured(stratum, stratum.nonrecursive),
                gone=self._measured_parts(stratum, stratum.gone),
                come=self._measured_parts(stratum, stratum.come),
            )
            for stratum in strata
        ]

    def _measured_parts(self, stratum: CompiledStratum, parts: RuleParts | None) -> RuleParts | None:
        return None if parts is None else RuleParts(*(self._measured(stratum, rules) for rules in parts))

    def modules(self, modules: Modules) -> Modules:
        """Modules that are measured."""
        return {
            index: [_MeasuredModule(module, self.noted(index, module.kind, module.rules), self) for module in some]
            for index, some in modules.items()
        }

    def boundaries(self, boundaries: Boundaries) -> Boundaries:
        """Groups and best facts that are measured."""
        return Boundaries(
            {
                index: [_MeasuredGrouping(one, self.noted(index, "groups", [one.rule]), self) for one in some]
                for index, some in boundaries.groupings.items()
            },
            {
                index: _MeasuredMinima(one, self.noted(index, "minima", one.rules()), self)
                for index, one in boundaries.minima.items()
            },
        )

    def noted(self, stratum: int, kind: str, rules: Sequence[Rule]) -> Work:
        """Where the work of some rules is noted."""
        key = stratum, kind, tuple(rules)
        return self._work.setdefault(key, Work(*key))

    def _measured(self, stratum: CompiledStratum, rules: Rules) -> Rules:
        """Some rules of a stratum."""
        if not rules.rules:
            return rules
        if self._compiler is None:
            parts = [(rules, self.noted(stratum.index, "", stratum.rules.rules))]
        else:
            parts = [(self._compiler([rule]), self.noted(stratum.index, "", [rule])) for rule in rules.rules]
        return _MeasuredRules(rules, parts, self)

    @contextmanager
    def measuring(self, work: Work) -> Iterator[None]:
        """Adds the seconds and the rule instances of a block, but for blocks within it: a module may ask rules."""
        outside, self._within = self._within, (0.0, 0)
        before, started = self._engine.derivations, clock.now()
        try:
            yield
        finally:
            seconds, derivations = clock.now() - started, self._engine.derivations - before
            work.seconds += seconds - self._within[0]
            work.derivations += derivations - self._within[1]
            self._within = outside[0] + seconds, outside[1] + derivations


class _MeasuredRules(Rules):
    """Rules in parts, each of which is measured."""

    def __init__(self, whole: Rules, parts: Sequence[tuple[Rules, Work]], profiler: Profiler) -> None:
        self._whole, self._parts, self._profiler = whole, parts, profiler

    @property
    def rules(self) -> Sequence[Rule]:
        return self._whole.rules

    def apply(
        self,
        positive: FactSet,
        negative: FactSet | None = None,
        *,
        some: Sequence[Some] = (),
        excluding: FactSet | None = None,
    ) -> FactSet:
        def applied(rules: Rules, found: FactSet | None) -> FactSet:
            known = excluding if found is None or excluding is None else excluding | found
            return rules.apply(positive, negative, some=some, excluding=known)

        return self._united(applied)

    def apply_counted(
        self, positive: FactSet, negative: FactSet | None = None, *, some: Sequence[Some] = ()
    ) -> Counted:
        def applied(rules: Rules, work: Work) -> Counted:
            with self._profiler.measuring(work):
                found = rules.apply_counted(positive, negative, some=some)
                work.facts += len(found.support())
            return found

        return reduce(add, [applied(rules, work) for rules, work in self._parts])

    def provable(self, heads: FactSet, positive: FactSet, negative: FactSet | None = None) -> FactSet:
        # What an earlier rule proves needs no second proof.
        return self._united(
            lambda rules, found: rules.provable(heads if found is None else heads - found, positive, negative)
        )

    def premises(self, heads: FactSet, positive: FactSet, negative: FactSet, region: Region) -> FactSet:
        return self._united(lambda rules, found: rules.premises(heads, positive, negative, region), derived=False)

    def _united(self, apply: Callable[[Rules, FactSet | None], FactSet], derived: bool = True) -> FactSet:
        """What the parts find, which may be facts that they derive; each is told what those before it have found."""
        united: FactSet | None = None
        for rules, work in self._parts:
            with self._profiler.measuring(work):
                more = apply(rules, united)
                work.facts += len(more) if derived else 0
            united = more if united is None else united.plus(more)
        assert united is not None, "there are rules"
        return united


class _MeasuredModule(Module):
    """A module whose calls are measured."""

    def __init__(self, module: Module, work: Work, profiler: Profiler) -> None:
        super().__init__(module.atom, module._nothing)
        self.kind, self.exact, self.heads, self.rules = module.kind, module.exact, module.heads, module.rules
        self._module, self._work, self._profiler = module, work, profiler

    def begin(self, update: Update) -> Update:
        with self._profiler.measuring(self._work):
            return self._module.begin(update)

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        return self._measured(lambda: self._module.delete_first(update, now, Δ, oracle))

    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        return self._measured(lambda: self._module.delete(update, now, Δ, oracle))

    def rederive(self, update: Update, now: FactSet, deleted: FactSet) -> FactSet:
        return self._measured(lambda: self._module.rederive(update, now, deleted))

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        return self._measured(lambda: self._module.add_first(update, now, given, own))

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        return self._measured(lambda: self._module.add(now, Δ, own))

    def _measured(self, found: Callable[[], FactSet]) -> FactSet:
        with self._profiler.measuring(self._work):
            facts = found()
            self._work.facts += len(facts)
        return facts


class _MeasuredGrouping(Grouping):
    """Groups whose calls are measured."""

    def __init__(self, grouping: Grouping, work: Work, profiler: Profiler) -> None:
        self._grouping, self._work, self._profiler = grouping, work, profiler

    def begin(self, I: FactSet, members: dict[Atom, FactSet] | None = None) -> FactSet:
        with self._profiler.measuring(self._work):
            found = self._grouping.begin(I, members)
            self._work.facts += len(found)
        return found

    def update(self, I: FactSet, D: FactSet, A: FactSet) -> tuple[FactSet, FactSet]:
        with self._profiler.measuring(self._work):
            gone, come = self._grouping.update(I, D, A)
            self._work.facts += len(gone) + len(come)
        return gone, come


class _MeasuredMinima(Minima):
    """Best facts whose calls are measured."""

    def __init__(self, minima: Minima, work: Work, profiler: Profiler) -> None:
        self._minima, self._work, self._profiler = minima, work, profiler

    def begin(self, I: FactSet, E: FactSet, note: Note) -> FactSet:
        with self._profiler.measuring(self._work):
            found = self._minima.begin(I, E, note)
            self._work.facts += len(found)
        return found

    def update(self, below: Below, note: Note) -> tuple[FactSet, FactSet]:
        with self._profiler.measuring(self._work):
            gone, come = self._minima.update(below, note)
            self._work.facts += len(gone) + len(come)
        return gone, come
