"""The W3C's tests of SPARQL queries: manifests, data and expected results, for any engine that answers queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Store,
    Triple,
    parse,
    parse_query_results,
)

Term = NamedNode | BlankNode | Literal
Solution = dict[str, Term]

_SITE = "http://www.w3.org/2009/sparql/docs/tests/data-sparql11/"
_MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
_RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_FORMATS = {".srx": QueryResultsFormat.XML, ".srj": QueryResultsFormat.JSON, ".tsv": QueryResultsFormat.TSV}


@dataclass(frozen=True)
class Outcome:
    """What a query gives: a truth, solutions, or a graph; or text, of a format that tells too little to be read."""

    truth: bool | None = None
    solutions: list[Solution] | None = None
    graph: list[Triple] | None = None
    text: str | None = None

    def key(self) -> object:
        """The same for outcomes that are the same, up to the names of blank nodes and how numbers are written."""
        if self.solutions is not None:
            return "solutions", _canonical(_reified(self.solutions))
        if self.graph is not None:
            return "graph", _canonical(
                Quad(_plain(one.subject), one.predicate, _plain(one.object)) for one in self.graph
            )
        return self.truth, None if self.text is None else sorted(re.sub(r"_:\w+", "_:", self.text).split())


@dataclass(frozen=True)
class Case:
    """A test: what kind it is, its query, data, and the file of its result."""

    name: str
    kind: str
    query: Path
    base: str
    data: tuple[tuple[Path, str], ...] = ()
    graphs: tuple[tuple[Path, str], ...] = ()
    result: Path | None = None

    def text(self) -> str:
        return self.query.read_text(encoding="utf-8")

    def triples(self) -> list[Quad]:
        return [quad for path, base in self.data for quad in _parsed(path, base)]

    def quads(self) -> list[Quad]:
        return [
            Quad(one.subject, one.predicate, one.object, NamedNode(base))
            for path, base in self.graphs
            for one in _parsed(path, base)
        ]

    def expected(self) -> Outcome:
        path = self.result
        assert path is not None
        if path.suffix == ".csv":
            return Outcome(text=path.read_text(encoding="utf-8"))
        if path.suffix in _FORMATS:
            return outcome_of(parse_query_results(path.read_bytes(), format=_FORMATS[path.suffix]))
        triples = [quad.triple for quad in _parsed(path, self.base)]
        of_solutions = NamedNode(f"{_RS}ResultSet")
        if any(one.object == of_solutions for one in triples):
            return _listed(triples)
        return Outcome(graph=triples)


def cases(folder: Path) -> Iterator[Case]:
    """The tests of a group, in the order of its manifest."""
    group = f"{_SITE}{folder.name}/"
    store = Store()
    store.extend(_parsed(folder / "manifest.ttl", f"{group}manifest.ttl"))

    def one(subject: object, predicate: str) -> object:
        found = store.quads_for_pattern(subject, NamedNode(predicate), None)  # type: ignore[arg-type]
        return next((quad.object for quad in found), None)

    def files(subject: object, predicate: str) -> tuple[tuple[Path, str], ...]:
        found = store.quads_for_pattern(subject, NamedNode(predicate), None)  # type: ignore[arg-type]
        return tuple(_file(folder, group, quad.object) for quad in found)

    entries = one(NamedNode(f"{group}manifest.ttl"), f"{_MF}entries")
    while entries != NamedNode(f"{_RDF}nil"):
        test, entries = one(entries, f"{_RDF}first"), one(entries, f"{_RDF}rest")
        kind, action, result = (one(test, name) for name in (f"{_RDF}type", f"{_MF}action", f"{_MF}result"))
        assert isinstance(test, NamedNode)
        assert isinstance(kind, NamedNode)
        name = f"{folder.name}/{re.split('[#/]', test.value)[-1]}"
        query = action if isinstance(action, NamedNode) else one(action, f"{_QT}query")
        path, base = _file(folder, group, query)
        yield Case(
            name,
            kind.value.removeprefix(_MF),
            path,
            base,
            files(action, f"{_QT}data"),
            files(action, f"{_QT}graphData"),
            None if result is None else _file(folder, group, result)[0],
        )


def _file(folder: Path, group: str, iri: object) -> tuple[Path, str]:
    assert isinstance(iri, NamedNode)
    return folder / iri.value.removeprefix(group), iri.value


def _parsed(path: Path, base: str) -> list[Quad]:
    format = {".rdf": RdfFormat.RDF_XML, ".nt": RdfFormat.N_TRIPLES}.get(path.suffix, RdfFormat.TURTLE)
    return list(parse(path.read_bytes(), format=format, base_iri=base, rename_blank_nodes=True))


def outcome_of(result: object) -> Outcome:
    """What pyoxigraph gives, as an outcome."""
    if isinstance(result, QueryBoolean):
        return Outcome(truth=bool(result))
    if isinstance(result, QuerySolutions):
        names = [variable.value for variable in result.variables]
        return Outcome(
            solutions=[
                {name: value for name, value in zip(names, solution, strict=True) if value is not None}
                for solution in result
            ]
        )
    assert isinstance(result, Iterable)
    return Outcome(graph=list(result))


def _listed(triples: list[Triple]) -> Outcome:
    """Solutions that a graph lists."""

    def objects(subject: object, name: str) -> list[Term]:
        return [one.object for one in triples if one.subject == subject and one.predicate.value == _RS + name]  # type: ignore[misc]

    (top,) = (one.subject for one in triples if one.object == NamedNode(f"{_RS}ResultSet"))
    if truth := objects(top, "boolean"):
        return Outcome(truth=truth[0].value == "true")
    solutions = []
    for row in objects(top, "solution"):
        bindings = objects(row, "binding")
        solutions.append({objects(one, "variable")[0].value: objects(one, "value")[0] for one in bindings})
    return Outcome(solutions=solutions)


def _reified(solutions: list[Solution]) -> Iterator[Quad]:
    """Solutions as a graph: a blank node for each, with its values."""
    for solution in solutions:
        row = BlankNode()
        yield Quad(row, NamedNode("urn:is"), NamedNode("urn:row"))
        for name, value in solution.items():
            yield Quad(row, NamedNode(f"urn:variable:{name}"), _plain(value))


def _canonical(quads: Iterable[Quad]) -> frozenset[str]:
    dataset = Dataset(quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return frozenset(map(str, dataset))


def _plain(term: Term) -> Term:
    """A number as one of several ways to write it."""
    if not isinstance(term, Literal) or term.language is not None:
        return term
    kind = term.datatype.value.removeprefix(_XSD)
    try:
        if kind == "integer":
            return Literal(str(int(term.value)), datatype=term.datatype)
        if kind == "decimal":
            return Literal(f"{Decimal(term.value).normalize():f}", datatype=term.datatype)
        if kind in ("double", "float"):
            return Literal(repr(float(term.value)), datatype=term.datatype)
    except (ValueError, ArithmeticError):
        pass
    return term


def passes(case: Case, ask: Callable[[Case, str | None], Outcome], refused: tuple[type[Exception], ...]) -> bool:
    """Whether an engine passes a test; `ask` gets the format to answer in, where the test is about one."""
    if case.kind.startswith("PositiveSyntax"):
        ask(case, None)
        return True
    if case.kind.startswith("NegativeSyntax"):
        try:
            ask(case, None)
        except refused:
            return True
        return False
    assert case.result is not None
    suffix = case.result.suffix
    form = suffix[1:] if suffix in (".csv", ".tsv") else {".srj": "json", ".srx": "xml"}.get(suffix)
    return ask(case, form).key() == case.expected().key()
