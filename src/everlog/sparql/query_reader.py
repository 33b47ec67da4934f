"""Text to the algebra of `query_tree.py`: the grammar of `sparql.lark`, and section 18.2 of the recommendation.

What the grammar cannot say is checked on the way: scopes of variables and of blank nodes, what may be projected from
groups, and how long rows of values are. SERVICE is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Final, Literal

from everlog.datalog.grammars import kept_grammar, misplaced_character
from everlog.datalog.syntax import Call, Constant, Variable, terms_of
from everlog.datalog.syntax_mistakes import place
from everlog.datalog.values import Value
from everlog.errors import EverlogError, SyntaxMistake
from everlog.sparql.iri_names import IriNames
from everlog.sparql.query_expressions import Aggregates, ExpressionSyntax
from everlog.sparql.query_tree import (
    Basic,
    Dataset,
    Distinct,
    Extend,
    Filter,
    Formula,
    Group,
    InGraph,
    Inline,
    Join,
    LeftJoin,
    Minus,
    Ordered,
    Pattern,
    Project,
    Query,
    Slice,
    Triple,
    Union,
)
from everlog.sparql.term_syntax import TermSyntax, children_of, conjunction, kind_of, leaf_of
from everlog.sparql.variable_scopes import in_scope, is_written

if TYPE_CHECKING:
    from lark import Lark

    from everlog.sparql.term_syntax import Node

_ESCAPE: Final = re.compile(r"\\(?:\\|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_SOURCE: Final = "<query>"
_NAMES: Final = ("PNAME_LN", "PNAME_NS", "BLANK_LABEL", "VAR")


@lru_cache(maxsize=256)
def read_query(text: str, base: str | None) -> Query:
    """The query of a text; relative IRIs are resolved by a base. The same are asked again and again."""
    text = _ESCAPE.sub(_character, text)
    return _Reader(base).read(_parsed(text))


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return match[0]
    number = int(code, 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise SyntaxMistake(f"{_SOURCE}: '{match[0]}' is no Unicode character")
    return chr(number)


@cache
def _grammar() -> Lark:
    return kept_grammar("everlog.sparql", "sparql", start="query", maybe_placeholders=False)


def _parsed(text: str) -> Node:
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        tree = _grammar().parse(text)
    except UnexpectedInput as error:
        at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        offset = len(text.rstrip()) if at_end or error.pos_in_stream is None else error.pos_in_stream
        rest = text[offset : offset + 30].split("\n")[0]
        found = f"'{rest}'" if rest.strip() else "the end of the query"
        what = "no word of SPARQL begins with" if isinstance(error, UnexpectedCharacters) else "unexpected"
        raise SyntaxMistake(f"{place(_SOURCE, text, offset)}: {what} {found}") from None
    if not text.isascii() and (wrong := misplaced_character(tree, _NAMES)) is not None:
        raise SyntaxMistake(f"{place(_SOURCE, text, wrong)}: '{text[wrong]}' cannot stand in a name")
    return tree


class _Reader:
    """Walks the syntax tree of one query."""

    def __init__(self, base: str | None) -> None:
        self._terms = TermSyntax(IriNames(base))
        self._expressions = ExpressionSyntax(self._terms, self._group)
        self._labels: dict[Variable, int] = {}
        """The basic graph pattern that the label of a blank node belongs to."""
        self._patterns = count(1)
        """Numbers of basic graph patterns."""

    def read(self, tree: Node) -> Query:
        return replace(self._query(tree), suspicions=tuple(dict.fromkeys(self._expressions.suspicions)))

    def _query(self, tree: Node) -> Query:
        prologue, body, *values = children_of(tree)
        self._prologue(prologue)
        kind = kind_of(body)
        children = children_of(body)
        dataset = self._dataset([child for child in children if kind_of(child) == "dataset"])
        parts = {kind_of(child): child for child in children}
        prefixes = self._terms.names.prefixes
        modifiers = parts["modifiers"]
        inline = self._inline(children_of(values[0])[0]) if values else None
        where = self._group(parts["group"]) if "group" in parts else Basic()
        if kind == "select_query":
            pattern, variables = self._select(parts["select_clause"], where, modifiers, inline)
            return Query("select", pattern, variables, dataset, prefixes)
        if kind == "describe_query":
            given = [child for child in children if kind_of(child) in ("var", "iri")]
            every = [variable for variable in in_scope(where) if is_written(variable)]
            described = tuple(map(self._terms.term, given)) or tuple(every)
            return self._whole("describe", where, modifiers, inline, dataset, described=described)
        if kind == "ask_query":
            return self._whole("ask", where, modifiers, inline, dataset)
        if kind == "construct_where":
            inner = children_of(parts["short_template"])
            template = self._terms.template(inner[0]) if inner else []
            return self._whole("construct", Basic(tuple(template)), modifiers, inline, dataset, template)
        inner = children_of(parts["template"])
        template = self._terms.template(inner[0]) if inner else []
        return self._whole("construct", where, modifiers, inline, dataset, template)

    def _whole(
        self,
        form: Literal["ask", "construct", "describe"],
        where: Pattern,
        modifiers: Node,
        inline: Inline | None,
        dataset: Dataset | None,
        template: Sequence[Triple] = (),
        described: tuple[Variable | Constant, ...] = (),
    ) -> Query:
        """A query that keeps all variables of its pattern."""
        pattern, _ = self._modified(where, modifiers, inline, Aggregates(), [], None, None)
        variables = tuple(in_scope(pattern))
        return Query(form, pattern, variables, dataset, self._terms.names.prefixes, tuple(template), tuple(described))

    def _prologue(self, node: Node) -> None:
        names = self._terms.names
        for child in children_of(node):
            *prefix, iri = children_of(child)
            full = names.full(str(iri)[1:-1]).value
            if prefix:
                names.prefixes[str(prefix[0])[:-1]] = full
            else:
                names.base = full

    def _dataset(self, clauses: Sequence[Node]) -> Dataset | None:
        if not clauses:
            return None
        default: list[Value] = []
        named: list[Value] = []
        for clause in clauses:
            *mark, iri = children_of(clause)
            (named if mark else default).append(self._terms.iri(iri))
        return Dataset(tuple(dict.fromkeys(default)), tuple(dict.fromkeys(named)))

    # ------------------------------------------------------------------------------------ groups

    def _group(self, node: Node) -> Pattern:
        pattern, conditions = self._parts(node)
        return _filtered(pattern, conditions)

    def _parts(self, node: Node) -> tuple[Pattern, list[Formula]]:
        """A group without its filters, and these."""
        (inner,) = children_of(node)
        if kind_of(inner) == "subselect":
            return self._subselect(inner), []
        number = next(self._patterns)
        found: Pattern = Basic()
        triples: list[Triple] = []
        others: list[Pattern] = []
        conditions: list[Formula] = []
        for child in children_of(inner):
            kind = kind_of(child)
            if kind == "triples_block":
                more, paths = self._terms.patterns(child)
                self._check_labels(more, paths, number)
                triples += more
                others += paths
                continue
            if kind == "filter":
                conditions.append(self._expressions.formula(children_of(child)[0]))
                continue
            found, triples, others = _joined(found, conjunction(triples, others)), [], []
            found = self._part(kind, child, found)
            number = next(self._patterns)
        return _joined(found, conjunction(triples, others)), conditions

    def _part(self, kind: str, node: Node, found: Pattern) -> Pattern:
        """What is found so far in a group, together with its next part."""
        children = children_of(node)
        if kind == "optional":
            right, conditions = self._parts(children[0])
            return LeftJoin(found, right, _all_of(conditions) if conditions else None)
        if kind == "minus":
            return Minus(found, self._group(children[0]))
        if kind == "union":
            groups = tuple(map(self._group, children))
            return _joined(found, groups[0] if len(groups) == 1 else Union(groups))
        if kind == "in_graph":
            return _joined(found, InGraph(self._terms.term(children[0]), self._group(children[1])))
        if kind == "bind":
            variable = self._terms.variable(children[1])
            if variable in in_scope(found):
                raise SyntaxMistake(f"BIND gives a value to {variable}, which has one already: take another variable")
            return Extend(found, variable, self._expressions.formula(children[0]))
        if kind == "inline_data":
            return _joined(found, self._inline(children[0]))
        raise EverlogError("SERVICE asks other servers, which Everlog does not do: load their data")

    def _check_labels(self, triples: Iterable[Triple], others: Iterable[Pattern], number: int) -> None:
        """A blank node belongs to one basic graph pattern, here to that with a number."""
        found = (term for triple in triples for term in triple if isinstance(term, Variable))
        for variable in (*found, *(variable for other in others for variable in in_scope(other))):
            if variable.name.startswith("_:") and self._labels.setdefault(variable, number) != number:
                raise SyntaxMistake(
                    f"the blank node {variable.name} is in two groups of triples: use a variable instead"
                )

    def _inline(self, node: Node) -> Inline:
        children = children_of(node)
        variables = tuple(self._terms.variable(child) for child in children if kind_of(child) == "var")
        if len(set(variables)) < len(variables):
            raise SyntaxMistake("a variable occurs twice before the rows of VALUES")
        if kind_of(node) == "data_one":
            return Inline(variables, tuple((self._data(child),) for child in children[1:]))
        rows = [children_of(child) for child in children if kind_of(child) == "data_row"]
        made = tuple(tuple(self._data(value) for value in row if kind_of(value) != "NIL") for row in rows)
        for row in made:
            if len(row) != len(variables):
                raise SyntaxMistake(f"VALUES has {len(variables)} variables and a row of {len(row)} values")
        return Inline(variables, made)

    def _data(self, node: Node) -> Constant | None:
        return None if kind_of(node) == "UNDEF" else self._terms.constant(node)

    # ------------------------------------------------------------------------------------ modifiers

    def _subselect(self, node: Node) -> Pattern:
        clause, group, modifiers, *values = children_of(node)
        inline = self._inline(children_of(values[0])[0]) if values else None
        return self._select(clause, self._group(group), modifiers, inline)[0]

    def _select(
        self, clause: Node, where: Pattern, modifiers: Node, inline: Inline | None
    ) -> tuple[Pattern, tuple[Variable, ...]]:
        aggregates = Aggregates()
        computed: list[tuple[Variable, Formula]] = []
        projected: dict[Variable, None] | None = {}
        mode: str | None = None
        for child in children_of(clause):
            kind = kind_of(child)
            if kind in ("DISTINCT", "REDUCED"):
                mode = kind
            elif kind == "STAR":
                projected = None
            else:
                assert projected is not None
                *expression, name = children_of(child)
                variable = self._terms.variable(name)
                if expression:
                    if variable in projected:
                        raise SyntaxMistake(f"SELECT has {variable} twice: give the expression another name")
                    computed.append((variable, self._expressions.formula(expression[0], aggregates)))
                projected[variable] = None
        return self._modified(where, modifiers, inline, aggregates, computed, projected, mode)

    def _modified(
        self,
        where: Pattern,
        modifiers: Node,
        inline: Inline | None,
        aggregates: Aggregates,
        computed: Sequence[tuple[Variable, Formula]],
        projected: dict[Variable, None] | None,
        mode: str | None,
    ) -> tuple[Pattern, tuple[Variable, ...]]:
        """A pattern with the modifiers of a query (section 18.2.4), and the variables of its solutions."""
        parts = {kind_of(child): child for child in children_of(modifiers)}
        having = [self._expressions.formula(one, aggregates) for one in _children(parts, "having")]
        order = [self._order(one, aggregates) for one in _children(parts, "order_by")]
        pattern = where
        if "group_by" in parts or aggregates.found or having:
            pattern = self._grouped(pattern, _children(parts, "group_by"), aggregates, computed, projected)
        pattern = _filtered(pattern, having)
        if inline is not None:
            pattern = _joined(pattern, inline)
        known = in_scope(pattern)
        for variable, formula in computed:
            if variable in known:
                raise SyntaxMistake(f"SELECT gives a value to {variable}, which has one already: take another variable")
            pattern = Extend(pattern, variable, formula)
        variables = tuple(filter(is_written, known)) if projected is None else tuple(projected)
        if order:
            pattern = Ordered(pattern, tuple(order))
        pattern = Project(pattern, variables)
        if mode == "DISTINCT":
            pattern = Distinct(pattern)
        return self._sliced(pattern, parts), variables

    def _order(self, node: Node, aggregates: Aggregates) -> tuple[Formula, bool]:
        *direction, expression = children_of(node)
        greatest_first = bool(direction) and kind_of(direction[0]) == "DESC"
        return self._expressions.formula(expression, aggregates), greatest_first

    def _sliced(self, pattern: Pattern, parts: dict[str, Node]) -> Pattern:
        numbers = {kind_of(child): int(leaf_of(child)) for child in _children(parts, "limit_offset")}
        return Slice(pattern, numbers.get("offset", 0), numbers.get("limit")) if numbers else pattern

    def _grouped(
        self,
        pattern: Pattern,
        conditions: Sequence[Node],
        aggregates: Aggregates,
        computed: Sequence[tuple[Variable, Formula]],
        projected: dict[Variable, None] | None,
    ) -> Pattern:
        keys: list[Variable] = []
        for condition in conditions:
            if kind_of(condition) == "var":
                keys.append(self._terms.variable(condition))
                continue
            expression, *name = children_of(condition) if kind_of(condition) == "group_as" else [condition]
            key = self._terms.variable(name[0]) if name else self._terms.fresh()
            if key in in_scope(pattern):
                raise SyntaxMistake(f"GROUP BY gives a value to {key}, which has one already: take another variable")
            pattern = Extend(pattern, key, self._expressions.formula(expression))
            keys.append(key)
        if projected is None:
            raise SyntaxMistake("SELECT * cannot be used with groups: name the variables of GROUP BY")
        known = {*keys, *(one.result for one in aggregates.found)}
        for variable in projected:
            formula = dict(computed).get(variable)
            used = [variable] if formula is None else _own_variables(formula)
            for one in used:
                if one not in known and is_written(one):
                    raise SyntaxMistake(f"{one} is neither in GROUP BY nor in an aggregate: put it into one of them")
            known.add(variable)
        return Group(pattern, tuple(dict.fromkeys(keys)), tuple(aggregates.found), tuple(aggregates.arguments))


def _own_variables(formula: Formula) -> list[Variable]:
    return [term for term in terms_of(formula.expression) if isinstance(term, Variable)]


def _children(parts: dict[str, Node], name: str) -> list[Node]:
    return children_of(parts[name]) if name in parts else []


def _joined(left: Pattern, right: Pattern) -> Pattern:
    if left == Basic():
        return right
    return left if right == Basic() else Join(left, right)


def _all_of(conditions: Sequence[Formula]) -> Formula:
    if len(conditions) == 1:
        return conditions[0]
    exists = tuple(one for condition in conditions for one in condition.exists)
    return Formula(Call("&&", tuple(condition.expression for condition in conditions)), exists)


def _filtered(pattern: Pattern, conditions: Sequence[Formula]) -> Pattern:
    for condition in conditions:
        pattern = Filter(pattern, condition)
    return pattern
