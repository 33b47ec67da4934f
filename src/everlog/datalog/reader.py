"""Text to programs and goals: the rule language of `rules.lark`.

Reading resolves prefixes, removes sugar (RDF atoms, several heads, `_`), brings every value to its one form, and checks
safety and arities, so that what comes out can be planned. Mistakes are `SyntaxMistake`, `UnsafeRule` or `ArityMistake`,
each with `source:line:column`. Stratification is not checked here.

- The n-th `_` of a statement is the variable `_n` (a number that the statement writes itself, as `?_1`, is left out).
  Under a negation it becomes one of its local variables, after those that `NOT EXISTS` names.
- A comment `#@ …` in the line above a rule says what it comes from; stores keep that so.
- A predicate written as an IRI is the string `<…>` with the full IRI; one that is no identifier is written in quotes.
- An IRI without a scheme belongs to the scheme `everlog:`, since RDF terms hold absolute IRIs only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar, cast
from typing import Literal as Word

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode

from everlog.datalog.arities import check_arities
from everlog.datalog.escapes import EscapeError, unescape_iri, unescape_string
from everlog.datalog.extremes import value_variable
from everlog.datalog.grammars import kept_grammar, misplaced_character
from everlog.datalog.prefixes import NO_PREFIXES, ORIGIN, WELL_KNOWN
from everlog.datalog.printer import nameless_head
from everlog.datalog.safety import check_goal, check_safety
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import (
    EQUAL,
    QUAD,
    TRIPLE,
    Aggregate,
    Aggregation,
    Atom,
    BodyLiteral,
    Call,
    Comparison,
    Computation,
    Constant,
    Expression,
    Extreme,
    Negation,
    Operator,
    Program,
    Rule,
    Term,
    Test,
    Variable,
)
from everlog.datalog.syntax_mistakes import place, syntax_mistake
from everlog.datalog.values import RDF_TYPE, normalise
from everlog.errors import EverlogError, SyntaxMistake, UnsupportedValue

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

    Node = Token | Tree[Token]

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_WITHOUT_SCHEME: Final = "everlog:"

_PLAIN: Final[Mapping[str, Callable[[str], object]]] = {
    "NAME": str,
    "INTEGER": int,
    "FLOAT": float,
    "BOOLEAN": lambda token: token == "true",
    "BLANK": lambda token: BlankNode(token[2:]),
    "A": lambda token: RDF_TYPE,
}
"""The values of tokens that need neither prefixes nor escapes."""

_EXPRESSIONS: Final = frozenset({"or", "and", "relation", "membership", "sum", "product", "sign", "call"})
"""The nodes of expressions that are no terms."""

_INSIDE: Final = Variable(" inside MIN or MAX")
"""Stands where a head has `MIN(…)` or `MAX(…)` until that is read."""

T = TypeVar("T")


def parse_program(text: str, source: str = "<program>") -> Program:
    """The program of a text; `source` names it in messages.

    >>> parse_program("edge(a, b) .  reach(?x, ?y) :- edge(?x, ?y) .").rules[0].head
    Atom(predicate='reach', terms=(?x, ?y))
    """
    return _Reader(text, source, NO_PREFIXES).program()


@lru_cache(maxsize=1)
def stored_program(text: str) -> Program:
    """The program that a store has; a command looks at its prefixes before the store is opened, and reads it once."""
    return parse_program(text)


def parse_goal(text: str, prefixes: Mapping[str, str] = NO_PREFIXES, source: str = "<goal>") -> tuple[BodyLiteral, ...]:
    """The literals of a conjunctive goal, written like a body; a final dot may stand or not.

    >>> parse_goal("edge(a, ?y), ?y != b")[0]
    Atom(predicate='edge', terms=(Constant(value='a'), ?y))
    """
    return _Reader(text, source, prefixes).goal()


@cache
def _grammar() -> Lark:
    return kept_grammar("everlog.datalog", "rules", start=["program", "goal"])


class _Reader:
    """Walks the syntax tree of one text, statement by statement."""

    def __init__(self, text: str, source: str, prefixes: Mapping[str, str]) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._source = source
        self._declared: dict[str, str] = {}
        self._prefixes: dict[str, str] = {**WELL_KNOWN, **prefixes}
        self._constants: dict[tuple[str, str], Constant] = {}
        self._statement: Tree[Token]

    def program(self) -> Program:
        rules: dict[Rule, Rule] = {}
        facts: dict[Atom, None] = {}
        places: dict[Rule | Atom, str] = {}
        origins: dict[Rule, str] = {}
        for statement in cast("list[Tree[Token]]", self._parse("program").children):
            self._begin(statement)
            if statement.data == "prefix":
                self._declare(statement)
                continue
            for rule, where in self._rules(statement):
                check_safety(rule, where, self._prefixes)
                if rule.body:
                    kept = rules.setdefault(canonical_rule(rule), rule)
                    places.setdefault(kept, where)
                    if (origin := self._origin(statement)) is not None:
                        origins.setdefault(kept, origin)
                else:
                    facts.setdefault(rule.head)
                    places.setdefault(rule.head, where)
                    if (origin := self._said_origin(statement)) is not None:
                        origins.setdefault(rule, origin)
        declared = MappingProxyType(self._declared)
        program = Program(tuple(rules.values()), tuple(facts), declared, MappingProxyType(origins))
        check_arities(program, places)
        return program

    def _origin(self, statement: Tree[Token]) -> str | None:
        """What a rule comes from: what a comment `#@ …` in the line above says, or the line of the file."""
        said = self._said_origin(statement)
        if said is not None or self._source.startswith("<"):
            return said
        return f"{self._source}:{self._line(statement)}"

    def _said_origin(self, statement: Tree[Token]) -> str | None:
        line = self._line(statement)
        above = self._lines[line - 2].strip() if line > 1 else ""
        return above.removeprefix(ORIGIN).strip() if above.startswith(ORIGIN) else None

    def goal(self) -> tuple[BodyLiteral, ...]:
        *prefixes, body = cast("list[Tree[Token]]", self._parse("goal").children)
        for statement in prefixes:
            self._begin(statement)
            self._declare(statement)
        self._begin(body)
        literals = self._literals(body)
        check_goal(literals, self._place(body), self._prefixes)
        return literals

    # Statements

    def _parse(self, start: str) -> Tree[Token]:
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        try:
            tree = _grammar().parse(self._text, start=start)
        except (UnexpectedCharacters, UnexpectedToken) as error:
            raise syntax_mistake(error, self._text, self._source) from None
        if not self._text.isascii() and (offset := misplaced_character(tree, ("PNAME", "BLANK"))) is not None:
            where, character = place(self._source, self._text, offset), self._text[offset]
            raise SyntaxMistake(f"{where}: '{character}' cannot stand in a name; write the IRI in '<' and '>'")
        return tree

    def _begin(self, statement: Tree[Token]) -> None:
        self._statement = statement
        self._fresh: list[Variable] = []
        self._fresh_names = self._unwritten(statement)

    def _declare(self, statement: Tree[Token]) -> None:
        _, name, namespace = cast("list[Token]", statement.children)
        if not name.endswith(":") or ":" in name[:-1]:
            self._fail(name, f"expected a prefix such as 'ex:', found '{name}'")
        self._declared[name[:-1]] = self._prefixes[name[:-1]] = self._iri(namespace)
        self._constants.clear()

    def _rules(self, statement: Tree[Token]) -> list[tuple[Rule, str]]:
        if statement.data == "constraint":
            literals = self._literals(cast("Tree[Token]", statement.children[1]))
            return [(Rule(nameless_head(literals), literals), self._place(statement))]
        heads, _, body = cast("list[Tree[Token]]", statement.children)
        found = [(self._headed(head), self._place(head)) for head in cast("list[Tree[Token]]", heads.children)]
        literals = self._literals(body) if body is not None else ()
        if body is None and (extremes := list(statement.find_data("extreme"))):
            self._fail(extremes[0], "a fact has constants only: MIN and MAX keep the best of what a rule derives")
        return [(Rule(atom, (*literals, *computed), extreme), where) for (atom, computed, extreme), where in found]

    def _headed(self, node: Tree[Token]) -> tuple[Atom, tuple[Computation, ...], Extreme | None]:
        """A head, with what is computed for a minimum or maximum in it."""
        atom, extremes = self._head(node), list(node.find_data("extreme"))
        if not extremes:
            return atom, (), None
        (name, inside), *others = (one.children for one in extremes)
        function = str(name).upper()
        if function not in ("MIN", "MAX"):
            self._fail(
                extremes[0],
                f"only MIN and MAX can stand in a head, found '{name}'; compute with BIND(… AS ?x) in the body, and "
                "aggregate with AGGREGATE(…)",
            )
        if others:
            self._fail(extremes[1], "a head has one MIN or MAX; write a rule for each")
        extreme = Extreme(cast(Word["MIN", "MAX"], function), atom.terms.index(_INSIDE))
        expression = self._known(extremes[0], self._expression(inside))
        term = value_variable(self._written(self._statement)) if isinstance(expression, Call) else expression
        computed = (Computation(expression, term),) if isinstance(expression, Call) else ()
        return atom.mapped(lambda one: term if one == _INSIDE else one), computed, extreme

    def _head(self, node: Tree[Token]) -> Atom:
        if node.data != "comparison":
            return self._atom(node)
        equality = self._comparison(node)
        if equality.operator != "=":
            self._fail(node, "expected an atom or an equality as the head, found a comparison")
        return Atom(EQUAL, (equality.left, equality.right))

    # Literals

    def _literals(self, body: Tree[Token]) -> tuple[BodyLiteral, ...]:
        return tuple(dict.fromkeys(self._literal(node) for node in cast("list[Tree[Token]]", body.children)))

    def _literal(self, node: Tree[Token]) -> BodyLiteral:
        if node.data == "negation":
            return self._negation(node)
        return self._aggregate(node) if node.data == "aggregate" else self._positive(node)

    def _aggregate(self, node: Tree[Token]) -> Aggregate:
        _, body, grouped, *bound = cast("list[Tree[Token]]", node.children)
        groups = [] if grouped is None else [Variable(name[1:]) for name in cast("list[Token]", grouped.children)]
        aggregations = tuple(map(self._aggregation, bound))
        inside = next((one for one in cast("list[Tree[Token]]", body.children) if one.data == "aggregate"), None)
        if inside is not None:
            self._fail(inside, "an AGGREGATE cannot stand inside another one; write a rule for what is inside")
        return Aggregate(self._literals(body), tuple(dict.fromkeys(groups)), aggregations)

    def _aggregation(self, node: Tree[Token]) -> Aggregation:
        from everlog.expressions.aggregation import check_aggregate  # importing everlog stays quick

        name, distinct, *arguments, separator, result = node.children
        everything = len(arguments) == 1 and getattr(arguments[0], "type", "") == "TIMES"
        expressions = () if everything else tuple(self._known(node, self._expression(one)) for one in arguments)
        function = str(name).upper()
        self._checked_by(node, lambda: check_aggregate(function, len(expressions)))
        if separator is not None and function != "GROUP_CONCAT":
            self._fail(node, f"only GROUP_CONCAT has a SEPARATOR, not {function}")
        between = " " if separator is None else self._string(cast("Token", separator))
        return Aggregation(function, expressions, Variable(cast(str, result)[1:]), distinct is not None, between)

    def _positive(self, node: Tree[Token]) -> Atom | Test:
        if node.data == "comparison":
            return self._comparison(node)
        if node.data in ("filter", "bind", "skolem"):
            return self._computation(node)
        return self._atom(node)

    def _computation(self, node: Tree[Token]) -> Test:
        first, *rest = node.children
        if node.data == "filter" and _is_comparison(first):
            return self._comparison(cast("Tree[Token]", first))
        if node.data == "skolem":
            *arguments, last = (self._expression(argument) for argument in node.children)
            if isinstance(last, Call):
                self._fail(node, "the last argument of SKOLEM is a variable, or a constant that it is compared with")
            return Computation(self._known(node, Call("SKOLEM", tuple(arguments))), last)
        result = self._term(rest[0]) if rest else None
        expression = self._known(node, self._expression(first))
        apart = _told_apart(expression) if result is None else None
        return Computation(expression, result) if apart is None else Comparison("is not", *apart)

    def _expression(self, node: Node) -> Expression:
        if isinstance(node, str) or node.data not in _EXPRESSIONS:
            return self._term(node)
        first, *rest = node.children
        if node.data == "call":
            return Call(self._function(cast("Token", first)), tuple(self._expression(one) for one in rest if one))
        if node.data == "sign":
            return Call(str(first), (self._expression(rest[0]),))
        if node.data == "membership":
            negated, *others = rest
            arguments = (self._expression(one) for one in (first, *others) if one)
            return Call("IN" if negated is None else "NOT IN", tuple(arguments))
        operator, right = rest
        return Call(str(operator), (self._expression(first), self._expression(right)))

    def _function(self, name: Token) -> str:
        return str(name).upper() if name.type == "NAME" else self._iri(name)

    def _known(self, node: Tree[Token], expression: Expression) -> Expression:
        """An expression whose functions are known, and take so many arguments."""
        from everlog.expressions.functions import check_expression  # importing everlog stays quick

        self._checked_by(node, lambda: check_expression(expression))
        return expression

    def _checked_by(self, node: Tree[Token], check: Callable[[], None]) -> None:
        try:
            check()
        except EverlogError as mistake:
            self._fail(node, str(mistake))

    def _comparison(self, node: Tree[Token]) -> Comparison:
        left, operator, right = node.children
        return Comparison(cast(Operator, str(operator)), self._term(left), self._term(right))

    def _negation(self, node: Tree[Token]) -> Negation:
        _, declared, inner = cast("list[Tree[Token]]", node.children)
        local = [Variable(name[1:]) for name in cast("list[Token]", declared.children)] if declared is not None else []
        already = len(self._fresh)
        nodes = cast("list[Tree[Token]]", inner.children) if inner.data == "group" else [inner]
        parts = [self._positive(part) for part in nodes]
        atoms = tuple(dict.fromkeys(part for part in parts if isinstance(part, Atom)))
        if not atoms:
            self._fail(
                node, "expected an atom inside the negation, found comparisons only; negate the comparison instead"
            )
        return Negation(
            atoms,
            tuple(dict.fromkeys(local + self._fresh[already:])),
            tuple(dict.fromkeys(part for part in parts if not isinstance(part, Atom))),
        )

    def _atom(self, node: Tree[Token]) -> Atom:
        first, *rest = node.children
        if node.data == "plain":
            return Atom(self._predicate(cast("Token", first)), tuple(self._term(term) for term in rest))
        if node.data == "triple":
            *places, graph = rest
            triple = tuple(self._term(term) for term in places)
            if graph is None:
                return Atom(TRIPLE, triple)
            return Atom(QUAD, (*triple, self._term(cast("Tree[Token]", graph).children[0])))
        name = cast("Token", first)
        if name.type == "NAME" and name != "a":
            self._fail(name, f"expected an IRI or a variable before '[', found '{name}'; a plain atom is {name}(…)")
        verb = Constant(RDF_TYPE) if name.type == "NAME" else self._term(name)
        terms = [self._term(term) for term in rest[1:]]
        if len(terms) == 1:
            return Atom(TRIPLE, (terms[0], Constant(RDF_TYPE), verb))
        return Atom(TRIPLE, (terms[0], verb, terms[1]))

    def _predicate(self, name: Token) -> str:
        if name.type == "NAME":
            return str(name)
        value = self._constant(name).value
        return f"<{value.value}>" if isinstance(value, NamedNode) else cast(str, value)

    # Terms

    def _term(self, node: Node) -> Term:
        if not isinstance(node, str):
            return _INSIDE if node.data == "extreme" else self._literal_value(node)
        if node.type == "VAR":
            return Variable(node[1:])
        if node.type == "ANONYMOUS":
            return self._anonymous()
        return self._constant(node)

    def _anonymous(self) -> Variable:
        self._fresh.append(Variable(next(self._fresh_names)))
        return self._fresh[-1]

    def _unwritten(self, statement: Tree[Token]) -> Iterator[str]:
        """Names for `_` that a statement does not write itself."""
        written = self._written(statement)
        yield from (f"_{number}" for number in count(1) if f"_{number}" not in written)

    def _written(self, statement: Tree[Token]) -> set[str]:
        """The names of variables that a statement writes."""
        found = statement.scan_values(lambda token: getattr(token, "type", "") == "VAR")
        return {str(token)[1:] for token in found}

    def _constant(self, token: Token) -> Constant:
        key = (token.type, str(token))
        constant = self._constants.get(key)
        if constant is None:
            constant = self._constants[key] = Constant(self._checked(token, lambda: normalise(self._value(token))))
        return constant

    def _value(self, token: Token) -> object:
        if token.type == "STRING":
            return self._string(token)
        make = _PLAIN.get(token.type)
        return make(token) if make is not None else NamedNode(self._iri(token))

    def _literal_value(self, node: Tree[Token]) -> Constant:
        string, tag = cast("list[Token]", node.children)
        text = self._string(string)
        if node.data == "typed":
            datatype = NamedNode(self._iri(tag))
            return Constant(self._checked(tag, lambda: normalise(Literal(text, datatype=datatype))))
        language, _, direction = tag[1:].partition("--")
        if direction not in ("", "ltr", "rtl"):
            self._fail(tag, f"expected the base direction 'ltr' or 'rtl', found '{direction}'")
        base = {"ltr": BaseDirection.LTR, "rtl": BaseDirection.RTL}.get(direction)
        return Constant(self._checked(tag, lambda: normalise(Literal(text, language=language, direction=base))))

    def _string(self, token: Token) -> str:
        quotes = 3 if token[:3] in ('"""', "'''") else 1
        return self._unescaped(token, quotes, unescape_string)

    def _iri(self, token: Token) -> str:
        """The full IRI of a token `<…>` or `prefix:local`, known to be valid."""
        if token.type == "IRIREF":
            iri = self._unescaped(token, 1, unescape_iri)
            if not _SCHEME.match(iri):
                iri = _WITHOUT_SCHEME + iri
        else:
            prefix, _, local = token.partition(":")
            if prefix not in self._prefixes:
                self._fail(token, f"the prefix '{prefix}:' is not declared; write '@prefix {prefix}: <…> .' before it")
            # The grammar admits backslashes before punctuation only.
            iri = self._prefixes[prefix] + local.replace("\\", "")
        return self._checked(token, lambda: NamedNode(iri)).value

    # Mistakes

    def _unescaped(self, token: Token, margin: int, unescape: Callable[[str], str]) -> str:
        try:
            return unescape(token[margin:-margin])
        except EscapeError as mistake:
            self._fail(token, str(mistake), margin + mistake.offset)

    def _checked(self, token: Token, make: Callable[[], T]) -> T:
        try:
            return make()
        except (ValueError, UnsupportedValue) as mistake:
            self._fail(token, f"'{token}' cannot be used: {mistake}")

    def _fail(self, node: Node, message: str, offset: int = 0) -> NoReturn:
        raise SyntaxMistake(f"{self._place(node, offset)}: {message}")

    def _line(self, node: Node) -> int:
        while not isinstance(node, str):
            node = node.children[0]
        return node.line or 1

    def _place(self, node: Node, offset: int = 0) -> str:
        while not isinstance(node, str):
            node = node.children[0]
        if offset:
            return place(self._source, self._text, (node.start_pos or 0) + offset)
        return f"{self._source}:{node.line}:{node.column}"


def _told_apart(expression: Expression) -> tuple[Term, Term] | None:
    """The terms of `!SAMETERM(?x, ?y)`, which engines compare without looking at values."""
    match expression:
        case Call("!", (Call("SAMETERM", (Variable() | Constant() as left, Variable() | Constant() as right)),)):
            return left, right
    return None


def _is_comparison(node: Node) -> bool:
    """Whether an expression compares two terms, and nothing is computed before."""
    sides = [] if isinstance(node, str) or node.data != "relation" else node.children[::2]
    return bool(sides) and all(isinstance(side, str) or side.data not in _EXPRESSIONS for side in sides)
