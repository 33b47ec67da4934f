"""Which rules of a stratum form modules: rules with far more instances than facts, for which there are better ways.

* `tc`: a transitive relation, `R(x, z) :- R(x, y), R(y, z)`;
* `stc`: one that is symmetric too, `R(y, x) :- R(x, y)`;
* `reach`: reachability along a relation of a lower stratum, `H(x, z) :- H(x, y), S(y, z)`, or with the step in front;
* `seq`: what follows what, `R(x, y) :- P(x), P(y), x < y, NOT EXISTS z IN (P(z), x < z, z < y)`.

Variables may have any names, body atoms any order, and a relation is a plain predicate or `triple` with a constant
property. Everything else stays in the generic module of the stratum; so does reachability whose facts other recursive
rules derive too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from everlog.datalog.syntax import Atom, Comparison, Constant, Rule, Variable

Kind: TypeAlias = Literal["tc", "stc", "reach", "seq"]


@dataclass(frozen=True)
class Module:
    """Some rules, and the relations that they are about: `atom` is the head, `step` what leads on from it."""

    kind: Kind
    rules: tuple[Rule, ...]
    atom: Atom
    step: Atom
    backwards: bool = False
    """Steps come in front."""
    grounded: bool = True
    """No other recursive rule derives facts of the relation, so what it is fed with does not depend on it."""


def relation_name(atom: Atom) -> str:
    """What users call the relation of a binary atom: its predicate, or the property of its triples."""
    fixed = [str(term.value) for term in atom.terms if isinstance(term, Constant)]
    return fixed[0] if fixed else atom.predicate


@dataclass(frozen=True)
class Partition:
    """The modules of a stratum, and the rules that are in none."""

    modules: tuple[Module, ...] = ()
    generic: tuple[Rule, ...] = ()


_Pair: TypeAlias = tuple[tuple[object, ...], Variable, Variable]
"""A relation, as a key, and the two variables of one of its atoms."""


@dataclass
class _Found:
    """The rules about one relation that a module could have."""

    atom: Atom
    transitive: list[Rule] = field(default_factory=list)
    symmetric: list[Rule] = field(default_factory=list)
    linear: list[tuple[Rule, Atom, bool]] = field(default_factory=list)


def partition(rules: Sequence[Rule], inside: Callable[[Atom], bool], binary: Callable[[Atom], bool]) -> Partition:
    """The modules among the rules of one stratum; `inside` tells whether an atom belongs to it."""
    found: dict[tuple[object, ...], _Found] = {}
    for rule in rules:
        _look(rule, found, inside)
    candidates = [module for one in found.values() if binary(one.atom) and (module := _module(one, binary)) is not None]
    modules = []
    for module in candidates:
        fed = any(rule not in module.rules and _meets(rule.head, module.atom) for rule in rules)
        if not fed or module.kind != "reach":
            modules.append(replace(module, grounded=not fed))
    taken = {rule for module in modules for rule in module.rules}
    return Partition(tuple(modules), tuple(rule for rule in rules if rule not in taken))


def _look(rule: Rule, found: dict[tuple[object, ...], _Found], inside: Callable[[Atom], bool]) -> None:
    head, body = _pair(rule.head), rule.positive
    if head is None or len(body) != len(rule.body):
        return
    pairs = [pair for atom in body if (pair := _pair(atom)) is not None]
    if len(pairs) != len(body):
        return
    relation, x, z = head
    one = found.setdefault(relation, _Found(rule.head))
    if len(body) == 1 and pairs[0] == (relation, z, x):
        one.symmetric.append(rule)
    elif len(body) == 2:
        for number in (0, 1):
            (left, a, b), (right, c, d) = pairs[number], pairs[1 - number]
            if (a, b, d) != (x, c, z) or len({x, b, z}) != 3:
                continue
            if left == right == relation:
                one.transitive.append(rule)
            elif left == relation and not inside(body[1 - number]):
                one.linear.append((rule, body[1 - number], False))
            elif right == relation and not inside(body[number]):
                one.linear.append((rule, body[number], True))
            return


def _module(found: _Found, binary: Callable[[Atom], bool]) -> Module | None:
    if found.transitive:
        kind: Kind = "stc" if found.symmetric else "tc"
        rules = (*found.transitive, *found.symmetric)
        return Module(kind, rules, found.atom, found.atom)
    if len(found.linear) == 1:
        rule, step, backwards = found.linear[0]
        if binary(step):
            return Module("reach", (rule,), found.atom, step, backwards)
    return None


def _pair(atom: Atom) -> _Pair | None:
    """An atom with two different variables and otherwise constants."""
    variables = list(atom.variables())
    if len(variables) != 2 or variables[0] == variables[1]:
        return None
    key = (atom.predicate, *(None if isinstance(term, Variable) else term for term in atom.terms))
    return key, variables[0], variables[1]


def _meets(head: Atom, relation: Atom) -> bool:
    """Whether an atom can have a fact of a relation, whose variables are different."""
    return head.predicate == relation.predicate and all(
        isinstance(fixed, Variable) or isinstance(term, Variable) or term == fixed
        for term, fixed in zip(head.terms, relation.terms, strict=True)
    )


def sequence(rule: Rule, binary: Callable[[Atom], bool], unary: Callable[[Atom], bool]) -> Module | None:
    """The module of a sequencing rule; it is looked for before `NOT EXISTS` is rewritten."""
    head = _pair(rule.head)
    if head is None or len(rule.positive) != 2 or len(rule.comparisons) != 1 or len(rule.negative) != 1:
        return None
    _, x, y = head
    negation = rule.negative[0]
    if len(negation.local) != 1 or len(negation.atoms) != 1:
        return None
    z = negation.local[0]
    item = negation.atoms[0]
    if {*rule.positive} != {_with(item, z, x), _with(item, z, y)} or not _less(rule.comparisons, {(x, y)}):
        return None
    if not _less(negation.comparisons, {(x, z), (z, y)}) or list(item.variables()) != [z]:
        return None
    return Module("seq", (rule,), rule.head, item) if binary(rule.head) and unary(item) else None


def _with(atom: Atom, old: Variable, new: Variable) -> Atom:
    return Atom(atom.predicate, tuple(new if term == old else term for term in atom.terms))


def _less(comparisons: Sequence[Comparison], wanted: set[tuple[Variable, Variable]]) -> bool:
    """Whether comparisons say that one variable is less than another, for just some pairs."""
    said = {
        (one.left, one.right) if one.operator == "<" else (one.right, one.left)
        for one in comparisons
        if one.operator in ("<", ">")
    }
    return len(said) == len(comparisons) and said == wanted
