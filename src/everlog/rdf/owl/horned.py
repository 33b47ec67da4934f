"""OWL/XML and the functional syntax, read by py-horned-owl and turned into our structure.

py-horned-owl is not asked to read RDF: it leaves out in silence what it does not recognise (an untyped class expression, a
restriction without a filler, an anonymous individual), and its components come in no fixed order, so they are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.syntax import Constant, Variable
from everlog.datalog.values import normalise
from everlog.errors import EverlogError
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.functional import FunctionalSyntax

_SERIALISATIONS = {"functional": "ofn", "owl/xml": "owx"}
_CHARACTERISTICS = [
    "Functional",
    "InverseFunctional",
    "Reflexive",
    "Irreflexive",
    "Symmetric",
    "Asymmetric",
    "Transitive",
]
_SILENT = ("Declare", "Annotation", "OntologyAnnotation", "OntologyID", "DocIRI", "Import")


def read_horned(text: str, syntax: str, mark: str) -> tuple[owl.Ontology, list[str], list[str]]:
    """An ontology, the IRIs that it goes by, and those that it imports. A `ValueError` says what cannot be read."""
    import pyhornedowl

    serialisation: Any = _SERIALISATIONS[syntax]
    read: Any = pyhornedowl.open_ontology_from_string(text, serialisation)
    components = [each.component for each in read.get_components()]
    axioms: list[owl.Axiom] = []
    warnings: list[str] = []
    convert = _Conversion(mark)
    for component in components:
        name = type(component).__name__
        if name.startswith(_SILENT) and not name.startswith("AnnotationProperty"):
            continue
        try:
            axioms.append(convert.axiom(component))
        except _Unknown as unknown:
            warnings.append(f"{component} cannot be read and is left out: {unknown} is not supported")
    texts = FunctionalSyntax()
    imports = [str(each.first) for each in components if type(each).__name__ == "Import"]
    names = [str(name) for name in (read.get_iri(), read.get_version_iri()) if name]
    prefixes = {str(name): str(namespace) for name, namespace in read.prefix_mapping}
    return (
        owl.Ontology(tuple(sorted(axioms, key=texts.axiom)), prefixes, tuple(sorted(warnings))),
        names,
        sorted(imports),
    )


class _Unknown(EverlogError):
    """A kind of component that we have no place for."""


class _Conversion:
    def __init__(self, mark: str) -> None:
        self._mark = mark

    # -------------------------------------------------------------------------------------------- axioms

    def axiom(self, it: Any) -> owl.Axiom:
        name = type(it).__name__
        for kind in _CHARACTERISTICS:
            if name in (f"{kind}ObjectProperty", f"{kind}DataProperty"):
                return owl.Characteristic(kind, self.property(it.first))  # type: ignore[arg-type]
        make = self._axioms().get(name)
        if make is None:
            raise _Unknown(name)
        return make(it)

    def _axioms(self) -> dict[str, Callable[[Any], owl.Axiom]]:
        same, many, one, prop = self.individuals, self.expressions, self.expression, self.property
        table: dict[str, Callable[[Any], owl.Axiom]] = {
            "SubClassOf": lambda it: owl.SubClassOf(one(it.sub), one(it.sup)),
            "EquivalentClasses": lambda it: owl.EquivalentClasses(many(it.first)),
            "DisjointClasses": lambda it: owl.DisjointClasses(many(it.first)),
            "DisjointUnion": lambda it: owl.DisjointUnion(_iri(it.first.first), many(it.second)),
            "InverseObjectProperties": lambda it: owl.InverseProperties(prop(it.first), prop(it.second)),
            "ObjectPropertyDomain": lambda it: owl.Domain(prop(it.ope), one(it.ce)),
            "ObjectPropertyRange": lambda it: owl.Range(prop(it.ope), one(it.ce)),
            "DataPropertyDomain": lambda it: owl.Domain(prop(it.dp), one(it.ce)),
            "DataPropertyRange": lambda it: owl.Range(prop(it.dp), one(it.dr)),
            "AnnotationPropertyDomain": lambda it: owl.Domain(prop(it.ap), owl.Named(_iri(it.iri))),
            "AnnotationPropertyRange": lambda it: owl.Range(prop(it.ap), owl.Named(_iri(it.iri))),
            "DatatypeDefinition": lambda it: owl.DatatypeDefinition(_iri(it.kind.first), one(it.range)),
            "HasKey": lambda it: owl.HasKey(one(it.ce), tuple(map(prop, it.vpe))),
            "SameIndividual": lambda it: owl.SameIndividual(same(it.first)),
            "DifferentIndividuals": lambda it: owl.DifferentIndividuals(same(it.first)),
            "ClassAssertion": lambda it: owl.ClassAssertion(one(it.ce), self.constant(it.i)),
            "Rule": lambda it: owl.SwrlRule(tuple(map(self.atom, it.body)), tuple(map(self.atom, it.head))),
        }
        for kind in ("Object", "Data", "Annotation"):
            table[f"Sub{kind}PropertyOf"] = lambda it: owl.SubProperty(self.chain(it.sub), prop(it.sup))
            table[f"Equivalent{kind}Properties"] = lambda it: owl.EquivalentProperties(tuple(map(prop, it.first)))
            table[f"Disjoint{kind}Properties"] = lambda it: owl.DisjointProperties(tuple(map(prop, it.first)))
            table[f"{kind}PropertyAssertion"] = lambda it: self.assertion(it, negative=False)
            table[f"Negative{kind}PropertyAssertion"] = lambda it: self.assertion(it, negative=True)
        return table

    def assertion(self, it: Any, negative: bool) -> owl.Axiom:
        property = self.property(it.ope if hasattr(it, "ope") else it.dp)
        return owl.PropertyAssertion(property, self.constant(it.source), self.constant(it.target), negative)

    def chain(self, sub: Any) -> tuple[owl.Property, ...]:
        return tuple(map(self.property, sub if isinstance(sub, list) else [sub]))

    def atom(self, it: Any) -> owl.RuleAtom:
        match type(it).__name__:
            case "ClassAtom" | "DataRangeAtom":
                return owl.RuleAtom(self.expression(it.pred), (self.argument(it.arg),))
            case "ObjectPropertyAtom" | "DataPropertyAtom":
                return owl.RuleAtom(self.property(it.pred), self.arguments(it.args))
            case "SameIndividualAtom":
                return owl.RuleAtom("same", self.arguments((it.first, it.second)))
            case "DifferentIndividualsAtom":
                return owl.RuleAtom("different", self.arguments((it.first, it.second)))
            case "BuiltInAtom":
                return owl.RuleAtom(_iri(it.pred), self.arguments(it.args))
        raise _Unknown(type(it).__name__)

    def argument(self, it: Any) -> owl.Argument:
        if type(it).__name__ != "Variable":
            return self.constant(it)
        end = str(it.first).replace("/", "#").replace(":", "#").split("#")[-1]
        name = "".join(c if c.isalnum() else "_" for c in end)
        return Variable(name if name[:1].isalpha() else f"v{name}")

    def arguments(self, them: Iterable[Any]) -> tuple[owl.Argument, ...]:
        return tuple(map(self.argument, them))

    # --------------------------------------------------------------------------------------- expressions

    def property(self, it: Any) -> owl.Property:
        match type(it).__name__:
            case "ObjectProperty":
                return owl.Property(_iri(it.first))
            case "InverseObjectProperty":
                return owl.Property(_iri(it.first.first), inverse=True)
            case "DataProperty":
                return owl.Property(_iri(it.first), data=True)
            case "AnnotationProperty":
                return owl.Property(_iri(it.first), annotation=True)
        raise _Unknown(type(it).__name__)

    def expressions(self, them: Iterable[Any]) -> tuple[owl.Expression, ...]:
        return tuple(map(self.expression, them))

    def expression(self, it: Any) -> owl.Expression:
        name = type(it).__name__
        if name == "Class":
            return owl.Named(_iri(it.first))
        if name == "Datatype":
            return owl.Datatype(_iri(it.first))
        if name == "DatatypeRestriction":
            facets = tuple((_facet(each.f), self.constant(each.l)) for each in it.second)
            return owl.Restricted(_iri(it.first.first), facets)
        data = name.startswith("Data")
        match name.removeprefix("Data").removeprefix("Object"):
            case "IntersectionOf":
                return owl.And(self.expressions(it.first))
            case "UnionOf":
                return owl.Or(self.expressions(it.first))
            case "ComplementOf":
                return owl.Not(self.expression(it.first))
            case "OneOf":
                return owl.OneOf(self.individuals(it.first))
            case "HasSelf":
                return owl.HasSelf(self.property(it.first))
            case restriction:
                return self._restriction(it, restriction, data)

    def _restriction(self, it: Any, name: str, data: bool) -> owl.Expression:
        property = self.property(it.dp if data else it.ope)
        if name == "HasValue":
            return owl.HasValue(property, self.constant(it.l if data else it.i))
        filler = self.expression(it.dr if data else it.bce)
        match name:
            case "SomeValuesFrom":
                return owl.Some(property, filler)
            case "AllValuesFrom":
                return owl.All(property, filler)
            case "MinCardinality":
                return owl.AtLeast(it.n, property, filler)
            case "MaxCardinality":
                return owl.AtMost(it.n, property, filler)
            case "ExactCardinality":
                return owl.And((owl.AtLeast(it.n, property, filler), owl.AtMost(it.n, property, filler)))
        raise _Unknown(type(it).__name__)

    # --------------------------------------------------------------------------------------------- values

    def individuals(self, them: Iterable[Any]) -> tuple[Constant, ...]:
        return tuple(map(self.constant, them))

    def constant(self, it: Any) -> Constant:
        match type(it).__name__:
            case "NamedIndividual":
                return Constant(NamedNode(_iri(it.first)))
            case "AnonymousIndividual":
                return Constant(BlankNode(self._mark + it.first.removeprefix("_:")))
            case "SimpleLiteral":
                return Constant(it.literal)
            case "LanguageLiteral":
                return Constant(Literal(it.literal, language=it.lang))
            case "DatatypeLiteral":
                return Constant(normalise(Literal(it.literal, datatype=NamedNode(_iri(it.datatype_iri)))))
        raise _Unknown(type(it).__name__)


def _iri(it: Any) -> str:
    """An absolute IRI; a `ValueError` says what else it is."""
    return NamedNode(str(it)).value


def _facet(facet: Any) -> str:
    name = str(facet).rpartition(".")[2]
    return name[:1].lower() + name[1:]
