"""Clauses of Soufflé, facts and rules, as rules of Everlog: one for each head and each way to make the body true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import Final, Literal, TypeAlias

from everlog.datalog.escapes import EscapeError, unescape_string
from everlog.datalog.safety import check_safety
from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Operator, Rule, Term, Variable
from everlog.errors import UnsafeRule
from everlog.souffle.cursor import Cursor, NotConverted
from everlog.souffle.souffle_tokens import Token

_OPPOSITE: Final[Mapping[Operator, Operator]] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ARITHMETIC: Final = frozenset("+-*/%^&|") | {
    f"{kind}{name}" for kind in "bl" for name in ("and", "or", "xor", "not", "shl", "shr", "shru")
}
_AGGREGATES: Final = frozenset({"count", "sum", "mean", "min", "max"})
_CONSTRAINTS: Final = frozenset({"match", "contains"})
_MOST_RULES: Final = 1_000
"""A clause that would become more rules than this is left out."""

_ANONYMOUS: Final = " "
"""What the names of variables for `_` begin with until a rule is whole; no name has it."""


@dataclass(frozen=True)
class _Formula:
    """All of the parts hold, or any of them."""

    kind: Literal["all", "any"]
    parts: tuple[_Node, ...]


@dataclass(frozen=True)
class _Not:
    part: _Node


_Node: TypeAlias = "_Formula | _Not | Atom | Comparison"
_Ways: TypeAlias = list[tuple[BodyLiteral, ...]]
"""Conjunctions of literals, one of which has to hold."""

Floats: TypeAlias = Callable[[str, int], bool]
"""Whether an argument of a predicate, given by its number, is declared to be a float."""


class ClauseReader:
    """Reads one clause at a cursor."""

    def __init__(self, cursor: Cursor, arities: Mapping[str, int], floats: Floats) -> None:
        self._cursor, self._arities, self._floats = cursor, arities, floats
        self._names: dict[str, str] = {}
        """The variables of the clause, and what they are called here."""
        self._numbers = count()

    def rules(self) -> list[Rule]:
        """The rules of the clause, up to its dot."""
        first = self._cursor.token
        heads = [self._head()]
        while self._cursor.skip(","):
            heads.append(self._head())
        body: _Node = _Formula("all", ())
        if self._cursor.is_sign("<="):
            raise NotConverted(self._cursor.token, "subsumption")
        if self._cursor.skip(":-"):
            body = self._any()
        self._cursor.expect(".")
        ways = _ways(body, False)
        if len(ways) * len(heads) > _MOST_RULES:
            raise NotConverted(first, f"a disjunction that becomes {len(ways) * len(heads):,} rules")
        rules = [Rule(head, tuple(_numbered(way, self._names.values()))) for way in ways for head in heads]
        for rule in rules:
            try:
                check_safety(rule)
            except UnsafeRule as mistake:
                raise NotConverted(first, f"a clause that is not safe here: {mistake}") from None
        return rules

    def _head(self) -> Atom:
        token = self._cursor.token
        atom = self._atom()
        if any(variable.name.startswith(_ANONYMOUS) for variable in atom.variables()):
            raise NotConverted(token, "`_` in a head")
        return atom

    # Bodies

    def _any(self) -> _Node:
        parts = [self._all()]
        while self._cursor.skip(";"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else _Formula("any", tuple(parts))

    def _all(self) -> _Node:
        parts = [self._part()]
        while self._cursor.skip(","):
            parts.append(self._part())
        return parts[0] if len(parts) == 1 else _Formula("all", tuple(parts))

    def _part(self) -> _Node:
        cursor = self._cursor
        if cursor.skip("!"):
            return _Not(self._part())
        if cursor.skip("("):
            inner = self._any()
            cursor.expect(")")
            return inner
        if cursor.token.kind == "name" and cursor.token.text in ("true", "false"):
            return _Formula("all" if cursor.take().text == "true" else "any", ())
        if cursor.is_relation():
            return self._atom_or_functor()
        return self._comparison()

    def _atom_or_functor(self) -> Atom:
        token = self._cursor.token
        if token.text in _CONSTRAINTS:
            raise NotConverted(token, f"the constraint {token.text}")
        atom = self._atom()
        following = self._cursor.token
        if following.text in _OPPOSITE or following.text in _ARITHMETIC:
            raise NotConverted(token, f"the functor {token.text}")
        return atom

    def _comparison(self) -> Comparison:
        left = self._term()
        token = self._cursor.token
        operator = next((known for known in _OPPOSITE if known == token.text), None)
        if operator is None or token.kind != "sign":
            self._cursor.fail("a comparison")
        self._cursor.take()
        right = self._term()
        for term in (left, right):
            if isinstance(term, Variable) and term.name.startswith(_ANONYMOUS):
                raise NotConverted(token, "`_` in a comparison")
        return Comparison(operator, left, right)

    # Atoms and terms

    def _atom(self) -> Atom:
        cursor = self._cursor
        name = cursor.name("the name of a relation")
        if cursor.qualified():
            raise NotConverted(name, "a relation of a component")
        cursor.expect("(")
        terms: list[Term] = []
        while not cursor.is_sign(")"):
            if terms:
                cursor.expect(",")
            terms.append(self._argument(name.text, len(terms)))
        cursor.expect(")")
        declared = self._arities.get(name.text, len(terms))
        if declared != len(terms):
            message = f"{name.text} is declared with {declared} attributes, and has {len(terms)} here"
            raise cursor.mistake(name, message)
        return Atom(name.text, tuple(terms))

    def _argument(self, predicate: str, place: int) -> Term:
        term = self._term()
        if isinstance(term, Constant) and type(term.value) is int and self._floats(predicate, place):
            return Constant(float(term.value))
        return term

    def _term(self) -> Term:
        term = self._primary()
        if self._cursor.token.text in _ARITHMETIC and self._cursor.token.kind in ("sign", "name"):
            raise NotConverted(self._cursor.token, "arithmetic")
        return term

    def _primary(self) -> Term:
        cursor = self._cursor
        token = cursor.token
        if token.kind == "string":
            cursor.take()
            return Constant(self._string(token))
        if token.kind == "number":
            cursor.take()
            return Constant(_number(token.text))
        if cursor.is_sign("-") and cursor.following.kind == "number":
            cursor.take()
            return Constant(-_number(cursor.take().text))
        if token.kind == "name":
            return self._named()
        if cursor.is_sign("-", "("):
            raise NotConverted(token, "arithmetic")
        if cursor.is_sign("["):
            raise NotConverted(token, "a record")
        if cursor.is_sign("$"):
            raise NotConverted(token, "a branch of an algebraic data type, or a counter")
        if cursor.is_sign("@"):
            raise NotConverted(token, "a user-defined functor")
        cursor.fail("a variable or a constant")

    def _named(self) -> Term:
        token = self._cursor.token
        if self._is_aggregate():
            raise NotConverted(token, f"the aggregate {token.text}")
        if token.text in _ARITHMETIC:
            raise NotConverted(token, "arithmetic")
        if token.text == "nil":
            raise NotConverted(token, "a record")
        self._cursor.take()
        if self._cursor.is_sign("("):
            raise NotConverted(token, f"the functor {token.text}")
        if token.text == "_":
            return Variable(f"{_ANONYMOUS}{next(self._numbers)}")
        return Variable(self._called(token.text))

    def _is_aggregate(self) -> bool:
        """Whether an aggregate comes next: `count : …`, `sum x : …`."""
        token, following = self._cursor.token, self._cursor.following
        return token.text in _AGGREGATES and following.text not in (",", ")", "(", ".", ";", *_OPPOSITE)

    def _called(self, name: str) -> str:
        """What a variable is called here: Soufflé's names may have question marks."""
        if name not in self._names:
            plain = name.replace("?", "") or "v"
            while plain in self._names.values():
                plain += "_"
            self._names[name] = plain
        return self._names[name]

    def _string(self, token: Token) -> str:
        try:
            return unescape_string(token.text[1:-1])
        except EscapeError as mistake:
            raise self._cursor.mistake(token, str(mistake)) from None


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text.removesuffix("u"), 0 if text[:2] in ("0x", "0b") else 10)


def _ways(node: _Node, negated: bool) -> _Ways:
    """The conjunctions that a formula, or its negation, is a disjunction of."""
    if isinstance(node, _Not):
        return _ways(node.part, not negated)
    if isinstance(node, _Formula):
        parts = [_ways(part, negated) for part in node.parts]
        if (node.kind == "all") != negated:
            return [tuple(literal for way in ways for literal in way) for ways in product(*parts)]
        return [way for ways in parts for way in ways]
    if not negated:
        return [(node,)]
    if isinstance(node, Comparison):
        return [(Comparison(_OPPOSITE[node.operator], node.left, node.right),)]
    local = dict.fromkeys(variable for variable in node.variables() if variable.name.startswith(_ANONYMOUS))
    return [(Negation((node,), tuple(local)),)]


def _numbered(body: Sequence[BodyLiteral], taken: Collection[str]) -> Iterator[BodyLiteral]:
    """A body in which variables for `_` have the names that Everlog's reader would give them."""
    fresh = (f"_{number}" for number in count(1) if f"_{number}" not in taken)
    names: dict[Variable, Variable] = {}

    def named(term: Term) -> Term:
        if not isinstance(term, Variable) or not term.name.startswith(_ANONYMOUS):
            return term
        if term not in names:
            names[term] = Variable(next(fresh))
        return names[term]

    for literal in body:
        if isinstance(literal, Negation):
            atoms = tuple(atom.mapped(named) for atom in literal.atoms)
            yield Negation(atoms, tuple(names[variable] for variable in literal.local))
        else:
            yield literal.mapped(named)
