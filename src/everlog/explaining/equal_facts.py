"""What proofs are made of where names can be equal: facts in all names, over what is known of representatives.

Rules are matched over representatives. The instance that is shown has the names that are wanted: its head those of the
fact that is asked about, and its premises, too, where they have the head's variables. So names are carried down to given
facts, where they may differ: a fact is *renamed* if it holds in other names of the same things, and that these are equal
is a premise like others. Two names are equal if a *chain* of equalities leads from one to the other, each of which is
given or derived.

A premise must not need the very equality that it is used for. Names that do not come from the head are those of
representatives at first, which is enough in most cases, and those of given facts where all premises are given; a search
that finds no proof is made again with all names (`thorough`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Final

from everlog.datalog.substitution import substitute_atom
from everlog.datalog.syntax import (
    HIDDEN,
    Atom,
    BodyLiteral,
    Comparison,
    Constant,
    Negation,
    Rule,
    Term,
    Variable,
)
from everlog.datalog.values import term_order
from everlog.engine.algebra import FactSet
from everlog.explaining.equality_chains import EqualityChains, equality_links
from everlog.explaining.held_facts import CHAINED, RENAMED, AnyBackend, HeldFacts, Instance, Row
from everlog.explaining.path_rules import PathRules
from everlog.explaining.rule_index import RuleIndex
from everlog.explaining.rule_matching import visible
from everlog.planning.equality_rules import is_equality, same

_NAMES: Final = 2_000
"""At most so many ways to name the things of an instance are tried."""
_MEMBERS: Final = 60
"""In larger classes, a chain of equalities is not looked for link by link where given facts do not have one."""


class EqualNames:
    """Which names are equal: the representatives of those that have another one."""

    def __init__(self, pairs: Iterable[tuple[Constant, Constant]]) -> None:
        self._representatives: dict[Term, Constant] = {}
        self._members: dict[Term, list[Constant]] = {}
        for name, representative in pairs:
            self._representatives[name] = representative
            self._members.setdefault(representative, [representative]).append(name)

    @classmethod
    def closed(cls, pairs: Iterable[tuple[Constant, Constant]]) -> EqualNames:
        """The same, of all pairs of equal names; the first in order represents the others."""
        least: dict[Constant, Constant] = {}
        for name, other in pairs:
            least[name] = min(least.get(name, name), other, key=lambda one: term_order(one.value))
        return cls((name, one) for name, one in least.items() if name != one)

    def of(self, term: Term) -> Term:
        """The representative of a name; other terms are their own."""
        return self._representatives.get(term, term)

    def all(self, term: Term) -> Sequence[Constant]:
        """All names of what has a name."""
        assert isinstance(term, Constant), "facts have no variables"
        return self._members.get(self.of(term), [term])

    def atom(self, atom: Atom) -> Atom:
        """An atom about representatives."""
        return atom.mapped(self.of)


class RepresentativeRules(RuleIndex):
    """The rules of a program over representatives, numbered like the rules."""

    def __init__(self, rules: RuleIndex, names: EqualNames) -> None:
        super().__init__(*([_over_representatives(rule, names) for rule in some] for some in (rules.rules, rules.free)))
        self.plain, self.written = rules, rules.rules
        self._names = names
        self._links: PathRules | None = None

    def paths(self) -> list[PathRules]:
        """Those about relations other than equality; steps have the names of given facts, or of representatives."""
        return [one for one in super().paths() if not any(is_equality(head) for head, _, _ in one.heads)]

    def links(self) -> PathRules:
        """What makes two names equal from given facts alone."""
        if self._links is None:
            self._links = equality_links(self.written)
        return self._links

    def deriving(self, facts: Iterable[Atom]) -> set[int]:
        return super().deriving(map(self._names.atom, facts))


class EqualFacts(HeldFacts):
    """The explicit facts in the names that were given, and the materialisation in those of representatives, or in all."""

    index: RepresentativeRules

    def __init__(
        self, backend: AnyBackend, E: FactSet, I: FactSet, rules: RepresentativeRules, names: EqualNames
    ) -> None:
        super().__init__(backend, E, I, rules)
        self.rules, self._names = rules.written, names
        self.thorough = False
        """Whether all names are tried."""
        self._plain = HeldFacts(backend, E, I, rules.plain)
        self._chains = EqualityChains(self, rules.links())

    def holding(self, facts: Iterable[Atom]) -> set[Atom]:
        asked = list(facts)
        held = super().holding(map(self._names.atom, asked)) | super().holding(asked)
        return {one for one in asked if one in held or self._names.atom(one) in held or self._is_equal(one)}

    def _is_equal(self, fact: Atom) -> bool:
        """Whether a fact says that two names are equal, and they are."""
        return is_equality(fact) and self._names.of(fact.terms[0]) == self._names.of(fact.terms[2])

    def explicit(self, facts: Iterable[Atom]) -> set[Atom]:
        asked = list(facts)
        found = super().explicit(asked)
        return found | {fact for fact in asked if _is_reflexive(fact)}

    def variables(self, rule: int) -> tuple[Variable, ...]:
        return visible(self.rules[rule])

    def answers(self, body: Sequence[BodyLiteral], variables: Sequence[Variable], most: int) -> tuple[list[Row], int]:
        asked = Rule(Atom(HIDDEN, ()), tuple(body))
        return super().answers(_over_representatives(asked, self._names).body, variables, most)

    def may_be_derived(self, fact: Atom) -> bool:
        return any(len(self._names.all(term)) > 1 for term in fact.terms) or super().may_be_derived(fact)

    def try_harder(self) -> bool:
        before, self.thorough = self.thorough, True
        return not before

    def folds(self) -> bool:
        return not self.thorough

    def instances(
        self, asked: Sequence[Atom], rules: Iterable[int], explicit: bool = False, most: int | None = None
    ) -> tuple[list[Instance], bool]:
        if explicit:
            return self._from_given(asked, rules), False
        by_form: dict[Atom, list[Atom]] = {}
        for fact in asked:
            by_form.setdefault(self._names.atom(fact), []).append(fact)
        found, _ = super().instances(list(by_form), rules)
        made = [one for each in found for fact in by_form[each.head] for one in self._named(each, fact)]
        made += self._from_given(asked, rules)
        made += self._renamed(asked)
        made += self._chained([fact for fact in asked if self._is_equal(fact) and not _is_reflexive(fact)])
        return [one for one in dict.fromkeys(made) if one.head not in one.premises], False

    def _from_given(self, asked: Sequence[Atom], rules: Iterable[int]) -> list[Instance]:
        """Instances whose premises are given in just these names, of rules that ask for nothing else."""
        plain = [number for number in rules if all(isinstance(one, Atom) for one in self.rules[number].body)]
        return self._plain.instances(asked, plain, explicit=True)[0]

    def _named(self, instance: Instance, wanted: Atom) -> Iterator[Instance]:
        """An instance about representatives, in the names of a fact that is wanted; and the fact renamed, if it must be."""
        rule = self.rules[instance.rule]
        known = dict(zip(super().variables(instance.rule), instance.values, strict=True))
        fixed = {variable for one in rule.body if _is_about_terms(one) for variable in one.variables()}
        names: dict[Variable, Sequence[Constant]] = {}
        for term, name in zip(rule.head.terms, wanted.terms, strict=True):
            if isinstance(term, Variable) and isinstance(name, Constant) and term not in fixed:
                names.setdefault(term, [name])
        variables = visible(rule)
        for variable in variables:
            every = self.thorough and variable not in fixed
            names.setdefault(variable, self._names.all(known[variable]) if every else [known[variable]])
        for some in islice(product(*(names[variable] for variable in variables)), _NAMES):
            values: dict[Variable, Term] = dict(zip(variables, some, strict=True))
            premises = tuple(dict.fromkeys(substitute_atom(atom, values) for atom in rule.positive))
            head = substitute_atom(rule.head, values)
            if head == wanted:
                yield Instance(head, instance.rule, some, premises)
            else:
                yield self._renaming(wanted, head)

    def _renamed(self, asked: Sequence[Atom]) -> Iterator[Instance]:
        """Facts that are given in other names."""
        several = (fact for fact in asked if any(len(self._names.all(term)) > 1 for term in fact.terms))
        for fact, given in self.given_as([fact for fact in several if not is_equality(fact)], self._names.all):
            if given != fact:
                yield self._renaming(fact, given)

    def _renaming(self, wanted: Atom, known: Atom) -> Instance:
        pairs = zip(wanted.terms, known.terms, strict=True)
        equal = [same(mine, theirs) for mine, theirs in pairs if mine != theirs]
        return Instance(wanted, RENAMED, (), tuple(dict.fromkeys([known, *equal])))

    def _chained(self, facts: Sequence[Atom]) -> Iterator[Instance]:
        """Chains of equalities between the names that facts say are equal."""
        turned = {fact: same(fact.terms[2], fact.terms[0]) for fact in facts}
        both = [one for pair in turned.items() for one in pair]
        known = super().explicit(both) | {one.head for one in self._from_given(both, self.index.deriving(both))}
        for fact, other in turned.items():
            yield Instance(fact, CHAINED, (), (other,))
            start, _, end = fact.terms
            names = self._names.all(start)
            at_once = fact in known or other in known
            chain = None if at_once else self._chains.chain(fact, names)
            if chain is not None:
                yield Instance(fact, CHAINED, (), tuple(dict.fromkeys(chain)))
            if self.thorough or (chain is None and not at_once and len(names) <= _MEMBERS):
                for name in names:
                    if name not in (start, end):
                        yield Instance(fact, CHAINED, (), (same(start, name), same(name, end)))


def _is_reflexive(fact: Atom) -> bool:
    return is_equality(fact) and fact.terms[0] == fact.terms[2]


def _is_about_terms(literal: BodyLiteral) -> bool:
    """Whether a literal sees the terms that stand for things, and not the things: these are representatives."""
    if isinstance(literal, Comparison):
        return literal.operator not in ("!=", "is")
    return not isinstance(literal, Atom | Negation)


def _over_representatives(rule: Rule, names: EqualNames) -> Rule:
    """A rule about representatives, where an equality of the body says that its terms are one."""
    ends = {rule.head.terms[0], rule.head.terms[2]} if is_equality(rule.head) else None
    body: list[BodyLiteral] = []
    for literal in rule.body:
        if isinstance(literal, Negation) and any(map(is_equality, literal.atoms)):
            literal = Comparison("!=", literal.atoms[0].terms[0], literal.atoms[0].terms[2])
        elif isinstance(literal, Atom) and is_equality(literal):
            literal = Comparison("is", literal.terms[0], literal.terms[2])
        if not (isinstance(literal, Comparison) and literal.operator == "!=" and {literal.left, literal.right} == ends):
            body.append(literal.mapped(names.of))
    return Rule(names.atom(rule.head), tuple(body))
