"""What a constraint of a shape says about its results; a program keeps it as a fact, so that a store can report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pyoxigraph import BlankNode, NamedNode

from everlog.datalog.constraints import OF_SHAPES
from everlog.rdf.owl.graph import Node
from everlog.rdf.shacl.property_paths import Path, path_from_json, path_json

CONSTRAINT: Final = f"{OF_SHAPES}constraint"
"""The predicate of what is known about constraints: their names, and JSON."""
SHAPE: Final = f"{OF_SHAPES}shape"
"""The predicate of the shapes that have targets, by their names."""
REMARK: Final = "shacl_remark"
"""The predicate of results whose severity is less than sh:Violation."""


@dataclass(frozen=True)
class Constraint:
    """The part of a validation result that does not depend on data."""

    shape: Node
    component: str
    severity: NamedNode
    path: Path | None
    messages: tuple[str, ...]
    """Of sh:message, as N-Triples."""
    has_value: bool
    said: str
    """The constraint in a few words, where there is no message."""

    def text(self) -> str:
        """The same as JSON."""
        return json.dumps(
            {
                "shape": str(self.shape),
                "component": self.component,
                "severity": self.severity.value,
                "path": None if self.path is None else path_json(self.path),
                "messages": list(self.messages),
                "value": self.has_value,
                "said": self.said,
            }
        )


@lru_cache(maxsize=1 << 10)
def constraint_of(text: str) -> Constraint:
    """The constraint that a text stands for; every report asks for the same ones."""
    given = json.loads(text)
    shape = given["shape"]
    return Constraint(
        BlankNode(shape[2:]) if shape.startswith("_:") else NamedNode(shape[1:-1]),
        given["component"],
        NamedNode(given["severity"]),
        None if given["path"] is None else path_from_json(given["path"]),
        tuple(given["messages"]),
        given["value"],
        given["said"],
    )
