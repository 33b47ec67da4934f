"""Expressions of a query's syntax tree as those that `expressions/` evaluates, with aggregates and patterns taken out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from everlog.datalog.syntax import Aggregation, Call, Constant, Expression, Variable
from everlog.errors import SyntaxMistake
from everlog.expressions.functions import FUNCTIONS
from everlog.sparql.query_tree import Formula, Pattern
from everlog.sparql.term_syntax import TermSyntax, children_of, kind_of, leaf_of, number_of, string_of

if TYPE_CHECKING:
    from everlog.sparql.term_syntax import Node

ROW: Final = Variable("#row")
"""The number of a row: functions whose value is another one in each row have it as their first argument."""

_BY_ROW: Final = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})


class Aggregates:
    """The aggregates of a query's expressions, with their arguments, once they are allowed."""

    def __init__(self) -> None:
        self.found: list[Aggregation] = []
        self.arguments: list[tuple[Formula, ...]] = []


class ExpressionSyntax:
    """Makes expressions of nodes. `group` translates the pattern of an EXISTS."""

    def __init__(self, terms: TermSyntax, group: Callable[[Node], Pattern]) -> None:
        self._terms, self._group = terms, group
        self.suspicions: list[str] = []
        """What may be a mistake."""

    def formula(self, node: Node, aggregates: Aggregates | None = None) -> Formula:
        """The expression of a node; aggregates are refused where there is nothing to collect them."""
        exists: list[tuple[Variable, Pattern]] = []
        return Formula(self._expression(node, exists, aggregates), tuple(exists))

    def _expression(
        self, node: Node, exists: list[tuple[Variable, Pattern]], aggregates: Aggregates | None
    ) -> Expression:
        kind, children = kind_of(node), children_of(node)

        def inner(child: Node) -> Expression:
            return self._expression(child, exists, aggregates)

        if kind in ("var", "iri", "plain", "tagged", "typed", "number", "boolean"):
            return self._terms.term(node)
        if kind in ("any_of", "all_of"):
            return Call("||" if kind == "any_of" else "&&", tuple(map(inner, children)))
        if kind in ("compared", "arithmetic"):
            left, sign, right = children
            return Call(str(sign), (inner(left), inner(right)))
        if kind in ("among", "not_among"):
            values = [child for child in children_of(children[1]) if kind_of(child) != "NIL"]
            return Call("IN" if kind == "among" else "NOT IN", (inner(children[0]), *map(inner, values)))
        if kind == "added":
            return Call("+", (inner(children[0]), inner(children[1])))
        if kind == "signed_product":
            if len(children) == 1:
                return Constant(number_of(leaf_of(node)))
            return Call(str(children[1]), (inner(children[0]), inner(children[2])))
        if kind == "negation":
            return Call("!", (inner(children[0]),))
        if kind == "sign":
            return Call(str(children[0]), (inner(children[1]),))
        if kind == "bound":
            return Call("BOUND", (self._terms.variable(children[0]),))
        if kind in ("exists", "not_exists"):
            variable = self._terms.fresh()
            exists.append((variable, self._group(children[0])))
            return variable if kind == "exists" else Call("!", (variable,))
        if kind == "aggregate":
            return self._aggregate(children, aggregates)
        if kind == "call":
            return self._call(children, inner)
        assert kind in ("function", "function_of_list"), kind
        name = str(children[0]).upper()
        given = children_of(children[1]) if kind == "function_of_list" else children[1:]
        return self._function(name, tuple(inner(child) for child in given if kind_of(child) != "NIL"))

    def _function(self, name: str, arguments: tuple[Expression, ...]) -> Expression:
        if name in _BY_ROW:
            return Call(name, (ROW, *arguments))
        if name in ("IRI", "URI"):
            return Call("RESOLVE", (*arguments, Constant(self._terms.names.base or "")))
        if name == "COALESCE" and not arguments:
            return Call("MISSING", ())
        return Call(name, arguments)

    def _call(self, children: list[Node], inner: Callable[[Node], Expression]) -> Expression:
        name = self._terms.iri(children[0]).value
        given = [child for child in children_of(children[1]) if kind_of(child) != "NIL"]
        if given and kind_of(given[0]) == "DISTINCT":
            raise SyntaxMistake(f"<{name}> is no aggregate, so that it takes no DISTINCT")
        arguments = tuple(map(inner, given))
        function = FUNCTIONS.get(name)
        if function is None or not function.least <= len(arguments) <= (function.most or len(arguments)):
            self.suspicions.append(f"there is no function <{name}> of {len(arguments)} arguments: it has no value")
            return Call("MISSING", ())
        return Call(name, arguments)

    def _aggregate(self, children: list[Node], aggregates: Aggregates | None) -> Expression:
        name, *rest = children
        function = str(name).upper()
        if aggregates is None:
            raise SyntaxMistake(f"{function} cannot be used here: aggregates are for SELECT, HAVING and ORDER BY")
        distinct = bool(rest) and kind_of(rest[0]) == "DISTINCT"
        given = rest[1:] if distinct else rest
        separator = " "
        if function == "GROUP_CONCAT" and len(given) > 1:
            separator = string_of(given[-1])
        arguments = () if kind_of(given[0]) == "STAR" else (self.formula(given[0]),)
        for known, known_arguments in zip(aggregates.found, aggregates.arguments, strict=True):
            if (known.function, known.distinct, known.separator, known_arguments) == (
                function,
                distinct,
                separator,
                arguments,
            ):
                return known.result
        result = self._terms.fresh()
        aggregates.found.append(Aggregation(function, (), result, distinct, separator))
        aggregates.arguments.append(arguments)
        return result
