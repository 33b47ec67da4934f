"""Prefixes that every program knows without declaring them; a declaration of the same name overrides one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
    }
)

NO_PREFIXES: Final[Mapping[str, str]] = MappingProxyType({})
