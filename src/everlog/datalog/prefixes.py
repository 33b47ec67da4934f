"""Prefixes: those that every program knows without declaring them, and more that a program may be given.

A declaration of the same name overrides one that every program knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeVar

from pyoxigraph import NamedNode

from everlog.datalog.syntax import Program
from everlog.datalog.values import XSD

WELL_KNOWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "owl": "http://www.w3.org/2002/07/owl#",
        "xsd": XSD,
        "dc": "http://purl.org/dc/elements/1.1/",
        "dcterms": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "prov": "http://www.w3.org/ns/prov#",
        "schema": "http://schema.org/",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "swrl": "http://www.w3.org/2003/11/swrl#",
        "swrlb": "http://www.w3.org/2003/11/swrlb#",
        "rdfox": "http://oxfordsemantic.tech/RDFox#",
        "sh": "http://www.w3.org/ns/shacl#",
    }
)

ORIGIN: Final = "#@"
"""How a comment begins that says what the rule in the next line comes from."""

NO_PREFIXES: Final[Mapping[str, str]] = MappingProxyType({})

LOCAL_NAME: Final = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?)?")
"""What may follow a prefix when an IRI is written: fewer names than Turtle has, and none that needs an escape."""

_P = TypeVar("_P", bound=Program)


def with_prefixes(program: _P, more: Mapping[str, str]) -> _P:
    """A program that knows more prefixes, for goals and for whatever is written; those that it knows mean what they did."""
    known = {**WELL_KNOWN, **program.prefixes}
    new = {name: namespace for name, namespace in more.items() if name not in known and _is_namespace(namespace)}
    return replace(program, prefixes=MappingProxyType({**program.prefixes, **new})) if new else program


def _is_namespace(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return not set(text) & set('<>"{}|^`\\ ')
