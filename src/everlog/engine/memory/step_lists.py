"""Steps from node to node, listed by where they start; the lists grow and shrink as steps come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Thread
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.kernels import resettling_kernels as changing
from everlog.engine.memory.kernels import settling_kernels as kernels
from everlog.engine.memory.term_kinds import BOOL, FIRST_TEXT, FLOAT
from everlog.interrupts import aside

Numbers = NDArray[Any]

_NO_NUMBERS: Final[Numbers] = np.empty(0, np.int64)

MOST_STEPS: Final = 2**31 - 1
"""Places in the lists are numbers of 32 bits."""


class Ends(NamedTuple):
    """Where steps start, where they end, and the ids of what they add; there are none if they add nothing."""

    sources: Ids
    targets: Ids
    added: Ids

    def backwards(self) -> Ends:
        """The steps from their targets to their sources."""
        return Ends(self.targets, self.sources, self.added)


class Span(NamedTuple):
    """Whether some numbers are integers or doubles, the least, and the greatest of them."""

    kind: np.dtype[Any]
    least: Any
    greatest: Any


def span_of(dictionary: Dictionary, ids: Ids) -> Span | None:
    """Of which kind the numbers of some ids, one at least, are; None if they are of several, or not plain numbers."""
    kinds, payload, *_ = dictionary.arrays()
    kind = int(kinds[ids[0]])
    if kind >= FIRST_TEXT or kind == BOOL:
        return None
    numbers = numbers_by_id(dictionary, np.dtype(np.float64 if kind == FLOAT else np.int64))
    plain, least, greatest = aside(len(ids), kernels.span_of_numbers, ids, kinds, payload, numbers)
    return Span(numbers.dtype, least, greatest) if plain else None


class StepLists:
    """The steps of each node: their targets and weights, from where its list begins to where it ends, or might end."""

    def __init__(self, dictionary: Dictionary, begins: Ids, limits: Ids, targets: Ids, weights: Numbers | None) -> None:
        """Lists that are full, without weights if steps add nothing."""
        self._dictionary = dictionary
        self.begins, self.ends, self._limits = begins, limits.copy(), limits
        self.targets = targets
        self.weighted = weights is not None
        self.weights: Numbers = np.empty(0, np.int16) if weights is None else weights
        self.used = int(limits[-1]) if len(limits) else 0
        """So many places belong to lists."""

    @property
    def lists(self) -> tuple[Ids, Ids, Ids, Numbers]:
        """What kernels read: where lists begin and end, targets, and weights."""
        return self.begins, self.ends, self.targets, self.weights

    def nbytes(self) -> int:
        return sum(array.nbytes for array in (*self.lists, self._limits))

    def backwards(self) -> StepLists:
        """The same steps, listed by where they end."""
        begins, limits, sources, weights = aside(self.used, changing.reverse_steps, *self.lists)
        return StepLists(self._dictionary, begins, limits, sources, weights if self.weighted else None)

    def grow(self, size: int) -> None:
        """Has so many lists."""
        if size > len(self.begins):
            none = np.zeros(size - len(self.begins), np.int32)
            self.begins, self.ends, self._limits = (
                np.concatenate([column, none]) for column in (self.begins, self.ends, self._limits)
            )

    def remove(self, steps: Ends, less: Numbers) -> bool:
        """Takes steps with some weights out; tells whether all of them were there."""
        order = np.lexsort((steps.targets, steps.sources))
        found = changing.remove_steps(
            *self.lists, steps.sources[order], steps.targets[order], less[order] if self.weighted else less
        )
        return bool(found == len(order))

    def add(self, steps: Ends, more: Numbers) -> bool:
        """Enters steps with some weights; tells whether there are numbers for so many places."""
        done = 0
        while done < len(steps.sources):
            done, self.used = changing.enter_steps(
                self.begins,
                self.ends,
                self._limits,
                self.targets,
                self.weights,
                self.used,
                steps.sources,
                steps.targets,
                more,
                done,
            )
            if done < len(steps.sources):
                node = steps.sources[done]
                if not self._make_room(2 * int(self.ends[node] - self.begins[node])):
                    return False
        return True

    def _make_room(self, least: int) -> bool:
        room = len(self.targets) // 8 + least + 1024
        if len(self.targets) + room > MOST_STEPS:
            return False
        self.targets = np.concatenate([self.targets, np.empty(room, np.int32)])
        if self.weighted:
            self.weights = np.concatenate([self.weights, np.empty(room, self.weights.dtype)])
        return True


def listed(
    dictionary: Dictionary, steps: Sequence[Ends], kind: np.dtype[Any] | None = None, numbers: Numbers = _NO_NUMBERS
) -> StepLists:
    """The lists of some steps. Weights are of some kind: the numbers, by id, of what is added."""
    size = sum(len(one.sources) for one in steps)
    halves = [half for one in steps for half in _halves(one)]
    counts = [np.zeros(len(dictionary), np.int32) for _ in halves]
    _at_once(
        [partial(kernels.count_steps, half.sources, count) for half, count in zip(halves, counts, strict=True)], size
    )
    limits: Ids = np.cumsum(sum(counts[1:], counts[0]) if counts else np.zeros(len(dictionary)), dtype=np.int32)
    begins: Ids = np.zeros_like(limits)
    begins[1:] = limits[:-1]
    targets: Ids = np.empty(size + 1, np.int32)
    weights = None if kind is None else np.empty(size + 1, kind)
    places = targets, np.empty(0, np.int16) if weights is None else weights
    jobs, at = [], begins
    for half, count in zip(halves, counts, strict=True):
        jobs.append(partial(kernels.place_steps, *half, numbers, at.copy(), *places))
        at = at + count
    _at_once(jobs, size)
    return StepLists(dictionary, begins, limits, targets, weights)


def _halves(steps: Ends) -> Iterator[Ends]:
    """Many steps in two parts, for two threads."""
    middle = len(steps.sources) // 2 if len(steps.sources) > tuning.SHARED_STEPS else 0
    if middle:
        yield Ends(*(column[:middle] for column in steps))
    yield Ends(*(column[middle:] for column in steps))


def _at_once(jobs: Sequence[Callable[[], None]], steps: int) -> None:
    """Does two jobs at a time, while somebody else looks for interrupts."""

    def pairs() -> None:
        for first, *second in (jobs[at : at + 2] for at in range(0, len(jobs), 2)):
            others = [Thread(target=job) for job in second]
            for other in others:
                other.start()
            first()
            for other in others:
                other.join()

    aside(steps, pairs)


def numbers_by_id(dictionary: Dictionary, kind: np.dtype[Any]) -> Numbers:
    """The integers, or doubles, of all ids; for other ids whatever it may be."""
    payload = dictionary.arrays().payload
    return payload.view(np.float64) if kind.kind == "f" else payload
