"""SWRL rules out of RDF."""

from __future__ import annotations

import re

from pyoxigraph import Literal, NamedNode

from everlog.datalog.syntax import Term, Variable
from everlog.rdf.owl.expressions import Expressions, constant
from everlog.rdf.owl.graph import Graph, Node, Object, Unreadable, shown
from everlog.rdf.owl.structure import RuleAtom, SwrlRule
from everlog.rdf.owl.vocabulary import SWRL, TYPE


class SwrlReader:
    """Reads the rules of a graph. A variable is a node of type swrl:Variable, named by the end of its IRI."""

    def __init__(self, graph: Graph, expressions: Expressions) -> None:
        self._graph = graph
        self._expressions = expressions
        self._variables: dict[Node, Variable] = {}

    def rule(self, node: Node) -> SwrlRule:
        body, head = (
            tuple(map(self._atom, self._graph.list(self._graph.need(node, SWRL + part)))) for part in ("body", "head")
        )
        return SwrlRule(body, head)

    def _atom(self, node: Object) -> RuleAtom:
        graph, read = self._graph, self._expressions
        if isinstance(node, Literal):
            raise Unreadable(f"the literal {node} stands where an atom of a rule is expected")
        graph.used.add(node)
        kind = graph.need(node, TYPE)
        name = kind.value.removeprefix(SWRL) if isinstance(kind, NamedNode) else ""
        match name:
            case "ClassAtom":
                predicate = read.expression(graph.need(node, SWRL + "classPredicate"))
                return RuleAtom(predicate, (self._argument(node, 1),))
            case "DataRangeAtom":
                predicate = read.expression(graph.need(node, SWRL + "dataRange"), data=True)
                return RuleAtom(predicate, (self._argument(node, 1),))
            case "IndividualPropertyAtom" | "DatavaluedPropertyAtom":
                property = read.property(graph.need(node, SWRL + "propertyPredicate"))
                return RuleAtom(property, (self._argument(node, 1), self._argument(node, 2)))
            case "SameIndividualAtom":
                return RuleAtom("same", (self._argument(node, 1), self._argument(node, 2)))
            case "DifferentIndividualsAtom":
                return RuleAtom("different", (self._argument(node, 1), self._argument(node, 2)))
            case "BuiltinAtom":
                builtin = graph.need(node, SWRL + "builtin")
                arguments = map(self._term, graph.list(graph.need(node, SWRL + "arguments")))
                return RuleAtom(builtin.value, tuple(arguments))
        raise Unreadable(f"{shown(kind)} is no kind of atom in a SWRL rule")

    def _argument(self, node: Node, number: int) -> Term:
        return self._term(self._graph.need(node, f"{SWRL}argument{number}"))

    def _term(self, node: Object) -> Term:
        if isinstance(node, Literal) or NamedNode(SWRL + "Variable") not in self._graph.objects(node, TYPE):
            return constant(node)
        if node not in self._variables:
            name = variable_name(node.value)
            taken = {variable.name for variable in self._variables.values()}
            while name in taken:
                name += "_"
            self._variables[node] = Variable(name)
        return self._variables[node]


def variable_name(iri: str) -> str:
    """A word out of the end of an IRI."""
    name = "".join(c if c.isalnum() else "_" for c in re.split("[#/:]", iri)[-1])
    return name if name[:1].isalpha() else f"v{name}"
