"""The algebra of SPARQL 1.1 (section 18.2 of the recommendation), as immutable values.

Variables are those of the rule language. A blank node of a pattern is a variable whose name starts with `_:`, and what
the translation adds, such as the results of aggregates, has a name that starts with `#`: neither can be written in a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from everlog.datalog.syntax import QUAD, TRIPLE, Aggregation, Atom, Constant, Expression, Term, Variable
from everlog.datalog.values import Value

# ------------------------------------------------------------------------------------ property paths


@dataclass(frozen=True, slots=True)
class Link:
    """One step along a property."""

    verb: Constant


@dataclass(frozen=True, slots=True)
class Backwards:
    path: Path


@dataclass(frozen=True, slots=True)
class Steps:
    """One path after the other."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One path or another."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`path?`, `path*` or `path+`: pairs of nodes, each once."""

    path: Path
    least: Literal[0, 1]
    many: bool


@dataclass(frozen=True, slots=True)
class NoneOf:
    """One step along a property that is not listed; with `backwards`, also against one that is not listed there."""

    forwards: tuple[Constant, ...] | None
    backwards: tuple[Constant, ...] | None


Path: TypeAlias = Link | Backwards | Steps | Choice | Repeated | NoneOf

# ------------------------------------------------------------------------------------ patterns

Triple: TypeAlias = tuple[Term, Term, Term]


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression; `exists` are variables in it that say whether a pattern has a solution."""

    expression: Expression
    exists: tuple[tuple[Variable, Pattern], ...] = ()


@dataclass(frozen=True)
class Basic:
    """A basic graph pattern; what is asked of facts for it is worked out once, as a query is often asked again."""

    triples: tuple[Triple, ...] = ()

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Those that its solutions bind."""
        return tuple(dict.fromkeys(term for triple in self.triples for term in triple if isinstance(term, Variable)))

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """What it asks of the default graph."""
        return tuple(Atom(TRIPLE, triple) for triple in self.triples)

    def quads(self, name: Term) -> tuple[Atom, ...]:
        """What it asks of graphs with a name."""
        return tuple(Atom(QUAD, (*triple, name)) for triple in self.triples)


@dataclass(frozen=True, slots=True)
class PathPattern:
    subject: Term
    path: Path
    object: Term


@dataclass(frozen=True, slots=True)
class Join:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    left: Pattern
    right: Pattern
    condition: Formula | None


@dataclass(frozen=True, slots=True)
class Union:
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Filter:
    pattern: Pattern
    condition: Formula


@dataclass(frozen=True, slots=True)
class Extend:
    pattern: Pattern
    variable: Variable
    formula: Formula


@dataclass(frozen=True, slots=True)
class InGraph:
    graph: Term
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Inline:
    """`VALUES`: rows of values; None is `UNDEF`."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Groups by the values of variables; without any there is one group, even if nothing matches.

    The arguments of aggregates are formulas, by the variable of the result.
    """

    pattern: Pattern
    keys: tuple[Variable, ...]
    aggregations: tuple[Aggregation, ...]
    arguments: tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    pattern: Pattern
    keys: tuple[tuple[Formula, bool], ...]
    """What to sort by, and whether the greatest comes first."""


@dataclass(frozen=True, slots=True)
class Project:
    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Slice:
    pattern: Pattern
    offset: int
    limit: int | None


Pattern: TypeAlias = (
    Basic
    | PathPattern
    | Join
    | LeftJoin
    | Union
    | Minus
    | Filter
    | Extend
    | InGraph
    | Inline
    | Group
    | Ordered
    | Project
    | Distinct
    | Slice
)


# ------------------------------------------------------------------------------------ queries


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs that a query names: those that make up its default graph, and those that it may name."""

    default: tuple[Value, ...]
    named: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A query of one of four forms; which of the last fields matter depends on it."""

    form: Literal["select", "ask", "construct", "describe"]
    pattern: Pattern
    variables: tuple[Variable, ...]
    """In the order of the result."""
    dataset: Dataset | None
    prefixes: Mapping[str, str]
    template: tuple[Triple, ...] = ()
    """What to construct; blank nodes are variables that start with `_:`."""
    described: tuple[Term, ...] = ()
    suspicions: tuple[str, ...] = ()
    """What may be a mistake in it."""
