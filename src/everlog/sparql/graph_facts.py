"""What a query asks of a knowledge base: the matches of atoms, and the terms that ids stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from everlog.datalog.syntax import Atom, Variable
from everlog.sparql.large_solutions import AnySolutions, LargeSolutions
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.solutions import Solutions


class GraphFacts(Protocol):
    """The facts that a query is about."""

    @property
    def terms(self) -> QueryTerms: ...

    def matches(
        self, atoms: Sequence[Atom], variables: Sequence[Variable], seeds: Solutions | None, first: int | None = None
    ) -> Solutions:
        """The matches of some atoms, each once, as values of their variables, which are all given.

        With `seeds`, matches that agree with none of these on the variables that both have may be left out. If there are
        more than the `first` so many, these are enough.
        """

    def spread(self, atoms: Sequence[Atom], variables: Sequence[Variable]) -> AnySolutions | None:
        """The same where facts are elsewhere, on Spark: there, if there are many; None where facts are here."""

    def moved(self, solutions: Solutions) -> LargeSolutions:
        """Solutions of this process, which have columns, there."""

    def closed(self, pairs: LargeSolutions) -> LargeSolutions:
        """What one step or more lead to, if the solutions, with two variables that are always bound, are the steps."""
