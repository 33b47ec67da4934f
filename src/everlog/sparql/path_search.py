"""Property paths (section 18.4): pairs of nodes, found by searches from the ends that are known.

A search goes from all its starts at once, one step further in each round. Where nothing is known of the ends, the steps are
found first, and a kernel follows them from every node.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everlog import interrupts
from everlog.datalog.syntax import Constant, Variable
from everlog.engine.group_numbers import distinct_numbers
from everlog.sparql.active_graph import ActiveGraph
from everlog.sparql.query_tree import Backwards, Basic, Choice, Link, NoneOf, Path, Repeated, Steps
from everlog.sparql.solution_joins import look_up
from everlog.sparql.solutions import Ids, Mask, Solutions

FROM, TO, BY = Variable("#from"), Variable("#to"), Variable("#by")
STEPS: Final = Basic(((FROM, BY, TO),))
Keys: TypeAlias = NDArray[np.uint64]

_FEW: Final = 2_000
"""From so many starts a search looks for its steps as it goes; for more, all steps are found first."""


class Pairs(NamedTuple):
    """Nodes and the nodes that a path leads to from them."""

    starts: Ids
    ends: Ids

    def reversed(self) -> Pairs:
        return Pairs(self.ends, self.starts)

    def distinct(self) -> Pairs:
        keys = distinct_numbers(_key(self.starts, self.ends))
        return _pairs_of(keys)


def _key(starts: Ids, ends: Ids) -> Keys:
    """Ids are below 2**32, so that two are one number of 64 bits."""
    found: Keys = (starts.astype(np.uint64) << np.uint64(32)) | ends.astype(np.uint64)
    return found


def _pairs_of(keys: Keys) -> Pairs:
    return Pairs((keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64))


class PathSearch:
    """Paths in one graph, the default one or one with a name."""

    def __init__(self, graph: ActiveGraph, large: bool = False) -> None:
        self._graph, self._is_large = graph, large
        """Where there are many steps elsewhere, each round of a search asks for those that it needs."""

    def pairs(self, path: Path, starts: Ids | None, ends: Ids | None, constant: bool) -> Pairs:
        """The pairs that a path connects, as often as it does, at least those with the given ends.

        Ends that are `constant` are connected with themselves by no step, even if the graph does not have them.
        """
        if starts is not None:
            starts = distinct_numbers(starts)
            return self._from(path, starts, False, constant)
        if ends is not None:
            return self._from(path, distinct_numbers(ends), True, constant).reversed()
        return self._all(path)

    # ------------------------------------------------------------------------------------ from some nodes

    def _from(self, path: Path, nodes: Ids, back: bool, constant: bool = True) -> Pairs:
        """The pairs whose starts are some nodes, each once; `back`, the path is followed backwards."""
        match path:
            case Link(verb):
                return self._steps(_steps_along(verb), nodes, back)
            case Backwards(inner):
                return self._from(inner, nodes, not back, constant)
            case Steps(paths):
                found = Pairs(nodes, nodes)
                for step in reversed(paths) if back else paths:
                    found = _composed(found, self._from(step, distinct_numbers(found.ends), back, constant))
                return found
            case Choice(paths):
                return _together([self._from(one, nodes, back, constant) for one in paths])
            case NoneOf():
                return _among(self._without(path, nodes, back), nodes)
            case Repeated(inner, least, many):
                return self._repeated(inner, least, many, nodes, back, constant)

    def _steps(self, pattern: Basic, nodes: Ids, back: bool) -> Pairs:
        known = TO if back else FROM
        found = self._graph.matches(pattern, Solutions(len(nodes), {known: nodes}))
        pairs = Pairs(found.columns[FROM], found.columns[TO])
        return _among(pairs.reversed() if back else pairs, nodes)

    def _repeated(self, path: Path, least: int, many: bool, nodes: Ids, back: bool, constant: bool) -> Pairs:
        if many and len(nodes) > _FEW and not self._is_large:
            steps = self._all(path)
            reached = _closed(steps.reversed() if back else steps, nodes)
        else:
            reached = self._searched(path, many, nodes, back, constant)
        if least:
            return reached
        there = nodes if constant else self._graph.nodes(nodes)
        return Pairs(np.concatenate([reached.starts, there]), np.concatenate([reached.ends, there])).distinct()

    def _searched(self, path: Path, many: bool, nodes: Ids, back: bool, constant: bool) -> Pairs:
        """What one step or more lead to."""
        if many and len(nodes) == 1:
            return self._searched_from_one(path, nodes, back, constant)
        found = new = self._from(path, nodes, back, constant).distinct()
        keys = np.sort(_key(found.starts, found.ends))
        while many and len(new.starts):
            interrupts.look()
            further = _composed(new, self._from(path, distinct_numbers(new.ends), back))
            more = distinct_numbers(_key(further.starts, further.ends))
            fresh = more[~_contains(keys, more)]
            keys = np.sort(np.concatenate([keys, fresh]))
            new = _pairs_of(fresh)
        return _pairs_of(keys)

    def _searched_from_one(self, path: Path, node: Ids, back: bool, constant: bool) -> Pairs:
        """The same from one node: which nodes are reached is all that there is to know."""
        reached = new = distinct_numbers(self._from(path, node, back, constant).ends)
        while len(new):
            interrupts.look()
            ends = distinct_numbers(self._from(path, new, back).ends)
            new = ends[~_contains(reached, ends)]
            reached = np.sort(np.concatenate([reached, new]))
        return Pairs(np.repeat(node, len(reached)), reached)

    def _without(self, path: NoneOf, nodes: Ids | None, back: bool) -> Pairs:
        """Steps along properties that are not listed."""
        parts = []
        for listed, against in ((path.forwards, False), (path.backwards, True)):
            if listed is None:
                continue
            turned = against != back
            seeds = None if nodes is None else Solutions(len(nodes), {TO if turned else FROM: nodes})
            found = self._graph.matches(STEPS, seeds)
            kept = found.take(~np.isin(found.columns[BY], self._ids(listed)))
            pairs = Pairs(kept.columns[FROM], kept.columns[TO])
            parts.append(pairs.reversed() if turned else pairs)
        return _together(parts)

    def _ids(self, verbs: tuple[Constant, ...]) -> Ids:
        return self._graph.facts.terms.encode([verb.value for verb in verbs])

    # ------------------------------------------------------------------------------------ everything

    def _all(self, path: Path) -> Pairs:
        match path:
            case Link(verb):
                steps = self._graph.matches(_steps_along(verb), None)
                return Pairs(steps.columns[FROM], steps.columns[TO])
            case Backwards(inner):
                return self._all(inner).reversed()
            case Steps(paths):
                found = self._all(paths[0])
                for step in paths[1:]:
                    found = _composed(found, self._all(step))
                return found
            case Choice(paths):
                return _together([self._all(one) for one in paths])
            case NoneOf():
                return self._without(path, None, False)
            case Repeated(inner, least, many):
                once = self._all(inner).distinct()
                reached = _closed(once, distinct_numbers(once.starts)) if many else once
                if least:
                    return reached
                nodes = self._graph.nodes()
                return Pairs(np.concatenate([reached.starts, nodes]), np.concatenate([reached.ends, nodes])).distinct()


@lru_cache(maxsize=256)
def _steps_along(verb: Constant) -> Basic:
    """The steps along a property; what they ask of facts is worked out once."""
    return Basic(((FROM, verb, TO),))


def _together(parts: list[Pairs]) -> Pairs:
    return Pairs(np.concatenate([part.starts for part in parts]), np.concatenate([part.ends for part in parts]))


def _composed(left: Pairs, right: Pairs) -> Pairs:
    """Pairs of the one after the other."""
    mine, others = look_up(left.ends, right.starts)
    return Pairs(left.starts[mine], right.ends[others])


def _among(pairs: Pairs, nodes: Ids) -> Pairs:
    """Those that start at some nodes, which are sorted."""
    kept = _contains(nodes, pairs.starts)
    return pairs if kept.all() else Pairs(pairs.starts[kept], pairs.ends[kept])


def _contains(ordered: NDArray[Any], asked: NDArray[Any]) -> Mask:
    if not len(ordered):
        return np.zeros(len(asked), np.bool_)
    places = np.searchsorted(ordered, asked)
    places[places == len(ordered)] = 0
    found: Mask = ordered[places] == asked
    return found


def _closed(steps: Pairs, nodes: Ids) -> Pairs:
    """What one step or more lead to from some nodes."""
    from everlog.engine.memory.kernels.path_kernels import search

    known, places = np.unique(np.concatenate([steps.starts, steps.ends, nodes]), return_inverse=True)
    size = len(steps.starts)
    heads, tails = places[:size], places[size : 2 * size]
    order = np.argsort(heads, kind="stable")
    targets = tails[order].astype(np.int64)
    begins = np.zeros(len(known) + 1, np.int64)
    np.cumsum(np.bincount(heads, minlength=len(known)), out=begins[1:])
    starts = places[2 * size :].astype(np.int64)
    seen, queue = np.full(len(known), -1, np.int64), np.empty(len(known), np.int64)
    pieces: list[Pairs] = []
    at = 0
    room = max(1 << 16, len(known))
    while at < len(starts):
        interrupts.look()
        out = np.empty((2, room), np.int64)
        after, filled = search(starts, at, begins, targets, seen, queue, out)
        pieces.append(Pairs(known[starts[out[0, :filled]]], known[out[1, :filled]]))
        at = after
    empty = np.zeros(0, np.int64)
    return _together([Pairs(empty, empty), *pieces])
