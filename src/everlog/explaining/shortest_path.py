"""A shortest path that makes a fact, searched from both of its ends at once, a level at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from everlog.datalog.syntax import Atom, Term, Variable
from everlog.explaining.held_facts import HeldFacts
from everlog.explaining.path_rules import Moves, PathRules, ends
from everlog.planning.modules.module_rules import meets

_Place = tuple[Term, int]
"""A thing, and the state that an automaton is in when a path has come to it."""
_Steps = dict[_Place, tuple[_Place, Atom] | None]
"""The places that were reached, each with the one before it and the fact between them."""


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
        first, second = ends(head)
        onwards: _Steps = {(fact.terms[first], 0): None}
        back: _Steps = {(fact.terms[second], state): None for state in finals}
        fronts = list(onwards), list(back)
        while all(fronts):
            self._look()
            forwards = len(fronts[0]) <= len(fronts[1])
            known, front = (onwards, fronts[0]) if forwards else (back, fronts[1])
            after = self._expanded(rules, moves, front, known, forwards)
            fronts = (after, fronts[1]) if forwards else (fronts[0], after)
            met = [place for place in after if place in onwards and place in back]
            if met:
                return min((_joined(onwards, back, place) for place in met), key=lambda one: (len(one), repr(one)))
        return None

    def _expanded(
        self, rules: PathRules, moves: Moves, front: Sequence[_Place], known: _Steps, forwards: bool
    ) -> list[_Place]:
        """The new places that a step leads to from those of a front; or that lead to these by a step."""
        wanted = _wanted(moves, {state for _, state in front}, forwards)
        at: dict[Term, list[int]] = {}
        for thing, state in front:
            at.setdefault(thing, []).append(state)
        # Going on, a step is read from its first end, unless its letter is read backwards; going back, the other way.
        asked = {(letter // 2, int(bool(letter % 2) == forwards)) for some in wanted.values() for letter, _ in some}
        found: list[_Place] = []
        for number, bound, pair in self._steps(rules, asked, at):
            letter = 2 * number + int(bool(bound) == forwards)
            for state in at.get(pair[bound], ()):
                for read, after in wanted[state]:
                    place = pair[1 - bound], after
                    if read == letter and place not in known:
                        known[place] = (pair[bound], state), _fact(rules.letters[number], pair)
                        found.append(place)
        return found

    def _steps(
        self, rules: PathRules, asked: Iterable[tuple[int, int]], things: Iterable[Term]
    ) -> list[tuple[int, int, tuple[Term, Term]]]:
        """Steps by some relations that have one of some things at an end: the relation, the end, and the two ends."""
        bound = [(one, place) for one in rules.sources for number, place in sorted(asked) if number == one.letter]
        rows = self._held.ends([(one.ends, place, one.body, one.given) for one, place in bound], list(things))
        return [(bound[number][0].letter, bound[number][1], pair) for number, pair in rows]


def _wanted(moves: Moves, states: Iterable[int], forwards: bool) -> Mapping[int, list[tuple[int, int]]]:
    """For some states, the letters that lead on, or to them, with the states at the other end."""
    if forwards:
        return {state: list(moves[state].items()) for state in states}
    return {
        state: [(letter, one) for one, some in enumerate(moves) for letter, after in some.items() if after == state]
        for state in states
    }


def _fact(atom: Atom, pair: tuple[Term, Term]) -> Atom:
    terms = iter(pair)
    return atom.mapped(lambda term: next(terms) if isinstance(term, Variable) else term)


def _joined(onwards: _Steps, back: _Steps, place: _Place) -> tuple[Atom, ...]:
    """The facts of the path through a place that both ends have reached."""
    before: list[Atom] = []
    at = place
    while (step := onwards[at]) is not None:
        at, fact = step
        before.append(fact)
    after: list[Atom] = []
    at = place
    while (step := back[at]) is not None:
        at, fact = step
        after.append(fact)
    return (*reversed(before), *after)
