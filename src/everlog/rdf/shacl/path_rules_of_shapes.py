"""Property paths as rules, from focus nodes on: `reached(focus, node)` for every node on the way.

A path is followed forwards from its focus nodes, step by step, so that nothing is looked at that is not on the way from
one. An inverse turns steps around and sequences over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from pyoxigraph import NamedNode

from everlog.datalog.syntax import TRIPLE, Atom, BodyLiteral, Constant, Term, Variable
from everlog.rdf.shacl.property_paths import Composed, Path, Step

_FOCUS, _HERE, _THERE = Variable("focus"), Variable("here"), Variable("there")
_Rule: TypeAlias = tuple[Atom, tuple[BodyLiteral, ...]]


def step(path: Path, here: Term, there: Term) -> Atom:
    """The atom of a property, or of one that is followed backwards."""
    if isinstance(path, Step):
        return Atom(TRIPLE, (here, Constant(NamedNode(path.iri)), there))
    inner = path.parts[0]
    assert path.kind == "inverse" and isinstance(inner, Step), "a path of one step"
    return Atom(TRIPLE, (there, Constant(NamedNode(inner.iri)), here))


@dataclass
class Reaching:
    """Rules by which a predicate has the nodes that a path reaches, for each focus node."""

    focus: Atom
    reached: str
    path: Path
    _found: list[_Rule] = field(default_factory=list)
    _number: int = 0

    def rules(self) -> Iterator[_Rule]:
        self._follow(None, _forwards(self.path), self.reached)
        yield from self._found

    def _follow(self, source: str | None, path: Path, target: str) -> None:
        """Rules for `target(focus, there)` where `source(focus, here)` and a path leads from here to there.

        Without a source, here is the focus node.
        """
        if isinstance(path, Step) or path.kind == "inverse":
            self._found.append((_at(target, _THERE), (*self._here(source), step(path, self._start(source), _THERE))))
        elif path.kind == "alternative":
            for part in path.parts:
                self._follow(source, part, target)
        elif path.kind == "sequence":
            for part in path.parts[:-1]:
                source, before = self._fresh(), source
                self._follow(before, part, source)
            self._follow(source, path.parts[-1], target)
        else:
            self._repeat(source, path, target)

    def _repeat(self, source: str | None, path: Composed, target: str) -> None:
        if path.kind == "zeroOrOne":
            self._stay(source, target)
            self._follow(source, path.parts[0], target)
            return
        nodes = self._fresh()
        if path.kind == "zeroOrMore":
            self._stay(source, nodes)
        else:
            self._follow(source, path.parts[0], nodes)
        self._follow(nodes, path.parts[0], nodes)
        self._stay(nodes, target)

    def _stay(self, source: str | None, target: str) -> None:
        self._found.append((_at(target, self._start(source)), tuple(self._here(source))))

    def _here(self, source: str | None) -> list[Atom]:
        return [self.focus] if source is None else [_at(source, _HERE)]

    def _start(self, source: str | None) -> Variable:
        return _FOCUS if source is None else _HERE

    def _fresh(self) -> str:
        self._number += 1
        return f"{self.reached} on the way {self._number}"


def _at(predicate: str, node: Variable) -> Atom:
    return Atom(predicate, (_FOCUS, node))


def _forwards(path: Path, backwards: bool = False) -> Path:
    """A path in which only single properties are followed backwards."""
    if isinstance(path, Step):
        return Composed("inverse", (path,)) if backwards else path
    if path.kind == "inverse":
        return _forwards(path.parts[0], not backwards)
    parts = tuple(_forwards(part, backwards) for part in path.parts)
    return Composed(path.kind, parts[::-1] if path.kind == "sequence" and backwards else parts)
