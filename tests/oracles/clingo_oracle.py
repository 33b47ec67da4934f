"""The stable model of a program by clingo. Values become integers; what their comparisons say become facts.

A `NOT EXISTS` becomes the negation of an auxiliary predicate over all values of the domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count, product

import clingo

from everlog.datalog.syntax import Atom, BodyLiteral, Comparison, Constant, Negation, Rule, Term, Variable
from oracles.naive import ORDERS, Facts, Key, holds, key

_NAMES = {"=": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def materialise(rules: Sequence[Rule], explicit: Facts) -> Facts:
    return _Translation(rules, explicit).model()


class _Translation:
    def __init__(self, rules: Sequence[Rule], explicit: Facts) -> None:
        self._numbers: dict[Key, int] = {}
        self._predicates: dict[str, str] = {}
        self._auxiliary = count()
        self._lines = [f"{self._predicate(name)}({self._numbered(keys)})." for name, keys in explicit]
        for rule in rules:
            given = _giving(rule)
            body = ", ".join(
                f"{self._term(one.left)} = {self._term(one.right)}" if one in given else self._literal(one)
                for one in rule.body
            )
            self._lines.append(f"{self._atom(rule.head)} :- {body}." if body else f"{self._atom(rule.head)}.")
        self._lines += self._domain()

    def model(self) -> Facts:
        control = clingo.Control(["--warn=none"])
        control.add("base", [], "\n".join(self._lines))
        control.ground([("base", [])])
        values = list(self._numbers)
        predicates = {name: predicate for predicate, name in self._predicates.items()}
        with control.solve(yield_=True) as handle:
            models = [model.symbols(atoms=True) for model in handle]
        assert len(models) == 1, "a stratified program has one stable model"
        return frozenset(
            (predicates[symbol.name], tuple(values[argument.number] for argument in symbol.arguments))
            for symbol in models[0]
            if symbol.name in predicates
        )

    def _atom(self, atom: Atom) -> str:
        return f"{self._predicate(atom.predicate)}({','.join(map(self._term, atom.terms))})"

    def _predicate(self, predicate: str) -> str:
        return self._predicates.setdefault(predicate, f"p{len(self._predicates)}")

    def _numbered(self, keys: Iterable[Key]) -> str:
        return ",".join(str(self._numbers.setdefault(one, len(self._numbers))) for one in keys)

    def _term(self, term: Term) -> str:
        if isinstance(term, Constant):
            return self._numbered([key(term.value)])
        return "V" + "".join(char if char.isalnum() else f"_{ord(char)}_" for char in term.name)

    def _literal(self, literal: BodyLiteral) -> str:
        if isinstance(literal, Atom):
            return self._atom(literal)
        if isinstance(literal, Comparison):
            return self._comparison(literal)
        return self._negation(literal)

    def _comparison(self, comparison: Comparison) -> str:
        left, right = self._term(comparison.left), self._term(comparison.right)
        if comparison.operator == "!=":
            return f"not eq({left},{right})"
        return f"{_NAMES[comparison.operator]}({left},{right})"

    def _negation(self, negation: Negation) -> str:
        shared = [self._term(variable) for variable in dict.fromkeys(negation.variables())]
        head = f"aux{next(self._auxiliary)}({','.join(shared)})"
        inside = [self._literal(literal) for literal in (*negation.atoms, *negation.tests)]
        self._lines.append(f"{head} :- {', '.join([*inside, *(f'domain({name})' for name in shared)])}.")
        return f"not {head}"

    def _domain(self) -> list[str]:
        x, y = Variable("x"), Variable("y")
        lines = [f"domain({number})." for number in self._numbers.values()]
        for sign in ORDERS:
            for (a, i), (b, j) in product(self._numbers.items(), repeat=2):
                if holds(Comparison(sign, x, y), {x.name: a, y.name: b}):
                    lines.append(f"{_NAMES[sign]}({i},{j}).")
        return lines


def _giving(rule: Rule) -> set[BodyLiteral]:
    """The equalities that give a variable its value which no atom binds: the first of each, in the order of writing."""
    known = {variable for atom in rule.positive for variable in atom.variables()}
    found: set[BodyLiteral] = set()
    for equality in [one for one in rule.comparisons if one.operator == "="] * len(rule.comparisons):
        fresh = [term for term in equality.terms if isinstance(term, Variable) and term not in known]
        if len(fresh) == 1:
            found.add(equality)
            known.update(fresh)
    return found
