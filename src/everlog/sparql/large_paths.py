"""Property paths between ends of which nothing is known, where there are too many steps for this process.

Their pairs are solutions elsewhere (`large_solutions.py`): one path after another is a join, a choice a union, and what is
repeated is closed by whoever has the facts. A path from a known end needs none of it: `path_search.py` asks for the steps
from the nodes that it has reached.
"""

from __future__ import annotations

from everlog.datalog.syntax import Variable
from everlog.sparql.active_graph import ActiveGraph
from everlog.sparql.large_solutions import LargeSolutions
from everlog.sparql.path_search import BY, FROM, STEPS, TO
from everlog.sparql.query_tree import Backwards, Basic, Choice, Link, NoneOf, Path, Repeated, Steps
from everlog.sparql.solutions import Solutions

_BETWEEN = Variable("#between")


def is_large(graph: ActiveGraph, path: Path) -> bool:
    """Whether a path has steps, or nodes to stay at, that are too many for this process."""
    match path:
        case Link(verb):
            return _is_elsewhere(graph, Basic(((FROM, verb, TO),)))
        case NoneOf():
            return _is_elsewhere(graph, STEPS)
        case Backwards(inner):
            return is_large(graph, inner)
        case Steps(paths) | Choice(paths):
            return any(is_large(graph, one) for one in paths)
        case Repeated(inner, least, _):
            return is_large(graph, inner) or (not least and _is_elsewhere(graph, STEPS))


def _is_elsewhere(graph: ActiveGraph, pattern: Basic) -> bool:
    found = graph.spread(pattern)
    return found is not None and not isinstance(found, Solutions)


def large_pairs(graph: ActiveGraph, path: Path) -> LargeSolutions:
    """The pairs that a path connects, as often as it does, as values of `FROM` and `TO`."""
    match path:
        case Link(verb):
            return _matches(graph, Basic(((FROM, verb, TO),)))
        case Backwards(inner):
            return _reversed(large_pairs(graph, inner))
        case Steps(paths):
            found = large_pairs(graph, paths[0])
            for step in paths[1:]:
                further = large_pairs(graph, step).renamed(FROM, _BETWEEN)
                found = found.renamed(TO, _BETWEEN).joined(further).projected((FROM, TO))
            return found
        case Choice(paths):
            one, *others = (large_pairs(graph, each) for each in paths)
            return one.stacked(others)
        case NoneOf():
            return _without(graph, path)
        case Repeated(inner, least, many):
            once = large_pairs(graph, inner).distinct()
            reached = graph.facts.closed(once) if many else once
            return reached if least else reached.stacked([_staying(graph)]).distinct()


def _matches(graph: ActiveGraph, pattern: Basic) -> LargeSolutions:
    found = graph.spread(pattern)
    if found is None:
        found = graph.matches(pattern, None)
    return graph.facts.moved(found) if isinstance(found, Solutions) else found


def _reversed(pairs: LargeSolutions) -> LargeSolutions:
    return pairs.renamed(FROM, _BETWEEN).renamed(TO, FROM).renamed(_BETWEEN, TO)


def _without(graph: ActiveGraph, path: NoneOf) -> LargeSolutions:
    """Steps along properties that are not listed."""
    parts: list[LargeSolutions] = []
    for listed, back in ((path.forwards, False), (path.backwards, True)):
        if listed is not None:
            ids = graph.facts.terms.encode([verb.value for verb in listed])
            every = _matches(graph, STEPS)
            kept = every.with_partner(graph.facts.moved(Solutions(len(ids), {BY: ids})), True).projected((FROM, TO))
            parts.append(_reversed(kept) if back else kept)
    return parts[0].stacked(parts[1:])


def _staying(graph: ActiveGraph) -> LargeSolutions:
    """Every node with itself."""
    every = _matches(graph, STEPS)
    ends = every.projected((FROM,)).distinct(), every.projected((TO,)).distinct().renamed(TO, FROM)
    return ends[0].stacked(ends[1:]).distinct().copied(FROM, TO)
