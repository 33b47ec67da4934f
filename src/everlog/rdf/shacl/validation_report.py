"""What does not conform to shapes: results as tables, as text, and as the graph that SHACL calls a validation report."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal, TypeAlias

from pyoxigraph import NamedNode, RdfFormat, parse, serialize

from everlog.datalog.ntriples import write_term
from everlog.datalog.prefixes import WELL_KNOWN
from everlog.datalog.printer import print_term
from everlog.datalog.syntax import Constant
from everlog.datalog.values import RDF_TYPE, Value
from everlog.errors import EverlogError
from everlog.rdf.owl.graph import Node
from everlog.rdf.shacl.property_paths import Path, Step, path_text, path_triples
from everlog.rdf.shacl.result_kinds import Constraint
from everlog.rdf.shacl.shacl_vocabulary import SH, component_name
from everlog.wording import counted

ReportFormat: TypeAlias = Literal["nt", "ttl"]

_FORMATS: Final = {"nt": RdfFormat.N_TRIPLES, "ttl": RdfFormat.TURTLE}
_CLOSED: Final = component_name("closed")
_COLUMNS: Final = ("focus", "path", "value", "constraint", "severity", "message")


@dataclass(frozen=True)
class Result:
    """One thing that does not conform."""

    focus: Value
    path: Path | None
    value: Value | None
    shape: Node
    component: str
    severity: NamedNode
    messages: tuple[str, ...]
    """As N-Triples."""
    constraint: str
    """What the constraint is called: the parameter, and the shape."""


@dataclass(frozen=True)
class ValidationReport:
    """What `validate` finds: whether everything conforms, and what does not.

    `serialize("ttl")` is the graph that SHACL calls a validation report.
    """

    results: Sequence[Result]
    prefixes: Mapping[str, str]

    @property
    def conforms(self) -> bool:
        """Whether there are no results, of whatever severity."""
        return not self.results

    def rows(self) -> list[dict[str, str | None]]:
        """The results as a table: columns focus, path, value, constraint, severity, message."""
        return [dict(zip(_COLUMNS, self._row(result), strict=True)) for result in self.results]

    def _row(self, result: Result) -> tuple[str | None, ...]:
        return (
            self._term(result.focus),
            None if result.path is None else path_text(result.path, self._short),
            None if result.value is None else self._term(result.value),
            result.constraint,
            self._short(result.severity.value),
            "; ".join(text_of(message) for message in result.messages),
        )

    def serialize(self, format: ReportFormat = "ttl") -> str:
        """The report as an RDF graph: `nt` or `ttl`."""
        if format not in _FORMATS:
            raise EverlogError(f"format={format!r} is not supported; choose one of: {', '.join(_FORMATS)}")
        lines = "".join(f"{line} .\n" for line in self._statements())
        if format == "nt":
            return lines
        written = io.BytesIO()
        triples = (quad.triple for quad in parse(lines, format=RdfFormat.N_TRIPLES))
        known = {
            name: space
            for name, space in {**WELL_KNOWN, **self.prefixes}.items()
            if name in _used(lines, self.prefixes)
        }
        serialize(triples, written, format=RdfFormat.TURTLE, prefixes=known)
        return written.getvalue().decode()

    def json(self) -> str:
        """Whether everything conforms, and the results as a list of objects."""
        return json.dumps({"conforms": self.conforms, "results": self.rows()}, ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        if self.conforms:
            return "everything conforms"
        lines = [f"{counted(len(self.results), 'result')}:"]
        for row in self.rows():
            about = " ".join(part for part in (row["focus"], row["path"]) if part is not None)
            value = "" if row["value"] is None else f": {row['value']}"
            lines.append(f"  {about}{value}  ({row['constraint']}, {row['severity']}: {row['message']})")
        return "\n".join(lines)

    def _statements(self) -> Iterator[str]:
        report, labels = "_:validation", (f"validation{number}" for number in count(1))
        yield f"{report} {RDF_TYPE} <{SH}ValidationReport>"
        truth = "true" if self.conforms else "false"
        yield f'{report} <{SH}conforms> "{truth}"^^<http://www.w3.org/2001/XMLSchema#boolean>'
        for result in self.results:
            node = f"_:{next(labels)}"
            said: list[tuple[str, str]] = [
                ("focusNode", write_term(result.focus)),
                ("resultSeverity", str(result.severity)),
                ("sourceConstraintComponent", f"<{result.component}>"),
                ("sourceShape", str(result.shape)),
                *(("resultMessage", message) for message in result.messages),
            ]
            if result.value is not None:
                said.append(("value", write_term(result.value)))
            if result.path is not None:
                first, triples = path_triples(result.path, labels)
                said.append(("resultPath", str(first)))
                yield from (f"{one} <{verb}> {other}" for one, verb, other in triples)
            yield f"{report} <{SH}result> {node}"
            yield f"{node} {RDF_TYPE} <{SH}ValidationResult>"
            yield from (f"{node} <{SH}{name}> {value}" for name, value in said)

    def _term(self, value: Value) -> str:
        return print_term(Constant(value), self.prefixes)

    def _short(self, iri: str) -> str:
        return print_term(Constant(NamedNode(iri)), self.prefixes)


def report_of(
    rows: Sequence[tuple[Value, ...]], constraints: Mapping[str, Constraint], prefixes: Mapping[str, str]
) -> ValidationReport:
    """The report of what rules have derived: rows of a constraint's name, a focus node, a value and a detail."""
    messages = {name: known.messages or (write_term(known.said),) for name, known in constraints.items()}
    found = [
        _result(constraints[name], name, messages[name], row)
        for name, row in ((str(row[0]), row) for row in rows)
        if name in constraints
    ]
    return ValidationReport(sorted(found, key=lambda one: (one.constraint, str(one.focus), str(one.value))), prefixes)


def _result(known: Constraint, name: str, messages: tuple[str, ...], row: tuple[Value, ...]) -> Result:
    _, focus, value, detail = row
    path = known.path
    if known.component == _CLOSED and isinstance(detail, NamedNode):
        path = Step(detail.value)
    result = value if known.has_value else None
    return Result(focus, path, result, known.shape, known.component, known.severity, messages, name)


def text_of(message: str) -> str:
    """The text of a literal that is N-Triples."""
    from everlog.datalog.ntriples import read_term

    found: Any = read_term(message)
    return found if isinstance(found, str) else str(found.value)


def _used(text: str, prefixes: Mapping[str, str]) -> set[str]:
    return {name for name, space in {**WELL_KNOWN, **prefixes}.items() if f"<{space}" in text}
