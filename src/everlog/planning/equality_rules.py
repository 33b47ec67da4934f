"""Programs with equality: owl:sameAs as a congruence, by rules or for an engine that rewrites.

An equality in a head, `?x = ?y :- …`, is the triple `[?x, owl:sameAs, ?y]`. Only names can be merged: IRIs other than
owl:sameAs itself, blank nodes and strings. An equality of other values stays a triple that means nothing, and is reported.
`c ≈ c` holds for whatever occurs in a fact, and is not stored: an atom of a body is met by it where its terms are one.

The rules that equality depends on are the *core*: they are evaluated together with it, while classes may still grow. The
others, *above*, see classes that are final. That is why `not` and `!=` mean something there (`!=`: not equal) and would
not in the core, where a later merge could undo them; such a rule is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from everlog.datalog.literal_guards import guarded
from everlog.datalog.printer import print_literal, print_rule
from everlog.datalog.substitution import canonical_rule, pattern, substitute_atom
from everlog.datalog.syntax import (
    EQUAL,
    HIDDEN,
    TRIPLE,
    Aggregate,
    Atom,
    BodyLiteral,
    Comparison,
    Constant,
    Negation,
    Program,
    Rule,
    Term,
    Variable,
    parts,
)
from everlog.datalog.unification import unifiable_classes
from everlog.datalog.values import DIFFERENT_FROM, SAME_AS, Value
from everlog.engine.algebra import Region
from everlog.errors import EverlogError
from everlog.planning.compiled_program import solved
from everlog.planning.hidden_predicates import KEYED, named_after

EQ: Final = Constant(SAME_AS)
_DIFFERENT: Final = Constant(DIFFERENT_FROM)
OCCURS: Final = f"{HIDDEN}occurs"
"""The hidden predicate of what occurs in facts; only there if a rule asks `[?x, owl:sameAs, ?y]` and binds neither."""
PROPER: Final = f"{HIDDEN}equal"
"""The hidden predicate of `_proper`."""

UNEQUATED: Final = "everything was computed anew, since there are facts of predicates that no rule about equality knows"
"""Why rules for equality are made again."""


def same(left: Term, right: Term) -> Atom:
    """`left ≈ right`."""
    return Atom(TRIPLE, (left, EQ, right))


def _proper(left: Term, right: Term) -> Atom:
    """`left ≈ right` between values that can be merged, where equality is a matter of rules."""
    return Atom(PROPER, (left, right))


EQUALITIES: Final = Region((same(Variable("x"), Variable("y")),))
DIFFERENCES: Final = Region((Atom(TRIPLE, (Variable("x"), _DIFFERENT, Variable("y"))),))


def is_equality(atom: Atom) -> bool:
    return atom.predicate == TRIPLE and atom.terms[1] == EQ


def mergeable(value: Value) -> bool:
    """Whether a value is a name, which may be another name of something."""
    return type(value).__name__ in ("str", "NamedNode", "BlankNode") and value != SAME_AS


def with_same_as(program: Program) -> Program:
    """The program with triples instead of equalities in heads."""
    rules = {rule: replace(rule, head=_as_triple(rule.head)) for rule in program.rules}
    origins = {replace(rule, head=_as_triple(rule.head)): origin for rule, origin in program.origins.items()}
    return Program(tuple(rules.values()), tuple(map(_as_triple, program.facts)), program.prefixes, origins)


def _as_triple(atom: Atom) -> Atom:
    return same(*atom.terms) if atom.predicate == EQUAL else atom


def refuse_equalities(program: Program) -> None:
    """Raises what there is to say about an equality in a head where equality is off."""
    for rule in (*program.rules, *(Rule(fact, ()) for fact in program.facts)):
        if rule.head.predicate == EQUAL:
            raise EverlogError(
                f"the head of `{print_rule(rule, program.prefixes)}` is an equality, which means nothing while equality is "
                "off: choose equality='rewrite' (or 'axioms')"
            )


def asking(rules: Sequence[Rule], arities: Mapping[str, int]) -> tuple[Rule, ...]:
    """Rules with `≈` in bodies as `core_of` takes them; `arities` has the predicates of facts."""
    found = [_asking(rule) for rule in solved(rules)]
    if any(atom.predicate == OCCURS for rule in found for atom in rule.positive):
        found += list(_occurrences({**arities, **_arities(found)}))
    return tuple(found)


def asks_what_occurs(rules: Sequence[Rule]) -> bool:
    """Whether nothing else binds the terms of some equality in a body."""
    asked = solved([rule for rule in rules if any(_may_be(EQ, atom) for atom in rule.positive)])
    return any(atom.predicate == OCCURS for rule in asked for atom in _asking(rule).positive)


def _may_be(verb: Constant, atom: Atom) -> bool:
    """Whether an atom has triples with a property, or may turn out to have some."""
    return atom.predicate == TRIPLE and (atom.terms[1] == verb or isinstance(atom.terms[1], Variable))


def core_of(rules: Sequence[Rule]) -> set[int]:
    """The places of the rules that equality depends on. Refuses what would not be well defined."""
    equality = same(Variable("x"), Variable("y"))
    atoms = [equality, *(atom for rule in rules for atom in (rule.head, *_body_atoms(rule)))]
    patterns = list(dict.fromkeys(map(pattern, atoms)))
    classes = dict(zip(patterns, unifiable_classes(patterns), strict=True))

    def kind(atom: Atom) -> int:
        return classes[pattern(atom)]

    below: dict[int, set[int]] = {}
    for rule in rules:
        below.setdefault(kind(rule.head), set()).update(kind(atom) for atom in _body_atoms(rule))
    reached: set[int] = set()
    waiting = [kind(equality)]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += below.get(one, ())
    found = {number for number, rule in enumerate(rules) if kind(rule.head) in reached}
    for number in found:
        _check(rules[number])
    return found


def _arities(rules: Sequence[Rule]) -> dict[str, int]:
    return {atom.predicate: len(atom.terms) for rule in rules for atom in (rule.head, *_body_atoms(rule))}


def _body_atoms(rule: Rule) -> Iterator[Atom]:
    yield from rule.positive
    wholes: tuple[Negation | Aggregate, ...] = (*rule.negative, *rule.aggregates)
    for literal in wholes:
        yield from (part for part in parts(literal) if isinstance(part, Atom))


def _asking(rule: Rule) -> Rule:
    """The rule with `not s ≈ t` as `s != t`, and with `occurs(s)` where nothing else binds an equality's terms.

    `s != t` is left out for a head `s ≈ t`, where it keeps away what is known.
    """
    body: list[BodyLiteral] = []
    ends = {rule.head.terms[0], rule.head.terms[2]} if is_equality(rule.head) else None
    bound = {variable for atom in rule.positive if not is_equality(atom) for variable in atom.variables()}
    for literal in rule.body:
        if isinstance(literal, Negation) and any(map(is_equality, literal.atoms)):
            if len(literal.atoms) > 1 or literal.local or literal.tests:
                raise EverlogError(
                    f"the rule `{print_rule(rule)}` has owl:sameAs inside {print_literal(literal)}, which is not supported "
                    "together with equality: negate owl:sameAs alone, between two bound terms"
                )
            literal = Comparison("!=", literal.atoms[0].terms[0], literal.atoms[0].terms[2])
        elif isinstance(literal, Atom) and is_equality(literal):
            if bound.isdisjoint({literal.terms[0], literal.terms[2]}):
                body.append(Atom(OCCURS, (literal.terms[0],)))
            bound.update(literal.variables())
        if not (isinstance(literal, Comparison) and literal.operator == "!=" and {literal.left, literal.right} == ends):
            body.append(literal)
    return replace(rule, body=tuple(dict.fromkeys(body)))


def _occurrences(arities: Mapping[str, int]) -> Iterator[Rule]:
    """`(≈4)`: what occurs in a fact; owl:sameAs does not by being the property of an equality."""
    for predicate, arity in sorted(arities.items()):
        if not predicate.startswith(HIDDEN):
            variables = tuple(Variable(f"x{place}") for place in range(arity))
            for place, one in enumerate(variables):
                verb = [Comparison("is not", one, EQ)] if (predicate, place) == (TRIPLE, 1) else []
                yield Rule(Atom(OCCURS, (one,)), (Atom(predicate, variables), *verb))


def _check(rule: Rule) -> None:
    """Refuses a rule of the core whose instances a later merge could take away."""
    if rule.extreme is not None:
        raise EverlogError(
            f"{print_literal(rule.head)} has a {rule.extreme.function}, which is not well defined together with equality: "
            "equalities depend on it, and an equality that is found later could make one group of two. Use it only in "
            "rules that no equality depends on"
        )
    for literal in rule.body:
        # What has a name other than a literal is represented by one, and keeps it when it is merged.
        harmless = isinstance(literal, Atom) or guarded(literal) is not None
        harmless = harmless or (isinstance(literal, Comparison) and _is_harmless(literal))
        if isinstance(literal, Aggregate):  # the rule has a hidden head
            raise EverlogError(
                f"{print_literal(literal)} is not well defined together with equality: equalities depend on it, and an "
                "equality that is found later could make one group, or one member, of two. Use it only in rules that no "
                "equality depends on"
            )
        if not harmless:
            raise EverlogError(
                f"the rule `{print_rule(rule)}` is not well defined together with equality: equalities depend on its head, "
                f"and an equality that is found later could undo {print_literal(literal)}. Use it only in rules that no "
                "equality depends on"
            )


def _is_harmless(comparison: Comparison) -> bool:
    """Whether merges cannot take a comparison away."""
    terms = (comparison.left, comparison.right)
    return comparison.operator == "=" or any(isinstance(term, Constant) and not mergeable(term.value) for term in terms)


# ---------------------------------------------------------------------------------------- equality by rewriting


@dataclass(frozen=True)
class Key:
    """What a rule such as `y₁ ≈ y₂ ← A(x, y₁) ∧ A(x, y₂)` says: `A` has one `y` for each `x`."""

    atom: Atom
    value: Variable


def with_keys(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules whose keys are single atoms: `y₁ ≈ y₂ ← A(x, y₁) ∧ A(x, y₂) ∧ B(x)` asks a hidden predicate for `A` and `B`.

    All pairs of equal values would be as many as the square of a class; that way they need not be looked at.
    """
    found: list[Rule] = []
    for rule in rules:
        parts = _key_parts(rule)
        if parts is None or key_of(rule) is not None:
            found.append(rule)
            continue
        value, mine, shared = parts
        others = tuple(dict.fromkeys(v for atom in mine for v in atom.variables() if v != value))
        definition = canonical_rule(Rule(Atom(HIDDEN, (*others, value)), (*mine, *shared)))
        hidden = named_after(KEYED, definition)
        found.append(Rule(Atom(hidden, (*others, value)), (*mine, *shared)))
        left, right = rule.head.terms[0], rule.head.terms[2]
        found.append(Rule(rule.head, (Atom(hidden, (*others, left)), Atom(hidden, (*others, right)))))
    return tuple(found)


@lru_cache(maxsize=1 << 16)
def key_of(rule: Rule) -> Key | None:
    """The key of a rule whose body is two copies of one atom."""
    parts = _key_parts(rule)
    if parts is None:
        return None
    value, mine, shared = parts
    if len(mine) == 1 and not shared and mine[0].terms.count(value) == 1:
        return Key(mine[0], value)
    return None


def _key_parts(rule: Rule) -> tuple[Variable, tuple[Atom, ...], tuple[Atom, ...]] | None:
    """The first value of a key, the atoms about it, and those about neither value."""
    if not is_equality(rule.head) or len(rule.positive) != len(rule.body) or any(map(is_equality, rule.positive)):
        return None
    one, other = rule.head.terms[0], rule.head.terms[2]
    if not (isinstance(one, Variable) and isinstance(other, Variable)) or one == other:
        return None
    mine = tuple(atom for atom in rule.positive if one in atom.terms)
    theirs = {atom for atom in rule.positive if other in atom.terms}
    if not mine or {substitute_atom(atom, {one: other}) for atom in mine} != theirs or theirs & set(mine):
        return None
    return one, mine, tuple(atom for atom in rule.positive if atom not in mine and atom not in theirs)


@lru_cache(maxsize=1 << 16)
def over_representatives(rule: Rule) -> tuple[Rule, ...]:
    """The rule for facts about representatives, where an equality of a body says that its terms are one.

    Names that owl:differentFrom tells apart are not: a rule about both sees the equality as the triple that it then is.
    """
    body = tuple(
        Comparison("is", literal.terms[0], literal.terms[2])
        if isinstance(literal, Atom) and is_equality(literal)
        else literal
        for literal in rule.body
    )
    triples = [atom for atom in rule.positive if atom.predicate == TRIPLE]
    apart = {frozenset(atom.terms[::2]) for atom in triples if atom.terms[1] == _DIFFERENT}
    also = [rule] if any(is_equality(atom) and frozenset(atom.terms[::2]) in apart for atom in rule.positive) else []
    return tuple(solved([replace(rule, body=body), *also]))


def may_tell_apart(head: Atom) -> bool:
    """Whether a rule with some head may derive that names are different."""
    return _may_be(_DIFFERENT, head)


@lru_cache(maxsize=1 << 16)
def without_reflexive_heads(rule: Rule) -> tuple[Rule, ...]:
    """The rule over representatives, without instances whose head is `c ≈ c`, which is known anyway."""
    return tuple(
        made for one in over_representatives(rule) for made in (_irreflexive(one) if is_equality(one.head) else (one,))
    )


# ---------------------------------------------------------------------------------------- equality by rules


def axiomatised(rules: Sequence[Rule], arities: Mapping[str, int]) -> tuple[Rule, ...]:
    """A program whose rules make a congruence of owl:sameAs: (≈1)–(≈4) of *Equality*, and the rules as they use it."""
    for rule in rules:
        kept = "" if rule.extreme is None else f"a {rule.extreme.function} in its head"
        if what := "an aggregate" if rule.aggregates else kept:
            raise EverlogError(
                f"the rule `{print_rule(rule)}` has {what}, which would be about names and not about what they stand "
                "for while rules make equality: choose equality='rewrite'"
            )
    asked = asking(rules, arities)
    core = core_of(asked)
    found = [made for place in sorted(core) for made in _with_equality(asked[place])]
    above = [rule for place, rule in enumerate(asked) if place not in core]
    found += [made for rule in above for made in _with_equality(replace(rule, body=telling_apart(rule.body, _proper)))]
    known = {TRIPLE: 3, **arities, **_arities(found)}
    found += _congruence({name: arity for name, arity in known.items() if not name.startswith(HIDDEN)})
    return tuple({canonical_rule(rule): rule for rule in found}.values())


def _with_equality(rule: Rule) -> Iterator[Rule]:
    """The rule for equalities between different names, and for those of a name with itself; no head `c ≈ c`."""
    for number, literal in enumerate(rule.body):
        if isinstance(literal, Atom) and is_equality(literal):
            left, right = literal.terms[0], literal.terms[2]
            before, after = rule.body[:number], rule.body[number + 1 :]
            if left != right:
                yield from _with_equality(Rule(rule.head, (*before, _proper(left, right), *after)))
            one = Rule(rule.head, (*before, Comparison("is", left, right), *after))
            for merged in solved([one]):
                yield from _with_equality(merged)
            return
    yield from _irreflexive(rule)


def _irreflexive(rule: Rule) -> Iterator[Rule]:
    head = rule.head
    if head.predicate != TRIPLE or (head.terms[1] != EQ and isinstance(head.terms[1], Constant)):
        yield rule
        return
    left, verb, right = head.terms
    if isinstance(verb, Variable):
        yield Rule(head, (*rule.body, Comparison("is not", verb, EQ)))
        yield from (
            made for one in solved([Rule(head, (*rule.body, Comparison("is", verb, EQ)))]) for made in _irreflexive(one)
        )
    elif left != right:
        yield Rule(head, (*rule.body, Comparison("!=", left, right)))


def _congruence(arities: Mapping[str, int]) -> Iterator[Rule]:
    x, y, z = Variable("x"), Variable("y"), Variable("z")
    proper = (Comparison("~", x, y), Comparison("is not", x, EQ), Comparison("is not", y, EQ))
    yield Rule(_proper(x, y), (same(x, y), *proper))
    yield Rule(same(y, x), (_proper(x, y),))
    yield Rule(same(x, z), (_proper(x, y), _proper(y, z), Comparison("is not", x, z)))
    for predicate, arity in sorted(arities.items()):
        terms = [Variable(f"x{place}") for place in range(arity)]
        other = [Comparison("is not", terms[1], EQ)] if predicate == TRIPLE else []
        for place, term in enumerate(terms):
            replaced = tuple(y if position == place else one for position, one in enumerate(terms))
            yield Rule(Atom(predicate, replaced), (Atom(predicate, tuple(terms)), _proper(term, y), *other))


def telling_apart(
    literals: Sequence[BodyLiteral], equal: Callable[[Term, Term], Atom] = same
) -> tuple[BodyLiteral, ...]:
    """A goal, or a body, with `!=` meaning `not equal`, where equality is a matter of rules."""
    unequal = [one for one in literals if isinstance(one, Comparison) and one.operator == "!="]
    return (*literals, *(Negation((equal(one.left, one.right),)) for one in unequal))
