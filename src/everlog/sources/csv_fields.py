r"""Fields of CSV and TSV, both ways, on canonical N-Triples texts.

An unquoted field that looks like an integer or a float is one; `<…>`, `_:…` and N-Triples literals with `^^` or `@` are
RDF terms; everything else, and every quoted field, is a string. A literal begins with a quote too, and what follows the
closing quote tells them apart: a delimiter or the end after a string, `@` or `^^` after a literal. So that the closing
quote is found without knowing which it is, the writer spells a quote inside a literal `\u0022`; the reader also takes
`\"` where no other reading is possible.

An unquoted field that is empty stands for a null, and `""` for the empty string; who splits lines tells them apart.

Blank lines: a row of one empty field, hence a null for a predicate with one argument, and the fact of a predicate with
none. Anywhere else they are a mistake.
"""

from __future__ import annotations

import math
import re

from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import XSD, canonical_double
from everlog.errors import UnsupportedValue

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_LITERAL = re.compile(r'"[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>]*>)')
_ESCAPED = re.compile(r'[\x00-\x1f\x7f\ufffe\uffff"\\]')
_INTEGER_END, _DOUBLE_END = f'"^^<{XSD}integer>', f'"^^<{XSD}double>'


class MalformedField(UnsupportedValue):
    """A field or a line that follows none of the rules."""


def field_term(field: str, quoted: bool) -> str:
    """The canonical N-Triples text of a field without its quotes.

    >>> field_term("5", False), field_term("5", True), field_term("007", False)
    ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', '"5"', '"007"')
    """
    if quoted:
        return string_text(field)
    return _term(field) if field and _looks_like_term(field) else plain_term(field)


def plain_term(field: str) -> str:
    """The canonical N-Triples text of a field that is a number or a string.

    >>> plain_term("-3"), plain_term("<init>")
    ('"-3"^^<http://www.w3.org/2001/XMLSchema#integer>', '"<init>"')
    """
    if _INTEGER.fullmatch(field):
        # Beyond 64 bits it stays the literal that it is, exactly.
        return f'"{"0" if field == "-0" else field}{_INTEGER_END}'
    if _FLOAT.fullmatch(field):
        number = float(field)
        if math.isinf(number):
            raise MalformedField(f"{_shown(field)} is too large for a float; quote it to have it as text")
        return f'"{canonical_double(number)}{_DOUBLE_END}'
    return string_text(field)


def string_text(string: str) -> str:
    """A string as N-Triples writes it."""
    return write_term(string) if _ESCAPED.search(string) else f'"{string}"'


def csv_field(text: str, delimiter: str = ",") -> str:
    """A canonical N-Triples text as a field, quoted exactly when needed.

    >>> csv_field('"a"'), csv_field('"5"'), csv_field('"5"^^<http://www.w3.org/2001/XMLSchema#integer>')
    ('a', '"5"', '5')
    >>> csv_field('""')
    '""'
    """
    if text[0] != '"':
        return _guarded(text, delimiter)
    if text[-1] == '"':
        return _string_field(text, delimiter)
    if text.endswith(_INTEGER_END):
        number = text[1 : -len(_INTEGER_END)]
        if _INTEGER.fullmatch(number) and number != "-0":
            return number
    elif text.endswith(_DOUBLE_END):
        field = _float_field(text)
        if field is not None:
            return field
    end = text.rindex('"')
    # Not the backslash of \\, which may stand before a quote: escapes go in pairs.
    body = re.sub(r"\\(.)", lambda escape: r"\u0022" if escape[1] == '"' else escape[0], text[1:end])
    return f'"{body}"{_guarded(text[end + 1 :], delimiter)}'


def split_line(line: str, delimiter: str = ",") -> list[tuple[str, bool]] | None:
    """The fields of a record and whether each was quoted; None if a quoted field does not end in it.

    >>> split_line('a,"b,c"'), split_line('"a'), split_line('"x"@en,1')
    ([('a', False), ('b,c', True)], None, [('"x"@en', False), ('1', False)])
    """
    fields: list[tuple[str, bool]] = []
    at = 0
    while True:
        if line.startswith('"', at):
            end = _closing_quote(line, at)
            if end is not None and (end + 1 == len(line) or line.startswith(delimiter, end + 1)):
                fields.append((line[at + 1 : end].replace('""', '"'), True))
                at = end + 1
            else:
                literal = _LITERAL.match(line, at)
                if literal is not None and (literal.end() == len(line) or line.startswith(delimiter, literal.end())):
                    fields.append((literal[0], False))
                    at = literal.end()
                elif end is None:
                    return None
                else:
                    rest = _shown(line[end + 1 :].partition(delimiter)[0])
                    raise MalformedField(
                        f"field {len(fields) + 1}: {rest} follows the closing quote, where a delimiter or the end of the "
                        "line is expected"
                    )
        else:
            end = line.find(delimiter, at)
            field = line[at:] if end < 0 else line[at:end]
            if '"' in field:
                raise MalformedField(
                    f"field {len(fields) + 1}: a quote inside the unquoted field {_shown(field)}; quote the field and "
                    "double the quotes in it"
                )
            fields.append((field, False))
            at += len(field)
        if at == len(line):
            return fields
        at += len(delimiter)


def _closing_quote(line: str, at: int) -> int | None:
    """Where the quote closes that opens at a place; doubled quotes do not."""
    end = line.find('"', at + 1)
    while end >= 0 and line.startswith('"', end + 1):
        end = line.find('"', end + 2)
    return None if end < 0 else end


def _is_no_string(field: str) -> bool:
    return bool(_INTEGER.fullmatch(field) or _FLOAT.fullmatch(field)) or _looks_like_term(field)


def _looks_like_term(field: str) -> bool:
    return (field[0] == "<" and field[-1] == ">") or field.startswith("_:") or field[0] == '"'


def _term(field: str) -> str:
    try:
        return write_term(read_term(field))
    except UnsupportedValue as mistake:
        raise MalformedField(f"{mistake}; quote the field if it is meant as text") from mistake


def _string_field(text: str, delimiter: str) -> str:
    string = text[1:-1] if "\\" not in text else str(read_term(text))
    quoted = (
        delimiter in string
        or any(character in string for character in '"\n\r')
        # At the start of a file it would be taken for a byte order mark.
        or string.startswith("\ufeff")
        or not string  # a field that is empty would be a null
        or _is_no_string(string)
    )
    return '"' + string.replace('"', '""') + '"' if quoted else string


def _float_field(text: str) -> str | None:
    """The short form of a canonical double; None for the infinite, NaN, and literals in other spellings."""
    value = read_term(text)
    if not isinstance(value, float) or not math.isfinite(value):
        return None
    short = repr(value)
    return short if _FLOAT.fullmatch(short) else canonical_double(value)


def _guarded(text: str, delimiter: str) -> str:
    """Outside of quotes a delimiter would end the field; an IRI may spell it as an escape."""
    return text.replace(delimiter, f"\\u{ord(delimiter):04X}") if delimiter in text else text


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
