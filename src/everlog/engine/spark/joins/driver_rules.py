"""Rules applied on the driver, where all that they can meet is there already: a job takes longer than all they do.

The same conjunctions as in `conjunction.py`, with a hash table for each literal, and the same deliveries as in
`instances.py`. Bindings are columns of ids. The driver gives up (`TooMany`) where few facts lead to very many bindings;
Spark then starts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.comparing import holds
from everlog.datalog.syntax import Operator, Variable
from everlog.datalog.values import Value
from everlog.engine.spark import tuning
from everlog.engine.spark.engine import SparkEngine
from everlog.engine.spark.facts.annotations import SparkCounted, positive
from everlog.engine.spark.facts.asked_runs import TooMany
from everlog.engine.spark.facts.driver_facts import DriverFacts, each_once, widened
from everlog.engine.spark.facts.driver_terms import DriverTerms
from everlog.engine.spark.facts.fact_schema import PADDING
from everlog.engine.spark.facts.region_filters import RegionFilter
from everlog.engine.spark.facts.row_indexes import Rows, column_of
from everlog.engine.spark.facts.sets import ComputedFacts, Part, SparkFacts, pieces_having
from everlog.engine.spark.joins.conjunction import Literal
from everlog.engine.spark.joins.patterns import Compared, Computed, Parameters, Pattern, Term
from everlog.engine.spark.joins.seen_heads import SeenHeads
from everlog.expressions.evaluation import evaluate
from everlog.expressions.evaluation import holds as holds_in

_Ids = NDArray[np.int64]
_RULE: Final = 1 << 62
"""Stands among the terms for the number of the rule, where a shape has several."""
_ALL: Final = slice(None)


class _Crowded(Exception):
    """More bindings than the driver should hold at a time."""


class DriverConjunction:
    """Bindings of variables, each of some rule, matched literal by literal; `needed` are the terms that are asked for.

    With `proving` it does not matter how often there are bindings that agree in these.
    """

    def __init__(
        self, parameters: Parameters, needed: Iterable[Term], tables: DriverTables, proving: bool = False
    ) -> None:
        self._given = np.array(parameters.rows, np.int64).reshape(len(parameters.rows), -1)
        """The parameters of each rule."""
        self.size = len(self._given)
        self._columns: dict[Term, _Ids] = {_RULE: np.arange(self.size)} if self.size > 1 else {}
        self._needed = {_RULE, *needed}
        self._tables, self._proving = tables, proving

    def evaluate(
        self, positive: Sequence[Literal], negative: Sequence[Literal], tests: Sequence[Compared | Computed]
    ) -> None:
        self._match(list(positive), negative, tests, self._compute([one for one in tests if isinstance(one, Computed)]))

    def _match(
        self,
        left: list[Literal],
        negative: Sequence[Literal],
        tests: Sequence[Compared | Computed],
        waiting: Sequence[Computed],
    ) -> None:
        """Matches the literals that are left, then all tests; half of the bindings at a time where they lead to many."""
        while left:
            literal = left.pop(self._next(left))
            later = [*left, *negative]
            keep = self._needed.union(*((one.pattern.relation, *one.pattern.terms) for one in later))
            keep.update(term for test in waiting for term in (*test.inputs, test.result) if term is not None)
            keep.update(term for test in tests if isinstance(test, Compared) for term in (test.left, test.right))
            try:
                self._extend(literal, keep)
            except _Crowded:
                halves = [self._some(places) for places in np.array_split(np.arange(self.size), 2)]
                for half in halves:
                    half._match([literal, *left], negative, tests, waiting)
                self._join(halves)
                return
            waiting = self._compute(waiting)
        for test in tests:
            if isinstance(test, Compared):
                self._keep(self._compared(test))
        for literal in negative:
            self._keep(~self._found(literal))

    def _some(self, places: NDArray[np.int64]) -> DriverConjunction:
        """Some of the bindings."""
        some = copy(self)
        some._take(places)
        return some

    def _join(self, parts: Sequence[DriverConjunction]) -> None:
        """Takes the bindings of some parts instead."""
        shared = set(self._needed).union(*(part._columns for part in parts))
        shared.intersection_update(*(part._columns for part in parts))
        self._columns = {term: np.concatenate([part._columns[term] for part in parts]) for term in shared}
        self.size = sum(part.size for part in parts)

    def _next(self, left: Sequence[Literal]) -> int:
        """Which literal to match next: the first one, unless it has many matches and another one has fewer."""
        if len(left) == 1 or not all(literal.view.on_driver for literal in left):
            return 0
        numbers = [self._matches(left[0])]
        if numbers[0] > tuning.DRIVER_MATCHES + self.size:
            numbers += map(self._matches, left[1:])
        return int(np.argmin(numbers))

    def _matches(self, literal: Literal) -> float:
        """About how many matches a literal has, by some of the bindings."""
        terms = (literal.pattern.relation, *literal.pattern.terms)
        places = self._bound(terms)
        step = max(1, self.size // tuning.DRIVER_SAMPLE)
        some = self._keys([terms[place] for place in places], slice(None, None, step))
        parts = pieces_having(self._tables.parts(literal.view, self.size), places, some)
        pieces = (piece for piece in parts if piece.rows.shape[1] >= len(terms))
        return step * sum(piece.index(places).count(some, tuning.DRIVER_BINDINGS) for piece in pieces)

    def any_of(self, literals: Sequence[Literal]) -> None:
        """Keeps the bindings that have an instance of one of some patterns in its view."""
        found = np.zeros(self.size, np.bool_)
        for literal in literals:
            found |= self._found(literal)
        self._keep(found)

    def with_parameters(self, parameters: Parameters) -> DriverConjunction:
        """A conjunction with the same bindings, whose parameters are those of further patterns."""
        assert len(parameters.rows) == len(self._given) == 1, "a query is one rule"
        copy = DriverConjunction(parameters, self._needed, self._tables)
        copy.size, copy._columns = self.size, self._columns
        return copy

    def facts(self, pattern: Pattern, width: int) -> Rows:
        """The facts that bindings make of a pattern, one for each."""
        return widened(self._keys((pattern.relation, *pattern.terms)), width + 1)

    def once(self, pattern: Pattern, seen: SeenHeads) -> DriverConjunction:
        """Those bindings that make a fact of a pattern which others have not made; all, unless it has one variable."""
        if len({*pattern.variables()}) != 1:
            return self
        terms = (pattern.relation, *pattern.terms)
        (variable,) = {*pattern.variables()}
        heads = [tuple(rule[~term] if term < 0 else PADDING for term in terms) for rule in self._given.tolist()]
        rules = self._columns.get(_RULE)
        new = seen.new(heads, np.zeros(self.size, np.int64) if rules is None else rules, self._columns[variable])
        if new is None:
            return self
        some = copy(self)
        some._columns = {term: column for term, column in self._columns.items() if term in (_RULE, variable)}
        some._take(new)
        return some

    def facts_outside(self, pattern: Pattern, width: int, known: Iterable[Part]) -> Rows:
        """Those of these facts that some sets do not have.

        A rule is not asked for in a set that has no fact with the constants of its head, if that is easily told.
        """
        found, rules = self.facts(pattern, width), self._columns.get(_RULE)
        terms = (pattern.relation, *pattern.terms)
        places = [place for place, term in enumerate(terms) if term < 0]
        heads = self._given[:, [~terms[place] for place in places]]
        for part in known:
            if not len(found):
                break
            piece = part.having(range(width + 1), found)
            asked: NDArray[np.intp] | slice = _ALL
            if piece.rows.shape[1] == width + 1 and (piece.is_indexed(places) or len(found) >= len(piece)):
                possible = piece.index(places).has(heads)
                if not possible.any():
                    continue
                if not possible.all():
                    assert rules is not None, "there are several rules"
                    asked = np.flatnonzero(possible[rules])
            there = DriverFacts(found[asked]).places_in(piece) >= 0
            if part.tests:
                there[there] = part.passing(found[asked][there])
            if there.any():
                new = np.ones(len(found), np.bool_)
                new[asked] = ~there
                left = np.flatnonzero(new)
                found, rules = found.take(left, axis=0), None if rules is None else rules[left]
        return found

    def _bound(self, terms: Sequence[Term]) -> list[int]:
        """The places of parameters, and of variables that have values."""
        return [place for place, term in enumerate(terms) if term < 0 or term in self._columns]

    def _column(self, term: Term, some: slice = _ALL) -> _Ids:
        """The values of a term."""
        if term >= 0:
            return self._columns[term][some]
        values = self._given[:, ~term]
        if len(values) > 1 and (values != values[0]).any():
            return values[self._columns[_RULE][some]]
        return np.broadcast_to(values[:1], len(range(self.size)[some])) if len(values) else values

    def _keys(self, terms: Sequence[Term], some: slice = _ALL) -> Rows:
        keys = np.empty((len(range(self.size)[some]), len(terms)), np.int64)
        for place, term in enumerate(terms):
            keys[:, place] = self._column(term, some)
        return keys

    def _take(self, places: NDArray[np.int64]) -> None:
        self._columns = {term: column[places] for term, column in self._columns.items()}
        self.size = len(places)

    def _keep(self, which: NDArray[np.bool_]) -> None:
        if not which.all():
            self._take(np.flatnonzero(which))

    # ------------------------------------------------------------------------------------ literals

    def _found(self, literal: Literal) -> NDArray[np.bool_]:
        """Which bindings make a fact of a set of a literal's pattern."""
        asked = DriverFacts(self._keys((literal.pattern.relation, *literal.pattern.terms)))
        parts, found = self._tables.parts(literal.view, self.size), np.zeros(self.size, np.bool_)
        for part, piece in zip(parts, pieces_having(parts, range(asked.rows.shape[1]), asked.rows), strict=True):
            there = np.flatnonzero(asked.places_in(piece) >= 0)
            found[there[part.passing(asked.rows[there])]] = True
        return found

    def _extend(self, literal: Literal, keep: set[Term]) -> None:
        """Binds the variables of a literal in all ways; of the terms, those that are needed later are kept."""
        terms = (literal.pattern.relation, *literal.pattern.terms)
        places = self._bound(terms)
        free = {term: place for place, term in reversed([*enumerate(terms)]) if place not in places}
        keys = self._keys([terms[place] for place in places])
        # One binding has no more matches than there are facts.
        room = tuning.DRIVER_BINDINGS if self.size > 1 else max(tuning.DRIVER_BINDINGS, tuning.DRIVER_FACTS)
        twins = [(place, free[term]) for place, term in enumerate(terms) if term in free and free[term] != place]
        wanted = sorted({*(place for term, place in free.items() if term in keep), *chain.from_iterable(twins)})
        if self._proving and not wanted:
            self._keep(self._has_match(literal, len(terms), places, keys, room))
            self._columns = {term: column for term, column in self._columns.items() if term in keep}
            return
        old: list[_Ids] = [np.empty(0, np.int64)]
        new: dict[int, list[_Ids]] = {place: [np.empty(0, np.int64)] for place in wanted}
        parts = self._tables.parts(literal.view, self.size)
        for part, piece in zip(parts, pieces_having(parts, places, keys), strict=True):
            if piece.rows.shape[1] < len(terms):
                continue
            found = piece.index(places).all(keys, room)
            if found is None:
                raise _Crowded if self.size > 1 else TooMany
            bindings, rows = found
            if part.tests:
                passing = part.passing(piece.rows[rows])
                bindings, rows = bindings[passing], rows[passing]
            room -= len(bindings)
            old.append(bindings)
            for place, columns in new.items():
                columns.append(column_of(piece.rows, rows, place))
        facts = {place: np.concatenate(columns) for place, columns in new.items()}
        self._columns = {term: column for term, column in self._columns.items() if term in keep}
        self._take(np.concatenate(old))
        self._tables.spend(self.size)
        self._columns |= {term: facts[place] for term, place in free.items() if place in facts}
        if twins:
            self._keep(np.all([facts[one] == facts[other] for one, other in twins], axis=0))
        self._columns = {term: column for term, column in self._columns.items() if term in keep}

    def _has_match(
        self, literal: Literal, width: int, places: Sequence[int], keys: Rows, room: int
    ) -> NDArray[np.bool_]:
        """Which bindings have a match, of which one is looked for, and others where that does not count."""
        found = np.zeros(self.size, np.bool_)
        parts = self._tables.parts(literal.view, self.size)
        for part, piece in zip(parts, pieces_having(parts, places, keys), strict=True):
            asked = np.flatnonzero(~found)
            if piece.rows.shape[1] < width or not len(asked):
                continue
            index = piece.index(places)
            rows = index.one(keys[asked])
            asked, rows = asked[rows >= 0], rows[rows >= 0]
            passing = part.passing(piece.rows[rows])
            found[asked[passing]] = True
            doubtful = asked[~passing]
            if len(doubtful):
                others = index.all(keys[doubtful], room)
                if others is None:
                    raise _Crowded if self.size > 1 else TooMany
                self._tables.spend(len(others[0]))
                found[doubtful[others[0][part.passing(piece.rows[others[1]])]]] = True
        self._tables.spend(self.size)
        return found

    # ------------------------------------------------------------------------------------ values

    def _compute(self, waiting: Sequence[Computed]) -> list[Computed]:
        """Makes those computations whose inputs are bound; gives the others."""
        for test in waiting:
            if all(term < 0 or term in self._columns for term in test.giving[0]):
                self._computed(test)
                return self._compute([one for one in waiting if one is not test])
        return list(waiting)

    def _computed(self, test: Computed) -> None:
        """Keeps the bindings that have a result, and the right one if it is known; or that pass a filter."""
        terms = self._tables.terms
        columns = {Variable(str(term)): terms.column(self._column(term)) for term in test.inputs}
        found = evaluate(test.expression, columns, self.size)
        if test.result is None:
            self._keep(np.array(holds_in(found), np.bool_))
            return
        ids, kept = terms.ids(found)
        if test.result < 0 or test.result in self._columns:
            self._keep(kept & (ids == self._column(test.result)))
        else:
            self._columns[test.result] = ids
            self._keep(kept)

    def _compared(self, test: Compared) -> NDArray[np.bool_]:
        """The bindings for which a comparison holds."""
        left, right = self._column(test.left), self._column(test.right)
        if test.operator in ("=", "!=", "is not"):
            least = {} if test.operator == "is not" else self._tables.twins()
            if least is not None:
                one, other = _least(left, least), _least(right, least)
                same: NDArray[np.bool_] = one == other
                return same if test.operator == "=" else ~same
        pairs, places = np.unique(np.stack([left, right]), axis=1, return_inverse=True)
        values = self._tables.terms.values(pairs.ravel().tolist())
        told = [_holds(test.operator, values[one], values[other]) for one, other in pairs.T.tolist()]
        found: NDArray[np.bool_] = np.array(told, np.bool_)[places.reshape(-1)]
        return found


def _least(ids: _Ids, least: Mapping[int, int]) -> _Ids:
    """Ids, or the least of those that have the same value."""
    if not least:
        return ids
    known = np.array(sorted(least), np.int64)
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[place] == ids, np.array([least[id] for id in known.tolist()], np.int64)[place], ids)


def _holds(operator: Operator, left: Value, right: Value) -> bool:
    if operator == "~":
        return all(isinstance(one, str | NamedNode | BlankNode) for one in (left, right))
    return holds(operator, left, right)


class DriverTables:
    """Sets of facts on the driver, as one application of rules meets them, and the values of constants."""

    def __init__(self, terms: DriverTerms, twins: Callable[[], Mapping[int, int] | None]) -> None:
        self.terms = terms
        self.twins = twins
        """Tells for which constants there are others of equal value, and the least of these; None if they are many."""
        self._parts: dict[SparkFacts, Sequence[Part]] = {}
        self._spent = 0

    def spend(self, bindings: int) -> None:
        """Notes that so many bindings were looked at, or raises `TooMany`."""
        self._spent += bindings
        if self._spent > tuning.DRIVER_LOOKS:
            raise TooMany

    def parts(self, facts: SparkFacts, asked: int) -> Sequence[Part]:
        """The facts of a set, in parts that have nothing in common, for somebody who asks for so many of them.

        What few ask for is not computed: they look among what the set is made of.
        """
        if facts in self._parts:
            return self._parts[facts]
        if not facts.on_driver or tuning.MANY_TIMES * asked < facts.at_most():
            return facts.parts()
        found = facts.computed()  # which Spark does where the driver does not keep so many
        self._parts[facts] = [Part(piece) for piece in found.pieces()] if found.on_driver else found.parts()
        return self._parts[facts]


class DriverDelivery:
    """Instances of rules, shape by shape, on the driver, perhaps without facts of a set; `proving` as of a conjunction."""

    def __init__(self, engine: SparkEngine, excluding: SparkFacts | None = None, proving: bool = False) -> None:
        self._engine, self._excluding, self._proving = engine, excluding, proving
        self._known = excluding.parts() if isinstance(excluding, ComputedFacts) and excluding.on_driver else None
        """What is left out at once, if it is on the driver."""
        self._tables = DriverTables(engine.driver.terms, lambda: engine.twins().local)
        self._found: list[Rows] = [np.empty((0, engine.width + 1), np.int64)]
        self._instances = 0
        self._seen = SeenHeads()

    def conjunction(self, parameters: Parameters, needed: Iterable[Term]) -> DriverConjunction:
        return DriverConjunction(parameters, needed, self._tables, self._proving)

    def take(self, instances: DriverConjunction, patterns: Sequence[Pattern]) -> None:
        self._instances += instances.size
        width, known = self._engine.width, self._known or ()
        for pattern in patterns:
            # Where it does not matter how often a fact is found, it goes before a row is made of it. Nothing is asked after
            # that, since all that is known is on the driver; so no task begins again that has noted what it found.
            some = instances if self._known is None else instances.once(pattern, self._seen)
            self._found.append(some.facts_outside(pattern, width, known))

    def facts(self, counting: bool = True) -> ComputedFacts:
        self._count(counting)
        found = each_once(np.concatenate(self._found))
        if self._excluding is None:
            return self._engine.local(found)
        if self._known is None:
            return (self._engine.local(found) - self._excluding).computed()
        return self._engine.local(found, self._excluding.covered())

    def multiset(self) -> SparkCounted:
        self._count(True)
        return positive(self._engine, each_once(np.concatenate(self._found), counted=True))

    def facts_within(self, place: RegionFilter) -> ComputedFacts:
        self._count(True)
        return self._engine.local(place.among(each_once(np.concatenate(self._found))))

    def _count(self, counting: bool) -> None:
        self._engine.driver_applications += len(self._found) > 1
        self._engine.derivations += self._instances if counting else 0
