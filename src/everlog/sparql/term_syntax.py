"""Terms of a query's syntax tree, and triples and property paths made of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

from pyoxigraph import Literal, NamedNode

from everlog.datalog.escapes import unescape_string
from everlog.datalog.syntax import Constant, Term, Variable
from everlog.datalog.values import RDF_TYPE, XSD, Value, normalise
from everlog.sparql.iri_names import IriNames
from everlog.sparql.query_tree import (
    Backwards,
    Choice,
    Link,
    NoneOf,
    Path,
    PathPattern,
    Pattern,
    Repeated,
    Steps,
    Triple,
    Union,
)
from everlog.sparql.query_tree import Basic as BasicPattern
from everlog.sparql.query_tree import Join as JoinPattern

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Token | Tree[Token]

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_FIRST, _REST, _NIL = (Constant(NamedNode(RDF + name)) for name in ("first", "rest", "nil"))
_TYPE: Final = Constant(RDF_TYPE)
_NUMBERS: Final = {"INTEGER": "integer", "DECIMAL": "decimal", "DOUBLE": "double"}


class TermSyntax:
    """Makes terms, triples and paths of nodes; blank nodes become variables that start with `_:`."""

    def __init__(self, names: IriNames) -> None:
        self.names = names
        self._numbers = count(1)

    def fresh(self, start: str = "#") -> Variable:
        """A variable that no query can write."""
        return Variable(f"{start}{'!' if start == '_:' else ''}{next(self._numbers)}")

    # ------------------------------------------------------------------------------------ terms

    def term(self, node: Node) -> Term:
        kind = kind_of(node)
        if kind == "var":
            return Variable(str(leaf_of(node))[1:])
        if kind == "blank":
            leaf = leaf_of(node)
            return self.fresh("_:") if leaf.type == "ANON" else Variable(str(leaf))
        return self.constant(node)

    def variable(self, node: Node) -> Variable:
        found = self.term(node)
        assert isinstance(found, Variable)
        return found

    def constant(self, node: Node) -> Constant:
        kind = kind_of(node)
        if kind == "A":
            return _TYPE
        if kind == "NIL":
            return _NIL
        if kind == "iri":
            return Constant(self.iri(node))
        children = children_of(node)
        if kind == "plain":
            return Constant(string_of(children[0]))
        if kind == "boolean":
            return Constant(str(leaf_of(node)).lower() == "true")
        if kind == "tagged":
            return Constant(Literal(string_of(children[0]), language=str(children[1])[1:]))
        if kind == "typed":
            literal = Literal(string_of(children[0]), datatype=self.iri(children[1]))
            return Constant(normalise(literal))
        assert kind == "number", kind
        return Constant(number_of(leaf_of(node)))

    def iri(self, node: Node) -> NamedNode:
        leaf = leaf_of(node)
        return self.names.full(str(leaf)[1:-1]) if leaf.type == "IRIREF" else self.names.prefixed(str(leaf))

    # ------------------------------------------------------------------------------------ triples

    def template(self, node: Node) -> list[Triple]:
        """The triples of a template."""
        found = []
        for subject, verb, target in self._triples(node):
            assert not isinstance(verb, _PATHS)
            found.append((subject, verb, target))
        return found

    def patterns(self, node: Node) -> tuple[list[Triple], list[Pattern]]:
        """The triple patterns of a block, and its other patterns: paths that are no plain steps."""
        triples: list[Triple] = []
        others: list[Pattern] = []
        for subject, verb, target in self._triples(node):
            if isinstance(verb, _PATHS):
                self._path(subject, verb, target, triples, others)
            else:
                triples.append((subject, verb, target))
        return triples, others

    def _path(self, subject: Term, path: Path, target: Term, triples: list[Triple], others: list[Pattern]) -> None:
        """Section 18.2.2.4: steps become triple patterns, a choice a union."""
        match path:
            case Link(verb):
                triples.append((subject, verb, target))
            case Backwards(inner):
                self._path(target, inner, subject, triples, others)
            case Steps(paths):
                for step in paths[:-1]:
                    after = self.fresh("_:")
                    self._path(subject, step, after, triples, others)
                    subject = after
                self._path(subject, paths[-1], target, triples, others)
            case Choice(paths):
                others.append(Union(tuple(self._alone(subject, one, target) for one in paths)))
            case _:
                others.append(PathPattern(subject, path, target))

    def _alone(self, subject: Term, path: Path, target: Term) -> Pattern:
        triples: list[Triple] = []
        others: list[Pattern] = []
        self._path(subject, path, target, triples, others)
        return conjunction(triples, others)

    def _triples(self, node: Node) -> Iterator[tuple[Term, Term | Path, Term]]:
        for same_subject in children_of(node):
            first, *lists = children_of(same_subject)
            subject, inner = self._node(first)
            yield from inner
            for properties in lists:
                yield from self._properties(subject, properties)

    def _properties(self, subject: Term, node: Node) -> Iterator[tuple[Term, Term | Path, Term]]:
        verb: Term | Path | None = None
        for child in children_of(node):
            if kind_of(child) in ("object_list", "object_list_path"):
                assert verb is not None
                for item in children_of(child):
                    target, inner = self._node(item)
                    yield subject, verb, target
                    yield from inner
            else:
                verb = self._verb(child)

    def _verb(self, node: Node) -> Term | Path:
        if kind_of(node) in ("var", "iri", "A"):
            return self.term(node)
        return self.path(node)

    def _node(self, node: Node) -> tuple[Term, list[tuple[Term, Term | Path, Term]]]:
        """A node of a graph, and the triples that its brackets stand for."""
        kind = kind_of(node)
        if kind in ("blank_list", "blank_list_path"):
            blank = self.fresh("_:")
            return blank, list(self._properties(blank, children_of(node)[0]))
        if kind in ("collection", "collection_path"):
            found: list[tuple[Term, Term | Path, Term]] = []
            items = children_of(node)
            cells = [self.fresh("_:") for _ in items]
            rests: list[Term] = [*cells[1:], _NIL]
            for cell, item, rest in zip(cells, items, rests, strict=True):
                term, inner = self._node(item)
                found += [(cell, _FIRST, term), *inner, (cell, _REST, rest)]
            return cells[0], found
        return self.term(node), []

    # ------------------------------------------------------------------------------------ paths

    def path(self, node: Node) -> Path:
        kind, children = kind_of(node), children_of(node)
        if kind in ("iri", "A"):
            return Link(self.constant(node))
        if kind == "path_alternative":
            return Choice(tuple(map(self.path, children)))
        if kind == "path_sequence":
            return Steps(tuple(map(self.path, children)))
        if kind == "path_backwards":
            return Backwards(self.path(children[0]))
        if kind == "path_repeated":
            sign = str(children[1])
            return Repeated(self.path(children[0]), 1 if sign == "+" else 0, sign != "?")
        assert kind == "negated", kind
        return self._negated(children)

    def _negated(self, members: list[Node]) -> Path:
        forwards: list[Constant] = []
        backwards: list[Constant] = []
        for member in members:
            if kind_of(member) != "NIL":
                *sign, verb = children_of(member)
                (backwards if sign else forwards).append(self.constant(verb))
        either = forwards or not backwards
        return NoneOf(tuple(forwards) if either else None, tuple(backwards) if backwards else None)


_PATHS: Final = (Link, Backwards, Steps, Choice, Repeated, NoneOf)


def conjunction(triples: list[Triple], others: list[Pattern]) -> Pattern:
    """Triple patterns and other patterns, joined."""
    found: Pattern | None = BasicPattern(tuple(triples)) if triples else None
    for other in others:
        found = other if found is None else JoinPattern(found, other)
    return BasicPattern() if found is None else found


def number_of(token: Token) -> Value:
    """The value of a number as it is written."""
    text = str(token)
    kind = _NUMBERS.get(token.type) or ("double" if "e" in text.lower() else "decimal" if "." in text else "integer")
    return normalise(Literal(text, datatype=NamedNode(XSD + kind)))


def string_of(node: Node) -> str:
    """The text of a string."""
    leaf = leaf_of(node)
    quotes = 3 if leaf.type == "STRING_LONG" else 1
    return unescape_string(str(leaf)[quotes:-quotes])


def kind_of(node: Node) -> str:
    return str(getattr(node, "data", None) or getattr(node, "type", ""))


def children_of(node: Node) -> list[Node]:
    return list(getattr(node, "children", ()))


def leaf_of(node: Node) -> Token:
    while hasattr(node, "children"):
        node = node.children[0]
    return node
