"""Best facts that steps lead to, with a forest that shows where each comes from: what an update does to them.

What loses its way is below a step, or a given fact, that is gone: a node of the forest and all that come from it. These get
the best value that is given to them, or that steps from other nodes lead to, and pass it on; so does whoever gets a better
one from what is new. So an update costs what it changes; but to find the steps *to* a node all steps are looked at, a few
times, before they are listed backwards, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from everlog.engine.memory import tuning
from everlog.engine.memory.dictionary import Dictionary, Ids
from everlog.engine.memory.kernels import resettling_kernels as kernels
from everlog.engine.memory.kernels.settling_kernels import GIVEN, NONE
from everlog.engine.memory.settled_facts import Settled
from everlog.engine.memory.step_lists import Ends, Numbers, StepLists
from everlog.interrupts import aside


class Changed(NamedTuple):
    """Groups, and the ids of the values that they had, and have; -1 where there is none."""

    groups: Ids
    old: Ids
    new: Ids


class SettledForest:
    """Values of groups, the steps between these, and where each value comes from."""

    def __init__(self, dictionary: Dictionary, found: Settled, symmetric: bool) -> None:
        self._dictionary, self._steps, self._kind = dictionary, found.steps, found.kind
        self._values, self._parents = found.values, found.parents
        self._back: StepLists | None = found.steps if symmetric else None
        """The steps listed backwards; where each can be taken in both directions, these are the same."""
        self._looks = 0
        """How often all steps were looked at for lack of that."""
        self._most = np.inf if found.values.dtype.kind == "f" else np.iinfo(np.int64).max
        self._lost: Ids = np.empty(0, np.int32)
        self._asked: Ids = np.empty(0, np.int32)

    def nbytes(self) -> int:
        back = 0 if self._back is None or self._back is self._steps else self._back.nbytes()
        return self._steps.nbytes() + back + self._values.nbytes + self._parents.nbytes

    def values(self) -> tuple[Ids, Ids]:
        """All groups, and the ids of their values."""
        groups = np.flatnonzero(self._parents != NONE).astype(np.int32)
        return groups, self._kind.named(groups, self._values[groups])

    # ------------------------------------------------------------------------------------ what goes

    def lost(self, gone: Sequence[Ends], given: Ids) -> Ids | None:
        """The groups that lose their values with some steps, and with facts that were given to some groups.

        These are among them. None if they are so many that everything had better be settled again.
        """
        self._grow()
        cuts = [given[self._parents[given] == GIVEN]]
        for ends in gone:
            if len(ends.sources):
                less = self._weights(ends)
                cuts.append(kernels.cut_nodes(self._parents, self._values, ends.sources, ends.targets, less))
                if not self._removed(ends, less):
                    return None
        begins, ends_, targets, _ = self._steps.lists
        most = max(tuning.FEW_GROUPS, len(self._parents) // tuning.RESETTLED_SHARE)
        lost = kernels.below_cuts(begins, ends_, targets, self._parents, np.concatenate(cuts), most)
        if len(lost) > most:
            return None
        self._lost, self._asked = lost, np.union1d(lost, given).astype(np.int32)
        return self._asked

    def _removed(self, steps: Ends, less: Numbers) -> bool:
        there = self._steps.remove(steps, less)
        if there and self._back is not None and self._back is not self._steps:
            there = self._back.remove(steps.backwards(), less)
        return there

    # ------------------------------------------------------------------------------------ what comes

    def resettled(self, groups: Ids, given: Ids, come: Sequence[Ends]) -> Changed | None:
        """Gives values to groups that have lost theirs, and better ones to others, by given values and by new steps.

        None if these are of another kind, and everything has to be settled again.
        """
        self._grow()
        starting = self._kind.numbers(given)
        if starting is None or not all(map(self._fits, come)):
            return None
        asked, lost = np.union1d(self._asked, groups).astype(np.int32), self._lost
        had = self._ids(asked)
        self._kind.offered(self._asked, groups, given)
        self._parents[lost] = NONE
        sources, targets, added = self._into(lost)
        for ends in come:
            more = self._weights(ends)
            if not self._entered(ends, more):
                return None
            sources, targets = np.concatenate([sources, ends.sources]), np.concatenate([targets, ends.targets])
            added = np.concatenate([added, more])
        forest = *self._steps.lists, self._values, self._parents, self._most
        changed, values, parents = aside(
            self._steps.used, kernels.resettle, *forest, groups, starting, sources, targets, added
        )
        if not self._kind.are_certain(self._values[changed], self._steps.used):
            return None
        others = ~np.isin(changed, asked)
        before = np.full(int(others.sum()), -1, np.int32)
        known = parents[others] != NONE
        before[known] = self._kind.named(changed[others][known], values[others][known])
        everything = np.concatenate([asked, changed[others]])
        return Changed(everything, np.concatenate([had, before]), self._ids(everything))

    def _fits(self, ends: Ends) -> bool:
        """Whether some steps can be listed with the others."""
        if not self._steps.weighted or not len(ends.added):
            return True
        added, kind = self._kind.added(ends.added), self._steps.weights.dtype
        if added is None or added.dtype.kind != kind.kind:
            return False
        return kind != np.int16 or int(added.max()) < np.iinfo(np.int16).max

    def _weights(self, steps: Ends) -> Numbers:
        """What some steps add; nothing if that is so for all."""
        kind = self._weight_kind
        if not self._steps.weighted or not len(steps.added):
            return np.zeros(len(steps.sources) if self._steps.weighted else 0, kind)
        found = self._kind.added(steps.added)
        assert found is not None, "they are listed, or fit"
        return found

    @property
    def _weight_kind(self) -> np.dtype[Any]:
        """How weights are counted with."""
        return np.dtype(np.float64 if self._steps.weights.dtype.kind == "f" else np.int64)

    def _entered(self, steps: Ends, more: Numbers) -> bool:
        there = self._steps.add(steps, more)
        if there and self._back is not None and self._back is not self._steps:
            there = self._back.add(steps.backwards(), more)
        return there

    def _into(self, nodes: Ids) -> tuple[Ids, Ids, Numbers]:
        """The steps that lead from others to some nodes: where they start and end, and what they add."""
        if not len(nodes):
            return nodes, nodes, np.empty(0, self._weight_kind)
        if self._back is None:
            self._looks += 1
            if self._looks > tuning.LOOKS_AT_ALL_STEPS:
                self._back = self._steps.backwards()
        begins, ends, targets, weights = (self._steps if self._back is None else self._back).lists
        if self._back is None:
            room = size = 64 * len(nodes)
            while size >= room:
                room = size + 1
                places, sources = np.empty(room, np.int32), np.empty(room, np.int32)
                asked = begins, ends, targets, self._parents, nodes, places, sources
                size = aside(self._steps.used, kernels.steps_into, *asked)
            places, sources = places[:size], sources[:size]
            nodes = targets[places]
        else:
            places, nodes = kernels.steps_back(begins, ends, targets, self._parents, nodes)
            sources = targets[places]
        added = weights[places] if self._steps.weighted else weights
        return sources, nodes, added.astype(self._weight_kind)

    # ------------------------------------------------------------------------------------ ids

    def _ids(self, groups: Ids) -> Ids:
        """The values of some groups, or -1."""
        found = np.full(len(groups), -1, np.int32)
        known = self._parents[groups] != NONE
        found[known] = self._kind.named(groups[known], self._values[groups[known]])
        return found

    def _grow(self) -> None:
        """Has places for the values that the dictionary has got meanwhile."""
        size = len(self._dictionary)
        more = size + size // 8 - len(self._values)
        if size > len(self._values):
            for lists in (self._steps, self._back):
                if lists is not None:
                    lists.grow(size + size // 8)
            self._values = np.concatenate([self._values, np.zeros(more, self._values.dtype)])
            self._parents = np.concatenate([self._parents, np.full(more, NONE, np.int32)])
