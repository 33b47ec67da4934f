"""Shapes as a shapes graph describes them, checked: what is ill-formed, recursive or beyond SHACL's core is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.prefixes import LOCAL_NAME, WELL_KNOWN
from everlog.errors import EverlogError
from everlog.rdf.owl.graph import Graph, Node, Object
from everlog.rdf.owl.vocabulary import OWL, RDFS, TYPE
from everlog.rdf.shacl.property_paths import IllFormed, Path, path_of, path_text
from everlog.rdf.shacl.shacl_vocabulary import (
    LIST_PARAMETERS,
    NOT_CORE,
    ONLY_OF_PROPERTIES,
    OTHERS,
    REPEATABLE,
    SH,
    SHAPE_LISTS,
    SHAPE_PARAMETERS,
    SINGLE,
    TARGETS,
    VIOLATION_SEVERITY,
)
from everlog.rdf.shacl.shapes_graph import ShapesGraph

_PARAMETERS = sorted(REPEATABLE | SINGLE)
_NUMBERS = ("minCount", "maxCount", "minLength", "maxLength", "qualifiedMinCount", "qualifiedMaxCount")
_IRIS = ("class", "datatype", "equals", "disjoint", "lessThan", "lessThanOrEquals")
_KINDS = frozenset({"IRI", "BlankNode", "Literal", "BlankNodeOrIRI", "BlankNodeOrLiteral", "IRIOrLiteral"})


@dataclass(frozen=True)
class Parameter:
    """A constraint of a shape: the name of a parameter and one value, or the members of the list that it is."""

    name: str
    values: tuple[Object, ...]


@dataclass(frozen=True)
class Target:
    """Where focus nodes come from: `targetNode`, `targetClass`, `targetSubjectsOf` or `targetObjectsOf`, and of what."""

    kind: str
    of: Object


@dataclass
class Shape:
    """A node shape, or, with a path, a property shape."""

    node: Node
    label: str
    path: Path | None
    targets: tuple[Target, ...]
    parameters: tuple[Parameter, ...]
    settings: dict[str, Object] = field(default_factory=dict)
    """Values of the parameters that say something about others."""
    ignored: tuple[Object, ...] = ()
    severity: NamedNode = VIOLATION_SEVERITY
    messages: tuple[Literal, ...] = ()
    deactivated: bool = False

    def others(self) -> Iterator[tuple[str, Node]]:
        """The shapes that this one refers to, with the parameters."""
        for parameter in self.parameters:
            if parameter.name in SHAPE_PARAMETERS | SHAPE_LISTS:
                yield from ((parameter.name, one) for one in parameter.values if not isinstance(one, Literal))


class Shapes:
    """The shapes of a graph that have targets, and those that they refer to."""

    def __init__(self, read: ShapesGraph) -> None:
        self._graph, self._prefixes = read.graph, {**WELL_KNOWN, **read.prefixes}
        self.shapes: dict[Node, Shape] = {}
        self._labels: set[str] = set()
        self._classes = _kinds_of_classes(read.graph)
        for node in self._targeted():
            self._read(node, None, ())
        self.targeted = [shape for shape in self.shapes.values() if shape.targets]

    def short(self, iri: str) -> str:
        """An IRI with a prefix, where there is one."""
        found = (
            f"{name}:{iri[len(space) :]}"
            for name, space in sorted(self._prefixes.items(), key=lambda item: -len(item[1]))
            if iri.startswith(space) and LOCAL_NAME.fullmatch(iri, len(space))
        )
        return next(found, f"<{iri}>")

    def siblings(self, shape: Shape) -> list[Node]:
        """The qualified shapes of other properties of the shapes that have a property shape."""
        parents = [one for one in self.shapes.values() if ("property", shape.node) in one.others()]
        properties = [node for parent in parents for kind, node in parent.others() if kind == "property"]
        mine = {node for kind, node in shape.others() if kind == "qualifiedValueShape"}
        found = (
            node
            for each in dict.fromkeys(properties)
            for kind, node in self.shapes[each].others()
            if kind == "qualifiedValueShape" and node not in mine
        )
        return list(dict.fromkeys(found))

    # ------------------------------------------------------------------------------------ reading

    def _targeted(self) -> Iterator[Node]:
        """The nodes that have targets: those that say so, and shapes that are classes."""
        for node in dict.fromkeys(subject for subject, _, _ in self._graph):
            said = self._graph.of(node)
            if any(SH + target in said for target in TARGETS) or self._is_class(node):
                yield node

    def _is_class(self, node: Node) -> bool:
        """Whether a shape is a class as well, of whose instances it speaks then."""
        is_shape = {SH + "NodeShape", SH + "PropertyShape"} & self._graph.types(node)
        return bool(is_shape) and any(one in self._classes for one in self._graph.objects(node, TYPE))

    def _read(self, node: Node, parent: tuple[str, str] | None, within: tuple[Node, ...]) -> None:
        """Reads the shape at a node, which another one, with a label, refers to in some way, and those it refers to."""
        if node in within:
            raise IllFormed(
                f"the shape {self._name(node)} refers to itself, and SHACL leaves open what recursive shapes mean: "
                f"{' → '.join(self._name(one) for one in (*within[within.index(node) :], node))}"
            )
        if node in self.shapes:  # with all that it refers to, since it is not within itself
            return
        shape = self.shapes[node] = self._shape(node, parent)
        for number, (kind, other) in enumerate(shape.others(), 1):
            self._read(other, (shape.label, f"{kind} {number}"), (*within, node))

    def _shape(self, node: Node, parent: tuple[str, str] | None) -> Shape:
        said = self._graph.of(node)
        try:
            path = path_of(self._graph, self._graph.need(node, SH + "path")) if SH + "path" in said else None
        except EverlogError as mistake:
            raise IllFormed(f"the shape {self._label(node, parent, None)}: {mistake}") from None
        label = self._label(node, parent, path)
        for name in sorted(NOT_CORE):
            if SH + name in said:
                raise IllFormed(f"the shape {label} has sh:{name}, which is not of SHACL's core and is no rule here")
        if path is None:
            for name in sorted(ONLY_OF_PROPERTIES):
                if SH + name in said:
                    raise IllFormed(
                        f"the shape {label} has sh:{name} but no sh:path: that is for property shapes alone"
                    )
        parameters = tuple(found for name in _PARAMETERS for found in self._parameters(label, node, name))
        settings = {name: value for name in sorted(OTHERS) if (value := self._one(label, node, name)) is not None}
        for name, value in settings.items():
            self._check(label, name, value)
        if "flags" in settings and not any(one.name == "pattern" for one in parameters):
            raise IllFormed(f"the shape {label} has sh:flags but no sh:pattern")
        severity = self._one(label, node, "severity")
        if severity is not None and not isinstance(severity, NamedNode):
            raise IllFormed(f"the shape {label}: sh:severity is an IRI")
        messages = [one for one in self._graph.objects(node, SH + "message") if isinstance(one, Literal)]
        ignored = settings.get("ignoredProperties")
        return Shape(
            node,
            label,
            path,
            tuple(self._targets(label, node)),
            parameters,
            settings,
            () if ignored is None else tuple(self._members(label, "ignoredProperties", ignored)),
            severity or VIOLATION_SEVERITY,
            tuple(messages),
            _is_true(self._one(label, node, "deactivated")),
        )

    def _parameters(self, label: str, node: Node, name: str) -> Iterator[Parameter]:
        if name in SINGLE:
            one = self._one(label, node, name)
            values = [] if one is None else [one]
        else:
            values = self._graph.objects(node, SH + name)
        for value in values:
            if name in LIST_PARAMETERS:
                members = self._members(label, name, value)
                if name in SHAPE_LISTS and not members:
                    raise IllFormed(f"the shape {label}: the list of sh:{name} is empty")
                for member in members:
                    self._check(label, name, member)
                yield Parameter(name, tuple(members))
            else:
                self._check(label, name, value)
                yield Parameter(name, (value,))

    def _targets(self, label: str, node: Node) -> Iterator[Target]:
        for kind in TARGETS:
            for of in self._graph.objects(node, SH + kind):
                if kind != "targetNode" and not isinstance(of, NamedNode):
                    raise IllFormed(f"the shape {label}: sh:{kind} is an IRI")
                if isinstance(of, BlankNode):
                    raise IllFormed(f"the shape {label}: sh:{kind} is an IRI or a literal, not a blank node")
                yield Target(kind, of)
        if isinstance(node, NamedNode) and self._is_class(node):
            yield Target("targetClass", node)

    def _check(self, label: str, name: str, value: Object) -> None:
        """Refuses a value that a parameter cannot have."""
        if name in _NUMBERS and not (isinstance(value, Literal) and value.value.strip().isdigit()):
            raise IllFormed(f"the shape {label}: sh:{name} is a number that is not negative, not {value}")
        if name in _IRIS and not isinstance(value, NamedNode):
            raise IllFormed(f"the shape {label}: sh:{name} is an IRI, not {value}")
        if name == "nodeKind" and not (isinstance(value, NamedNode) and value.value.removeprefix(SH) in _KINDS):
            raise IllFormed(
                f"the shape {label}: sh:nodeKind is one of {', '.join(f'sh:{kind}' for kind in sorted(_KINDS))}"
            )
        if name in SHAPE_PARAMETERS | SHAPE_LISTS and isinstance(value, Literal):
            raise IllFormed(f"the shape {label}: sh:{name} is a shape, not {value}")
        if name == "node" and SH + "path" in self._graph.of(value):  # type: ignore[arg-type]  # no literal
            raise IllFormed(f"the shape {label}: {self._name(value)} is an sh:node and has sh:path; use sh:property")
        if name == "property" and SH + "path" not in self._graph.of(value):  # type: ignore[arg-type]  # no literal
            raise IllFormed(f"the shape {label}: {self._name(value)} is an sh:property and has no sh:path")
        if name in ("pattern", "flags", "languageIn") and not isinstance(value, Literal):
            raise IllFormed(f"the shape {label}: sh:{name} is text, not {value}")
        limits = ("minExclusive", "minInclusive", "maxExclusive", "maxInclusive")
        if name in limits and not isinstance(value, Literal):
            raise IllFormed(f"the shape {label}: sh:{name} is a literal, not {value}")

    def _one(self, label: str, node: Node, name: str) -> Object | None:
        values = self._graph.objects(node, SH + name)
        if len(values) > 1:
            raise IllFormed(f"the shape {label} has {len(values)} values of sh:{name}, where one is allowed")
        return values[0] if values else None

    def _members(self, label: str, name: str, head: Object) -> list[Object]:
        try:
            return self._graph.list(head)
        except EverlogError as mistake:
            raise IllFormed(f"the shape {label}: sh:{name} is a list: {mistake}") from None

    # ------------------------------------------------------------------------------------ names

    def _name(self, node: Object) -> str:
        known = self.shapes.get(node) if not isinstance(node, Literal) else None
        if known is not None:
            return known.label
        return self.short(node.value) if isinstance(node, NamedNode) else "an anonymous shape"

    def _label(self, node: Node, parent: tuple[str, str] | None, path: Path | None) -> str:
        """What a shape is called: its IRI or, without one, what refers to it and its path."""
        if isinstance(node, NamedNode):
            wanted = self.short(node.value)
        else:
            above, way = parent or ("", "a shape")
            tail = path_text(path, self.short) if path is not None else way
            wanted = f"{above} {tail}".strip()
        label, number = wanted, 1
        while label in self._labels:
            number += 1
            label = f"{wanted} ({number})"
        self._labels.add(label)
        return label


def _kinds_of_classes(graph: Graph) -> set[Object]:
    """rdfs:Class, owl:Class, and what is below them in the graph."""
    found: set[Object] = {NamedNode(RDFS + "Class"), NamedNode(OWL + "Class")}
    edges = [(s, o) for s, p, o in graph if p == RDFS + "subClassOf"]
    grown = True
    while grown:
        more = {s for s, o in edges if o in found} - found
        found |= more
        grown = bool(more)
    return found


def _is_true(value: Object | None) -> bool:
    return isinstance(value, Literal) and value.value.strip() in ("true", "1")
