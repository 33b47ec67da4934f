"""Equalities out of rules: later layers see no `=` that binds a variable.

`=` is identity of values, so an equality is a substitution. What remains of `=` afterwards stands inside a negation,
between shared variables and constants: there it tests the rule's bindings, and nothing can be substituted for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from everlog.datalog.substitution import substitute_atom, substitute_literal
from everlog.datalog.syntax import BodyLiteral, Comparison, Constant, Negation, Rule, Term, Variable


def eliminate_equalities(rule: Rule) -> Rule | None:
    """A safe rule without its equalities, or `None` if its body can never hold.

    The body may come out empty: `p(?x) :- ?x = 5 .` becomes the rule `p(5)` without a body.
    """
    solution = _solve((comparison for comparison in rule.comparisons if comparison.operator == "="), lambda _: True)
    if solution is None:
        return None
    bindings, _ = solution
    body: dict[BodyLiteral, None] = {}
    for literal in rule.body:
        if isinstance(literal, Comparison) and literal.operator == "=":
            continue
        replaced: BodyLiteral | None = substitute_literal(literal, bindings)
        if isinstance(replaced, Negation):
            replaced = _eliminate_inside(replaced)
        if replaced is not None:
            body.setdefault(replaced)
    return Rule(substitute_atom(rule.head, bindings), tuple(body))


def _eliminate_inside(negation: Negation) -> Negation | None:
    """The negation without equalities on its local variables, or `None` if its inside can never hold."""
    local = set(negation.local)
    equalities = [comparison for comparison in negation.comparisons if comparison.operator == "="]
    solution = _solve(equalities, lambda variable: variable in local)
    if solution is None:
        return None
    bindings, tests = solution
    others = (comparison for comparison in negation.comparisons if comparison.operator != "=")
    return Negation(
        tuple(dict.fromkeys(substitute_atom(atom, bindings) for atom in negation.atoms)),
        tuple(variable for variable in negation.local if variable not in bindings),
        tuple(dict.fromkeys([*tests, *(substitute_literal(comparison, bindings) for comparison in others)])),
    )


def _solve(
    equalities: Iterable[Comparison], free: Callable[[Variable], bool]
) -> tuple[dict[Variable, Term], list[Comparison]] | None:
    """Bindings of free variables and the equalities that they leave, or `None` if two constants clash.

    The bindings are final: no bound variable occurs on the right of one.
    """
    bindings: dict[Variable, Term] = {}
    tests: list[Comparison] = []
    for equality in equalities:
        pair = substitute_literal(equality, bindings)
        left, right = pair.left, pair.right
        if left == right:
            continue
        if not (isinstance(left, Variable) and free(left)):
            left, right = right, left
        if isinstance(left, Variable) and free(left):
            bindings = {bound: right if term == left else term for bound, term in bindings.items()}
            bindings[left] = right
        elif isinstance(left, Constant) and isinstance(right, Constant):
            return None
        else:
            tests.append(pair)
    return bindings, tests
