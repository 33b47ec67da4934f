"""Rules as data: rules that are equal up to predicates and constants have one shape, and each a row of parameters.

A program of thousands of rules has a few dozen shapes, and a round of evaluation joins once for each of them. Literals that
start with the same variables come in the order of the rule; the parameters of a rule are its predicates and constants in
the order in which they occur, each occurrence its own, so that equal shapes have equal numbers of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from everlog.datalog.constants import constants
from everlog.datalog.syntax import Atom, Computation, Constant, Rule, Variable, changed
from everlog.datalog.syntax import Term as SyntaxTerm
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.joins.patterns import Compared, Computed, Parameters, Pattern, Shape, Term


class Shaping:
    """The numbering of the variables and parameters of one rule or query."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self.variables: dict[Variable, int] = {}
        self.parameters: list[int] = []

    def pattern(self, atom: Atom) -> Pattern:
        relation = self._parameter(self._engine.relation(atom.predicate, len(atom.terms)))
        return Pattern(relation, tuple(self.term(term) for term in atom.terms))

    def term(self, term: SyntaxTerm) -> Term:
        if isinstance(term, Constant):
            return self._parameter(self._engine.ids([term])[term])
        return self.variables.setdefault(term, len(self.variables))

    def computed(self, computation: Computation) -> Computed:
        """A computation, whose constants stay as they are."""

        def numbered(term: SyntaxTerm) -> SyntaxTerm:
            return Variable(str(self.term(term))) if isinstance(term, Variable) else term

        result = None if computation.result is None else self.term(computation.result)
        return Computed(changed(computation.expression, numbered), result)

    def projected(self, atom: Atom) -> tuple[Pattern, tuple[int, ...]]:
        """An atom over variables that are numbered already, and all parameters with those of the atom."""
        assert all(variable in self.variables for variable in atom.variables()), "an atom has a variable of its own"
        return self.pattern(atom), tuple(self.parameters)

    def _parameter(self, value: int) -> Term:
        self.parameters.append(value)
        return ~(len(self.parameters) - 1)


def shape_of(engine: SparkEngine, rule: Rule) -> tuple[Shape, tuple[int, ...]]:
    """The shape of a rule whose negations are single atoms, and its parameters."""
    shaping = Shaping(engine)
    shape = Shape(
        shaping.pattern(rule.head),
        tuple(shaping.pattern(atom) for atom in rule.positive),
        tuple(shaping.pattern(negation.atoms[0]) for negation in rule.negative),
        tuple(Compared(one.operator, shaping.term(one.left), shaping.term(one.right)) for one in rule.comparisons),
        tuple(map(shaping.computed, rule.computations)),
    )
    return shape, tuple(shaping.parameters)


def shapes_of(engine: SparkEngine, rules: Sequence[Rule]) -> list[tuple[Shape, Parameters]]:
    """The shapes of some rules, each with the parameters of all its rules."""
    engine.ids(constants(rules))  # all at once: each look-up is a job
    groups: dict[Shape, dict[tuple[int, ...], None]] = {}
    for rule in rules:
        shape, parameters = shape_of(engine, rule)
        groups.setdefault(shape, {}).setdefault(parameters)
    return [(shape, Parameters(list(rows))) for shape, rows in groups.items()]
