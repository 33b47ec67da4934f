"""The search for what steps lead to: arrays are contiguous, of 64-bit integers."""

from __future__ import annotations

from everlog.engine.memory.kernels.decorators import kernel


@kernel
def search(starts, first, begins, targets, seen, queue, out):
    """Nodes that one step or more lead to from starts, as pairs of a start's place and a node, while there is room.

    The steps of node `n` lead to `targets[begins[n]:begins[n + 1]]`. `seen` tells which start saw a node last, and is never
    cleared. Gives the place of the first start that is left, and the number of pairs; one start always has room.
    """
    filled = 0
    for place in range(first, starts.size):
        before = filled
        end = 0
        start = starts[place]
        at = -1
        node = start
        while True:
            for step in range(begins[node], begins[node + 1]):
                target = targets[step]
                if seen[target] != place:
                    seen[target] = place
                    if filled == out.shape[1]:
                        for cleared in range(end):
                            seen[queue[cleared]] = -1
                        seen[target] = -1
                        return place, before
                    queue[end] = target
                    end += 1
                    out[0, filled] = place
                    out[1, filled] = target
                    filled += 1
            at += 1
            if at == end:
                break
            node = queue[at]
    return starts.size, filled
