"""Shapes of SHACL as a program, and what facts do not conform to them.

Shapes that are part of a knowledge base's program are validated by its rules, and a report reads what they have derived.
Others are rules that are evaluated beside it, once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal, Quad, RdfFormat, Triple, serialize

from everlog.datalog.constraints import SHAPE_VIOLATION
from everlog.datalog.prefixes import with_prefixes
from everlog.datalog.substitution import canonical_rule
from everlog.datalog.syntax import TRIPLE, Constant, Program
from everlog.datalog.values import Value
from everlog.errors import EverlogError
from everlog.rdf.shacl.property_paths import IllFormed
from everlog.rdf.shacl.result_kinds import CONSTRAINT, REMARK, SHAPE, Constraint, constraint_of
from everlog.rdf.shacl.shape_rules import shape_rules
from everlog.rdf.shacl.shapes import Shapes
from everlog.rdf.shacl.shapes_graph import read_shapes
from everlog.rdf.shacl.validation_report import ValidationReport, report_of

if TYPE_CHECKING:
    from everlog.knowledge.base import KnowledgeBase

RESULTS = {SHAPE_VIOLATION: 4, REMARK: 4}
"""The predicates of what does not conform."""


def shapes(*documents: str | os.PathLike[str], text: str | None = None) -> Program:
    """The program that validates by the shapes of SHACL in some documents, which are one graph.

    A document is a file in a syntax of RDF, perhaps compressed as `.gz`; `text` is Turtle. With `union(rules,
    shapes("shapes.ttl"))` a knowledge base has both, and `validate()` reports.
    """
    from everlog.expressions.regular_expressions import compiled  # importing everlog stays quick

    if not documents and text is None:
        raise EverlogError("there are no shapes: give the paths of their documents, or text=…")
    read = read_shapes([Path(path) for path in documents], () if text is None else (text,))
    found = Shapes(read)
    if not found.targeted:
        raise IllFormed(
            "no shape has a target (sh:targetClass, sh:targetNode, sh:targetSubjectsOf, sh:targetObjectsOf, or a shape "
            "that is a class), so that nothing would be validated"
        )
    for shape in found.shapes.values():
        for parameter in shape.parameters:
            if parameter.name == "pattern":
                flags = shape.settings.get("flags")
                if compiled(parameter.values[0].value, "" if flags is None else flags.value) is None:
                    raise IllFormed(
                        f"the shape {shape.label}: sh:pattern is no regular expression: {parameter.values[0]}"
                    )
    return with_prefixes(shape_rules(found), read.prefixes)


def shape_constraints(program: Program) -> dict[str, Constraint]:
    """What a program says about the constraints of its shapes."""
    found: dict[str, Constraint] = {}
    for fact in program.facts:
        if fact.predicate == CONSTRAINT:
            name, text = (str(term.value) for term in fact.terms if isinstance(term, Constant))
            if found.setdefault(name, constraint_of(text)) != constraint_of(text):
                raise EverlogError(f"there are two constraints {name}: give all documents of shapes to one shapes(…)")
    return found


def validated(kb: KnowledgeBase, given: str | os.PathLike[str] | Program | Iterable[Any] | None) -> ValidationReport:
    """What does not conform to the shapes of a program, or to others."""
    program = kb.program if given is None else _program(given)
    constraints = shape_constraints(program)
    if given is None and not any(fact.predicate == SHAPE for fact in program.facts):
        raise EverlogError("the program has no shapes: give some, as in validate('shapes.ttl')")
    prefixes = {**program.prefixes, **kb.program.prefixes}
    return report_of(_rows(kb, program), constraints, prefixes)


def _rows(kb: KnowledgeBase, program: Program) -> list[tuple[Value, ...]]:
    if program is kb.program or _has(kb.program, program):
        return [row for predicate in RESULTS if predicate in kb.arities for row in kb.rows(predicate)]
    if kb.settings.equality == "rewrite":  # facts are in one name of several, and shapes may speak of all
        return _apart(kb, program)
    return kb.derived_beside(program, RESULTS)


def _has(program: Program, other: Program) -> bool:
    """Whether a program has all rules of another one."""
    known = set(map(canonical_rule, program.rules))
    return all(canonical_rule(rule) in known for rule in other.rules)


def _apart(kb: KnowledgeBase, program: Program) -> list[tuple[Value, ...]]:
    """The same by a knowledge base of its own."""
    other = type(kb)(program, engine="memory")
    other.add({TRIPLE: kb.facts(TRIPLE)})
    other.materialise()
    return [row for predicate in RESULTS if predicate in other.arities for row in other.rows(predicate)]


def _program(given: str | os.PathLike[str] | Program | Iterable[Any]) -> Program:
    if isinstance(given, Program):
        return given
    if isinstance(given, str | os.PathLike):
        return shapes(given)
    lines = serialize((_triple(one) for one in given), format=RdfFormat.N_TRIPLES)
    assert lines is not None
    return shapes(text=lines.decode())


def _triple(given: Any) -> Triple:
    """A triple of pyoxigraph, of its own or of a quad, or three terms."""
    if isinstance(given, Triple):
        return given
    if isinstance(given, Quad):
        return given.triple
    subject, predicate, target = given
    return Triple(subject, predicate, Literal(target) if isinstance(target, str | int | float) else target)
