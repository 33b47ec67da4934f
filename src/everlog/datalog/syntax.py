"""Terms, atoms, rules and programs, as immutable values.

A rule keeps what the user wrote: comparisons, computations, negations and aggregates stay literals of the body, and a
`NOT EXISTS` is one negative literal with its own variables. Sugar is gone: an RDF atom is an `Atom` of the ternary
predicate `triple`, a rule has one head, and every `_` is a variable of its own (its name starts with `_`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from everlog.datalog.values import Value, identity
from everlog.wording import counted

TRIPLE: Final = "triple"
QUAD: Final = "quad"
HIDDEN: Final = "¬"
"""What the names of predicates begin with that no user sees."""

_SHOWN: Final = 20
"""So many rules of a program are shown in a notebook."""

EQUAL: Final = "="
"""The predicate of an equality in a head; with equality on, such an atom is a triple with owl:sameAs."""

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">=", "~", "is", "is not"]
"""What a comparison asks of two values (`comparing.py`).

Three are for rules that Everlog makes: with `~`, both values are of kinds that equality can merge; with `is`, they are the
same term, and the rule is rewritten so that it says so (`equalities.py`); with `is not`, they are not.
"""


class Hashed:
    """A value that remembers its hash, which planning asks for again and again."""

    __slots__ = ("_hash",)
    _hash: int

    def _remembered(self, number: int) -> int:
        object.__setattr__(self, "_hash", number)
        return number


@dataclass(frozen=True, slots=True)
class Variable:
    name: str

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"?{self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Hashed):
    """A value in a rule; unlike the value itself it can be compared and hashed: `Constant(1) != Constant(1.0)`."""

    value: Value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant) or hash(self) != hash(other):
            return False
        return identity(self.value) == identity(other.value)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            return self._remembered(hash(identity(self.value)))


Term: TypeAlias = Variable | Constant


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function of SPARQL with its arguments, as `expressions/` evaluates it.

    `function` is a sign (`+`, `-`, `*`, `/`, `=`, `!=`, `<`, `<=`, `>`, `>=`, `!`, `&&`, `||`), a name in capitals
    (`CONCAT`, `IF`, `IN`, `NOT IN`), or the IRI of a datatype to cast to. `-` and `+` with one argument are signs of it.
    """

    function: str
    arguments: tuple[Expression, ...]

    def mapped(self, change: Callable[[Term], Term]) -> Call:
        return Call(self.function, tuple(changed(argument, change) for argument in self.arguments))


Expression: TypeAlias = Variable | Constant | Call


def terms_of(expression: Expression) -> Iterator[Term]:
    """The variables and constants of an expression, once per occurrence."""
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from terms_of(argument)
    else:
        yield expression


def changed(expression: Expression, change: Callable[[Term], Term]) -> Expression:
    """An expression with each of its terms changed."""
    return expression.mapped(change) if isinstance(expression, Call) else change(expression)


@dataclass(frozen=True, slots=True)
class Atom(Hashed):
    predicate: str
    terms: tuple[Term, ...]

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            return self._remembered(hash((self.predicate, self.terms)))

    def variables(self) -> Iterator[Variable]:
        """The variables, once per occurrence."""
        return (term for term in self.terms if isinstance(term, Variable))

    def mapped(self, change: Callable[[Term], Term]) -> Atom:
        """The atom with each of its terms changed."""
        return Atom(self.predicate, tuple(map(change, self.terms)))


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Operator
    left: Term
    right: Term

    @property
    def terms(self) -> tuple[Term, Term]:
        return self.left, self.right

    def variables(self) -> Iterator[Variable]:
        return (term for term in self.terms if isinstance(term, Variable))

    def mapped(self, change: Callable[[Term], Term]) -> Comparison:
        return Comparison(self.operator, change(self.left), change(self.right))


@dataclass(frozen=True, slots=True)
class Computation:
    """`BIND(expression AS result)`; without a result, `FILTER(expression)`.

    A result that has a value already, or is a constant, must be the very term that is computed.
    """

    expression: Expression
    result: Term | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*terms_of(self.expression), *(() if self.result is None else (self.result,)))

    def inputs(self) -> Iterator[Variable]:
        """The variables that must have values first."""
        return (term for term in terms_of(self.expression) if isinstance(term, Variable))

    def variables(self) -> Iterator[Variable]:
        return (term for term in self.terms if isinstance(term, Variable))

    def mapped(self, change: Callable[[Term], Term]) -> Computation:
        result = None if self.result is None else change(self.result)
        return Computation(changed(self.expression, change), result)


Test: TypeAlias = Comparison | Computation
"""What a body has besides atoms and negations of them; a computation may also give a variable its value."""


@dataclass(frozen=True, slots=True)
class Negation:
    """`NOT EXISTS local IN (atoms, tests)`; `not A` has one atom and no local variables.

    Variables that are not local are shared with the rule and must be bound by it.
    """

    atoms: tuple[Atom, ...]
    local: tuple[Variable, ...] = ()
    tests: tuple[Test, ...] = ()

    def variables(self) -> Iterator[Variable]:
        """The shared variables, once per occurrence."""
        return (variable for part in parts(self) for variable in part.variables() if variable not in self.local)

    def mapped(self, change: Callable[[Term], Term]) -> Negation:
        """The negation with each term inside changed; the local variables stay declared."""
        atoms = tuple(atom.mapped(change) for atom in self.atoms)
        return Negation(atoms, self.local, tuple(test.mapped(change) for test in self.tests))

    @property
    def computations(self) -> tuple[Computation, ...]:
        return tuple(test for test in self.tests if isinstance(test, Computation))


@dataclass(frozen=True, slots=True)
class Aggregation:
    """What is computed for each group: `SUM(argument) AS result`; of `COUNT(*)` there is no argument."""

    function: str
    arguments: tuple[Expression, ...]
    result: Variable
    distinct: bool = False
    separator: str = " "
    """What `GROUP_CONCAT` writes between two values."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`AGGREGATE(body ON groups BIND …)`: the matches of a body by the values of some variables.

    The other variables of the body are local. Without groups there is one group, even if nothing matches.
    """

    body: tuple[BodyLiteral, ...]
    groups: tuple[Variable, ...]
    aggregations: tuple[Aggregation, ...]

    @property
    def local(self) -> tuple[Variable, ...]:
        """The variables that nobody outside knows."""
        inner = dict.fromkeys(variable for part in parts(self) for variable in part.variables())
        return tuple(variable for variable in inner if variable not in self.groups)

    def variables(self) -> Iterator[Variable]:
        """The variables that others may use: those of groups, and results."""
        yield from self.groups
        yield from (aggregation.result for aggregation in self.aggregations)

    def mapped(self, change: Callable[[Term], Term]) -> Aggregate:
        def renamed(variable: Variable) -> Variable:
            term = change(variable)
            assert isinstance(term, Variable), "aggregates are atoms before equalities are solved"
            return term

        def aggregated(one: Aggregation) -> Aggregation:
            arguments = tuple(changed(argument, change) for argument in one.arguments)
            return replace(one, arguments=arguments, result=renamed(one.result))

        return Aggregate(
            tuple(literal.mapped(change) for literal in self.body),
            tuple(map(renamed, self.groups)),
            tuple(map(aggregated, self.aggregations)),
        )


BodyLiteral: TypeAlias = Atom | Negation | Test | Aggregate


def parts(literal: BodyLiteral) -> tuple[Atom | Test, ...]:
    """The atoms and tests that a literal consists of: those inside a negation or an aggregate, or itself."""
    if isinstance(literal, Negation):
        return (*literal.atoms, *literal.tests)
    if isinstance(literal, Aggregate):
        arguments = (Computation(argument) for one in literal.aggregations for argument in one.arguments)
        return (*(part for inner in literal.body for part in parts(inner)), *arguments)
    return (literal,)


@dataclass(frozen=True, slots=True)
class Extreme:
    """`MIN(…)` or `MAX(…)` as an argument of a head: of facts that agree in all others, the least or greatest is kept."""

    function: Literal["MIN", "MAX"]
    place: int
    """Which argument it is, counted from 0."""
    numbers: bool = False
    """Whether only numbers count; said of rules that Everlog makes, where a recursion computes with the values."""
    adds: bool = False
    """Whether each step of such a recursion adds something to all values that it gets, if only 0."""
    worsens: bool = False
    """Whether no step gives a value that is better than one that it gets."""


class Divided(Hashed):
    """A value that remembers its parts of some kinds, too."""

    __slots__ = ("_aggregates", "_negative", "_positive")
    _positive: tuple[Atom, ...]
    _negative: tuple[Negation, ...]
    _aggregates: tuple[Aggregate, ...]

    def _divided(self, body: tuple[BodyLiteral, ...]) -> None:
        for name, kind in (("_positive", Atom), ("_negative", Negation), ("_aggregates", Aggregate)):
            object.__setattr__(self, name, tuple(literal for literal in body if isinstance(literal, kind)))


@dataclass(frozen=True, slots=True)
class Rule(Divided):
    """A rule with one head. What is computed inside `MIN(…)` or `MAX(…)` is a `BIND` at the end of the body."""

    head: Atom
    body: tuple[BodyLiteral, ...]
    extreme: Extreme | None = None

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            return self._remembered(hash((self.head, self.body, self.extreme)))

    @property
    def positive(self) -> tuple[Atom, ...]:
        try:
            return self._positive
        except AttributeError:
            self._divided(self.body)
            return self._positive

    @property
    def negative(self) -> tuple[Negation, ...]:
        try:
            return self._negative
        except AttributeError:
            self._divided(self.body)
            return self._negative

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(literal for literal in self.body if isinstance(literal, Comparison))

    @property
    def computations(self) -> tuple[Computation, ...]:
        return tuple(literal for literal in self.body if isinstance(literal, Computation))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        try:
            return self._aggregates
        except AttributeError:
            self._divided(self.body)
            return self._aggregates


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """Rules (distinct up to the names of variables, in the order of the text), facts, and the prefixes of the text."""

    rules: tuple[Rule, ...] = ()
    facts: tuple[Atom, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    origins: Mapping[Rule, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """What rules come from, where that is known: the file and the line, or an axiom of an ontology.

    A fact that an ontology asserts is there, too, as a rule without a body.
    """

    def __repr__(self) -> str:
        return f"<Program: {counted(len(self.rules), 'rule')}, {counted(len(self.facts), 'fact')}>"

    def _repr_html_(self) -> str:
        """A notebook shows the first rules."""
        from everlog.datalog.printer import print_rule

        rules = [print_rule(rule, self.prefixes) for rule in self.rules[:_SHOWN]]
        more = [f"… and {len(self.rules) - _SHOWN:,} more"] if len(self.rules) > _SHOWN else []
        return f"<p>{escape(repr(self))}</p><pre>{escape(chr(10).join([*rules, *more]))}</pre>"
