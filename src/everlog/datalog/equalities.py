"""Equalities out of rules, as far as they are substitutions: later layers see no `=` that gives a variable its value.

`=` compares two values (`comparing.py`). It gives a value to a variable that no positive atom binds, in the order of
writing; and where one side is a constant that no other term equals, such as an IRI or a string, the variable can only be
that constant. `is`, of rules that Everlog makes, says that two terms are the same one. All of these are substituted. Other
equalities stay, as tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

from everlog.datalog.comparing import holds, is_told_by_its_term
from everlog.datalog.substitution import substitute_atom, substitute_literal
from everlog.datalog.syntax import (
    Atom,
    BodyLiteral,
    Comparison,
    Computation,
    Constant,
    Negation,
    Operator,
    Rule,
    Term,
    Variable,
)

_EQUALITIES = ("=", "is")


@lru_cache(2**16)
def eliminate_equalities(rule: Rule) -> Rule | None:
    """A safe rule without the equalities that are substitutions, or `None` if its body can never hold.

    The body may come out empty: `p(?x) :- ?x = 5 .` becomes the rule `p(5)` without a body.
    """
    givers: tuple[Atom | Computation, ...] = (*rule.positive, *rule.computations)
    bound = {variable for literal in givers for variable in literal.variables()}
    solution = _solve(rule.comparisons, bound, lambda _: True)
    if solution is None:
        return None
    bindings, tests = solution
    body: dict[BodyLiteral, None] = {}
    for literal in rule.body:
        replaced: BodyLiteral | None = substitute_literal(literal, bindings)
        if isinstance(replaced, Comparison) and replaced.operator in _EQUALITIES and replaced not in tests:
            continue
        if isinstance(replaced, Negation):
            replaced = _eliminate_inside(replaced)
        if replaced is not None:
            body.setdefault(replaced)
    return replace(rule, head=substitute_atom(rule.head, bindings), body=tuple(body))


def _eliminate_inside(negation: Negation) -> Negation | None:
    """The negation without equalities that fix its local variables, or `None` if its inside can never hold."""
    local = set(negation.local)
    shared = set(negation.variables())
    comparisons = [test for test in negation.tests if isinstance(test, Comparison)]
    solution = _solve(comparisons, local | shared, lambda variable: variable in local)
    if solution is None:
        return None
    bindings, tests = solution
    others = (test for test in negation.tests if not (isinstance(test, Comparison) and test.operator in _EQUALITIES))
    return Negation(
        tuple(dict.fromkeys(substitute_atom(atom, bindings) for atom in negation.atoms)),
        tuple(variable for variable in negation.local if variable not in bindings),
        tuple(dict.fromkeys([*tests, *(substitute_literal(test, bindings) for test in others)])),
    )


def _solve(
    comparisons: Iterable[Comparison], bound: set[Variable], free: Callable[[Variable], bool]
) -> tuple[dict[Variable, Term], list[Comparison]] | None:
    """Bindings of free variables and the tests that they leave, or `None` if two constants are not equal.

    The bindings are final: no bound variable occurs on the right of one.
    """
    bindings: dict[Variable, Term] = {}
    waiting = [comparison for comparison in comparisons if comparison.operator in _EQUALITIES]
    while True:
        tests: dict[Comparison, None] = {}
        for equality in waiting:
            pair = substitute_literal(equality, bindings)
            sides = ((pair.left, pair.right), (pair.right, pair.left))
            chosen = next((side for side in sides if _is_substitution(pair.operator, *side, bound, free)), None)
            if chosen is not None:
                variable, term = chosen
                assert isinstance(variable, Variable)
                bindings = {one: term if other == variable else other for one, other in bindings.items()}
                bindings[variable] = term
            elif isinstance(pair.left, Constant) and isinstance(pair.right, Constant):
                if not (
                    pair.left == pair.right or (pair.operator == "=" and holds("=", pair.left.value, pair.right.value))
                ):
                    return None
            elif pair.left != pair.right:
                tests.setdefault(pair)
        if len(tests) == len(waiting):
            return bindings, list(tests)
        waiting = list(tests)


def _is_substitution(
    sign: Operator, left: Term, right: Term, bound: set[Variable], free: Callable[[Variable], bool]
) -> bool:
    """Whether an equality says of the variable on its left which term it is."""
    if not (isinstance(left, Variable) and free(left)) or left == right:
        return False
    if isinstance(right, Constant):
        return sign == "is" or left not in bound or is_told_by_its_term(right.value)
    return sign == "is" or (left not in bound and right in bound)
