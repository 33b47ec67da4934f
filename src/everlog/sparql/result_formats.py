"""Results as text: the W3C's JSON, XML, CSV and TSV forms of solutions, and N-Triples and Turtle for graphs.

What a term is written as is worked out once for each distinct term of a column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import XSD, Value
from everlog.errors import EverlogError
from everlog.expressions.term_functions import datatype, string
from everlog.sparql.query_run import QueryResult

OfIris: TypeAlias = Callable[[pa.LargeStringArray], pa.LargeStringArray]
"""Writes IRIs, in which there are no quotes, backslashes, angle brackets and line breaks."""

_XML: Final = "http://www.w3.org/2005/sparql-results#"
_QUOTED: Final = re.compile(r'[",\r\n]')
_BARE: Final = {
    f"{XSD}integer": re.compile(r"[+-]?[0-9]+"),
    f"{XSD}decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    f"{XSD}double": re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
}
"""Numbers that Turtle, and so TSV, writes without quotes."""


def serialized(result: QueryResult, format: str) -> str:
    """A result in one of the formats that there are for it."""
    known = _OF_GRAPHS if result.form in ("construct", "describe") else _OF_SOLUTIONS
    if format not in known:
        names = ", ".join(known)
        raise EverlogError(f"the result of {result.form.upper()} is written as one of {names}, not as {format}")
    return known[format](result)


def _texts(result: QueryResult, write: Callable[[Value], str], write_iris: OfIris) -> list[list[str | None]]:
    """The columns of a result, as texts; `write_iris` takes the texts of IRIs."""
    found = []
    for variable in result.variables:
        encoded = pa.array(result.solutions.column(variable)).dictionary_encode()
        ids = encoded.dictionary.to_numpy()
        iris = result.terms.iri_texts(ids)
        texts: list[str | None]
        if iris is None:
            texts = [None if value is None else write(value) for value in result.terms.values(ids)]
        else:
            texts = write_iris(iris).to_pylist()
        found.append([texts[place] for place in encoded.indices.to_pylist()])
    return found


def _rows(result: QueryResult, write: Callable[[Value], str], write_iris: OfIris) -> Iterator[tuple[str | None, ...]]:
    if not result.variables:
        return iter([()] * result.solutions.length)
    return zip(*_texts(result, write, write_iris), strict=True)


def _between(before: str, texts: pa.LargeStringArray, after: str) -> pa.LargeStringArray:
    start, end, separator = (pa.scalar(text, pa.large_string()) for text in (before, after, ""))
    return pc.binary_join_element_wise(start, texts, end, separator)


def _text(value: Value) -> str:
    """The text of a term, without what says of which kind it is."""
    if isinstance(value, BlankNode):
        return value.value
    found = string(value)
    assert found is not None
    return found


# ------------------------------------------------------------------------------------ JSON


def _json_iris(iris: pa.LargeStringArray) -> pa.LargeStringArray:
    return _between('{"type":"uri","value":"', iris, '"}')


def _json_term(value: Value) -> str:
    text = json.dumps(_text(value), ensure_ascii=False)
    if isinstance(value, NamedNode | BlankNode):
        return f'{{"type":"{"uri" if isinstance(value, NamedNode) else "bnode"}","value":{text}}}'
    if isinstance(value, Literal) and value.language is not None:
        return f'{{"type":"literal","value":{text},"xml:lang":"{value.language}"}}'
    kind = datatype(value)
    assert kind is not None
    if kind.value == f"{XSD}string":
        return f'{{"type":"literal","value":{text}}}'
    return f'{{"type":"literal","value":{text},"datatype":{json.dumps(kind.value, ensure_ascii=False)}}}'


def _json(result: QueryResult) -> str:
    if result.form == "ask":
        return f'{{"head":{{}},"boolean":{"true" if result.solutions.length else "false"}}}'
    names = [json.dumps(variable.name, ensure_ascii=False) for variable in result.variables]
    rows = (
        "{" + ",".join(f"{name}:{text}" for name, text in zip(names, row, strict=True) if text is not None) + "}"
        for row in _rows(result, _json_term, _json_iris)
    )
    return f'{{"head":{{"vars":[{",".join(names)}]}},"results":{{"bindings":[{",".join(rows)}]}}}}'


# ------------------------------------------------------------------------------------ XML


def _xml_iris(iris: pa.LargeStringArray) -> pa.LargeStringArray:
    return _between("<uri>", pc.replace_substring(iris, "&", "&amp;"), "</uri>")


def _xml_term(value: Value) -> str:
    text = escape(_text(value), {"\r": "&#13;"})
    if isinstance(value, NamedNode | BlankNode):
        kind = "uri" if isinstance(value, NamedNode) else "bnode"
        return f"<{kind}>{text}</{kind}>"
    if isinstance(value, Literal) and value.language is not None:
        return f"<literal xml:lang={quoteattr(value.language)}>{text}</literal>"
    known = datatype(value)
    assert known is not None
    attribute = "" if known.value == f"{XSD}string" else f" datatype={quoteattr(known.value)}"
    return f"<literal{attribute}>{text}</literal>"


def _xml(result: QueryResult) -> str:
    start = f'<?xml version="1.0"?>\n<sparql xmlns="{_XML}">'
    if result.form == "ask":
        return f"{start}<head/><boolean>{'true' if result.solutions.length else 'false'}</boolean></sparql>\n"
    names = [quoteattr(variable.name) for variable in result.variables]
    head = "".join(f"<variable name={name}/>" for name in names)
    rows = "".join(
        "<result>"
        + "".join(
            f"<binding name={name}>{text}</binding>" for name, text in zip(names, row, strict=True) if text is not None
        )
        + "</result>"
        for row in _rows(result, _xml_term, _xml_iris)
    )
    return f"{start}<head>{head}</head><results>{rows}</results></sparql>\n"


# ------------------------------------------------------------------------------------ CSV and TSV


def _csv_term(value: Value) -> str:
    return _csv_text(f"_:{value.value}" if isinstance(value, BlankNode) else _text(value))


def _csv_iris(iris: pa.LargeStringArray) -> pa.LargeStringArray:
    return pc.if_else(pc.match_substring(iris, ","), _between('"', iris, '"'), iris)


def _csv_text(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _tsv_term(value: Value) -> str:
    if isinstance(value, int | float | Literal) and not isinstance(value, bool):
        text, kind = _text(value), datatype(value)
        pattern = None if kind is None else _BARE.get(kind.value)
        if pattern is not None and pattern.fullmatch(text):
            return text
    return write_term(value).replace("\t", "\\t")


def _tsv_iris(iris: pa.LargeStringArray) -> pa.LargeStringArray:
    return _between("<", iris, ">")


def _lines(heads: Sequence[str], rows: Iterator[tuple[str | None, ...]], between: str, end: str) -> str:
    lines = [between.join(heads), *(between.join(["" if text is None else text for text in row]) for row in rows)]
    return end.join([*lines, ""])


def _csv(result: QueryResult) -> str:
    if result.form == "ask":
        return "true" if result.solutions.length else "false"
    return _lines([variable.name for variable in result.variables], _rows(result, _csv_term, _csv_iris), ",", "\r\n")


def _tsv(result: QueryResult) -> str:
    if result.form == "ask":
        return "true" if result.solutions.length else "false"
    return _lines(
        [f"?{variable.name}" for variable in result.variables], _rows(result, _tsv_term, _tsv_iris), "\t", "\n"
    )


# ------------------------------------------------------------------------------------ graphs


def _term(value: Value) -> NamedNode | BlankNode | Literal:
    if isinstance(value, NamedNode | BlankNode | Literal):
        return value
    return Literal(_text(value), datatype=datatype(value))


def triples(result: QueryResult) -> Iterator[Triple]:
    """The triples of a graph."""
    for row in zip(*result.columns(), strict=True):
        subject, predicate, target = (_term(value) for value in row if value is not None)
        assert isinstance(subject, NamedNode | BlankNode)
        assert isinstance(predicate, NamedNode)
        yield Triple(subject, predicate, target)


def _graph(format: RdfFormat) -> Callable[[QueryResult], str]:
    def written(result: QueryResult) -> str:
        prefixes = dict(result.prefixes) if format == RdfFormat.TURTLE else None
        data = serialize(triples(result), format=format, prefixes=prefixes)
        assert data is not None
        return data.decode()

    return written


_OF_SOLUTIONS: Final[Mapping[str, Callable[[QueryResult], str]]] = {
    "json": _json,
    "xml": _xml,
    "csv": _csv,
    "tsv": _tsv,
}
_OF_GRAPHS: Final[Mapping[str, Callable[[QueryResult], str]]] = {
    "nt": _graph(RdfFormat.N_TRIPLES),
    "ttl": _graph(RdfFormat.TURTLE),
}
