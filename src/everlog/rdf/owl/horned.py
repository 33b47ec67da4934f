"""OWL/XML and the functional syntax, read by py-horned-owl and turned into our structure.

py-horned-owl is not asked to read RDF: it leaves out in silence what it does not recognise (an untyped class expression, a
restriction without a filler, an anonymous individual), and its components come in no fixed order, so they are sorted.
"""

from __future__ import annotations

from typing import Any, get_args

from pyoxigraph import BlankNode, Literal, NamedNode

from everlog.datalog.syntax import Constant, Variable
from everlog.datalog.values import normalise
from everlog.errors import EverlogError
from everlog.rdf.owl import structure as owl
from everlog.rdf.owl.functional import CONSTRUCTORS, FunctionalSyntax
from everlog.rdf.owl.swrl import variable_name

_SERIALISATIONS = {"functional": "ofn", "owl/xml": "owx"}
_SILENT = ("Declare", "Annotation", "OntologyAnnotation", "OntologyID", "DocIRI", "Import")
_CLASSES = {name.format(kind): make for make, name in CONSTRUCTORS.items() for kind in ("Object", "Data")}
_CHARACTERISTICS = {f"{kind}{of}Property": kind for kind in get_args(owl.Kind) for of in ("Object", "Data")}
_FIELDS = {"from": "source", "to": "target"}
"""Fields that py-horned-owl calls by names which Python reserves."""


def read_horned(text: str, syntax: str, mark: str) -> tuple[owl.Ontology, list[str], list[str]]:
    """An ontology, the IRIs that it goes by, and those that it imports. A `ValueError` says what cannot be read."""
    import pyhornedowl

    serialisation: Any = _SERIALISATIONS[syntax]
    read: Any = pyhornedowl.open_ontology_from_string(text, serialisation)
    components = [each.component for each in read.get_components()]
    axioms: list[owl.Axiom] = []
    warnings: list[str] = []
    for component in components:
        name = type(component).__name__
        if name.startswith(_SILENT) and not name.startswith("AnnotationProperty"):
            continue
        try:
            axioms.append(_read(component, mark))
        except _Unknown as unknown:
            warnings.append(f"{component} cannot be read and is left out: {unknown} is not supported")
    imports = sorted(str(each.first) for each in components if type(each).__name__ == "Import")
    names = [str(name) for name in (read.get_iri(), read.get_version_iri()) if name]
    prefixes = {str(name): str(namespace) for name, namespace in read.prefix_mapping}
    ontology = owl.Ontology(tuple(sorted(axioms, key=FunctionalSyntax().axiom)), prefixes, tuple(sorted(warnings)))
    return ontology, names, imports


def horned_as_rdf(text: str, syntax: str) -> str:
    """The same ontology as RDF/XML."""
    import pyhornedowl

    serialisation: Any = _SERIALISATIONS[syntax]
    return str(pyhornedowl.open_ontology_from_string(text, serialisation).save_to_string("rdf"))


class _Unknown(EverlogError):
    """A kind of component that we have no place for."""


def _read(it: Any, mark: str) -> Any:
    """A value of py-horned-owl, from its parts upwards, in our structure."""
    if isinstance(it, int | str):
        return it
    if isinstance(it, list | tuple):
        return tuple(_read(each, mark) for each in it)
    name = type(it).__name__
    if name == "IRI":
        return NamedNode(str(it)).value  # a `ValueError` says that it is not absolute
    if name == "Facet":
        facet = str(it).rpartition(".")[2]
        return facet[:1].lower() + facet[1:]
    if name == "Variable":
        return Variable(variable_name(str(it.first)))
    return _made(name, [_read(getattr(it, _FIELDS.get(field, field)), mark) for field in it.__match_args__], mark)


def _made(name: str, parts: list[Any], mark: str) -> Any:
    if name in _CLASSES:
        return _CLASSES[name](*parts)
    if name in _CHARACTERISTICS:
        return owl.Characteristic(_CHARACTERISTICS[name], *parts)
    match name, parts:
        case "Class", [iri]:
            return owl.Named(iri)
        case "ObjectProperty", [iri]:
            return owl.Property(iri)
        case "InverseObjectProperty", [property]:
            return owl.Property(property.iri, inverse=True)
        case "DataProperty", [iri]:
            return owl.Property(iri, data=True)
        case "AnnotationProperty", [iri]:
            return owl.Property(iri, annotation=True)
        case "Datatype", [iri]:
            return owl.Datatype(iri)
        case "DatatypeRestriction", [datatype, facets]:
            return owl.Restricted(datatype.iri, facets)
        case "FacetRestriction", [facet, value]:
            return facet, value
        case "ObjectExactCardinality" | "DataExactCardinality", _:
            return owl.And((owl.AtLeast(*parts), owl.AtMost(*parts)))
        case "NamedIndividual", [iri]:
            return Constant(NamedNode(iri))
        case "AnonymousIndividual", [label]:
            return Constant(BlankNode(mark + label.removeprefix("_:")))
        case "SimpleLiteral", [text]:
            return Constant(text)
        case "LanguageLiteral", [text, language]:
            return Constant(Literal(text, language=language))
        case "DatatypeLiteral", [text, datatype]:
            return Constant(normalise(Literal(text, datatype=NamedNode(datatype))))
        case "DisjointUnion", [union, classes]:
            return owl.DisjointUnion(union.iri, classes)
        case "SubObjectPropertyOf" | "SubDataPropertyOf" | "SubAnnotationPropertyOf", [sub, sup]:
            return owl.SubProperty(sub if isinstance(sub, tuple) else (sub,), sup)
        case "DatatypeDefinition", [datatype, range]:
            return owl.DatatypeDefinition(datatype.iri, range)
        case "AnnotationPropertyDomain", [property, iri]:
            return owl.Domain(property, owl.Named(iri))
        case "AnnotationPropertyRange", [property, iri]:
            return owl.Range(property, owl.Named(iri))
        case "NegativeObjectPropertyAssertion" | "NegativeDataPropertyAssertion", [property, source, target]:
            return owl.PropertyAssertion(property, source, target, negative=True)
        case "Rule", [head, body]:
            return owl.SwrlRule(body, head)
        case "ClassAtom" | "DataRangeAtom", [predicate, argument]:
            return owl.RuleAtom(predicate, (argument,))
        case "ObjectPropertyAtom" | "DataPropertyAtom" | "BuiltInAtom", [predicate, arguments]:
            return owl.RuleAtom(predicate, arguments)
        case "SameIndividualAtom", _:
            return owl.RuleAtom("same", tuple(parts))
        case "DifferentIndividualsAtom", _:
            return owl.RuleAtom("different", tuple(parts))
    raise _Unknown(name)
