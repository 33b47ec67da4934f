"""Shapes as rules: what does not conform is derived, so that validation is kept fresh like everything else.

A shape is used in two ways. Where it has targets, or is a property of a shape that has, its *focus* nodes are derived, and
every violation is a fact `shacl_violation(constraint, focus, value, detail)`; one of a lesser severity than sh:Violation is
`shacl_remark(…)`. Where another shape asks whether nodes conform to it (sh:node, sh:not, sh:or, …), the nodes that it is
asked about are derived, and those that it *fails*. Either way only such nodes are looked at, and since shapes do not refer
to themselves the rules are stratified.

`value` and `detail` are empty where a constraint has none. Details tell results apart that would be one otherwise: a
language, a property, or the other value of a pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from everlog.datalog.constraints import OF_SHAPES, SHAPE_VIOLATION
from everlog.datalog.syntax import (
    TRIPLE,
    Aggregate,
    Aggregation,
    Atom,
    BodyLiteral,
    Call,
    Comparison,
    Computation,
    Constant,
    Negation,
    Program,
    Rule,
    Term,
    Variable,
)
from everlog.datalog.values import RDF_TYPE, normalise
from everlog.rdf.owl.graph import Node, Object
from everlog.rdf.owl.vocabulary import RDFS
from everlog.rdf.shacl import value_tests
from everlog.rdf.shacl.path_rules_of_shapes import Reaching, step
from everlog.rdf.shacl.property_paths import Composed, Step
from everlog.rdf.shacl.result_kinds import CONSTRAINT, REMARK, SHAPE, Constraint
from everlog.rdf.shacl.shacl_vocabulary import VIOLATION_SEVERITY, component_name
from everlog.rdf.shacl.shapes import Parameter, Shape, Shapes

MENTIONED = f"{OF_SHAPES}class"
"""The classes that shapes mention."""
BELOW = f"{OF_SHAPES}class below"
"""Which classes are below a class that shapes mention."""
AMONG = f"{OF_SHAPES}in"
"""The members of the lists of sh:in."""

_FOCUS, _VALUE, _OTHER, _CLASS, _PROPERTY = map(Variable, ("focus", "value", "other", "class", "property"))
_TAG, _NUMBER = Variable("tag"), Variable("number")
_TYPE, _SUBCLASS, _NOTHING = Constant(RDF_TYPE), Constant(NamedNode(RDFS + "subClassOf")), Constant("")


def shape_rules(shapes: Shapes) -> Program:
    """The rules that find what does not conform to shapes, and facts that say what their constraints are."""
    return _Translation(shapes).program()


@dataclass(frozen=True)
class _Use:
    """A shape, and whether its violations are reported, or only which nodes have any."""

    shape: Shape
    reported: bool
    source: str
    """The predicate of its focus nodes: its own, that of a node shape of which it is a property, or that of a class."""

    @property
    def focus(self) -> Atom:
        return Atom(self.source, (_FOCUS,))

    def fails(self, node: Term) -> Atom:
        return Atom(f"{OF_SHAPES}fails {self.shape.label}", (node,))

    @property
    def is_simple(self) -> bool:
        """Whether a value is found by one atom."""
        path = self.shape.path
        return isinstance(path, Step) or (
            isinstance(path, Composed) and path.kind == "inverse" and isinstance(path.parts[0], Step)
        )

    @property
    def value(self) -> Term:
        """What stands for a value node: without a path, the focus node itself."""
        return _FOCUS if self.shape.path is None else _VALUE

    def having(self, value: Term) -> Atom:
        """The atom that says that a node is a value node; there is a path."""
        if self.is_simple and self.shape.path is not None:
            return step(self.shape.path, _FOCUS, value)
        return Atom(
            f"{OF_SHAPES}{'values' if self.reported else 'asked values'} of {self.shape.label}", (_FOCUS, value)
        )

    @property
    def values(self) -> tuple[Atom, ...]:
        """What binds a focus node and a value node."""
        if self.shape.path is None:
            return (self.focus,)
        return (self.focus, self.having(_VALUE)) if self.is_simple else (self.having(_VALUE),)


@dataclass
class _Translation:
    shapes: Shapes
    rules: dict[Rule, str] = field(default_factory=dict)
    facts: dict[Atom, None] = field(default_factory=dict)
    constraints: dict[str, Constraint] = field(default_factory=dict)
    _done: set[tuple[Node, bool]] = field(default_factory=set)
    _fallible: dict[Node, bool] = field(default_factory=dict)
    _referring: dict[Node, list[tuple[str, Shape]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for shape in self.shapes.shapes.values():
            for parameter, node in shape.others():
                self._referring.setdefault(node, []).append((parameter, shape))

    def program(self) -> Program:
        for shape in self.shapes.targeted:
            if not shape.deactivated:
                use = self._used(shape.node, reported=True)
                for target in shape.targets:
                    self._target(use, target.kind, target.of)
        if any(fact.predicate == MENTIONED for fact in self.facts):
            below, above = Atom(BELOW, (_OTHER, _CLASS)), Atom(BELOW, (_FOCUS, _CLASS))
            subclass = Atom(TRIPLE, (_FOCUS, _SUBCLASS, _OTHER))
            at_once = Atom(TRIPLE, (_FOCUS, _SUBCLASS, _CLASS))
            self._rule(above, [at_once, Atom(MENTIONED, (_CLASS,))], "rdfs:subClassOf")
            self._rule(above, [subclass, below], "rdfs:subClassOf")
        known = (Atom(CONSTRAINT, (Constant(name), Constant(one.text()))) for name, one in self.constraints.items())
        named = (Atom(SHAPE, (Constant(shape.label),)) for shape in self.shapes.targeted)
        return Program(tuple(self.rules), (*self.facts, *named, *known), {}, self.rules)

    def _rule(self, head: Atom, body: Iterable[BodyLiteral], origin: str) -> None:
        self.rules.setdefault(Rule(head, tuple(dict.fromkeys(body))), origin)

    def _target(self, use: _Use, kind: str, of: Object) -> None:
        said, origin = Constant(normalise(of)), f"sh:{kind} of {use.shape.label}"
        if kind == "targetNode":
            self.facts.setdefault(Atom(use.focus.predicate, (said,)))
        elif kind == "targetClass":
            instance = self._instance(_FOCUS, of)
            if instance != use.focus:
                self._rule(use.focus, [instance], origin)
        elif kind == "targetSubjectsOf":
            self._rule(use.focus, [Atom(TRIPLE, (_FOCUS, said, _OTHER))], origin)
        else:
            self._rule(use.focus, [Atom(TRIPLE, (_OTHER, said, _FOCUS))], origin)

    def _instance(self, node: Term, of: Object) -> Atom:
        """The atom that says that a node is of a class or of one below it; all shapes that ask for a class share it.

        The class itself has a rule of its own, which looks at no other class: in most data no class is said to be below
        another one, and the second rule is never tried.
        """
        said, predicate = Constant(normalise(of)), f"{OF_SHAPES}instance of {self._said(of)}"
        self.facts.setdefault(Atom(MENTIONED, (said,)))
        head, origin = Atom(predicate, (_FOCUS,)), f"instances of {self._said(of)}"
        self._rule(head, [Atom(TRIPLE, (_FOCUS, _TYPE, said))], origin)
        self._rule(head, [Atom(BELOW, (_CLASS, said)), Atom(TRIPLE, (_FOCUS, _TYPE, _CLASS))], origin)
        return Atom(predicate, (node,))

    # ------------------------------------------------------------------------------------ uses of shapes

    def _used(self, node: Node, reported: bool) -> _Use:
        """A use of a shape, whose rules are made when it is first used so."""
        shape = self.shapes.shapes[node]
        use = _Use(shape, reported, self._source(shape, reported))
        if (node, reported) not in self._done:
            self._done.add((node, reported))
            if shape.path is not None and not use.is_simple:
                paths = Reaching(use.focus, use.having(_VALUE).predicate, shape.path)
                for head, body in paths.rules():
                    self._rule(head, body, f"sh:path of {shape.label}")
            for parameter in shape.parameters:
                self._constrain(use, parameter)
        return use

    def _source(self, shape: Shape, reported: bool) -> str:
        """The predicate of the focus nodes of a shape, or of the nodes that it is asked about."""
        above = self._referring.get(shape.node, [])
        if not shape.targets and len(above) == 1 and above[0][0] == "property" and above[0][1].path is None:
            return self._source(above[0][1], reported)
        if reported and len(shape.targets) == 1 and not any(parameter == "property" for parameter, _ in above):
            (target,) = shape.targets
            if target.kind == "targetClass":
                return self._instance(_FOCUS, target.of).predicate
        return f"{OF_SHAPES}{'focus of' if reported else 'asked about'} {shape.label}"

    def _asked(self, asking: _Use, node: Node, parameter: str) -> Atom | None:
        """What says that a value fails a shape, which is asked about it from now on; None if nothing can fail it."""
        if not self._can_fail(node):
            return None
        values, value, origin = asking.values, asking.value, f"sh:{parameter} of {asking.shape.label}"
        use = self._used(node, reported=False)
        if use.source != asking.source:
            self._rule(Atom(use.focus.predicate, (value,)), values, origin)
        return use.fails(value)

    def _can_fail(self, node: Node) -> bool:
        if node not in self._fallible:
            shape = self.shapes.shapes[node]
            found = not shape.deactivated and any(self._can_violate(shape, one) for one in shape.parameters)
            self._fallible[node] = found
        return self._fallible[node]

    def _can_violate(self, shape: Shape, parameter: Parameter) -> bool:
        others = [self._can_fail(node) for node in _nodes(parameter)] if parameter.name in _ASKING else []
        if parameter.name in ("node", "property", "and"):
            return any(others)
        if parameter.name == "or":
            return all(others)
        if parameter.name == "minCount":
            return _number(parameter.values[0]) > 0
        if parameter.name in ("uniqueLang", "closed"):
            return _is_true(parameter.values[0])
        if parameter.name == "qualifiedValueShape":
            return "qualifiedMinCount" in shape.settings or "qualifiedMaxCount" in shape.settings
        return True

    # ------------------------------------------------------------------------------------ constraints

    def _constrain(self, use: _Use, parameter: Parameter) -> None:
        if not self._can_violate(use.shape, parameter):
            return
        name, special = parameter.name, getattr(self, f"_of_{parameter.name}", None)
        if special is not None:
            special(use, parameter)
            return
        tested = value_tests.failing(name, use.value, parameter.values, use.shape.settings)
        self._violated(use, parameter, [*use.values, Computation(tested)], use.value)

    def _violated(
        self,
        use: _Use,
        parameter: Parameter,
        body: Sequence[BodyLiteral],
        value: Term | None = None,
        detail: Term | None = None,
        component: str | None = None,
    ) -> None:
        """A constraint is violated where a body holds, with a value and something that tells results apart."""
        shape = use.shape
        label = f"sh:{component or parameter.name} of {shape.label}"
        if not use.reported:
            self._rule(use.fails(_FOCUS), body, label)
            return
        name = self._named(shape, parameter, label, component or parameter.name, value is not None)
        predicate = SHAPE_VIOLATION if shape.severity == VIOLATION_SEVERITY else REMARK
        head = Atom(predicate, (Constant(name), _FOCUS, value or _NOTHING, detail or _NOTHING))
        self._rule(head, body, label)

    def _named(self, shape: Shape, parameter: Parameter, label: str, component: str, has_value: bool) -> str:
        """The name of a constraint: several ones of a shape with the same parameter are numbered."""
        same = [one for one in shape.parameters if one.name == parameter.name]
        name = label if len(same) == 1 else f"{label} ({same.index(parameter) + 1})"
        said = " ".join(self._said(one) for one in parameter.values[:5] if component not in _ASKING)
        self.constraints.setdefault(
            name,
            Constraint(
                shape.node,
                component_name(component),
                shape.severity,
                shape.path,
                tuple(map(str, shape.messages)),
                has_value,
                f"sh:{component}{f' {said}' if said else ''}",
            ),
        )
        return name

    def _said(self, node: Object) -> str:
        return self.shapes.short(node.value) if isinstance(node, NamedNode) else str(node)

    def _of_class(self, use: _Use, parameter: Parameter) -> None:
        other = Negation((self._instance(use.value, parameter.values[0]),))
        self._violated(use, parameter, [*use.values, other], use.value)

    def _of_minCount(self, use: _Use, parameter: Parameter) -> None:
        self._too_few(use, parameter, _number(parameter.values[0]), use.values, use.having(_VALUE))

    def _of_maxCount(self, use: _Use, parameter: Parameter) -> None:
        self._too_many(use, parameter, _number(parameter.values[0]), use.values)

    def _too_few(
        self,
        use: _Use,
        parameter: Parameter,
        least: int,
        values: Sequence[BodyLiteral],
        having: Atom,
        component: str | None = None,
    ) -> None:
        if least > 0:
            none = Negation((having,), (_VALUE,))
            self._violated(use, parameter, [use.focus, none], component=component)
        if least > 1:
            below = Comparison("<", _NUMBER, Constant(least))
            self._violated(use, parameter, [_counted(values, (_FOCUS,)), below], component=component)

    def _too_many(
        self,
        use: _Use,
        parameter: Parameter,
        most: int,
        values: Sequence[BodyLiteral],
        component: str | None = None,
    ) -> None:
        if most == 0:
            self._violated(use, parameter, values, component=component)
            return
        above = Comparison(">", _NUMBER, Constant(most))
        self._violated(use, parameter, [_counted(values, (_FOCUS,)), above], component=component)

    def _of_uniqueLang(self, use: _Use, parameter: Parameter) -> None:
        tag = Computation(Call("LCASE", (Call("LANG", (use.value,)),)), _TAG)
        tagged = Comparison("is not", _TAG, _NOTHING)
        above = Comparison(">", _NUMBER, Constant(1))
        counted = _counted([*use.values, tag, tagged], (_FOCUS, _TAG))
        self._violated(use, parameter, [counted, above], detail=_TAG)

    def _of_equals(self, use: _Use, parameter: Parameter) -> None:
        said = Constant(normalise(parameter.values[0]))
        missing = Negation((Atom(TRIPLE, (_FOCUS, said, use.value)),))
        self._violated(use, parameter, [*use.values, missing], use.value)
        other = Atom(TRIPLE, (_FOCUS, said, _VALUE))
        if use.shape.path is None:
            differs: BodyLiteral = Comparison("is not", _FOCUS, _VALUE)
        else:
            differs = Negation((use.having(_VALUE),))
        self._violated(use, parameter, [use.focus, other, differs], _VALUE)

    def _of_disjoint(self, use: _Use, parameter: Parameter) -> None:
        shared = Atom(TRIPLE, (_FOCUS, Constant(normalise(parameter.values[0])), use.value))
        self._violated(use, parameter, [*use.values, shared], use.value)

    def _of_lessThan(self, use: _Use, parameter: Parameter, sign: str = "<") -> None:
        other = Atom(TRIPLE, (_FOCUS, Constant(normalise(parameter.values[0])), _OTHER))
        wrong = Computation(value_tests.not_ordered(sign, use.value, _OTHER))
        self._violated(use, parameter, [*use.values, other, wrong], use.value, _OTHER)

    def _of_lessThanOrEquals(self, use: _Use, parameter: Parameter) -> None:
        self._of_lessThan(use, parameter, "<=")

    def _of_hasValue(self, use: _Use, parameter: Parameter) -> None:
        said = Constant(normalise(parameter.values[0]))
        if use.shape.path is None:
            other = Comparison("is not", _FOCUS, said)
            self._violated(use, parameter, [use.focus, other])
        else:
            self._violated(use, parameter, [use.focus, Negation((use.having(said),))])

    def _of_in(self, use: _Use, parameter: Parameter) -> None:
        name = Constant(f"sh:in of {use.shape.label}")
        for member in parameter.values:
            self.facts.setdefault(Atom(AMONG, (name, Constant(normalise(member)))))
        missing = [Negation((Atom(AMONG, (name, use.value)),))] if parameter.values else []
        self._violated(use, parameter, [*use.values, *missing], use.value)

    def _of_closed(self, use: _Use, parameter: Parameter) -> None:
        properties = (self.shapes.shapes[node] for kind, node in use.shape.others() if kind == "property")
        known = [Constant(NamedNode(one.path.iri)) for one in properties if isinstance(one.path, Step)]
        known += [Constant(normalise(one)) for one in use.shape.ignored]
        said = Atom(TRIPLE, (use.value, _PROPERTY, _OTHER))
        tests = [Computation(Call("NOT IN", (_PROPERTY, *dict.fromkeys(known))))] if known else []
        self._violated(use, parameter, [*use.values, said, *tests], _OTHER, _PROPERTY)

    # ------------------------------------------------------------------------------------ shapes of shapes

    def _of_property(self, use: _Use, parameter: Parameter) -> None:
        (node,) = _nodes(parameter)
        origin = f"sh:property of {use.shape.label}"
        if use.reported:
            other = self._used(node, reported=True)
            if other.source != use.source:
                self._rule(Atom(other.focus.predicate, (use.value,)), use.values, origin)
        else:
            self._of_node(use, parameter)

    def _of_node(self, use: _Use, parameter: Parameter) -> None:
        (node,) = _nodes(parameter)
        fails = self._asked(use, node, parameter.name)
        if fails is not None:
            self._violated(use, parameter, [*use.values, fails], use.value)

    def _of_not(self, use: _Use, parameter: Parameter) -> None:
        (node,) = _nodes(parameter)
        fails = self._asked(use, node, "not")
        conforms = [] if fails is None else [Negation((fails,))]
        self._violated(use, parameter, [*use.values, *conforms], use.value)

    def _of_and(self, use: _Use, parameter: Parameter) -> None:
        for fails in self._all_asked(use, parameter):
            if fails is not None:
                self._violated(use, parameter, [*use.values, fails], use.value)

    def _of_or(self, use: _Use, parameter: Parameter) -> None:
        found = [fails for fails in self._all_asked(use, parameter) if fails is not None]
        self._violated(use, parameter, [*use.values, *found], use.value)

    def _of_xone(self, use: _Use, parameter: Parameter) -> None:
        found = self._all_asked(use, parameter)
        if all(fails is not None for fails in found):
            self._violated(use, parameter, [*use.values, *(one for one in found if one is not None)], use.value)
        for place, one in enumerate(found):
            for other in found[place + 1 :]:
                conform = [Negation((fails,)) for fails in (one, other) if fails is not None]
                self._violated(use, parameter, [*use.values, *conform], use.value)

    def _all_asked(self, use: _Use, parameter: Parameter) -> list[Atom | None]:
        return [self._asked(use, node, parameter.name) for node in _nodes(parameter)]

    def _of_qualifiedValueShape(self, use: _Use, parameter: Parameter) -> None:
        (node,) = _nodes(parameter)
        settings, origin = use.shape.settings, f"sh:qualifiedValueShape of {use.shape.label}"
        fails = self._asked(use, node, parameter.name)
        conforms: list[BodyLiteral] = [] if fails is None else [Negation((fails,))]
        others = self.shapes.siblings(use.shape) if _is_true(settings.get("qualifiedValueShapesDisjoint")) else []
        siblings = [self._asked(use, one, parameter.name) for one in others]
        which = "qualified values" if use.reported else "asked qualified values"
        qualified = Atom(f"{OF_SHAPES}{which} of {use.shape.label}", (_FOCUS, _VALUE))
        if all(one is not None for one in siblings):
            body = [*use.values, *conforms, *(one for one in siblings if one is not None)]
            self._rule(qualified, body, origin)
        least, most = settings.get("qualifiedMinCount"), settings.get("qualifiedMaxCount")
        impossible = any(one is None for one in siblings)
        if least is not None and impossible and _number(least):
            self._violated(use, parameter, [use.focus], component="qualifiedMinCount")
        elif least is not None:
            self._too_few(use, parameter, _number(least), [qualified], qualified, "qualifiedMinCount")
        if most is not None and not impossible:
            self._too_many(use, parameter, _number(most), [qualified], "qualifiedMaxCount")


_ASKING = (
    "node",
    "property",
    "and",
    "or",
    "xone",
    "not",
    "qualifiedValueShape",
    "qualifiedMinCount",
    "qualifiedMaxCount",
)


def _counted(body: Sequence[BodyLiteral], groups: tuple[Variable, ...]) -> Aggregate:
    return Aggregate(tuple(body), groups, (Aggregation("COUNT", (), _NUMBER),))


def _nodes(parameter: Parameter) -> list[Node]:
    return [one for one in parameter.values if not isinstance(one, Literal)]


def _number(value: Object) -> int:
    return int(value.value)


def _is_true(value: Object | None) -> bool:
    return value is not None and value.value.strip() in ("true", "1")
