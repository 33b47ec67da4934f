"""Explanations of a knowledge base's facts: what proofs are made of, and the proof that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from everlog.datalog.reader import parse_goal
from everlog.datalog.substitution import substitute_atom
from everlog.datalog.syntax import Atom, Constant, Program, Variable
from everlog.datalog.values import normalise
from everlog.errors import EverlogError
from everlog.explaining.equal_facts import EqualFacts, EqualNames, RepresentativeRules
from everlog.explaining.explainer import Explainer
from everlog.explaining.explanation import Explanation
from everlog.explaining.held_facts import HeldFacts
from everlog.explaining.proof import Node
from everlog.explaining.proof_search import Limits
from everlog.explaining.rule_index import RuleIndex
from everlog.knowledge.goals import answer_variables, named
from everlog.knowledge.questions import AnyWorld, answers
from everlog.knowledge.settings import Settings
from everlog.planning.equality_rules import mergeable, same

if TYPE_CHECKING:
    from everlog.knowledge.base import AnyReasoner, KnowledgeBase


class ProofFacts:
    """What proofs are made of; what depends on rules and equal names alone is kept as long as these stay the same."""

    def __init__(self) -> None:
        self._index: RuleIndex | None = None
        self._named: tuple[RuleIndex, object, RepresentativeRules, EqualNames] | None = None

    def of(self, reasoner: AnyReasoner, program: Program, settings: Settings) -> HeldFacts:
        """The facts that hold, and the rules that they follow by."""
        world, free, index = reasoner.world, reasoner.plain_rules(program), self._index
        if index is None or index.rules is not program.rules or index.free is not free:
            index = self._index = RuleIndex(program.rules, free)
        if settings.equality == "off":
            return HeldFacts(world.backend, world.E, world.holding, index)
        about = world.names if settings.equality == "rewrite" else world.I
        known = self._named
        if known is None or known[0] is not index or known[1] is not about:
            names = _equal_names(world, settings)
            known = self._named = index, about, RepresentativeRules(index, names), names
        return EqualFacts(world.backend, world.E, world.holding, *known[2:])


def _equal_names(world: AnyWorld, settings: Settings) -> EqualNames:
    if settings.equality == "axioms":
        pairs, _ = answers(world, [same(Variable("x"), Variable("y"))])
        return EqualNames.closed(
            (Constant(one), Constant(other)) for one, other in pairs if mergeable(one) and mergeable(other)
        )
    represented = [] if world.names is None else world.backend.rows(world.names.pairs(), 2)
    return EqualNames((Constant(one), Constant(other)) for one, other in represented)


def explained(
    kb: KnowledgeBase,
    held: HeldFacts,
    pattern: Atom,
    every: bool | int,
    depth: int | None,
    paths: bool,
    limits: Limits,
) -> Explanation:
    """Why a fact holds, or the first one that a pattern has, or why none does."""
    explainer = Explainer(held, limits, depth, kb.program, paths, kb.given_files)
    variables, number = answer_variables([pattern]), None
    if variables:
        rows, number = answers(kb.reasoner.world, [pattern], 1)
    else:
        rows = [()] if held.holding([pattern]) else []
    if not rows:
        return explainer.why_not(pattern)
    found = substitute_atom(pattern, dict(zip(variables, map(Constant, rows[0]), strict=True)))
    alike = 1 if number is None else number
    if every is False:
        return explainer.least(found, alike)
    proofs = explainer.every(found, alike, None if every is True else every)
    return explainer.explanation(found, _unhurried(kb, proofs), alike)


def fact_pattern(kb: KnowledgeBase, fact: str, values: Sequence[Any] | None) -> Atom:
    """What is to be explained; a variable without a name gets one."""
    if values is not None:
        return Atom(fact, tuple(Constant(normalise(value)) for value in values))
    literals = parse_goal(fact, kb.program.prefixes)
    if len(literals) != 1 or not isinstance(literals[0], Atom):
        raise EverlogError(f"`{fact}` is not a fact: give one atom, such as reach(a, d) or reach(a, ?y)")
    return literals[0].mapped(named)


def _unhurried(kb: KnowledgeBase, found: Iterator[Node]) -> Iterator[Node]:
    """What is found when somebody asks for it, as long as nothing changes."""
    facts = kb.reasoner.I
    while True:
        with kb.during("explaining"):
            if kb.reasoner.I is not facts:
                raise EverlogError("the knowledge base has changed since these proofs were asked for: explain again")
            proof = next(found, None)
        if proof is None:
            return
        yield proof
