"""Ontologies from files: RDF/XML, Turtle and the other RDF syntaxes, OWL/XML, functional syntax; `.gz` too.

Several files are one ontology. An import means one of the given files, found by the IRI of its ontology or of its version,
or by its place; nothing is fetched. Files that import each other are read once each, so that a cycle does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyoxigraph import NamedNode, RdfFormat

from everlog.datalog.syntax import Constant
from everlog.errors import EverlogError
from everlog.rdf.blanks import file_mark
from everlog.rdf.documents import document_prefixes
from everlog.rdf.graph_texts import FORMATS, graph_text, graph_triples
from everlog.rdf.owl.expressions import constant
from everlog.rdf.owl.graph import Triple, short
from everlog.rdf.owl.horned import horned_as_rdf, read_horned
from everlog.rdf.owl.mapping import read_graph
from everlog.rdf.owl.structure import Ontology
from everlog.rdf.owl.syntaxes import HEAD, OwlSyntax, syntax_of
from everlog.rdf.owl.vocabulary import OWL, TYPE


@dataclass(frozen=True)
class _Document:
    """A text, what messages call it, and the address of its file, if it has one."""

    text: str
    name: str
    address: str | None = None

    @property
    def mark(self) -> str:
        """What the labels of its blank nodes begin with."""
        return file_mark(self.address or self.text)


@dataclass(frozen=True)
class _Parsed:
    document: _Document
    names: tuple[str, ...]
    imports: tuple[str, ...]
    prefixes: Mapping[str, str]
    triples: tuple[Triple, ...] = ()
    ontology: Ontology | None = None
    mapped: tuple[Triple, ...] = ()
    """What an `ontology` is in RDF, if that is wanted."""


def read_ontologies(paths: Sequence[Path], texts: Sequence[str] = (), as_rdf: bool = False) -> Ontology:
    """The ontology that some files and texts are together; with `as_rdf`, all of it has triples."""
    files = [
        _Document(graph_text(path, "an ontology"), str(path), path.absolute().as_uri()) for path in dict.fromkeys(paths)
    ]
    parsed = [_parsed(document, as_rdf) for document in (*files, *(_Document(text, "<text>") for text in texts))]
    prefixes: dict[str, str] = {}
    for each in reversed(parsed):
        prefixes |= each.prefixes
    usable = _usable(prefixes)
    triples = [triple for each in parsed for triple in each.triples]
    mapped = [triple for each in parsed for triple in each.mapped]
    graph = read_graph(triples, usable)
    others = [each.ontology for each in parsed if each.ontology is not None]
    missing = tuple(_missing(parsed))
    return Ontology(
        tuple(dict.fromkeys(axiom for each in (graph, *others) for axiom in each.axioms)),
        usable,
        (*missing, *(warning for each in (graph, *others) for warning in each.warnings)),
        tuple((constant(s), Constant(NamedNode(p)), constant(o)) for s, p, o in (*triples, *mapped)),
        prefixes,
        missing,
    )


def _missing(parsed: Sequence[_Parsed]) -> list[str]:
    known = {name for each in parsed for name in (*each.names, each.document.address)}
    return [
        f"{each.document.name} imports <{name}>, which is none of the given files and is left out: give its file too, as "
        "another ontology"
        for each in parsed
        for name in each.imports
        if name not in known
    ]


def _parsed(document: _Document, as_rdf: bool) -> _Parsed:
    syntax = _syntax(document)
    if isinstance(syntax, RdfFormat):
        return _rdf(document, syntax)
    try:
        ontology, names, imports = read_horned(document.text, syntax, document.mark)
    except ValueError as mistake:
        message = f"{document.name}: not an ontology in {syntax} syntax: {_spoken(str(mistake))}"
        raise EverlogError(message) from mistake
    mapped: tuple[Triple, ...] = ()
    if as_rdf:
        mapped = _rdf(replace(document, text=horned_as_rdf(document.text, syntax)), RdfFormat.RDF_XML).triples
    return _Parsed(document, tuple(names), tuple(imports), ontology.prefixes, ontology=ontology, mapped=mapped)


def _rdf(document: _Document, syntax: RdfFormat) -> _Parsed:
    text, name = document.text, document.name
    triples = graph_triples(text, syntax, name, document.address, document.mark)
    headers = {s for s, p, o in triples if p == TYPE and o == NamedNode(OWL + "Ontology")}
    names = [s.value for s in headers if isinstance(s, NamedNode)]
    names += [o.value for s, p, o in triples if s in headers and p == OWL + "versionIRI"]
    imports = dict.fromkeys(o.value for s, p, o in triples if p == OWL + "imports")
    prefixes = document_prefixes(text[:HEAD], syntax)
    return _Parsed(document, tuple(names), tuple(imports), prefixes, tuple(triples))


def _syntax(document: _Document) -> RdfFormat | OwlSyntax:
    """By what the document begins with; Turtle and the lines of RDF by the name of the file."""
    named = FORMATS.get(Path(document.name.removesuffix(".gz")).suffix)
    if named is not None and named != RdfFormat.RDF_XML:
        return named
    if named is None and not document.text.strip():
        raise EverlogError(f"{document.name}: the {'file' if document.address else 'text'} is empty")
    return syntax_of(document.text, named or RdfFormat.TURTLE)


def _usable(prefixes: Mapping[str, str]) -> dict[str, str]:
    """Prefixes that the rule language can print: words, and namespaces that end where a name may begin."""
    return {
        name: namespace
        for name, namespace in prefixes.items()
        if re.fullmatch(r"[A-Za-z]\w*", name) and re.fullmatch(r"[A-Za-z][\w+.\-]*:[^\s<>\"{}|^`\\]*", namespace)
    }


def _spoken(message: str) -> str:
    """The first thing that py-horned-owl says, in one line."""
    where = re.search(r"line_col: Pos\(\((\d+), (\d+)\)\)", message)
    if where is not None:
        return f"line {where[1]}, column {where[2]} is not what the syntax allows there"
    return short(" ".join(message.removeprefix("Failed to open ontology: ").split())[:300]).strip("<>")
