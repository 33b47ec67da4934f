"""What the reader says when the text does not follow the grammar: Lark's errors in a user's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from everlog.errors import SyntaxMistake

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

_COMPUTING: Final = "AGGREGATE _FILTER _BIND _SKOLEM"
# Sets of tokens that are one thing to a user, the larger ones first: what a set covers is not named again.
_GROUPS: Final[tuple[tuple[frozenset[str], frozenset[str], str], ...]] = tuple(
    (frozenset(signs.split()), frozenset(covered.split()), name)
    for signs, covered, name in (
        ("AT_PREFIX NOT", f"PREFIX OPEN {_COMPUTING} term", "an atom, a negation, a comparison or '@prefix'"),
        ("AT_PREFIX", "PREFIX OPEN NEVER $END term", "a rule, a fact or '@prefix'"),
        ("NOT OPEN NAME", f"{_COMPUTING} term", "an atom, a negation or a comparison"),
        ("OPEN NAME BOOLEAN _FILTER", f"{_COMPUTING} _LPAR term", "an atom or a comparison"),
        ("OPEN NAME BOOLEAN", "_LPAR term", "an atom"),
        ("OPEN NAME", "STRING IRIREF PNAME VAR _EXISTS _LPAR", "an atom"),
        ("BANG NAME INTEGER", "PLUS MINUS _LPAR TIMES _DISTINCT term", "an expression"),
        ("NAME INTEGER", "A CALLED term", "a term"),
        ("PLUS MINUS TIMES OVER", "AND OR COMPARE NOT _IN", "an operator such as '+'"),
        ("IRIREF PNAME", "", "an IRI"),
    )
)
_TERM: Final = frozenset(
    ("VAR", "ANONYMOUS", "NAME", "BOOLEAN", "INTEGER", "FLOAT", "IRIREF", "PNAME", "BLANK", "STRING")
)
_NAMES: Final = {
    "$END": "the end of the text",
    "A": "'a'",
    "AGGREGATE": "'AGGREGATE'",
    "AND": "'&&'",
    "ANONYMOUS": "'_'",
    "ARROW": "':-'",
    "AT_PREFIX": "'@prefix'",
    "BANG": "'!'",
    "BLANK": "a blank node such as '_:x'",
    "BOOLEAN": "'true' or 'false'",
    "CALLED": "a function such as 'STR('",
    "COMPARE": "a comparison such as '='",
    "DISTINCT": "'DISTINCT'",
    "FLOAT": "a number such as '0.5'",
    "INTEGER": "a number such as '5'",
    "IRIREF": "an IRI in '<' and '>'",
    "MINUS": "'-'",
    "NAME": "a name",
    "NEVER": "':-'",
    "NOT": "'NOT'",
    "OPEN": "'['",
    "OR": "'||'",
    "OVER": "'/'",
    "PLUS": "'+'",
    "PNAME": "a prefix such as 'ex:'",
    "PREFIX": "'PREFIX'",
    "STRING": "a string",
    "TIMES": "'*'",
    "VAR": "a variable such as '?x'",
    "_AS": "'AS'",
    "_BIND": "'BIND'",
    "_CLOSE": "']'",
    "_COMMA": "','",
    "_DOT": "'.'",
    "_EXISTS": "'EXISTS'",
    "_FILTER": "'FILTER'",
    "_IN": "'IN'",
    "_LPAR": "'('",
    "_OF": "'BIND'",
    "_ON": "'ON'",
    "_RPAR": "')'",
    "_SEPARATOR": "'; SEPARATOR ='",
    "_SKOLEM": "'SKOLEM'",
}
# Possible after every string, and never what was forgotten.
_SILENT: Final = frozenset({"LANGTAG", "_DATATYPE"})


def syntax_mistake(error: UnexpectedToken | UnexpectedCharacters, text: str, source: str) -> SyntaxMistake:
    """The mistake behind an error of the parser, with its place in `source`."""
    token = getattr(error, "token", None)
    ended = token is not None and token.type == "$END"
    start = len(text.rstrip()) if ended or error.pos_in_stream is None else error.pos_in_stream
    where = place(source, text, start)
    rest = text[start:]
    accepted = frozenset(error.interactive_parser.accepts())  # type: ignore[no-untyped-call]  # Lark has no types here
    if rest[:1] in ("'", '"') and token is None:
        return SyntaxMistake(f"{where}: the string that starts here is not closed; {_closing(rest)}")
    if rest[:1] == "<" and "IRIREF" in accepted:
        return SyntaxMistake(f"{where}: the IRI that starts here is not closed; write '>' after it, on the same line")
    return SyntaxMistake(f"{where}: expected {_expected(accepted)}, found {_found(rest)}")


def place(source: str, text: str, offset: int) -> str:
    """`source:line:column` of an offset; both count from 1."""
    line_start = text.rfind("\n", 0, offset) + 1
    return f"{source}:{text.count(chr(10), 0, offset) + 1}:{offset - line_start + 1}"


def _closing(rest: str) -> str:
    quote = rest[0]
    if rest.startswith(quote * 3):
        return f"write {quote * 3} after it"
    return f"write {quote} on the same line, or use {quote * 3} around a string of several lines"


def _expected(accepted: frozenset[str]) -> str:
    left = set(accepted - _SILENT)
    names: list[str] = []
    for signs, covered, name in _GROUPS:
        if signs <= left:
            names.append(name)
            left -= signs | covered
            if "term" in covered:
                left -= _TERM
    names += sorted({_NAMES[terminal] for terminal in left})
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "something else"


def _found(rest: str) -> str:
    if not rest.strip():
        return "the end of the text"
    word = re.match(r":-|<-|[!<>]=|[\w?:]+|\S", rest)
    return f"'{word[0][:40]}'" if word else "a blank"
