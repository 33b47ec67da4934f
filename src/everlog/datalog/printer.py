"""Programs to text that reads back to the same program, names of variables included.

Prefixes are used where the local name needs no escapes; those that every program knows need no declaration. `_` stands
for a variable exactly where the reader would give it the same name. What the reader cannot make has no text: a rule
without a body prints as a fact, values must be normal, and names of variables and prefixes are words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, assert_never

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.escapes import escape_string
from everlog.datalog.extremes import written_inside
from everlog.datalog.prefixes import LOCAL_NAME, NO_PREFIXES, ORIGIN, WELL_KNOWN
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import (
    EQUAL,
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
    Negation,
    Program,
    Rule,
    Term,
    Variable,
    parts,
)
from everlog.datalog.values import XSD, Value, canonical_double

NAMELESS: Final = re.compile(r"violation_[0-9a-f]{12}")
"""The predicates of rules that are written without a head."""

_NAME: Final = re.compile(r"(?!_(?!\w))[^\W\d]\w*")
_ANONYMOUS: Final = re.compile(r"_[1-9][0-9]*")
_NO_BARE_VALUE: Final = frozenset({"true", "false"})
_NO_BARE_PREDICATE: Final = frozenset({"true", "false", "not", "NOT", "FILTER", "BIND", "AGGREGATE", "SKOLEM"})
_SIGNS: Final[Mapping[str, frozenset[str]]] = {
    "or": frozenset({"||"}),
    "and": frozenset({"&&"}),
    "relation": frozenset({"=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN"}),
    "sum": frozenset({"+", "-"}),
    "product": frozenset({"*", "/"}),
    "sign": frozenset({"!"}),
}
"""The operators of expressions, the loosest first."""
_COMPARED: Final = _SIGNS["relation"] - {"IN", "NOT IN"}
_PREFIXES: Final = frozenset({"!", "+", "-"})


def print_program(program: Program) -> str:
    """The text of a program, one statement per line: prefixes, rules, facts."""
    printer = _Printer(program.prefixes)
    blocks = (
        [f"@prefix {name}: <{namespace}> ." for name, namespace in program.prefixes.items()],
        [line for rule in program.rules for line in _with_origin(printer.rule(rule), program.origins.get(rule))],
        [
            line
            for fact in map(_as_rule, program.facts)
            for line in _with_origin(printer.rule(fact), program.origins.get(fact))
        ],
    )
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks if block)


def _as_rule(fact: Atom) -> Rule:
    return Rule(fact, ())


def _with_origin(text: str, origin: str | None) -> list[str]:
    return [text] if origin is None else [f"{ORIGIN} {' '.join(origin.split())}", text]


def print_rule(rule: Rule, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """The rule with its final dot.

    >>> print_rule(Rule(Atom("p", (Variable("x"),)), (Atom("q", (Variable("x"), Constant("two words"))),)))
    'p(?x) :- q(?x, "two words") .'
    """
    return _Printer(prefixes).rule(rule)


def nameless_head(body: Sequence[BodyLiteral]) -> Atom:
    """The head of a rule that is written without one: a predicate of the body's text, and the variables that have values.

    The names of variables do not matter to the predicate, so that variants of a rule stay variants.
    """
    local = {variable for literal in body if isinstance(literal, Negation | Aggregate) for variable in literal.local}
    found = dict.fromkeys(variable for literal in body for variable in literal.variables())
    terms = tuple(one for one in found if one not in local and not _ANONYMOUS.fullmatch(one.name))
    canonical = canonical_rule(Rule(Atom("", terms), tuple(body)))
    # Without any prefixes: the facts of a store must keep their predicate when more of them are known to everybody.
    text = _Printer(NO_PREFIXES, NO_PREFIXES).body(canonical.body, _anonymous(None, canonical.body))
    digest = sha256(text.encode()).hexdigest()
    return Atom(f"violation_{digest[:12]}", terms)


def print_goal(literals: Sequence[BodyLiteral], prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """A conjunctive goal, without a dot."""
    return _Printer(prefixes).body(literals, _anonymous(None, literals))


def print_literal(literal: BodyLiteral, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    """A literal of a body."""
    return print_goal((literal,), prefixes)


def print_atom(atom: Atom, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    return print_goal((atom,), prefixes)


def print_term(term: Term, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    return _Printer(prefixes).term(term, frozenset())


def print_expression(expression: Expression, prefixes: Mapping[str, str] = NO_PREFIXES) -> str:
    return _Printer(prefixes).expression(expression, frozenset())


class _Printer:
    def __init__(self, prefixes: Mapping[str, str], well_known: Mapping[str, str] = WELL_KNOWN) -> None:
        known = {**well_known, **prefixes}
        # The longest namespace that fits leaves the shortest name.
        self._namespaces = sorted(known.items(), key=lambda item: -len(item[1]))
        self._iris: dict[str, str] = {}

    def rule(self, rule: Rule) -> str:
        inside, body = written_inside(rule), rule.body
        if inside is not None and inside[1]:
            body = body[:-1]
        if NAMELESS.fullmatch(rule.head.predicate) and rule.head == nameless_head(rule.body):
            return f":- {self.body(body, _anonymous(None, rule.body))} ."
        anonymous = _anonymous(rule.head, rule.body)
        extreme = None
        if rule.extreme is not None and inside is not None:
            text = self.expression(inside[0], anonymous)
            extreme = rule.extreme.place, f"{rule.extreme.function}({text})"
        head = self.atom(rule.head, anonymous, extreme)
        return f"{head} :- {self.body(body, anonymous)} ." if rule.body else f"{head} ."

    def body(self, body: Sequence[BodyLiteral], anonymous: frozenset[Variable]) -> str:
        return ", ".join(self.literal(literal, anonymous) for literal in body)

    def literal(self, literal: BodyLiteral, anonymous: frozenset[Variable]) -> str:
        if isinstance(literal, Atom):
            return self.atom(literal, anonymous)
        if isinstance(literal, Comparison):
            left, right = (self.term(term, anonymous, bare=False) for term in (literal.left, literal.right))
            if literal.operator == "is not":
                return f"FILTER(!(SAMETERM({left}, {right})))"
            return f"{left} {literal.operator} {right}"
        if isinstance(literal, Computation):
            return self.computation(literal, anonymous)
        if isinstance(literal, Aggregate):
            return self.aggregate(literal, anonymous)
        return self.negation(literal, anonymous)

    def aggregate(self, literal: Aggregate, anonymous: frozenset[Variable]) -> str:
        groups = f" ON {' '.join(f'?{variable.name}' for variable in literal.groups)}" if literal.groups else ""
        bound = " ".join(self.aggregation(one, anonymous) for one in literal.aggregations)
        return f"AGGREGATE({self.body(literal.body, anonymous)}{groups} {bound})"

    def aggregation(self, one: Aggregation, anonymous: frozenset[Variable]) -> str:
        arguments = ", ".join(self.expression(argument, anonymous) for argument in one.arguments) or "*"
        distinct = "DISTINCT " if one.distinct else ""
        between = "" if one.separator == " " else f'; SEPARATOR = "{escape_string(one.separator)}"'
        return f"BIND {one.function}({distinct}{arguments}{between}) AS ?{one.result.name}"

    def computation(self, literal: Computation, anonymous: frozenset[Variable]) -> str:
        if literal.result is None:
            return f"FILTER({self.filtered(literal.expression, anonymous)})"
        if isinstance(literal.result, Constant):  # `BIND` has variables only
            skolem = literal.expression
            if isinstance(skolem, Call) and skolem.function == "SKOLEM":
                arguments = [self.expression(one, anonymous) for one in skolem.arguments]
                return f"SKOLEM({', '.join([*arguments, self.term(literal.result, anonymous, bare=False)])})"
            same = Call("SAMETERM", (literal.expression, literal.result))
            return f"FILTER({self.expression(same, anonymous)})"
        return f"BIND({self.expression(literal.expression, anonymous)} AS {self.term(literal.result, anonymous)})"

    def filtered(self, expression: Expression, anonymous: frozenset[Variable]) -> str:
        """What stands in `FILTER(…)`; a comparison of two terms would be read as a `Comparison`."""
        text = self.expression(expression, anonymous)
        if isinstance(expression, Call) and expression.function in _COMPARED:
            compared = not any(isinstance(one, Call) for one in expression.arguments)
            return f"true && {text}" if compared else text
        return text

    def expression(self, expression: Expression, anonymous: frozenset[Variable], binding: int = 0) -> str:
        """The text of an expression, in parentheses if it binds less than what it stands in."""
        if not isinstance(expression, Call):
            return self.term(expression, anonymous, bare=False)
        function, arguments = expression.function, expression.arguments
        level = next((number for number, signs in enumerate(_SIGNS.values(), 1) if function in signs), None)
        if level is None or (len(arguments) == 1 and function not in _PREFIXES):
            name = function if _NAME.fullmatch(function) else self.iri(function)
            return f"{name}({', '.join(self.expression(one, anonymous) for one in arguments)})"
        if len(arguments) == 1:
            return f"{function}({self.expression(arguments[0], anonymous)})"
        if function in ("IN", "NOT IN"):
            first, *others = arguments
            among = ", ".join(self.expression(one, anonymous) for one in others)
            text = f"{self.expression(first, anonymous, level + 1)} {function} ({among})"
        else:
            # Comparisons do not associate; the others do, to the left.
            left = level + 1 if function in _SIGNS["relation"] else level
            sides = (arguments[0], left), (arguments[1], level + 1)
            text = f" {function} ".join(self.expression(one, anonymous, inside) for one, inside in sides)
        return f"({text})" if level < binding else text

    def negation(self, negation: Negation, anonymous: frozenset[Variable]) -> str:
        inside = self.body(parts(negation), anonymous)
        named = ", ".join(f"?{variable.name}" for variable in negation.local if variable not in anonymous)
        if named:
            return f"NOT EXISTS {named} IN ({inside})"
        single = len(negation.atoms) == 1 and not negation.tests
        return f"not {inside}" if single else f"not ({inside})"

    def atom(self, atom: Atom, anonymous: frozenset[Variable], extreme: tuple[int, str] | None = None) -> str:
        """The text of an atom; `extreme` is an argument, and what stands there."""
        if atom.predicate == EQUAL and len(atom.terms) == 2:
            return " = ".join(self.term(term, anonymous, bare=False) for term in atom.terms)
        triple = atom.predicate == TRIPLE and len(atom.terms) == 3
        # A bare `a` in the middle of a triple would be rdf:type.
        terms = [self.term(term, anonymous, bare=not triple or place != 1) for place, term in enumerate(atom.terms)]
        if extreme is not None:
            terms[extreme[0]] = extreme[1]
        return f"[{', '.join(terms)}]" if triple else f"{self.predicate(atom.predicate)}({', '.join(terms)})"

    def predicate(self, name: str) -> str:
        if _NAME.fullmatch(name) and name not in _NO_BARE_PREDICATE:
            return name
        if name.startswith("<") and name.endswith(">") and _is_iri(name[1:-1]):
            return self.iri(name[1:-1])
        return f'"{escape_string(name)}"'

    def term(self, term: Term, anonymous: frozenset[Variable], bare: bool = True) -> str:
        if isinstance(term, Constant):
            return self.value(term.value, bare)
        return "_" if term in anonymous else f"?{term.name}"

    def value(self, value: Value, bare: bool) -> str:
        if isinstance(value, str):
            plain = bare and _NAME.fullmatch(value) and value not in _NO_BARE_VALUE
            return value if plain else f'"{escape_string(value)}"'
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'"{canonical_double(value)}"^^{self.iri(XSD + "double")}'
        if isinstance(value, NamedNode):
            return self.iri(value.value)
        if isinstance(value, BlankNode):
            return f"_:{value.value}"
        if isinstance(value, Literal):
            text = f'"{escape_string(value.value)}"'
            if value.language is None:
                return f"{text}^^{self.iri(value.datatype.value)}"
            return f"{text}@{value.language}{f'--{value.direction.value}' if value.direction else ''}"
        assert_never(value)

    def iri(self, iri: str) -> str:
        text = self._iris.get(iri)
        if text is None:
            text = self._iris[iri] = next(self._prefixed(iri), f"<{iri}>")
        return text

    def _prefixed(self, iri: str) -> Iterator[str]:
        for name, namespace in self._namespaces:
            if iri.startswith(namespace) and LOCAL_NAME.fullmatch(iri, len(namespace)):
                yield f"{name}:{iri[len(namespace) :]}"


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def _anonymous(head: Atom | None, body: Sequence[BodyLiteral]) -> frozenset[Variable]:
    """The variables that can be printed as `_`, because the reader would call them by the names that they have."""
    literals = body if head is None else (head, *body)
    occurrences = [variable for literal in literals for variable in _occurrences(literal)]
    chosen = {variable for variable in occurrences if _ANONYMOUS.fullmatch(variable.name)}
    while True:
        for literal in body:
            if isinstance(literal, Negation):
                chosen -= _named_inside(literal, chosen)
        written = {variable.name for variable in occurrences if variable not in chosen}
        numbered = (name for number in range(1, 2 * len(occurrences) + 2) if (name := f"_{number}") not in written)
        wrong = (variable for variable in occurrences if variable in chosen and variable.name != next(numbered))
        # Naming one may already put the later ones right.
        first = next(wrong, None)
        if first is None:
            return frozenset(chosen)
        chosen.discard(first)


def _occurrences(literal: BodyLiteral) -> Iterator[Variable]:
    return (variable for part in parts(literal) for variable in part.variables())


def _named_inside(negation: Negation, chosen: set[Variable]) -> set[Variable]:
    """The chosen variables of a negation that `_` would not give back: shared ones, and local ones in another order."""
    inside = [variable for variable in _occurrences(negation) if variable in chosen]
    last = negation.local[len(negation.local) - len(inside) :]
    return set() if tuple(inside) == last else set(inside)
