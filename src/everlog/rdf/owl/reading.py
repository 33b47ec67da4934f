"""Ontologies from files: RDF/XML, Turtle and the other RDF syntaxes, OWL/XML, functional syntax; `.gz` too.

Several files are one ontology. An import means one of the given files, found by the IRI of its ontology or of its version,
or by its place; nothing is fetched. Files that import each other are read once each, so that a cycle does no harm.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.parsers import expat

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from everlog.datalog.syntax import Constant
from everlog.errors import EverlogError
from everlog.rdf.blanks import file_mark
from everlog.rdf.documents import document_prefixes
from everlog.rdf.mistakes import NESTED, reason_of
from everlog.rdf.owl.expressions import constant
from everlog.rdf.owl.graph import Object, Triple, short
from everlog.rdf.owl.horned import horned_as_rdf, read_horned
from everlog.rdf.owl.mapping import read_graph
from everlog.rdf.owl.structure import Ontology
from everlog.rdf.owl.syntaxes import HEAD, OwlSyntax, syntax_of
from everlog.rdf.owl.vocabulary import OWL, TYPE

_BY_NAME = {
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".ttl": RdfFormat.TURTLE,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
}


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
    files = [_Document(_text(path), str(path), path.absolute().as_uri()) for path in dict.fromkeys(paths)]
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
    if syntax == RdfFormat.RDF_XML:
        _check_xml(name, text)
    labels: dict[str, BlankNode] = {}
    triples: list[Triple] = []
    try:
        for quad in parse(text, format=syntax, base_iri=document.address):
            subject, target = (_stable(node, document.mark, labels) for node in (quad.subject, quad.object))
            if isinstance(subject, Literal):
                raise ValueError("a literal cannot be a subject")
            triples.append((subject, quad.predicate.value, target))
    except SyntaxError as mistake:
        line = f":{mistake.lineno}" if mistake.lineno else ""
        raise EverlogError(f"{name}{line}: {reason_of(mistake)}") from mistake
    except ValueError as mistake:
        raise EverlogError(f"{name}: {mistake}") from mistake
    headers = {s for s, p, o in triples if p == TYPE and o == NamedNode(OWL + "Ontology")}
    names = [s.value for s in headers if isinstance(s, NamedNode)]
    names += [o.value for s, p, o in triples if s in headers and p == OWL + "versionIRI"]
    imports = dict.fromkeys(o.value for s, p, o in triples if p == OWL + "imports")
    prefixes = document_prefixes(text[:HEAD], syntax)
    return _Parsed(document, tuple(names), tuple(imports), prefixes, tuple(triples))


def _check_xml(name: str, text: str) -> None:
    """Refuses XML that is not well-formed: pyoxigraph takes a file that ends in the middle for a whole one."""
    try:
        expat.ParserCreate().Parse(text, True)
    except expat.ExpatError as mistake:
        raise EverlogError(f"{name}:{mistake.lineno}: not well-formed XML: {expat.ErrorString(mistake.code)}") from None


def _stable(node: object, mark: str, labels: dict[str, BlankNode]) -> Object:
    """A node whose label does not change from one reading to the next: anonymous ones are numbered as they appear."""
    if isinstance(node, BlankNode):
        return labels.setdefault(node.value, BlankNode(f"{mark}n{len(labels)}"))
    if isinstance(node, NamedNode | Literal):
        return node
    raise ValueError(NESTED)


def _text(path: Path) -> str:
    if not path.is_file():
        raise EverlogError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}")
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8-sig")
    except UnicodeDecodeError as mistake:
        raise EverlogError(f"{path}: not UTF-8 text (byte {mistake.start}); is this an ontology?") from None
    except (OSError, EOFError, zlib.error) as mistake:
        raise EverlogError(f"{path}: {getattr(mistake, 'strerror', None) or mistake}") from None


def _syntax(document: _Document) -> RdfFormat | OwlSyntax:
    """By what the document begins with; Turtle and the lines of RDF by the name of the file."""
    named = _BY_NAME.get(Path(document.name.removesuffix(".gz")).suffix)
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
