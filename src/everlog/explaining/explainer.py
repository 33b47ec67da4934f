"""Explains facts of a knowledge base: a proof of least height, all proofs, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from everlog.datalog.syntax import Atom, Program
from everlog.explaining.all_proofs import AllProofs
from everlog.explaining.explanation import Explanation, Proofs
from everlog.explaining.held_facts import HeldFacts
from everlog.explaining.proof import Failed, Node, cut
from everlog.explaining.proof_building import ProofBuilder
from everlog.explaining.proof_search import Ended, Limits, ProofSearch
from everlog.explaining.why_not import why_not

_NO_FILES: Final[Mapping[str, Sequence[str]]] = {}


class Explainer:
    """Proofs over what an engine holds, within some limits, and perhaps no deeper than so many rules.

    `files` are those that the given facts of predicates came from, as far as that is known.
    """

    def __init__(
        self,
        held: HeldFacts,
        limits: Limits,
        depth: int | None = None,
        program: Program | None = None,
        folding: bool = True,
        files: Mapping[str, Sequence[str]] = _NO_FILES,
    ) -> None:
        self._held, self._limits, self._depth = held, limits, depth
        program = Program() if program is None else program
        self._prefixes = program.prefixes
        self._folding = folding
        self._builder = ProofBuilder(held, program.origins, files)
        self._ended = False

    def least(self, fact: Atom, answers: int = 1) -> Explanation:
        """Why a fact holds, by a proof of least height."""
        (proof,) = self.least_of_each([fact])
        return self._explanation(fact, [proof], answers)

    def least_of_each(self, facts: Sequence[Atom]) -> list[Node]:
        """Proofs of least height of some facts that hold, found by one search."""
        search = self._search(self._folding)
        try:
            while not search.least(*facts) and self._held.try_harder():
                search = self._search(self._folding)
        except Ended:
            self._ended = True
        return [self._shown(self._builder.least(search, fact)) for fact in facts]

    def every(self, fact: Atom, answers: int = 1, most: int | None = None) -> Iterator[Node]:
        """All proofs of a fact, or so many of them; a limit may end them."""
        try:
            for number, proof in enumerate(AllProofs(self._search(), self._builder, fact)):
                if number == most:
                    return
                yield self._shown(proof)
        except Ended:
            self._ended = True

    def explanation(self, fact: Atom, proofs: Iterator[Node], answers: int) -> Explanation:
        """Why a fact holds, by proofs that are found when somebody looks at them."""
        return self._explanation(fact, Proofs(proofs), answers)

    def why_not(self, pattern: Atom) -> Explanation:
        """Why no fact matches a pattern."""
        found: tuple[Failed, ...] = why_not(self._held, self._held.index.deriving([pattern]), pattern)
        return Explanation(pattern, [], found, 0, lambda: True, self._prefixes)

    def _explanation(self, fact: Atom, proofs: list[Node] | Proofs, answers: int) -> Explanation:
        return Explanation(fact, proofs, (), answers, lambda: not self._ended, self._prefixes)

    def _search(self, folding: bool = False) -> ProofSearch:
        return ProofSearch(self._held, self._limits, folding)

    def _shown(self, proof: Node) -> Node:
        return proof if self._depth is None else cut(proof, self._depth)
