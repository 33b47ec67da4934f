"""Relational rules as text for each peer that takes Datalog.

One `Dialect` says how a language writes variables, negation and declarations; everything else they share. Variables are
renamed x0, x1, … within each rule. A negation is one atom, with `_` for a variable that is local to it; a wider
`NOT EXISTS` is `NotExpressible`, since the peers would need an auxiliary predicate that Everlog is not given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from benchmarks.encoding import NotExpressible
from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Computation, Constant, Negation, Rule, Term, Variable


@dataclass(frozen=True)
class Dialect:
    """How one language differs from the others."""

    variable: str
    negation: str
    end: str


CLINGO: Final = Dialect(variable="X", negation="not ", end=".")
NEMO: Final = Dialect(variable="?x", negation="~", end=" .")
SOUFFLE: Final = Dialect(variable="x", negation="!", end=".")


def rule_text(rule: Rule, dialect: Dialect) -> str:
    """One rule in one language.

    >>> from everlog.datalog.reader import parse_program
    >>> rule = parse_program("p(?a) :- q(?a, ?b), not r(?b, _), ?a != 3 .").rules[0]
    >>> rule_text(rule, CLINGO), rule_text(rule, NEMO)
    ('p(X0) :- q(X0,X1), not r(X1,_), X0 != 3.', 'p(?x0) :- q(?x0,?x1), ~r(?x1,_), ?x0 != 3 .')
    """
    if rule.extreme is not None:
        raise NotExpressible("a minimum that rules refine")
    writer = _Writer(dialect)
    head = writer.atom(rule.head)
    return f"{head} :- {', '.join(writer.literal(literal) for literal in rule.body)}{dialect.end}"


class _Writer:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._numbers: dict[Variable, int] = {}

    def literal(self, literal: BodyLiteral) -> str:
        if isinstance(literal, Atom):
            return self.atom(literal)
        if isinstance(literal, Comparison):
            return f"{self._term(literal.left)} {literal.operator} {self._term(literal.right)}"
        if isinstance(literal, Computation):
            raise NotExpressible("an expression")
        assert isinstance(literal, Negation), "aggregates are not for others"
        return self._negation(literal)

    def atom(self, atom: Atom, local: tuple[Variable, ...] = ()) -> str:
        terms = ("_" if term in local else self._term(term) for term in atom.terms)
        return f"{atom.predicate}({','.join(terms)})"

    def _negation(self, negation: Negation) -> str:
        repeated = any(list(atom.variables()).count(v) > 1 for atom in negation.atoms for v in negation.local)
        if len(negation.atoms) != 1 or negation.tests or repeated:
            raise NotExpressible("a NOT EXISTS over more than one plain atom")
        return self._dialect.negation + self.atom(negation.atoms[0], negation.local)

    def _term(self, term: Term) -> str:
        if isinstance(term, Constant):
            return str(term.value)
        return f"{self._dialect.variable}{self._numbers.setdefault(term, len(self._numbers))}"
