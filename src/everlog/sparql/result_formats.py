"""Results as text: the W3C's JSON, XML, CSV and TSV forms of solutions, and N-Triples and Turtle for graphs.

Columns of IRIs are written as a whole; of others, what a term is written as is worked out once for each distinct term.
Rows are joined by Arrow, so that no Python object is made for a cell; of a few rows columns are Python's lists, since there
Arrow takes longer to begin than Python to end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import XSD, Value
from everlog.engine.memory.term_kinds import IRI, STRING
from everlog.errors import EverlogError
from everlog.expressions.term_functions import datatype, string
from everlog.sparql.query_run import QueryResult
from everlog.sparql.query_terms import QueryTerms
from everlog.sparql.solutions import Ids

Texts: TypeAlias = Any  # pa.LargeStringArray | list[str | None]; Arrow has no types
"""A column of texts; null and None are what is not bound."""
OfTexts: TypeAlias = Callable[[Texts], Texts]
"""Writes many terms at once; in the texts of IRIs there are no quotes, backslashes, angle brackets and line breaks."""

_FEW: Final = 400
"""Up to so many rows are written without Arrow: 239 IRIs as CSV take 75 µs then, and 130 with it."""
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


@dataclass(frozen=True)
class _Writing:
    """How terms are written; whole columns of IRIs, and perhaps of strings, at once."""

    term: Callable[[Value], str]
    iris: OfTexts
    strings: OfTexts | None = None


def _cells(result: QueryResult, writing: _Writing) -> list[Texts]:
    """The columns of a result as texts."""
    written = _few if result.solutions.length <= _FEW else _column
    return [written(result.terms, result.solutions.column(variable), writing) for variable in result.variables]


def _few(terms: QueryTerms, ids: Ids, writing: _Writing) -> Texts:
    texts = terms.few_texts(ids, IRI)
    if texts is not None:
        return writing.iris(texts)
    texts = None if writing.strings is None else terms.few_texts(ids, STRING)
    if texts is not None and writing.strings is not None:
        return writing.strings(texts)
    return [None if value is None else writing.term(value) for value in terms.values(ids)]


def _column(terms: QueryTerms, ids: Ids, writing: _Writing) -> Texts:
    texts = terms.iri_texts(ids)
    if texts is not None:
        return writing.iris(texts)
    texts = None if writing.strings is None else terms.string_texts(ids)
    if texts is not None and writing.strings is not None:
        return writing.strings(texts)
    encoded = pa.array(ids).dictionary_encode()
    values = terms.values(encoded.dictionary.to_numpy())
    written = [None if value is None else writing.term(value) for value in values]
    return pa.array(written, pa.large_string()).take(encoded.indices)


def _rows(cells: Sequence[Texts], number: int, between: str) -> Texts:
    """Rows of cells; what is not bound is empty."""
    if not cells:
        return [""] * number
    if isinstance(cells[0], list):
        full = [[text or "" for text in texts] if None in texts else texts for texts in cells]
        return full[0] if len(full) == 1 else list(map(between.join, zip(*full, strict=True)))
    if len(cells) == 1:
        return cells[0] if not cells[0].null_count else cells[0].fill_null("")
    separator = pa.scalar(between, pa.large_string())
    return pc.binary_join_element_wise(*cells, separator, null_handling="replace", null_replacement="")


def _whole(before: str, rows: Texts, after: str) -> str:
    """All rows as one text, each with something before it and after it: such texts lie one behind the other in memory."""
    if isinstance(rows, list):
        return before + (after + before).join(rows) + after if rows else ""
    found = _between(before, rows, after)
    if not len(found):
        return ""
    _, offsets, data = found.buffers()
    ends = np.frombuffer(offsets, np.int64)[found.offset : found.offset + len(found) + 1]
    return str(data[int(ends[0]) : int(ends[-1])].to_pybytes().decode())


def _between(before: str, texts: Texts, after: str) -> Texts:
    if isinstance(texts, list):
        return [None if text is None else f"{before}{text}{after}" for text in texts]
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


def _json_iris(iris: Texts) -> Texts:
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
    cells = zip(names, _cells(result, _JSON), strict=True)
    # Commas come with the cells that are there. (Arrow's own way to skip nulls loses rows that have nothing else.)
    rows = _rows([_between(f",{name}:", one, "") for name, one in cells], result.solutions.length, "")
    rows = [row[1:] for row in rows] if isinstance(rows, list) else pc.utf8_slice_codeunits(rows, 1)
    text = _whole("{", rows, "},")[:-1]
    return f'{{"head":{{"vars":[{",".join(names)}]}},"results":{{"bindings":[{text}]}}}}'


# ------------------------------------------------------------------------------------ XML


def _xml_iris(iris: Texts) -> Texts:
    if isinstance(iris, list):
        return _between("<uri>", [iri.replace("&", "&amp;") for iri in iris], "</uri>")
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
    cells = zip(names, _cells(result, _XML_WRITING), strict=True)
    bindings = [_between(f"<binding name={name}>", one, "</binding>") for name, one in cells]
    text = _whole("<result>", _rows(bindings, result.solutions.length, ""), "</result>")
    return f"{start}<head>{head}</head><results>{text}</results></sparql>\n"


# ------------------------------------------------------------------------------------ CSV and TSV


def _csv_term(value: Value) -> str:
    return _csv_text(f"_:{value.value}" if isinstance(value, BlankNode) else _text(value))


def _csv_iris(iris: Texts) -> Texts:
    if isinstance(iris, list):
        return _csv_strings(iris)
    needy = pc.match_substring(iris, ",")
    return pc.if_else(needy, _between('"', iris, '"'), iris) if pc.any(needy).as_py() else iris


def _csv_strings(texts: Texts) -> Texts:
    """Texts, in quotes where they need them."""
    if isinstance(texts, list):
        return [_csv_text(text) for text in texts] if _QUOTED.search("".join(texts)) else texts
    needy = pc.match_substring_regex(texts, _QUOTED.pattern)
    if not pc.any(needy).as_py():
        return texts
    return pc.if_else(needy, _between('"', pc.replace_substring(texts, '"', '""'), '"'), texts)


def _csv_text(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _tsv_term(value: Value) -> str:
    if isinstance(value, int | float | Literal) and not isinstance(value, bool):
        text, kind = _text(value), datatype(value)
        pattern = None if kind is None else _BARE.get(kind.value)
        if pattern is not None and pattern.fullmatch(text):
            return text
    return write_term(value).replace("\t", "\\t")


def _tsv_iris(iris: Texts) -> Texts:
    return _between("<", iris, ">")


def _lines(result: QueryResult, heads: Sequence[str], writing: _Writing, between: str, end: str) -> str:
    rows = _rows(_cells(result, writing), result.solutions.length, between)
    return between.join(heads) + end + _whole("", rows, end)


def _csv(result: QueryResult) -> str:
    if result.form == "ask":
        return "true" if result.solutions.length else "false"
    return _lines(result, [variable.name for variable in result.variables], _CSV, ",", "\r\n")


def _tsv(result: QueryResult) -> str:
    if result.form == "ask":
        return "true" if result.solutions.length else "false"
    return _lines(result, [f"?{variable.name}" for variable in result.variables], _TSV, "\t", "\n")


_JSON: Final = _Writing(_json_term, _json_iris)
_XML_WRITING: Final = _Writing(_xml_term, _xml_iris)
_CSV: Final = _Writing(_csv_term, _csv_iris, _csv_strings)
_TSV: Final = _Writing(_tsv_term, _tsv_iris)
_NTRIPLES: Final = _Writing(write_term, _tsv_iris)


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


def _turtle(result: QueryResult) -> str:
    data = serialize(triples(result), format=RdfFormat.TURTLE, prefixes=dict(result.prefixes))
    assert data is not None
    return data.decode()


def _ntriples(result: QueryResult) -> str:
    return _whole("", _rows(_cells(result, _NTRIPLES), result.solutions.length, " "), " .\n")


_OF_SOLUTIONS: Final[Mapping[str, Callable[[QueryResult], str]]] = {
    "json": _json,
    "xml": _xml,
    "csv": _csv,
    "tsv": _tsv,
}
_OF_GRAPHS: Final[Mapping[str, Callable[[QueryResult], str]]] = {
    "nt": _ntriples,
    "ttl": _turtle,
}
