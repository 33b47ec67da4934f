"""The IRIs that OWL 2 gives a meaning to."""

from __future__ import annotations

from typing import Final

from everlog.datalog import comparing
from everlog.datalog.values import XSD

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
SWRL: Final = "http://www.w3.org/2003/11/swrl#"
SWRLB: Final = "http://www.w3.org/2003/11/swrlb#"
NEW: Final = "urn:everlog:new:"
"""Names that a translation makes up: constants for what exists, classes for parts of axioms."""

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


def terms(namespace: str, names: str) -> frozenset[str]:
    """The IRIs of some names of a namespace."""
    return frozenset(namespace + name for name in names.split())


# The built-in datatypes of OWL 2; XML Schema's integers are numbers of their own sizes.
INTEGERS: Final = frozenset(XSD + name for name in comparing.INTEGERS)
NUMBERS: Final = INTEGERS | terms(OWL, "real rational") | terms(XSD, "decimal double float")
DATATYPES: Final = (
    NUMBERS
    | terms(XSD, "string normalizedString token language Name NCName NMTOKEN anyURI")
    | terms(XSD, "boolean hexBinary base64Binary dateTime dateTimeStamp date time")
    | terms(XSD, "gYear gYearMonth gMonth gMonthDay gDay duration")
    | terms(RDF, "PlainLiteral langString XMLLiteral HTML")
    | {LITERAL}
)

ANNOTATION_PROPERTIES: Final = terms(RDFS, "label comment seeAlso isDefinedBy") | terms(
    OWL, "versionInfo priorVersion backwardCompatibleWith incompatibleWith deprecated versionIRI"
)
