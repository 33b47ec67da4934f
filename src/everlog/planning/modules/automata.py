"""Finite automata for the languages of chain rules (*Modular* §9; Horrocks and Sattler's construction).

A *letter* is a relation, read forwards or backwards. The language of a relation `R` are its *unfoldings*: the words of
letters that chain rules turn into `R`, itself included. Rules are taken that are regular by an order of the relations:
`w → R` where all letters of `w` are below `R`, or `R` is first in `w`, or last, or `w` is `R R`, or `R` read backwards.
Then each relation has a nondeterministic automaton in which those below it are put in place of their letters; it is made
deterministic, and as small as that can be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R", bound=Hashable)

MOST_STATES = 64
"""A larger automaton is refused."""


class TooLarge(Exception):
    """An automaton would have too many states."""


@dataclass(frozen=True)
class Letter(Generic[R]):
    """A relation, from its first end to its second, or backwards."""

    relation: R
    backwards: bool = False

    def inverse(self) -> Letter[R]:
        return Letter(self.relation, not self.backwards)


Word = tuple[Letter[R], ...]


def inverse(word: Word[R]) -> Word[R]:
    """The word along the same path from its end."""
    return tuple(letter.inverse() for letter in reversed(word))


@dataclass(frozen=True)
class Automaton(Generic[R]):
    """A deterministic automaton: state 0 is the start, and no final state. Every state leads to a final one."""

    moves: tuple[Mapping[Letter[R], int], ...]
    finals: frozenset[int]

    def accepts(self, word: Word[R]) -> bool:
        state = 0
        for letter in word:
            if letter not in self.moves[state]:
                return False
            state = self.moves[state][letter]
        return state in self.finals


@dataclass
class _Nondeterministic(Generic[R]):
    """Edges between states with a letter, or with none; from state 0 to state 1."""

    edges: list[tuple[int, Letter[R] | None, int]]
    states: int = 2

    def path(self, start: int, word: Word[R], end: int) -> None:
        """A way from a state to another, along a word, which is not empty."""
        for letter in word[:-1]:
            self.edges.append((start, letter, self.states))
            start = self.states
            self.states += 1
        self.edges.append((start, word[-1], end))

    def inserted(self, start: int, other: Automaton[R], backwards: bool, end: int) -> None:
        """Another automaton between two states; `backwards`, its words are read from their ends."""
        offset = self.states
        self.states += len(other.moves)
        for state, moves in enumerate(other.moves):
            for letter, after in moves.items():
                if backwards:
                    self.edges.append((offset + after, letter.inverse(), offset + state))
                else:
                    self.edges.append((offset + state, letter, offset + after))
        for final in other.finals:
            self.edges.append((start, None, offset + final) if backwards else (offset + final, None, end))
        self.edges.append((offset, None, end) if backwards else (start, None, offset))


def regular_form(relation: R, word: Word[R]) -> tuple[R, ...] | None:
    """The relations that must be below a rule's head, or None if the rule is not regular."""
    own = Letter(relation)
    if word in ((own, own), (own.inverse(),)):
        return ()
    rest = word
    if word and word[0] == own:
        rest = word[1:]
    elif word and word[-1] == own:
        rest = word[:-1]
    below = tuple(letter.relation for letter in rest)
    return None if not rest or relation in below else below


def automata(rules: Mapping[R, Sequence[Word[R]]], order: Sequence[R]) -> dict[R, Automaton[R]]:
    """The automaton of each head, lower ones first in the order; `TooLarge` if one has too many states."""
    found: dict[R, Automaton[R]] = {}
    for relation in order:
        found[relation] = _deterministic(_unfoldings(relation, rules[relation], found))
    return found


def _unfoldings(relation: R, words: Sequence[Word[R]], below: Mapping[R, Automaton[R]]) -> _Nondeterministic[R]:
    own = Letter(relation)
    plain: _Nondeterministic[R] = _Nondeterministic([(0, own, 1)])
    symmetric = (own.inverse(),) in words
    if symmetric:
        plain.edges.append((0, own.inverse(), 1))
        # Where a relation is symmetric, what a word leads to, its inverse leads to; and so does `R` from either side.
        turned = [tuple(own if one == own.inverse() else one for one in inverse(word)) for word in words]
        words = [*words, *turned]
    for word in dict.fromkeys(words):
        if word == (own, own):
            plain.edges.append((1, None, 0))
        elif word in ((own.inverse(),), (own,)):
            continue
        elif word[0] == own:
            plain.path(1, word[1:], 1)
        elif word[-1] == own:
            plain.path(0, word[:-1], 0)
        else:
            plain.path(0, word, 1)
    result: _Nondeterministic[R] = _Nondeterministic([], plain.states)
    for start, letter, end in plain.edges:
        other = None if letter is None or letter.relation == relation else below.get(letter.relation)
        if letter is None or other is None:
            result.edges.append((start, letter, end))
        else:
            result.inserted(start, other, letter.backwards, end)
    return result


def _deterministic(nondeterministic: _Nondeterministic[R]) -> Automaton[R]:
    """Sets of states as states, without those that lead to no final one, and equivalent ones made one."""
    silent: defaultdict[int, list[int]] = defaultdict(list)
    loud: defaultdict[int, list[tuple[Letter[R], int]]] = defaultdict(list)
    for start, letter, end in nondeterministic.edges:
        if letter is None:
            silent[start].append(end)
        else:
            loud[start].append((letter, end))

    def closed(states: set[int]) -> frozenset[int]:
        waiting = list(states)
        while waiting:
            for after in silent[waiting.pop()]:
                if after not in states:
                    states.add(after)
                    waiting.append(after)
        return frozenset(states)

    first = closed({0})
    numbers = {first: 0}
    moves: list[dict[Letter[R], int]] = []
    for states in (waiting := [first]):
        together: defaultdict[Letter[R], set[int]] = defaultdict(set)
        for state in states:
            for letter, end in loud[state]:
                together[letter].add(end)
        moves.append({})
        for letter, ends in together.items():
            target = closed(ends)
            if target not in numbers:
                if len(numbers) >= 8 * MOST_STATES:
                    raise TooLarge
                numbers[target] = len(numbers)
                waiting.append(target)
            moves[-1][letter] = numbers[target]
    finals = {number for states, number in numbers.items() if 1 in states}
    return _minimal(moves, finals)


def _minimal(moves: list[dict[Letter[R], int]], finals: set[int]) -> Automaton[R]:
    """States that no word tells apart made one (Moore); those without a way to a final state left out."""
    useful = set(finals)
    while more := {
        state for state, after in enumerate(moves) if state not in useful and not useful.isdisjoint(after.values())
    }:
        useful |= more
    # The start stays alone, so that it never becomes one with a final state's equivalent and keeps its number.
    block = {state: 0 if state == 0 else 1 if state in finals else 2 for state in useful | {0}}
    while True:
        keys = {
            state: (mine, frozenset((letter, block[end]) for letter, end in moves[state].items() if end in useful))
            for state, mine in block.items()
        }
        names = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
        done = len(names) == len(set(block.values()))
        block = {state: names[key] for state, key in keys.items()}
        if done:
            break
    order = dict.fromkeys([block[0], *(block[state] for state in sorted(useful))])
    numbers = {name: number for number, name in enumerate(order)}
    if len(numbers) > MOST_STATES:
        raise TooLarge
    merged: list[dict[Letter[R], int]] = [{} for _ in numbers]
    for state in block:
        for letter, end in moves[state].items():
            if end in useful:
                merged[numbers[block[state]]][letter] = numbers[block[end]]
    return Automaton(tuple(merged), frozenset(numbers[block[state]] for state in finals))
