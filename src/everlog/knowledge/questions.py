"""Questions about what holds: goals, patterns of queries, and what more rules would derive. Nothing is changed by them.

Each is asked of a `World`. Where constants are rewritten, it is asked about representatives, and answered in all names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from everlog.datalog.syntax import HIDDEN, Atom, BodyLiteral, Rule, Variable
from everlog.datalog.values import Value
from everlog.engine.algebra import FactSet
from everlog.engine.backend import Backend, Matched, Matching, Progress, World
from everlog.knowledge.goals import WORTH_SORTING, answer_variables, in_order, part_of
from everlog.knowledge.materialisation import Materialisation
from everlog.planning.compiled_program import compile_program
from everlog.planning.modules.module_rules import meets
from everlog.planning.modules.unread_relations import asked_atoms
from everlog.reasoning.boundaries import make_boundaries
from everlog.reasoning.modules.make_modules import make_modules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.sources.fact_columns import Columns

AnyWorld: TypeAlias = World[Any, Any, Any]

STEP, _REACHED = f"{HIDDEN}step", f"{HIDDEN}reached"


def answers(
    world: AnyWorld, goal: Sequence[BodyLiteral], limit: int | None = None, after: int | None = None
) -> tuple[list[tuple[Value, ...]], int | None]:
    """The answers to a goal: distinct bindings of its variables, sorted by kind and value; and how many there are.

    With a `limit`, the first ones or, where there are many thousands, any. Where it is none, nobody counts. With a
    limit they may come `after` so many others, in an order that is the same for every part of the answers.
    """
    variables, names = answer_variables(goal), world.names
    answer, arity = Atom(f"{HIDDEN}answer", tuple(variables)), len(variables)
    with world.backend.scratch() as scratch:
        if names is not None:
            found = _with_answers(scratch, Rule(answer, tuple(map(names.literal, goal))), world.I)
            rows = names.answers(scratch, found, answer.predicate, variables, goal, world.E)
            return part_of(in_order(rows), limit, after), len(rows)
        asked = [Rule(answer, tuple(goal))]
        if asked[0].aggregates:
            found = _with_answers(scratch, asked[0], _facts_for(world, asked))
        else:
            (rule,), facts = scratch.narrowed(asked, world.holding)
            found = _with_answers(scratch, rule, facts)
        listed = scratch.listed(found, answer.predicate, arity)
        number = None if limit is None else scratch.size(listed)
        if number is not None and limit is not None and number > WORTH_SORTING:
            if after is not None:
                return scratch.rows(scratch.first(listed, limit, after), arity, few=True), number
            if number > limit:
                return in_order(scratch.rows(scratch.first(listed, limit), arity, few=True)), number
        rows = scratch.rows(listed, arity, scratch.few(lambda: len(found)))
        return part_of(in_order(rows), limit, after), number


def _with_answers(backend: Backend[Any, Any, Any], rule: Rule, facts: FactSet) -> FactSet:
    """Some facts, and what a rule derives from them."""
    if rule.aggregates:
        return _materialised(backend, [rule], facts, lambda *_: None)
    backend.prepare([rule])
    for stratum in compile_program([rule], backend.compiler()):
        facts |= stratum.nonrecursive.apply(facts, excluding=facts)
    return facts


def matches(
    world: AnyWorld,
    atoms: Sequence[Atom],
    variables: Sequence[Variable],
    seeds: Mapping[Variable, NDArray[np.int32]],
    dictionary: Dictionary,
    check: Callable[[int], None],
    first: int | None = None,
) -> Matched:
    """The matches of some atoms, or at least the `first` ones, as ids of a dictionary that the backend has given."""
    asked = Matching(world.holding, world.E, atoms, variables, check, seeds, first)
    return world.backend.matches(asked, dictionary, world.names)


def listed_matches(world: AnyWorld, atoms: Sequence[Atom], variables: Sequence[Variable]) -> tuple[int, Any]:
    """How many matches some atoms have, at least, and these where they are."""
    asked = Matching(world.holding, world.E, atoms, variables, lambda number: None)
    return world.backend.listed_matches(asked, world.names)


def closed_pairs(world: AnyWorld, steps: Callable[[], FactSet]) -> Any:
    """The pairs that one of some steps, facts of `STEP`, or more connect, where the facts are."""
    one, other, third = (Variable(name) for name in "xyz")
    rules = [
        Rule(Atom(_REACHED, (one, other)), (Atom(STEP, (one, other)),)),
        Rule(Atom(_REACHED, (one, third)), (Atom(_REACHED, (one, other)), Atom(STEP, (other, third)))),
    ]
    with world.backend.scratch() as scratch:
        found = _materialised(scratch, rules, steps(), lambda *_: None)
        return scratch.listed(found, _REACHED, 2)


def found_beside(
    world: AnyWorld,
    rules: Sequence[Rule],
    facts: Mapping[str, Columns],
    predicates: Mapping[str, int],
    progress: Progress,
) -> list[tuple[Value, ...]]:
    """What more rules, with more facts, would derive of some predicates; nothing of it is kept."""
    with world.backend.scratch() as scratch:
        given = _facts_for(world, rules)
        given |= scratch.entered(scratch.encoded(facts), excluding=given)
        found = _materialised(scratch, rules, given, progress)
        few = scratch.few(lambda: len(found))
        listed = ((scratch.listed(found, name, arity), arity) for name, arity in predicates.items())
        return [row for facts_of, arity in listed for row in scratch.rows(facts_of, arity, few)]


def _facts_for(world: AnyWorld, rules: Sequence[Rule]) -> FactSet:
    """All facts that rules may ask for; those of closed relations are among them only if they do."""
    given: FactSet = world.holding
    atoms = [atom for rule in rules for atom in asked_atoms(rule.body)]
    return given if any(meets(atom, closed) for closed in given.closures for atom in atoms) else given.base


def _materialised(
    scratch: Backend[Any, Any, Any], rules: Sequence[Rule], given: FactSet, progress: Progress
) -> FactSet:
    """Some facts, and everything that rules derive from them."""
    scratch.prepare(rules)
    compiler, engine = scratch.compiler(), scratch.engine
    strata = compile_program(rules, compiler)
    parts = engine, scratch.graphs(), scratch.matcher(), compiler
    modules, boundaries = make_modules(strata, *parts, False), make_boundaries(strata, *parts)
    found = Materialisation(strata, engine, given, frozenset(), modules, boundaries)
    found.materialise(progress)
    return found.I
