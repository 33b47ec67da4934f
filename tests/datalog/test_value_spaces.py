"""Which datatypes a literal's value belongs to, and which literals have one value, after the OWL 2 datatype map."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from everlog.datalog.value_spaces import DATATYPES_OF, ILL_TYPED, OWL, RDF, data_kind, data_value
from everlog.datalog.values import XSD, Value, identity, normalise
from everlog.expressions.columns import column_of
from everlog.expressions.functions import FUNCTIONS

NAMES = {"PlainLiteral": RDF, "XMLLiteral": RDF, "rational": OWL, "real": OWL}


def literal(text: str, name: str) -> Value:
    return normalise(Literal(text, datatype=NamedNode(NAMES.get(name, XSD) + name)))


def datatypes(value: Value) -> set[str]:
    """The names of the datatypes of XML Schema that a value belongs to."""
    kind = data_kind(value)
    assert kind is not None
    return {name.removeprefix(XSD) for name in DATATYPES_OF[kind.value] if name.startswith(XSD)}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("1", "byte", "byte short int long integer decimal unsignedByte unsignedShort unsignedInt unsignedLong "
         "nonNegativeInteger positiveInteger"),
        ("0", "integer", "byte short int long integer decimal unsignedByte unsignedShort unsignedInt unsignedLong "
         "nonNegativeInteger nonPositiveInteger"),
        ("-128", "decimal", "byte short int long integer decimal nonPositiveInteger negativeInteger"),
        ("-129.0", "decimal", "short int long integer decimal nonPositiveInteger negativeInteger"),
        ("256", "long", "short int long integer decimal unsignedShort unsignedInt unsignedLong nonNegativeInteger "
         "positiveInteger"),
        ("18446744073709551616", "integer", "integer decimal nonNegativeInteger positiveInteger"),
        ("0.5", "decimal", "decimal"),
        ("1/3", "rational", ""),
        ("1", "float", "float"),
        ("1", "double", "double"),
        ("a\tb", "string", "string"),
        (" a", "normalizedString", "string normalizedString"),
        ("a b", "token", "string normalizedString token"),
        ("1a", "NMTOKEN", "string normalizedString token NMTOKEN"),
        ("a:b", "Name", "string normalizedString token NMTOKEN Name"),
        ("a_1", "NCName", "string normalizedString token NMTOKEN Name NCName"),
        ("en-GB", "language", "string normalizedString token NMTOKEN Name NCName language"),
        ("2026-01-01T10:00:00", "dateTime", "dateTime"),
        ("2026-01-01T10:00:00Z", "dateTime", "dateTime dateTimeStamp"),
        ("1", "boolean", "boolean"),
        ("0F", "hexBinary", "hexBinary"),
        ("YQ==", "base64Binary", "base64Binary"),
        ("http://a.org/", "anyURI", "anyURI"),
    ],
)  # fmt: skip
def test_a_value_belongs_to_all_datatypes_around_it(text: str, name: str, expected: str) -> None:
    assert datatypes(literal(text, name)) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("one", name) for name in ("decimal", "integer", "double", "float", "boolean", "dateTime", "dateTimeStamp")),
        ("1.0", "integer"), ("1e0", "decimal"), ("-1", "nonNegativeInteger"), ("0", "positiveInteger"),
        ("1", "nonPositiveInteger"), ("0", "negativeInteger"), ("128", "byte"), ("-32769", "short"), ("2147483648", "int"),
        ("9223372036854775808", "long"), ("256", "unsignedByte"), ("65536", "unsignedShort"), ("-1", "unsignedInt"),
        ("18446744073709551616", "unsignedLong"), ("a\tb", "normalizedString"), (" a", "token"), ("a  b", "token"),
        ("1a", "Name"), ("a:b", "NCName"), ("a b", "NMTOKEN"), ("englishes", "language"), ("en_GB", "language"),
        ("abc", "hexBinary"), ("xy", "hexBinary"), ("YQ", "base64Binary"), ("TRUE", "boolean"),
        ("2026-02-29T00:00:00Z", "dateTime"), ("2026-01-01T10:00:00", "dateTimeStamp"), ("2026-01-01", "dateTime"),
        ("2026-01-01T25:00:00Z", "dateTime"), ("text", "PlainLiteral"), ("text@e_n", "PlainLiteral"), ("<a>", "XMLLiteral"),
        ("1/0", "rational"), ("1", "real"),
    ],
)  # fmt: skip
def test_ill_typed(text: str, name: str) -> None:
    value = literal(text, name)
    assert data_kind(value) == NamedNode(ILL_TYPED)
    assert data_value(value) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("1", "integer"), ("01", "integer")), (("1", "integer"), ("1.00", "decimal")), (("+1", "byte"), ("1", "long")),
        (("-0", "integer"), ("0", "decimal")), (("2/4", "rational"), ("0.50", "decimal")),
        (("1", "boolean"), ("true", "boolean")),
        (("0a", "hexBinary"), ("0A", "hexBinary")), (("Y Q = =", "base64Binary"), ("YQ==", "base64Binary")),
        (("1.5", "double"), ("15e-1", "double")), (("0.1", "float"), ("0.10000000149", "float")),
        (("NaN", "float"), ("NaN", "float")),
        (("a", "string"), ("a", "token")), (("a@", "PlainLiteral"), ("a", "string")),
        (("2026-01-01T00:00:00.50Z", "dateTime"), ("2026-01-01T00:00:00.5+00:00", "dateTimeStamp")),
        (("2025-12-31T24:00:00Z", "dateTime"), ("2026-01-01T00:00:00Z", "dateTime")),
        (("<a b='1' c='2'/>", "XMLLiteral"), ('<a c="2" b="1"></a>', "XMLLiteral")),
    ],
)  # fmt: skip
def test_one_value(one: tuple[str, str], other: tuple[str, str]) -> None:
    first, second = data_value(literal(*one)), data_value(literal(*other))
    assert first is not None and second is not None
    assert identity(first) == identity(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("1", "integer"), ("1", "double")), (("1", "float"), ("1", "double")), (("1", "decimal"), ("1", "float")),
        (("1", "integer"), ("1", "string")), (("1", "boolean"), ("1", "integer")), (("0", "float"), ("-0", "float")),
        (("0A", "hexBinary"), ("Cg==", "base64Binary")), (("a", "anyURI"), ("a", "string")),
        (("a@en", "PlainLiteral"), ("a", "string")),
        (("0.1", "decimal"), ("0.10000000000000000001", "decimal")), (("0.1", "float"), ("0.1", "double")),
        (("2026-01-01T00:00:00Z", "dateTime"), ("2026-01-01T01:00:00+01:00", "dateTime")),
        (("<a/>", "XMLLiteral"), ("<b/>", "XMLLiteral")),
    ],
)  # fmt: skip
def test_two_values(one: tuple[str, str], other: tuple[str, str]) -> None:
    first, second = data_value(literal(*one)), data_value(literal(*other))
    assert first is not None and second is not None
    assert identity(first) != identity(second)


def test_what_is_no_literal_of_a_known_datatype_has_no_kind() -> None:
    for value in (NamedNode("http://a.org/"), Literal("x", datatype=NamedNode("http://a.org/type"))):
        assert data_kind(value) is None
        assert data_value(value) is None
    assert data_kind(literal("9" * 5_000, "integer")) is None  # more digits than Python reads


def test_columns_of_strings_have_the_kinds_of_their_values() -> None:
    texts = [
        "",
        "a",
        "a b",
        " a",
        "a\n",
        "a\tb",
        "a:b",
        "1a",
        "-x",
        "é",
        "日本",
        "abcdefghi",
        "en-GB",
        "a" * 9,
        "x.y",
        "😀",
        "·a",
    ]
    kinds = FUNCTIONS["DATA_KIND"].apply([column_of(texts)]).values()
    assert kinds == [data_kind(text) for text in texts]
