"""What an engine knows that proofs are made of: which facts are explicit, and which instances of rules derive them.

Everything is asked for many facts at once, as a handful of joins in a scratch of the engine, so that nothing stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from everlog.datalog.syntax import HIDDEN, Atom, BodyLiteral, Constant, Rule, Term, Variable
from everlog.datalog.values import Value
from everlog.engine.algebra import FactSet
from everlog.engine.backend import Backend
from everlog.explaining.rule_index import RuleIndex
from everlog.explaining.rule_matching import Matching, asked_about
from everlog.planning.compiled_program import compile_program
from everlog.reasoning.boundaries import make_boundaries
from everlog.sources.fact_columns import Columns, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AnyBackend = Backend[Any, Any, Any]
Ids: TypeAlias = "NDArray[np.int32]"

RENAMED: Final = -1
CHAINED: Final = -2
FOLDED: Final = -3
"""Instead of the number of a rule: the same fact in other names; equalities that lead from one name to another; a path."""

Row = tuple[Value, ...]

_ANSWER: Final = f"{HIDDEN}why_answer"
_THINGS: Final = f"{HIDDEN}why_things"
_ASKED: Final = f"{HIDDEN}why_asked"
_PLACES: Final = f"{HIDDEN}why_place"
_STEP: Final = f"{HIDDEN}why_step"


@dataclass(frozen=True)
class Instance:
    """An instance of a rule, which has a number: what it derives, the values of its variables, and its positive body facts.

    Each of these is there once. Some numbers are none of rules, such as `FOLDED`.
    """

    head: Atom
    rule: int
    values: tuple[Constant, ...]
    premises: tuple[Atom, ...]


class HeldFacts:
    """The explicit facts `E` and the materialisation `I` of an engine, and the rules that derive the one from the other."""

    def __init__(self, backend: AnyBackend, E: FactSet, I: FactSet, index: RuleIndex) -> None:
        self._backend, self.E, self.I = backend, E, I
        self._terms, _ = backend.query_dictionary()
        self.index, self.rules = index, index.rules

    def explicit(self, facts: Iterable[Atom]) -> set[Atom]:
        """Those of some facts that are given."""
        return self._among(facts, self.E)

    def holding(self, facts: Iterable[Atom]) -> set[Atom]:
        """Those of some facts that hold."""
        return self._among(facts, self.I)

    def _among(self, facts: Iterable[Atom], held: FactSet) -> set[Atom]:
        by_predicate = _by_predicate(facts)
        with self._backend.scratch() as scratch:
            batches = scratch.encoded({name: _columns(name, some) for name, some in by_predicate.items()})
            # Facts of closed relations may hold and be known to nobody.
            found = (scratch.entered(batches) if held.closures else scratch.present(batches)).common(held)
            return {
                Atom(name, tuple(map(Constant, row)))
                for name, some in by_predicate.items()
                for row in scratch.rows(scratch.listed(found, name, len(some[0].terms)), len(some[0].terms))
            }

    def given_as(
        self, facts: Sequence[Atom], names: Callable[[Term], Sequence[Constant]]
    ) -> Iterator[tuple[Atom, Atom]]:
        """Some facts, each with those that are given of the same things, by all names that these have."""
        for predicate, asked in _by_predicate(facts).items():
            places = [tuple(dict.fromkeys(fact.terms[place] for fact in asked)) for place in range(len(asked[0].terms))]
            wanted = tuple(Variable(f"asked{place}") for place in range(len(places)))
            given = list(wanted)
            body = [Atom(_ASKED, wanted)]
            columns = {_ASKED: _columns(_ASKED, asked)}
            for place, terms in enumerate(places):
                if any(len(names(term)) > 1 for term in terms):
                    given[place] = Variable(f"given{place}")
                    body.append(Atom(f"{_PLACES}{place}", (wanted[place], given[place])))
                    pairs = [Atom(_PLACES, (term, name)) for term in terms for name in names(term)]
                    columns[body[-1].predicate] = _columns(_PLACES, pairs)
            rule = Rule(Atom(_ANSWER, (*wanted, *given)), (*body, Atom(predicate, tuple(given))))
            with self._backend.scratch() as scratch:
                entered = [scratch.entered(scratch.encoded({name: some})) for name, some in columns.items()]
                scratch.prepare([rule])
                known = reduce(FactSet.plus, entered, self.E)
                made = self._applied(scratch, [rule], known, entered[0])
                rows = scratch.rows(scratch.listed(made, _ANSWER, 2 * len(places)), 2 * len(places))
            for row in rows:
                terms = tuple(map(Constant, row))
                yield Atom(predicate, terms[: len(places)]), Atom(predicate, terms[len(places) :])

    def ids(self, terms: Sequence[Term]) -> Ids:
        """Terms of facts as ids, by which paths are searched."""
        return self._terms.encode_values([term.value for term in terms if isinstance(term, Constant)])

    def named(self, ids: Ids) -> list[Constant]:
        """The terms that some ids are those of."""
        return [Constant(value) for value in self._terms.values(ids)]

    def ends(
        self, sources: Sequence[tuple[tuple[Term, Term], int, Sequence[BodyLiteral], bool]], things: Ids
    ) -> list[tuple[int, Ids, Ids]]:
        """The pairs of terms that bodies have, by the numbers of these, where one of the two is among some things.

        A source has two terms, the place of the one among them, a body, and whether that is about given facts.
        """
        found: list[tuple[int, Ids, Ids]] = []
        numbers = self._terms.encode_values(list(range(len(sources))))
        with self._backend.scratch() as scratch:
            wanted = scratch.entered([scratch.batch(_THINGS, things, self._terms)])
            for facts, given in ((self.E, True), (self.I, False)):
                rules = [
                    Rule(Atom(_STEP, (Constant(number), *pair)), (Atom(_THINGS, (pair[place],)), *body))
                    for number, (pair, place, body, mine) in enumerate(sources)
                    if mine is given
                ]
                if rules:
                    scratch.prepare(rules)
                    made = self._applied(scratch, rules, facts.plus(wanted), wanted)
                    which, first, second = scratch.columns(scratch.listed(made, _STEP, 3), 3, self._terms)
                    for number, source in enumerate(sources):
                        if source[-1] is given:
                            mine = which == numbers[number]
                            found.append((number, first[mine], second[mine]))
        return found

    def may_be_derived(self, fact: Atom) -> bool:
        """Whether there may be an instance that derives a fact."""
        return bool(self.index.deriving([fact]))

    def try_harder(self) -> bool:
        """Is told that a proof was not found; tells whether more instances are found from now on."""
        return False

    def folds(self) -> bool:
        """Whether paths are looked for."""
        return True

    def variables(self, rule: int) -> tuple[Variable, ...]:
        """The variables that the values of an instance belong to."""
        found = self.index.matching(rule)
        assert found is not None, "there is an instance"
        return found.variables

    def instances(
        self, asked: Sequence[Atom], rules: Iterable[int], explicit: bool = False, most: int | None = None
    ) -> tuple[list[Instance], bool]:
        """The instances of some rules that derive some facts; their bodies hold or, if so asked, are `explicit`.

        With `most`, there are at most so many of rules with as many variables, and it is told whether there are more.
        """
        chosen = {number: one for number in sorted(rules) if (one := self.index.matching(number)) is not None}
        if not chosen or not asked:
            return [], False
        more = False
        with self._backend.scratch() as scratch:
            found = self._found(scratch, asked, list(chosen.values()), explicit)
            answers = dict.fromkeys((one.answer.predicate, len(one.answer.terms)) for one in chosen.values())
            instances: list[Instance] = []
            for predicate, arity in answers:
                listed = scratch.listed(found, predicate, arity)
                rows = scratch.rows(listed if most is None else scratch.first(listed, most + 1), arity)
                more |= most is not None and len(rows) > most
                for number, *values in rows[:most]:
                    assert isinstance(number, int), "it is the number of a rule"
                    some = tuple(map(Constant, values))
                    head, premises = chosen[number].facts(some)
                    instances.append(Instance(head, number, some, premises))
        return instances, more

    def _found(
        self, scratch: AnyBackend, asked: Sequence[Atom], matchings: Sequence[Matching], explicit: bool
    ) -> FactSet:
        names = {asked_about(name): some for name, some in _by_predicate(asked).items()}
        wanted = scratch.entered(scratch.encoded({name: _columns(name, some) for name, some in names.items()}))
        first, rest = [one.first for one in matchings], [rule for one in matchings for rule in one.rest]
        scratch.prepare([*first, *rest])
        narrowed, known = scratch.narrowed(first, (self.E if explicit else self.I).plus(wanted))
        negative = self.I if explicit else known
        # Every instance has a fact that is asked about: these drive the joins, however large the other relations are.
        found = scratch.compiler()(narrowed).apply(known, negative, some=[(wanted, scratch.engine.empty())])
        return found if not rest else found.plus(self._applied(scratch, rest, self.I.plus(found)))

    def _applied(
        self, scratch: AnyBackend, rules: Sequence[Rule], facts: FactSet, driving: FactSet | None = None
    ) -> FactSet:
        """What rules that do not depend on their heads derive from some facts; each instance has one that is `driving`."""
        compiler = scratch.compiler()
        rules, facts = scratch.narrowed(rules, facts)
        if all(isinstance(literal, Atom) for rule in rules for literal in rule.body) and _are_apart(rules):
            some = [] if driving is None else [(driving, scratch.engine.empty())]
            return compiler(rules).apply(facts, some=some)
        strata = compile_program(rules, compiler)
        boundaries = make_boundaries(strata, scratch.engine, scratch.graphs(), scratch.matcher(), compiler)
        made = nothing = scratch.engine.empty()
        for stratum in strata:
            known = facts.plus(made)
            more, _ = boundaries.begin(stratum, known, nothing, nothing, lambda *_: None)
            made |= more
            made |= stratum.nonrecursive.apply(known.plus(more), excluding=nothing)
        return made

    def answers(self, body: Sequence[BodyLiteral], variables: Sequence[Variable], most: int) -> tuple[list[Row], int]:
        """Some of the values that variables have where a body holds, at most so many, and how many there are."""
        answer = Rule(Atom(_ANSWER, tuple(variables)), tuple(body))
        with self._backend.scratch() as scratch:
            scratch.prepare([answer])
            found = self._applied(scratch, [answer], self.I)
            listed = scratch.listed(found, _ANSWER, len(variables))
            rows = scratch.rows(scratch.first(listed, most), len(variables))
            return rows, scratch.size(listed)


def _are_apart(rules: Sequence[Rule]) -> bool:
    """Whether no rule asks for what another one derives."""
    heads = {rule.head.predicate for rule in rules}
    return not any(atom.predicate in heads for rule in rules for atom in rule.positive)


def _by_predicate(facts: Iterable[Atom]) -> dict[str, list[Atom]]:
    found: dict[str, list[Atom]] = {}
    for fact in facts:
        found.setdefault(fact.predicate, []).append(fact)
    return found


def _columns(predicate: str, facts: Sequence[Atom]) -> Columns:
    rows = [tuple(term.value for term in fact.terms if isinstance(term, Constant)) for fact in facts]
    found = columns_of(predicate, rows, len(facts[0].terms))
    assert found is not None, "there are rows"
    return found
