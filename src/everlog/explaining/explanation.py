"""An explanation: why a fact holds, or why it does not, in several forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everlog.datalog.syntax import Atom
from everlog.explaining import proof_graph, proof_html, proof_json, proof_text
from everlog.explaining.proof import Failed, Node


class Proofs(Sequence[Node]):
    """Proofs that are found when somebody asks for them, and kept."""

    def __init__(self, found: Iterable[Node]) -> None:
        self._known: list[Node] = []
        self._more = iter(found)

    def _has(self, number: int) -> bool:
        while len(self._known) <= number:
            proof = next(self._more, None)
            if proof is None:
                return False
            self._known.append(proof)
        return True

    def __iter__(self) -> Iterator[Node]:
        number = 0
        while self._has(number):
            yield self._known[number]
            number += 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            if place.stop is None or place.stop < 0 or (place.start or 0) < 0:
                return list(self)[place]
            self._has(place.stop - 1)
            return self._known[place]
        if place < 0:
            return list(self)[place]
        if not self._has(place):
            raise IndexError(place)
        return self._known[place]

    def __len__(self) -> int:
        """Finds all of them."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return self._has(0)


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a fact holds, or why it does not.

    >>> import everlog
    >>> kb = everlog.KnowledgeBase("reach(?x, ?y) :- edge(?x, ?y) . edge(a, b) .")
    >>> report = kb.materialise()
    >>> print(kb.explain("reach(a, b)"))
    reach(a, b)
    └─ reach(?x, ?y) :- edge(?x, ?y) .
       └─ edge(a, b)  given
    """

    fact: Atom
    """What is explained; of a pattern with variables, its first answer, or the pattern if it has none."""
    proofs: Sequence[Node]
    """One proof of least height or, if they were asked for, all of them, the least ones first."""
    why_not: tuple[Failed, ...] = ()
    """Of a fact that does not hold, the rules that could derive it, and what they lack."""
    answers: int = 1
    """How many facts match the pattern that was asked about."""
    is_least: Callable[[], bool] = field(default=lambda: True)
    """Whether the search has ended by itself; else a limit ended it, and there may be lower proofs, or more."""
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the fact holds."""
        return bool(self.proofs)

    @property
    def proof(self) -> Node | None:
        """The first proof."""
        return self.proofs[0] if self.proofs else None

    def __str__(self) -> str:
        return proof_text.explanation_text(self)

    def __repr__(self) -> str:
        return f"<Explanation of {proof_text.shown(self.fact, self.prefixes)}>"

    def _repr_html_(self) -> str:
        return proof_html.explanation_html(self)

    def to_html(self) -> str:
        """A page with a tree that can be folded."""
        return proof_html.page(self)

    def to_json(self) -> dict[str, Any]:
        """The proofs as values of JSON; docs/explain.md says what they are."""
        return proof_json.explanation_json(self)

    def to_dot(self) -> str:
        """A graph for Graphviz."""
        return proof_graph.explanation_dot(self)
