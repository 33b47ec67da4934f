"""The IRIs that SHACL Core gives a meaning to."""

from __future__ import annotations

from typing import Final

from pyoxigraph import NamedNode

SH: Final = "http://www.w3.org/ns/shacl#"
VIOLATION_SEVERITY: Final = NamedNode(SH + "Violation")

LIST_PARAMETERS: Final = frozenset({"and", "or", "xone", "in", "languageIn", "ignoredProperties"})
"""Whose values are lists."""

SHAPE_PARAMETERS: Final = frozenset({"node", "property", "not", "qualifiedValueShape"})
"""Whose values are shapes."""

SHAPE_LISTS: Final = frozenset({"and", "or", "xone"})
"""Whose values are lists of shapes."""

TARGETS: Final = ("targetNode", "targetClass", "targetSubjectsOf", "targetObjectsOf")

REPEATABLE: Final = frozenset(
    {"class", "node", "property", "not", "and", "or", "xone", "equals", "disjoint", "lessThan", "lessThanOrEquals"}
    | {"hasValue"}
)
"""Parameters that a shape may have several values of, each of which is a constraint."""

SINGLE: Final = frozenset(
    {"datatype", "nodeKind", "minCount", "maxCount", "minExclusive", "minInclusive", "maxExclusive", "maxInclusive"}
    | {"minLength", "maxLength", "pattern", "languageIn", "uniqueLang", "in", "closed", "qualifiedValueShape"}
)
"""Parameters that a shape has at most one value of."""

OTHERS: Final = frozenset(
    {"flags", "ignoredProperties", "qualifiedMinCount", "qualifiedMaxCount", "qualifiedValueShapesDisjoint"}
)
"""Parameters that say something about others."""

ONLY_OF_PROPERTIES: Final = frozenset(
    {"minCount", "maxCount", "uniqueLang", "lessThan", "lessThanOrEquals", "qualifiedValueShape"}
)
"""Parameters that mean nothing without a path."""

NOT_CORE: Final = frozenset({"sparql", "js", "rule", "target", "expression"})
"""What SHACL has beyond its core, in shapes."""


def component_name(parameter: str) -> str:
    """The IRI of the component that a parameter belongs to."""
    return f"{SH}{parameter[0].upper()}{parameter[1:]}ConstraintComponent"
