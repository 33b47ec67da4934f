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
    }
)

NO_PREFIXES: Final[Mapping[str, str]] = MappingProxyType({})
