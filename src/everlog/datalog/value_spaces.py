"""Which datatypes of OWL 2 a literal's value belongs to, and which literals have the same value.

A literal is of a *kind*, and all literals of a kind have the same datatypes: `"7"^^xsd:byte` and `"7.0"^^xsd:decimal` are
of the kind of the integers from 1 to 127, and the names of a language, such as `"en"`, of the kind of strings that are also
tokens, names and languages. So a table of kinds and datatypes (`DATATYPES_OF`) says everything about membership.

Values are told apart as the OWL 2 datatype map does: decimals, floats and doubles have no value in common, `+0` and `-0` of
floats are two values, and an instant in another time zone is another value. `data_value` gives every value one literal.
White space around numbers and the like does not count.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final
from xml.etree import ElementTree

from pyoxigraph import Literal, NamedNode

from everlog.datalog.calendar_values import decimal_text
from everlog.datalog.comparing import DATE, DECIMAL, DOUBLE, INTEGER, TIME, ZONE
from everlog.datalog.values import XSD, Value, canonical_double, identity, normalise

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
LITERAL: Final = "http://www.w3.org/2000/01/rdf-schema#Literal"
PLAIN: Final = RDF + "PlainLiteral"
KIND: Final = "urn:everlog:kind:"
ILL_TYPED: Final = f"{KIND}ill-typed"
"""The kind of literals that are none of their datatypes."""

_RANGES: Final[Mapping[str, tuple[int | None, int | None]]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "nonPositiveInteger": (None, 0),
    "positiveInteger": (1, None),
    "negativeInteger": (None, -1),
    **{name: (-(1 << bits), (1 << bits) - 1) for name, bits in (("long", 63), ("int", 31), ("short", 15), ("byte", 7))},
    **{
        f"unsigned{name}": (0, (1 << bits) - 1)
        for name, bits in (("Long", 64), ("Int", 32), ("Short", 16), ("Byte", 8))
    },
}
_TEXTS: Final = ("string", "normalizedString", "token", "NMTOKEN", "Name", "NCName", "language")
"""Types of strings, each within the one before."""
_OTHERWISE: Final = ":otherwise"
"""What ends the kinds of strings that are written as something else than `xsd:string`."""
_ALONE: Final = ("float", "double", "boolean", "hexBinary", "base64Binary", "anyURI")
_CALENDAR: Final = ("date", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "duration")
"""Types that are not among those of OWL 2, and whose values are told apart by their texts."""
_LONGEST_NUMBER: Final = 4_000
"""Of a number with more digits it is not said what it is: Python refuses to read it."""


def _cuts() -> list[int]:
    """Where some type of integers begins, or another one begins behind its end."""
    return sorted(
        {cut for low, high in _RANGES.values() for cut in (low, None if high is None else high + 1) if cut is not None}
    )


_CUTS: Final = _cuts()
_BETWEEN: Final[tuple[tuple[int | None, int | None], ...]] = tuple(pairwise((None, *_CUTS, None)))


def _integer_kind(low: int | None, end: int | None) -> str:
    return f"{KIND}integer:{'' if low is None else low}..{'' if end is None else end - 1}"


def _integer_kinds() -> Iterator[tuple[str, frozenset[str]]]:
    for low, end in _BETWEEN:
        names = (
            name
            for name, (least, most) in _RANGES.items()
            if (least is None or (low is not None and least <= low))
            and (most is None or (end is not None and end - 1 <= most))
        )
        yield _integer_kind(low, end), frozenset({XSD + name for name in names} | _REAL)


_RATIONAL: Final = {OWL + "rational", OWL + "real", LITERAL}
_REAL: Final = {XSD + "decimal", *_RATIONAL}

DATATYPES_OF: Final[Mapping[str, frozenset[str]]] = {
    **dict(_integer_kinds()),
    f"{KIND}decimal": frozenset(_REAL),
    f"{KIND}rational": frozenset(_RATIONAL),
    **{
        f"{KIND}{name}{written}": frozenset({XSD + each for each in _TEXTS[: place + 1]} | {PLAIN, LITERAL})
        for place, name in enumerate(_TEXTS)
        for written in ("", _OTHERWISE)
    },
    f"{KIND}langString": frozenset({RDF + "langString", PLAIN, LITERAL}),
    **{f"{KIND}{name}": frozenset({XSD + name, LITERAL}) for name in (*_ALONE, *_CALENDAR)},
    f"{KIND}dateTime": frozenset({XSD + "dateTime", LITERAL}),
    f"{KIND}dateTimeStamp": frozenset({XSD + "dateTime", XSD + "dateTimeStamp", LITERAL}),
    f"{KIND}XMLLiteral": frozenset({RDF + "XMLLiteral", LITERAL}),
    f"{KIND}HTML": frozenset({RDF + "HTML", LITERAL}),
    ILL_TYPED: frozenset(),
}
"""By the kind of a literal, the datatypes that its value belongs to."""

KNOWN: Final = frozenset(name for names in DATATYPES_OF.values() for name in names)
"""All datatypes that literals are known to belong to or not."""

# The characters of XML's names, without the colon.
_START: Final = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_INNER: Final = f"{_START}\\-.0-9\u00b7\u0300-\u036f\u203f-\u2040"
TEXT_FORMS: Final[Mapping[str, str]] = {
    "language": r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*",
    "NCName": f"[{_START}][{_INNER}]*",
    "Name": f"[:{_START}][:{_INNER}]*",
    "NMTOKEN": f"[:{_INNER}]+",
    "token": r"(?:[^\t\n\r ]+(?: [^\t\n\r ]+)*)?",
    "normalizedString": r"[^\t\n\r]*",
}
"""How texts of a type of strings are written, the narrowest type first."""

_TEXT_PATTERNS: Final = {name: re.compile(form) for name, form in TEXT_FORMS.items()}
_INTEGER: Final = re.compile(INTEGER)
_DECIMAL: Final = re.compile(DECIMAL)
_DOUBLE: Final = re.compile(DOUBLE)
_RATIO: Final = re.compile(r"([+-]?[0-9]+) */ *([0-9]*[1-9][0-9]*)")
_INSTANT: Final = re.compile(f"{DATE}T{TIME}{ZONE}")
_BASE64: Final = re.compile(
    r"(?:(?:[A-Za-z0-9+/] ?){4})*(?:(?:[A-Za-z0-9+/] ?){3}[A-Za-z0-9+/]|(?:[A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?="
    r"|[A-Za-z0-9+/] ?[AQgw] ?= ?=)?"
)
_OTHERS: Final = {
    "date": re.compile(DATE + ZONE),
    "time": re.compile(TIME + ZONE),
    "gYear": re.compile(rf"-?[0-9]{{4,}}{ZONE}"),
    "gYearMonth": re.compile(rf"-?[0-9]{{4,}}-(?:0[1-9]|1[0-2]){ZONE}"),
    "gMonth": re.compile(rf"--(?:0[1-9]|1[0-2]){ZONE}"),
    "gMonthDay": re.compile(rf"--(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]){ZONE}"),
    "gDay": re.compile(rf"---(?:0[1-9]|[12][0-9]|3[01]){ZONE}"),
    "duration": re.compile(
        r"-?P(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?"
    ),
}


class _IllTyped(Exception):
    """A literal that is none of its datatype."""


def data_kind(value: Value) -> NamedNode | None:
    """The kind of a literal, None for a name or a literal of a datatype that is not known.

    >>> data_kind(Literal("200", datatype=NamedNode(XSD + "byte")))
    <NamedNode value=urn:everlog:kind:ill-typed>
    """
    found = _kind_and_value(value)
    return None if found is None else NamedNode(found[0])


def data_value(value: Value) -> Value | None:
    """The literal that stands for a literal's value, the same for equal ones; None if there is no value.

    >>> data_value(Literal("07.0", datatype=NamedNode(XSD + "decimal")))
    7
    """
    found = _kind_and_value(value)
    return None if found is None or found[0] == ILL_TYPED else found[1]


def data_form(value: Value) -> Value | None:
    """A literal's value as its own datatype would write it; None where there is no such form.

    >>> data_form(Literal("+07", datatype=NamedNode(XSD + "byte"))).value
    '7'
    """
    found = data_value(value)
    if not isinstance(value, Literal) or value.language is not None or value.datatype.value == PLAIN:
        return found
    if isinstance(found, Literal):
        return found if found.language else normalise(Literal(found.value, datatype=value.datatype))
    if isinstance(found, int) and not isinstance(found, bool):
        more = {XSD + "decimal": ".0", OWL + "rational": "/1"}.get(value.datatype.value, "")
        return normalise(Literal(f"{found}{more}", datatype=value.datatype))
    return found


def data_forms(value: Value) -> list[Value]:
    """The usual ways to write a literal's value, in every datatype that it belongs to; none if there is no value.

    >>> [each if isinstance(each, bool) else each.value for each in data_forms(True)]
    ['1', True]
    """
    found = _kind_and_value(value)
    if found is None or found[0] == ILL_TYPED:
        return []
    kind, one = found
    forms = {
        identity(form): form
        for datatype in sorted(DATATYPES_OF[kind] - {LITERAL, RDF + "langString"})
        for text in _usual_texts(one)
        for form in [normalise(Literal(text, datatype=NamedNode(datatype)))]
    }
    forms[identity(one)] = one
    same = [
        form for form in forms.values() if (read := data_value(form)) is not None and identity(read) == identity(one)
    ]
    return sorted(same, key=lambda form: repr(identity(form)))


def _usual_texts(value: Value) -> list[str]:
    """Texts that may be a value's in some datatype; of `data_value`'s literals."""
    if isinstance(value, bool):
        return ["true", "1"] if value else ["false", "0"]
    if isinstance(value, int):
        return [f"{value}", f"{value}.0", f"{value}/1"]
    if isinstance(value, float):
        return [canonical_double(value), repr(value), repr(value).removesuffix(".0")]
    if isinstance(value, str):
        return [value, f"{value}@"]
    if not isinstance(value, Literal):
        return []
    if value.language is not None:
        return [f"{value.value}@{value.language}"]
    name = value.datatype.value.removeprefix(XSD)
    if name == "float":
        number = repr(float(value.value))
        return [value.value, number, number.removesuffix(".0")]
    if name == "decimal":
        ratio = Fraction(value.value)
        return [value.value, f"{ratio.numerator}/{ratio.denominator}"]
    if name == "hexBinary":
        return [value.value, value.value.lower()]
    if name == "integer":
        return [value.value, f"{value.value}.0", f"{value.value}/1"]
    return [value.value]


def _kind_and_value(value: Value) -> tuple[str, Value] | None:
    if isinstance(value, str):
        return text_kind(value), value
    if isinstance(value, bool):
        return f"{KIND}boolean", value
    if isinstance(value, int):
        return _kind_of_integer(value), value
    if isinstance(value, float):
        return f"{KIND}double", value
    if not isinstance(value, Literal):
        return None
    if value.language is not None:
        return f"{KIND}langString", Literal(value.value, language=value.language.lower())
    try:
        return (
            None
            if len(value.value) > _LONGEST_NUMBER and _is_number(value)
            else _read(value.value, value.datatype.value)
        )
    except _IllTyped:
        return ILL_TYPED, value


def _is_number(literal: Literal) -> bool:
    return literal.datatype.value.removeprefix(XSD) in {*_RANGES, "decimal"}


def text_kind(text: str) -> str:
    """The kind of a string."""
    for name, pattern in _TEXT_PATTERNS.items():
        if pattern.fullmatch(text):
            return KIND + name
    return f"{KIND}string"


@lru_cache(maxsize=1 << 12)
def _kind_of_integer(number: int) -> str:
    return next(_integer_kind(low, end) for low, end in _BETWEEN if end is None or number < end)


def _read(text: str, datatype: str) -> tuple[str, Value] | None:
    """The kind and the value of a literal of a datatype that is known."""
    if datatype in _READERS:
        return _READERS[datatype](text)
    name = datatype.removeprefix(XSD)
    if datatype == name:
        return None
    if name in _RANGES:
        return _integer(name, text.strip())
    if name in _TEXTS:
        if name != "string" and not _TEXT_PATTERNS[name].fullmatch(text):
            raise _IllTyped
        return text_kind(text) + ("" if name == "string" else _OTHERWISE), text
    if name in _OTHERS:
        if not _OTHERS[name].fullmatch(text.strip()):
            raise _IllTyped
        return KIND + name, Literal(text.strip(), datatype=NamedNode(datatype))
    return None


def _integer(name: str, text: str) -> tuple[str, Value]:
    if not _INTEGER.fullmatch(text):
        raise _IllTyped
    least, most = _RANGES[name]
    number = Decimal(text)
    if (least is not None and number < least) or (most is not None and number > most):
        raise _IllTyped
    return _of_number(Fraction(number))


def _of_number(number: Fraction) -> tuple[str, Value]:
    if number.denominator == 1:
        whole = number.numerator
        text = decimal_text(Decimal(whole))
        return _kind_of_integer(whole), normalise(Literal(text, datatype=NamedNode(f"{XSD}integer")))
    rest = number.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest != 1:
        text = f"{number.numerator}/{number.denominator}"
        return f"{KIND}rational", Literal(text, datatype=NamedNode(f"{OWL}rational"))
    return f"{KIND}decimal", Literal(_decimal_digits(number), datatype=NamedNode(f"{XSD}decimal"))


def _decimal_digits(number: Fraction) -> str:
    """A fraction of tens as a decimal, exactly."""
    scale = 0
    while (number * 10**scale).denominator != 1:
        scale += 1
    digits = str(abs((number * 10**scale).numerator)).rjust(scale + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def _decimal(text: str) -> tuple[str, Value]:
    if not _DECIMAL.fullmatch(text.strip()):
        raise _IllTyped
    return _of_number(Fraction(text.strip().lstrip("+").rstrip(".")))


def _rational(text: str) -> tuple[str, Value]:
    found = _RATIO.fullmatch(text.strip())
    if found is None:
        raise _IllTyped
    return _of_number(Fraction(int(found[1]), int(found[2])))


def _double(text: str) -> tuple[str, Value]:
    if not _DOUBLE.fullmatch(text.strip()):
        raise _IllTyped
    return f"{KIND}double", float(text.strip())


def _float(text: str) -> tuple[str, Value]:
    _, number = _double(text)
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        rounded = math.copysign(math.inf, float(str(number)))
    return f"{KIND}float", Literal(canonical_double(rounded), datatype=NamedNode(f"{XSD}float"))


def _boolean(text: str) -> tuple[str, Value]:
    if text.strip() not in ("true", "false", "1", "0"):
        raise _IllTyped
    return f"{KIND}boolean", text.strip() in ("true", "1")


def _instant(text: str) -> tuple[str, Value]:
    found = _INSTANT.fullmatch(text.strip())
    if found is None or not _is_day(found[1], found[2], found[3]):
        raise _IllTyped
    kind = "dateTimeStamp" if found[8] else "dateTime"
    return KIND + kind, Literal(_instant_text(found), datatype=NamedNode(f"{XSD}dateTime"))


def _stamp(text: str) -> tuple[str, Value]:
    kind, value = _instant(text)
    if kind != f"{KIND}dateTimeStamp":
        raise _IllTyped
    return kind, value


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year) % 400 + 400, int(month), int(day))
    except ValueError:
        return False
    return True


def _instant_text(found: re.Match[str]) -> str:
    """An instant as it is written, with the shortest fraction of a second, and with one name for UTC and for midnight."""
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    fraction = (fraction or "").rstrip("0")
    if hour == "24":
        following = date.fromordinal(date(int(year) % 400 + 400, int(month), int(day)).toordinal() + 1)
        turned = int(year) + following.year - (int(year) % 400 + 400)
        year, month, day, hour = f"{turned:04d}", f"{following.month:02d}", f"{following.day:02d}", "00"
    zone = "Z" if zone in ("+00:00", "-00:00") else zone or ""
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}{'.' if fraction else ''}{fraction}{zone}"


def _hexadecimal(text: str) -> tuple[str, Value]:
    try:
        octets = binascii.unhexlify(text.strip())
    except (binascii.Error, ValueError):
        raise _IllTyped from None
    return f"{KIND}hexBinary", Literal(octets.hex().upper(), datatype=NamedNode(f"{XSD}hexBinary"))


def _base64(text: str) -> tuple[str, Value]:
    if not _BASE64.fullmatch(text.strip()):
        raise _IllTyped
    packed = base64.b64encode(base64.b64decode(text.replace(" ", ""))).decode()
    return f"{KIND}base64Binary", Literal(packed, datatype=NamedNode(f"{XSD}base64Binary"))


def _uri(text: str) -> tuple[str, Value]:
    return f"{KIND}anyURI", Literal(text.strip(), datatype=NamedNode(f"{XSD}anyURI"))


def _plain(text: str) -> tuple[str, Value]:
    """`text@language`, or `text@` without one."""
    words, at, tag = text.rpartition("@")
    if not at or not (tag == "" or _TEXT_PATTERNS["language"].fullmatch(tag)):
        raise _IllTyped
    return (
        (f"{KIND}langString", Literal(words, language=tag.lower())) if tag else (text_kind(words) + _OTHERWISE, words)
    )


def _xml(text: str) -> tuple[str, Value]:
    """XML that may stand between the tags of an element, by its canonical form."""
    try:
        canonical = ElementTree.canonicalize(f"<x>{text}</x>", with_comments=True)
    except ElementTree.ParseError:
        raise _IllTyped from None
    content = canonical.removeprefix("<x>").removesuffix("</x>")
    return f"{KIND}XMLLiteral", Literal(content, datatype=NamedNode(f"{RDF}XMLLiteral"))


def _html(text: str) -> tuple[str, Value]:
    return f"{KIND}HTML", Literal(text, datatype=NamedNode(f"{RDF}HTML"))


def _nothing(_: str) -> tuple[str, Value]:
    """owl:real has values, and no way to write them."""
    raise _IllTyped


_READERS: Final[Mapping[str, Callable[[str], tuple[str, Value]]]] = {
    XSD + "decimal": _decimal,
    XSD + "double": _double,
    XSD + "float": _float,
    XSD + "boolean": _boolean,
    XSD + "dateTime": _instant,
    XSD + "dateTimeStamp": _stamp,
    XSD + "hexBinary": _hexadecimal,
    XSD + "base64Binary": _base64,
    XSD + "anyURI": _uri,
    OWL + "rational": _rational,
    OWL + "real": _nothing,
    PLAIN: _plain,
    RDF + "XMLLiteral": _xml,
    RDF + "HTML": _html,
}
