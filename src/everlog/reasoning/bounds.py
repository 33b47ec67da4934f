"""Development mode: every call of a module is checked against the bounds of *Modular*, Table 1.

`Π∞[E]`, which the bounds are about, is computed beforehand, from scratch and without modules. A module here may put off to
a later call of the same update what the lower bound of `Del` asks for (see `modules/module.py`), and what changes below the
stratum bring is asked for before rederived facts are back; both are therefore checked when all calls are made. In the end
the relations that modules derive must be those of `Π∞[E]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from everlog.datalog.printer import print_atom
from everlog.engine.algebra import Engine, FactSet, Region, Rules
from everlog.planning.compiled_program import CompiledStratum, Compiler
from everlog.reasoning.boundaries import Boundaries
from everlog.reasoning.modular import Modules
from everlog.reasoning.modules.module import Module, Oracle, Update
from everlog.reasoning.seminaive import materialise


class BrokenBound(Exception):
    """A module derived or deleted too much or too little."""


class Bounds:
    """Checks the modules of a program, whose strata are compiled without modules, too; `boundaries` are made of these."""

    def __init__(
        self,
        plain: Sequence[CompiledStratum],
        engine: Engine,
        compiled: Compiler,
        boundaries: Callable[[], Boundaries],
    ) -> None:
        self._plain, self._engine, self._compiled, self._boundaries = plain, engine, compiled, boundaries
        self.nothing = engine.empty()
        self.target = self.nothing
        """`Π∞[E]`."""

    def checked(self, modules: Modules, E: FactSet) -> Modules:
        """The modules of strata, checked in a run that ends with `Π∞[E]`."""
        with self.aside():
            boundaries = self._boundaries()
            self.target, _ = materialise(
                self._plain, E, self._engine, lambda stratum, number, new: None, {}, boundaries
            )
        return {
            index: [_Checked(module, self._rules(module), self) for module in some] for index, some in modules.items()
        }

    def _rules(self, module: Module) -> Rules | None:
        """The rules of a module; those with `NOT EXISTS` have no lower bounds here."""
        local = any(negation.local for rule in module.rules for negation in rule.negative)
        return None if local else self._compiled(module.rules)

    def finish(self, modules: Modules, now: FactSet) -> None:
        """Checks what a run ended with."""
        for some in modules.values():
            for module in some:
                assert isinstance(module, _Checked), "a module that is checked"
                module.finish(now)
        # Hidden predicates are others where rules are compiled without modules; what modules derive has no such.
        region = Region(tuple(atom for some in modules.values() for module in some for atom in module.heads))
        self.none("the materialisation", "has facts that do not hold", (now - self.target).within(region))
        self.none("the materialisation", "lacks facts that hold", (self.target - now).within(region))

    def none(self, who: str, what: str, facts: FactSet) -> None:
        """Fails if there are such facts."""
        found = self.nothing.plus(facts)
        if found:
            raise BrokenBound(f"{who} {what}: {len(found):,}")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is considered here is not counted, and not limited."""
        before, guard = self._engine.derivations, self._engine.guard
        self._engine.guard = None
        yield
        self._engine.derivations, self._engine.guard = before, guard


class _Checked(Module):
    """A module whose calls are checked."""

    def __init__(self, module: Module, rules: Rules | None, bounds: Bounds) -> None:
        super().__init__(module.atom, bounds.nothing)
        self.kind, self.exact, self.heads = module.kind, module.exact, module.heads
        self._module, self._own_rules, self._bounds = module, rules, bounds
        self._gone = self._owed_gone = self._owed = bounds.nothing

    def begin(self, update: Update) -> Update:
        return self._module.begin(update)

    def add_first(self, update: Update, now: FactSet, given: FactSet, own: FactSet) -> FactSet:
        J = self._module.add_first(update, now, given, own)
        with self._bounds.aside():
            self._added("add_first", J, now)
            self._owed |= self._heads(now, update.more) - (J | now)
        return J

    def add(self, now: FactSet, Δ: FactSet, own: FactSet) -> FactSet:
        J = self._module.add(now, Δ, own)
        with self._bounds.aside():
            self._added("add", J, now)
            self._none("add", "leaves out what a rule derives", self._heads(now, Δ) - (J | now))
        return J

    def delete_first(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        J = self._module.delete_first(update, now, Δ, oracle)
        with self._bounds.aside():
            self._lost("delete_first", J, now, update.fewer)
        return J

    def delete(self, update: Update, now: FactSet, Δ: FactSet, oracle: Oracle) -> FactSet:
        J = self._module.delete(update, now, Δ, oracle)
        with self._bounds.aside():
            self._gone |= Δ
            self._lost("delete", J, now, Δ)
        return J

    def rederive(self, update: Update, now: FactSet, deleted: FactSet) -> FactSet:
        J = self._module.rederive(update, now, deleted)
        with self._bounds.aside():
            self._none("delete", "leaves what no longer holds", self._owed_gone - self._gone)
            self._added("rederive", J, now)
            if self._own_rules is not None:
                # Instances that are there only since a negated fact went come with the first call of add.
                left = self._own_rules.provable(deleted, now, update.then_or_now)
                self._none("rederive", "leaves out what a rule derives", left - J)
        return J

    def finish(self, now: FactSet) -> None:
        self._none("add_first", "leaves out what a rule derives", self._owed - now)

    def _heads(self, now: FactSet, Δ: FactSet) -> FactSet:
        """The heads of the instances of its rules that use some facts."""
        if self._own_rules is None:
            return self._nothing
        return self._own_rules.apply(now, some=[(Δ, self._nothing)])

    def _added(self, call: str, J: FactSet, now: FactSet) -> None:
        """The upper bounds of `Add` and `Red`."""
        self._none(call, "derives what holds already", J & now)
        self._none(call, "derives what does not hold", J - self._bounds.target)

    def _lost(self, call: str, J: FactSet, now: FactSet, gone: FactSet) -> None:
        """The bounds of `Del`; what the lower one asks for may come with a later call."""
        self._none(call, "deletes what is gone already", J - now)
        owed = self._heads(now | gone, gone).common(now)
        self._owed_gone |= owed - (J | self._bounds.target)

    def _none(self, call: str, what: str, facts: FactSet) -> None:
        heads = ", ".join(map(print_atom, self.heads))
        self._bounds.none(f"{call} of {self.kind} for {heads}", what, facts)
