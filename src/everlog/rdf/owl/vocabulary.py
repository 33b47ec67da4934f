"""The IRIs that OWL 2 gives a meaning to."""

from __future__ import annotations

from typing import Final

from everlog.datalog.values import XSD

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
SWRL: Final = "http://www.w3.org/2003/11/swrl#"
SWRLB: Final = "http://www.w3.org/2003/11/swrlb#"
NEW: Final = "urn:everlog:new:"
"""Names that a translation makes up: constants for what exists, classes for parts of axioms."""

VIOLATION: Final = "violation"
"""The predicate of contradictions: which axiom, and about what."""
MEMBER: Final = "member"
"""The predicate of memberships in class expressions."""

TYPE: Final = RDF + "type"
THING: Final = OWL + "Thing"
NOTHING: Final = OWL + "Nothing"
SAME_AS: Final = OWL + "sameAs"
DIFFERENT_FROM: Final = OWL + "differentFrom"
LITERAL: Final = RDFS + "Literal"
TOP_OBJECT: Final = OWL + "topObjectProperty"
BOTTOM_OBJECT: Final = OWL + "bottomObjectProperty"
TOP_DATA: Final = OWL + "topDataProperty"
BOTTOM_DATA: Final = OWL + "bottomDataProperty"

# The built-in datatypes of OWL 2; XML Schema's integers are numbers of their own sizes.
INTEGERS: Final = frozenset(
    XSD + name
    for name in [
        "integer",
        "nonNegativeInteger",
        "nonPositiveInteger",
        "positiveInteger",
        "negativeInteger",
        "long",
        "int",
        "short",
        "byte",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ]
)
NUMBERS: Final = INTEGERS | {OWL + "real", OWL + "rational", XSD + "decimal", XSD + "double", XSD + "float"}
STRINGS: Final = frozenset(
    {XSD + name for name in ["string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN", "anyURI"]}
    | {RDF + "PlainLiteral", RDF + "langString"}
)
OTHER_DATATYPES: Final = frozenset(
    {XSD + name for name in ["boolean", "hexBinary", "base64Binary", "dateTime", "dateTimeStamp", "date", "time"]}
    | {XSD + name for name in ["gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "duration"]}
    | {RDF + "XMLLiteral", RDF + "HTML", LITERAL}
)
DATATYPES: Final = NUMBERS | STRINGS | OTHER_DATATYPES

ANNOTATION_PROPERTIES: Final = frozenset(
    {RDFS + name for name in ("label", "comment", "seeAlso", "isDefinedBy")}
    | {
        OWL + name
        for name in [
            "versionInfo",
            "priorVersion",
            "backwardCompatibleWith",
            "incompatibleWith",
            "deprecated",
            "versionIRI",
        ]
    }
)
