"""Constraints that are enforced: what refuses a materialisation or an update, and says why.

An update is looked at before it counts. With `fail`, violations that it would add refuse it; with `strict`, so do those
that were there before. Nothing is looked for but facts of the predicates that constraints derive, among what the update
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from everlog.datalog.substitution import Substitution
from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Program
from everlog.datalog.values import Value
from everlog.datalog.violations import Violation, summary, violations
from everlog.engine.algebra import Region
from everlog.errors import EverlogError
from everlog.knowledge.goals import answer_variables
from everlog.knowledge.questions import answers
from everlog.knowledge.settings import Settings
from everlog.planning.equality_rules import telling_apart
from everlog.wording import counted

if TYPE_CHECKING:
    from everlog.engine.backend import Backend
    from everlog.explaining.explanation import Explanation
    from everlog.knowledge.reasoner import Reasoner

    AnyBackend: TypeAlias = Backend[Any, Any, Any]
    AnyReasoner: TypeAlias = Reasoner[Any, Any, Any]

Enforcement: TypeAlias = Literal["warn", "fail", "strict"]

_LOOKED_AT: Final = 200
"""So many violations are compared to choose those that are shown."""
_EXPLAINED: Final = 3
"""Violations that a message explains by a proof."""
_DEPTH: Final = 4
_SECONDS, _FACTS = 2.0, 100_000
"""What the search for a proof may take."""


class ConstraintsViolated(EverlogError):
    """A materialisation or an update is refused, since constraints would not hold after it; nothing has changed."""

    def __init__(self, message: str, found: Sequence[Violation], explanations: Sequence[Explanation]) -> None:
        super().__init__(message)
        self.violations = tuple(found)
        """Some of them, each with the constraint, the fact that says so, and the facts that violate it."""
        self.explanations = tuple(explanations)
        """Proofs of the first ones."""


def violation_facts(reasoner: AnyReasoner, patterns: Sequence[Atom]) -> tuple[int, list[Atom]]:
    """How many facts say that a constraint is violated, and some of them."""
    total, found = 0, list[Atom]()
    for pattern in patterns:
        if pattern.predicate == TRIPLE:
            rows, number = answers(reasoner.world, [pattern], _LOOKED_AT)
            total += len(rows) if number is None else number
            found += [Atom(TRIPLE, (Constant(row[0]), *pattern.terms[1:])) for row in rows]
        elif size := reasoner.size(pattern.predicate, "all"):
            total += size
            listed = reasoner.listed(pattern.predicate, "all", len(pattern.terms))
            found += _atoms(pattern, _some_rows(reasoner.backend, listed, size, len(pattern.terms)))
    return total, found


def described(reasoner: AnyReasoner, program: Program, settings: Settings, patterns: Sequence[Atom]) -> list[str]:
    """What constraints are violated by, for messages."""
    total, facts = violation_facts(reasoner, patterns)
    return summary(total, violations(program, facts, _asking(reasoner, settings))) if total else []


def _asking(reasoner: AnyReasoner, settings: Settings) -> Callable[[Sequence[BodyLiteral]], Substitution | None]:
    """Gives the variables of a goal the values of an answer."""

    def ask(goal: Sequence[BodyLiteral]) -> Substitution | None:
        rows, _ = answers(reasoner.world, telling_apart(tuple(goal)) if settings.equality == "axioms" else goal, 1)
        return dict(zip(answer_variables(goal), map(Constant, rows[0]), strict=True)) if rows else None

    return ask


@dataclass(frozen=True)
class Guard:
    """What looks at a state before it counts; constraints of a program are enforced."""

    program: Program
    settings: Settings
    patterns: tuple[Atom, ...]
    strict: bool

    @property
    def region(self) -> Region:
        """The facts that are looked for."""
        return Region(self.patterns)

    def check_update(self, backend: AnyBackend, added: Any, then: Callable[[], AnyReasoner]) -> None:
        """Raises if what an update has `added` has violations; `then` makes what the reasoner would be after it."""
        total, facts = self._among(backend, added)
        if total:
            raise self._refusal(then(), total, facts, "the update would violate constraints; nothing was changed")
        if self.strict:
            after = then()
            total, facts = violation_facts(after, self.patterns)
            if total:
                what = "constraints are violated already, and would still be after the update; nothing was changed"
                raise self._refusal(after, total, facts, what)

    def check_all(self, reasoner: AnyReasoner) -> None:
        """Raises if anything that was materialised violates a constraint."""
        total, facts = violation_facts(reasoner, self.patterns)
        if total:
            raise self._refusal(reasoner, total, facts, "the facts violate constraints; nothing was materialised")

    def _among(self, backend: AnyBackend, added: Any) -> tuple[int, list[Atom]]:
        """The violations in a part of a change."""
        total, found = 0, list[Atom]()
        sizes = backend.sizes(added)
        for pattern in self.patterns:
            size = sizes.get(pattern.predicate, 0)
            if not size:
                continue
            listed, arity = backend.part_listed(added, pattern.predicate, len(pattern.terms)), len(pattern.terms)
            if pattern.predicate == TRIPLE:  # what was added has other triples, too
                kept = [row for row in backend.rows(listed, arity, few=True) if _matches(pattern, row)]
                total, found = total + len(kept), [*found, *_atoms(pattern, kept)]
            else:
                total, found = total + size, [*found, *_atoms(pattern, _some_rows(backend, listed, size, arity))]
        return total, found

    def _refusal(self, after: AnyReasoner, total: int, facts: Sequence[Atom], what: str) -> ConstraintsViolated:
        found = violations(self.program, facts, _asking(after, self.settings))
        explanations = [self._explained(after, violation.fact) for violation in found[:_EXPLAINED]]
        lines = list(_lines(found, explanations))
        if total > len(found):
            lines.append(f"… and {counted(total - len(found), 'more violation')}")
        return ConstraintsViolated("\n  ".join([f"{what}:", *lines]), found, explanations)

    def _explained(self, after: AnyReasoner, fact: Atom) -> Explanation:
        from everlog.explaining.explainer import Explainer
        from everlog.explaining.proof_search import Limits
        from everlog.knowledge.explained import ProofFacts

        held = ProofFacts().of(after, self.program, self.settings)
        return Explainer(held, Limits(_SECONDS, _FACTS), _DEPTH, self.program).least(fact)


def guard(program: Program, settings: Settings, patterns: tuple[Atom, ...], enforcement: Enforcement) -> Guard | None:
    """What enforces the constraints of a program, which derive facts of some forms; None if there is nothing to do."""
    if enforcement == "warn" or not patterns:
        return None
    return Guard(program, settings, patterns, enforcement == "strict")


def _lines(found: Sequence[Violation], explanations: Sequence[Explanation]) -> Iterator[str]:
    for number, violation in enumerate(found):
        yield str(violation)
        if number < len(explanations):
            yield from (f"  {line}" for line in str(explanations[number]).splitlines())


def _some_rows(backend: AnyBackend, listed: Any, size: int, arity: int) -> list[tuple[Value, ...]]:
    some = listed if size <= _LOOKED_AT else backend.first(listed, _LOOKED_AT)
    return backend.rows(some, arity, few=True)


def _atoms(pattern: Atom, rows: Sequence[tuple[Value, ...]]) -> list[Atom]:
    return [Atom(pattern.predicate, tuple(map(Constant, row))) for row in rows]


def _matches(pattern: Atom, row: tuple[Value, ...]) -> bool:
    return all(
        not isinstance(term, Constant) or term == Constant(value)
        for term, value in zip(pattern.terms, row, strict=True)
    )
