"""A shortest path that makes a fact, searched from both of its ends at once, a level at a time.

A *place* is a thing and the state that an automaton is in when a path has come to it, as one number. Levels are arrays of
places: a search in a large closure comes to many thousands of things, of which a path shows a handful.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog.datalog.syntax import Atom, Constant, Variable
from everlog.explaining.held_facts import HeldFacts, Ids
from everlog.explaining.path_rules import Moves, PathRules, ends
from everlog.planning.modules.module_rules import meets

_Places: TypeAlias = NDArray[np.int64]
_Step: TypeAlias = tuple[int, int, int]
"""A letter, and the ids of the two ends of a step, in the order of the letter's relation."""


class _Level(NamedTuple):
    """Places that were reached, sorted, each with the one before it and the letter between them."""

    places: _Places
    before: _Places
    letters: NDArray[np.int64]


class _Side:
    """What was reached from one end."""

    def __init__(self, places: _Places, forwards: bool) -> None:
        self.forwards = forwards
        self.known = np.sort(places)
        self.levels = [_Level(self.known, self.known, np.zeros(len(places), np.int64))]

    @property
    def front(self) -> _Places:
        return self.levels[-1].places

    def add(self, found: _Level) -> None:
        """The next level: those places that are new, each once, whatever the order in which they were found."""
        order = np.lexsort((found.letters, found.before, found.places))
        places, before, letters = (column[order] for column in found)
        new = ~_among(places, self.known)
        new[1:] &= places[1:] != places[:-1]
        self.levels.append(_Level(places[new], before[new], letters[new]))
        self.known = np.sort(np.concatenate([self.known, places[new]]))

    def steps(self, place: int, states: int) -> list[_Step]:
        """The steps between this end and a place, beginning there."""
        found = []
        for level in self.levels[:0:-1]:
            at = int(np.searchsorted(level.places, place))
            if at < len(level.places) and level.places[at] == place:
                letter, before = int(level.letters[at]), int(level.before[at])
                pair = (before // states, place // states) if self.forwards else (place // states, before // states)
                found.append((letter, *(pair[::-1] if letter % 2 else pair)))
                place = before
        return found


class PathSearch:
    """The paths of the facts of some rules."""

    def __init__(self, held: HeldFacts, rules: Sequence[PathRules], look: Callable[[], None]) -> None:
        self._held, self._rules, self._look = held, rules, look

    def rules_of(self, fact: Atom) -> PathRules | None:
        """The rules that connect the ends of a fact by paths, if there are any."""
        return next((one for one in self._rules if any(meets(fact, head) for head, _, _ in one.heads)), None)

    def path(self, rules: PathRules, fact: Atom) -> tuple[Atom, ...] | None:
        """The facts of a shortest path that makes a fact."""
        head, moves, finals = next(one for one in rules.heads if meets(fact, one[0]))
        start, end = self._held.ids([fact.terms[place] for place in ends(head)]).tolist()
        states = len(moves)
        onwards = _Side(np.array([start * states]), True)
        back = _Side(np.array([end * states + state for state in sorted(finals)]), False)
        while len(onwards.front) and len(back.front):
            self._look()
            side, other = (onwards, back) if len(onwards.front) <= len(back.front) else (back, onwards)
            self._expand(rules, moves, side)
            met = side.front[_among(side.front, other.known)]
            if len(met):
                place = int(met[0])
                steps = [*reversed(onwards.steps(place, states)), *back.steps(place, states)]
                return tuple(
                    _fact(rules.letters[letter // 2], self._held.named(np.array(pair, np.int32)))
                    for letter, *pair in steps
                )
        return None

    def _expand(self, rules: PathRules, moves: Moves, side: _Side) -> None:
        """Adds the places that a step leads to from those of the front of a side; or that lead to these by a step."""
        things, states = np.divmod(side.front, len(moves))
        wanted = _wanted(moves, np.unique(states).tolist(), side.forwards)
        # Going on, a step is read from its first end, unless its letter is read backwards; going back, the other way.
        asked = {
            (letter // 2, int(bool(letter % 2) == side.forwards)) for some in wanted.values() for letter, _ in some
        }
        pieces = [_Level(*(np.zeros(0, np.int64) for _ in range(3)))]
        for number, bound, pair in self._steps(rules, asked, np.unique(things)):
            letter = 2 * number + int(bool(bound) == side.forwards)
            here, there = pair[bound], pair[1 - bound]
            for state, some in wanted.items():
                for after in (after for read, after in some if read == letter):
                    mine = _among(here, things[states == state])
                    places, before = there[mine] * len(moves) + after, here[mine] * len(moves) + state
                    pieces.append(_Level(places, before, np.full(len(places), letter)))
        side.add(_Level(*map(np.concatenate, zip(*pieces, strict=True))))

    def _steps(
        self, rules: PathRules, asked: Iterable[tuple[int, int]], things: _Places
    ) -> list[tuple[int, int, tuple[_Places, _Places]]]:
        """Steps by some relations that have one of some things at an end: the relation, the end, and the two ends."""
        bound = [(one, place) for one in rules.sources for number, place in sorted(asked) if number == one.letter]
        found = self._held.ends([(one.ends, place, one.body, one.given) for one, place in bound], _narrow(things))
        return [
            (bound[number][0].letter, bound[number][1], (first.astype(np.int64), second.astype(np.int64)))
            for number, first, second in found
        ]


def _narrow(things: _Places) -> Ids:
    return things.astype(np.int32)


def _among(asked: NDArray[Any], ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of some numbers are among others, which are sorted."""
    if not len(ordered):
        return np.zeros(len(asked), np.bool_)
    places = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[places] == asked
    return found


def _wanted(moves: Moves, states: Iterable[int], forwards: bool) -> Mapping[int, list[tuple[int, int]]]:
    """For some states, the letters that lead on, or to them, with the states at the other end."""
    if forwards:
        return {state: list(moves[state].items()) for state in states}
    return {
        state: [(letter, one) for one, some in enumerate(moves) for letter, after in some.items() if after == state]
        for state in states
    }


def _fact(atom: Atom, pair: Sequence[Constant]) -> Atom:
    terms = iter(pair)
    return atom.mapped(lambda term: next(terms) if isinstance(term, Variable) else term)
