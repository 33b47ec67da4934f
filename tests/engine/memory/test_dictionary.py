"""The dictionary of values and ids: every door gives the same ids, and every id gives its value back."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

from everlog.datalog.comparing import holds
from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import XSD, Value, identity, normalise
from everlog.engine.memory.dictionary import NTRIPLES_METADATA, Dictionary, Ids, KnownLists
from everlog.engine.memory.term_kinds import FLOAT, INT
from everlog.errors import EverlogError, UnsupportedValue

# The first example compiles kernels.
property_test = settings(deadline=None, max_examples=40)

# fmt: off
NASTY: list[Value] = [
    "", "a", "a b", 'say "hi"', "back\\slash", "line\nfeed", "carriage\rreturn", "\t\b\f\x00\x1f\x7f", "é", "😀",
    "\ufffe\uffff\ufeff", "，", "<a:b>", "_:b", '"a"', "1", "true", True, False,
    0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63),
    0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, 2.0**53, 2.0**63, -(2.0**63), math.inf, -math.inf, math.nan,
    NamedNode("http://example.org/a"), NamedNode("http://example.org:8080/é?q=%20#f"), NamedNode("urn:a:b"),
    NamedNode("a:"), BlankNode("b"), BlankNode("b.c"), BlankNode("é"),
    Literal("a", language="en"), Literal("a", language="EN-gb"), Literal("", language="x-private"),
    Literal('"\n', language="de"), Literal("a\tb", datatype=NamedNode("http://example.org/t")),
    Literal("2024-01-01", datatype=NamedNode(XSD + "date")), Literal("1.0", datatype=NamedNode(XSD + "double")),
    Literal("007", datatype=NamedNode(XSD + "integer")), Literal(str(2**63), datatype=NamedNode(XSD + "integer")),
    Literal("1", datatype=NamedNode(XSD + "boolean")),
]
# fmt: on

numbers = st.integers(-(2**63), 2**63 - 1) | st.floats()
literals = st.builds(Literal, st.text(), language=st.sampled_from(["en", "de-at", "zh-hans-cn"])) | st.builds(
    Literal, st.text(), datatype=st.sampled_from(["integer", "double", "date"]).map(lambda name: NamedNode(XSD + name))
)
iris = st.from_regex(r"[a-z]{1,3}:(//[a-z.]{0,4}(:[0-9]{2})?/)?[a-zA-Z0-9:/?~]{0,6}(#[a-z]{0,2})?", fullmatch=True)
rdf = iris.map(NamedNode) | st.from_regex(r"[a-z0-9]{1,4}", fullmatch=True).map(BlankNode) | literals.map(normalise)
values = st.sampled_from(NASTY) | numbers | st.text() | st.booleans() | rdf


def identities(found: list[Value]) -> list[tuple[str, object]]:
    return [identity(value) for value in found]


# Ids


@property_test
@given(st.lists(values))
@example(NASTY)
def test_an_id_gives_its_value_back(given_values: list[Value]) -> None:
    d = Dictionary()
    ids = [d.encode_value(value) for value in given_values]
    assert identities([d.value(id) for id in ids]) == identities(given_values)
    assert [d.find_value(value) for value in given_values] == ids


@property_test
@given(st.lists(st.lists(values)))
@example([NASTY, NASTY[::-1]])
def test_ids_are_dense_and_in_order_of_first_appearance(batches: list[list[Value]]) -> None:
    d = Dictionary()
    expected: dict[tuple[str, object], int] = {}
    for number, batch in enumerate(batches):
        ids = encode_by_door(d, batch, number)
        assert ids.dtype == np.int32
        assert ids.tolist() == [expected.setdefault(identity(value), len(expected)) for value in batch]
    assert len(d) == len(expected)
    assert identities(d.values(np.arange(len(d), dtype=np.int32))) == list(expected)


def encode_by_door(d: Dictionary, batch: list[Value], number: int) -> Ids:
    if number % 3 == 0:
        return d.encode_values(batch)
    if number % 3 == 1:
        return d.encode_ntriples(pa.array([write_term(value) for value in batch], type=pa.string()))
    return np.array([d.encode_value(value) for value in batch], dtype=np.int32)


def test_one_and_one_point_zero_and_true_are_three_values() -> None:
    d = Dictionary()
    assert d.encode_values([1, 1.0, True, 0.0, -0.0, math.nan, -math.nan, float("nan")]).tolist() == [
        0,
        1,
        2,
        3,
        4,
        5,
        5,
        5,
    ]


def test_every_nan_is_one_value() -> None:
    d = Dictionary()
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001], dtype=np.uint64)
    assert d.encode_column(pa.array(bits.view(np.float64))).tolist() == [0, 0, 0]
    assert d.encode_values([-math.nan]).tolist() == [d.find_value(math.nan)] == [0]


def test_values_with_equal_payload_and_hash_are_told_apart_by_kind() -> None:
    from everlog.engine.memory.kernels.dictionary_kernels import _hash_number

    number = 2704473270  # found by search
    same_bits = float(np.int64(number).view(np.float64))
    hashes = [int(_hash_number(np.uint8(kind), number)) for kind in (INT, FLOAT)]
    assert hashes[0] & 0xFFFFFFFF == hashes[1] & 0xFFFFFFFF
    d = Dictionary()
    assert d.encode_values([number, same_bits]).tolist() == [0, 1]


def test_an_rdf_literal_and_its_python_value_are_one() -> None:
    d = Dictionary()
    assert d.encode_value(Literal("5", datatype=NamedNode(XSD + "integer"))) == d.encode_value(5)
    assert d.find_value(Literal("x")) == -1
    assert d.encode_value(Literal("x")) == d.find_value("x")


def test_looking_for_a_value_does_not_add_it() -> None:
    d = Dictionary()
    assert d.find_value("a") == -1
    assert len(d) == 0


def test_an_unknown_id_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="no value has the id 0"):
        Dictionary().value(0)


def test_ids_survive_growth() -> None:
    d = Dictionary()
    first = d.encode_values(NASTY)
    integers, strings = np.arange(200_000) * 1024, [f"string {i}" * (i % 5) for i in range(50_000)]
    old = d.order()
    integer_ids = d.encode_column(pa.array(integers))
    string_ids = d.encode_values(strings)
    assert d.encode_values(NASTY).tolist() == first.tolist()
    assert d.decode_field("", integer_ids)[1].to_numpy().tolist() == integers.tolist()
    assert d.values(string_ids) == strings
    assert d.encode_column(pa.array(integers)).tolist() == integer_ids.tolist()
    assert old.payload[: len(NASTY)].tolist() == d.order().payload[: len(NASTY)].tolist()


def test_a_text_longer_than_the_buffer_makes_its_room() -> None:
    d = Dictionary()
    texts = ["x" * 1_000_000, "", "y" * 10]
    assert d.values(d.encode_values(texts)) == texts


def test_too_many_values_are_refused_and_the_dictionary_is_whole() -> None:
    d = Dictionary(max_values=1000)
    with pytest.raises(EverlogError, match="more than 1000 distinct values"):
        d.encode_column(pa.array(range(2000)))
    assert len(d) == 1000
    assert d.encode_value(999) == 999
    assert d.find_value(1000) == -1


# Arrow


@pytest.mark.parametrize(
    "type",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
    ids=str,
)
def test_integers_of_any_width_are_ints(type: pa.DataType) -> None:
    d = Dictionary()
    ids = d.encode_column(pa.array([5, 7, 5], type=type))
    assert ids.tolist() == [0, 1, 0]
    assert d.decode_field("", ids)[1].equals(pa.array([5, 7, 5], type=pa.int64()))
    assert d.values(ids) == [5, 7, 5]


@pytest.mark.parametrize("type", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_floats_of_any_width_are_floats(type: pa.DataType) -> None:
    d = Dictionary()
    given_values = [0.5, -0.0, 0.0, math.nan, math.inf, 0.5]
    ids = d.encode_column(pa.array(given_values, type=pa.float64()).cast(type))
    assert ids.tolist() == [0, 1, 2, 3, 4, 0]
    assert identities(d.decode_field("", ids)[1].to_pylist()) == identities(given_values)
    assert d.decode_field("", ids)[1].type == pa.float64()


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_strings_of_any_layout_are_strings(type: pa.DataType) -> None:
    d = Dictionary()
    given_values = ["b", "", "😀", "b", "a longer string than a view holds inside"]
    ids = d.encode_column(pa.array(given_values, type=type))
    assert ids.tolist() == [0, 1, 2, 0, 3]
    assert d.decode_field("", ids)[1].equals(pa.array(given_values, type=pa.string()))


def test_booleans_are_booleans() -> None:
    d = Dictionary()
    ids = d.encode_column(pa.array([True, False, True]))
    assert ids.tolist() == [0, 1, 0]
    assert d.decode_field("", ids)[1].equals(pa.array([True, False, True]))


@property_test
@given(st.lists(st.text()), st.lists(st.text()), st.data())
def test_slices_chunks_and_dictionaries_read_like_the_plain_column(
    one: list[str], two: list[str], data: st.DataObject
) -> None:
    d = Dictionary()
    expected = d.encode_values(one + two).tolist()
    chunks = pa.chunked_array([pa.array(one, type=pa.string()), pa.array(two, type=pa.string())])
    assert d.encode_column(chunks).tolist() == expected
    assert d.encode_column(chunks.dictionary_encode()).tolist() == expected
    start = data.draw(st.integers(0, len(expected)))
    stop = data.draw(st.integers(start, len(expected)))
    whole = pa.array(one + two, type=pa.string())
    for column in (whole, whole.dictionary_encode(), whole.cast(pa.large_string())):
        assert d.encode_column(column.slice(start, stop - start)).tolist() == expected[start:stop]


def test_columns_and_chunks_that_share_a_dictionary_look_it_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    d, lists, looked_up = Dictionary(), KnownLists(), list[int]()
    look_up = d._look_up_from

    def noted(row: int, probes: Any, add: bool, ids: Ids, checked: bool = True) -> int:
        looked_up.append(len(ids))
        return look_up(row, probes, add, ids, checked)

    monkeypatch.setattr(d, "_look_up_from", noted)
    terms = pa.array(["<a:b>", "<a:c>"])
    chunks = [pa.DictionaryArray.from_arrays(pa.array(places), pa.array(terms)) for places in ([0, 1], [1, 1], [0])]
    ntriples, plain = pa.field("a", chunks[0].type, metadata=NTRIPLES_METADATA), pa.field("b", chunks[0].type)
    found = [d.encode_field(field, pa.chunked_array(chunks), lists) for field in (plain, plain, ntriples, plain)]
    assert [ids.tolist() for ids in found] == [[0, 1, 1, 1, 0]] * 2 + [[2, 3, 3, 3, 2], [0, 1, 1, 1, 0]]
    assert looked_up == [2, 2, 2]
    floats = [pa.array([number, number]).dictionary_encode() for number in (0.0, -0.0)]
    assert d.encode_column(pa.chunked_array(floats)).tolist() == [4, 4, 5, 5]


def test_a_small_slice_of_a_large_dictionary_adds_only_its_rows() -> None:
    d = Dictionary()
    column = pa.array([str(i) for i in range(1000)]).dictionary_encode()
    assert d.encode_column(column.slice(500, 2)).tolist() == [0, 1]
    assert len(d) == 2


def test_no_rows_are_no_ids_and_a_column_of_strings() -> None:
    d = Dictionary()
    for column in (pa.array([], type=pa.null()), pa.array([], type=pa.string()), pa.chunked_array([], type=pa.int64())):
        assert d.encode_column(column).tolist() == []
    none = d.encode_values([])
    assert none.dtype == np.int32
    assert d.values(none) == []
    assert d.decode_field("", none)[1].type == pa.string()


@property_test
@given(st.lists(values, min_size=1))
@example(NASTY)
def test_a_decoded_column_reads_back_exactly(given_values: list[Value]) -> None:
    d, other = Dictionary(), Dictionary()
    ids = d.encode_values(given_values)
    field, column = d.decode_field("a0", ids)
    assert field.type == column.type
    assert d.encode_field(field, column).tolist() == ids.tolist()
    assert identities(other.values(other.encode_field(field, column))) == identities(given_values)
    assert identities(d.values(ids)) == identities(given_values)


@property_test
@given(st.lists(values, min_size=1))
@example(NASTY)
def test_a_mixed_column_is_ntriples(given_values: list[Value]) -> None:
    d = Dictionary()
    given_values = [*given_values, "a", NamedNode("a:b")]
    field, column = d.decode_field("a0", d.encode_values(given_values))
    assert field.metadata == {b"everlog": b"ntriples"}
    assert column.to_pylist() == [write_term(value) for value in given_values]


def test_a_column_of_one_rdf_kind_is_ntriples_and_plain_columns_are_not_marked() -> None:
    d = Dictionary()
    field, column = d.decode_field("a0", d.encode_values([NamedNode("a:b")]))
    assert (field.metadata, column.to_pylist()) == ({b"everlog": b"ntriples"}, ["<a:b>"])
    assert d.decode_field("a0", d.encode_values(["<a:b>"])) == (
        pa.field("a0", pa.string(), nullable=False),
        pa.array(["<a:b>"]),
    )


# N-Triples


# fmt: off
PIECES = [
    *'<>"_:@^\\/#?%[] -.~a0é\n\t\x7f', "\ufffe", "，", "\\u00e9", "\\U0001F600", "^^<", "en", "EN", "gb", "http:", "//",
    f"^^<{XSD}", "integer>", "double>", "string>", "boolean>", "date>", "true", "1.0E0", "-5", "00", "9" * 18, "_:b",
]
# fmt: on
term_like = st.builds(
    lambda start, pieces, end: start + "".join(pieces) + end,
    st.sampled_from(["<a:", "<a://", "<", "_:", '"', ""]),
    st.lists(st.sampled_from(PIECES), max_size=6),
    st.sampled_from([">", '"', '"@en', '"@en-gb', f'"^^<{XSD}integer>', f'"^^<{XSD}date>', f'"^^<{XSD}double>', ""]),
)


@settings(deadline=None, max_examples=800)
@given(term_like)
@example("<a://b@c@d>")
@example(f'"-0"^^<{XSD}integer>')
@example('"a"@nolanguage')
@example('"a"@en-gb')
def test_the_fast_path_reads_what_the_slow_path_reads(text: str) -> None:
    d = Dictionary()
    try:
        expected = read_term(text)
    except UnsupportedValue:
        with pytest.raises(UnsupportedValue, match="is not an N-Triples term"):
            d.encode_ntriples(pa.array([text]))
    else:
        assert identity(d.value(d.encode_ntriples(pa.array([text]))[0])) == identity(expected)
        assert d.find_value(expected) == 0


def test_iris_that_only_python_can_read_keep_their_places() -> None:
    random = np.random.default_rng(0)
    distinct = [
        *(f"<a:{n}>" for n in range(9)),
        *(f"<http://é:80/%4{n}>" for n in range(9)),
        r"<a:\u00e9>",
        "<a:é>",
        '"a"',
    ]
    for _ in range(50):
        d, texts = Dictionary(), random.choice(distinct, 12).tolist()
        known = d.encode_ntriples(pa.array(texts[:3])).tolist()
        first = list(dict.fromkeys(map(read_term, texts)))
        expected = [first.index(read_term(text)) for text in texts]
        looked_for = [place if place <= max(known) else -1 for place in expected]
        assert d.find_ntriples(pa.array(texts)).tolist() == looked_for
        assert d.encode_ntriples(pa.array(texts)).tolist() == expected
    with pytest.raises(UnsupportedValue, match="is not an N-Triples term"):
        d.encode_ntriples(pa.array(["<a:new>", "<http://a b>"]))
    assert d.find_value(NamedNode("a:new")) == len(d) - 1


def test_ntriples_come_in_every_layout() -> None:
    d = Dictionary()
    texts = ['"a"', "<a:b>", "_:b", f'"5"^^<{XSD}integer>', r'"\n"', '"a"']
    plain = pa.array(texts)
    for column in (
        plain.cast(pa.string_view()),
        plain,
        plain.cast(pa.large_string()),
        plain.dictionary_encode(),
        pa.chunked_array([plain, plain]),
        plain[2:],
    ):
        expected = [*texts, *texts] if isinstance(column, pa.ChunkedArray) else texts[-len(column) :]
        assert identities(d.values(d.encode_ntriples(column))) == identities([read_term(text) for text in expected])
    assert len(d) == 5


# Order


def expected_comparison(a: Value, b: Value) -> int:
    if holds("<", a, b):
        return -1
    return 1 if holds(">", a, b) else 0 if holds("<=", a, b) else 2


@property_test
@given(st.lists(values | numbers, min_size=2, max_size=8), st.lists(values | numbers, max_size=4))
@example(NASTY, [])
def test_ids_are_compared_as_their_values_are(given_values: list[Value], more: list[Value]) -> None:
    from everlog.engine.memory.kernels.dictionary_kernels import compare

    d = Dictionary()
    ids = d.encode_values(given_values).tolist()
    d.order()
    every = [*given_values, *more]
    ids += d.encode_values(more).tolist() if more else []
    order = d.order()
    for a, a_value in zip(ids, every, strict=True):
        for b, b_value in zip(ids, every, strict=True):
            assert compare(order, a, b) == expected_comparison(a_value, b_value), (a_value, b_value)


def test_what_literals_are_compared_by_grows_with_the_dictionary() -> None:
    from everlog.engine.memory.kernels.dictionary_kernels import compare

    d = Dictionary()
    for year in range(1000, 4000):
        d.encode_value(Literal(f"{year}-01-01", datatype=NamedNode(XSD + "date")))
        d.encode_value(year)
        if year % 250 == 0:
            d.order()
    order = d.order()
    assert all(compare(order, id, id + 2) == -1 for id in range(len(d) - 2))
    assert all(compare(order, id, id + 1) == 2 for id in range(len(d) - 1))


# Mistakes


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([1, None]), "holds 1 null,"),
        (pa.array([None, None]), "holds 2 nulls"),
        (pa.array(["a", None]).dictionary_encode(), "holds 1 null,"),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None])), "holds 1 null,"),
        (pa.array([1, 2**63], type=pa.uint64()), "9223372036854775808 does not fit into 64 bits"),
        (pa.array([b"a"]), r"type binary does not fit .* cast it"),
        (pa.array([[1]]), "type list"),
        (pa.array([{"a": 1}]), "type struct"),
        (pa.array([0], type=pa.time64("us")), "type time64"),
        (pa.array([0], type=pa.duration("us")), "type duration"),
    ],
    ids=lambda case: str(case.type) if isinstance(case, pa.Array) else "",
)
def test_arrow_columns_that_hold_no_values_are_refused(column: pa.Array, message: str) -> None:
    d = Dictionary()
    with pytest.raises(UnsupportedValue, match=message):
        d.encode_column(column)
    assert len(d) == 0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "NoneType"),
        ([1], "list"),
        (2**63, "does not fit into 64 bits"),
        ("\ud800", "lone surrogate"),
        (
            next(iter(parse("<s:> <p:> <http://a b> .", RdfFormat.N_TRIPLES, lenient=True))).object,
            "not a valid RDF term",
        ),
    ],
    ids=["none", "list", "large", "surrogate", "lenient"],
)
@pytest.mark.parametrize("companions", [[], [1], ["a"], ["a", 1.5]], ids=str)
def test_python_values_that_are_none_of_ours_are_refused(value: object, message: str, companions: list[object]) -> None:
    d = Dictionary()
    with pytest.raises(UnsupportedValue, match=message):
        d.encode_values([*companions, value])
    with pytest.raises(UnsupportedValue, match=message):
        d.encode_value(value)
    assert len(d) == 0


def test_ntriples_in_a_column_of_numbers_are_refused() -> None:
    with pytest.raises(UnsupportedValue, match="type int64 cannot hold N-Triples"):
        Dictionary().encode_ntriples(pa.array([1]))


def test_a_mistake_in_a_later_chunk_leaves_the_dictionary_whole() -> None:
    d = Dictionary()
    with pytest.raises(UnsupportedValue, match="'oops' is not an N-Triples term"):
        d.encode_ntriples(pa.chunked_array([["<a:b>", '"a"'], ["_:b", "oops"]]))
    known = d.values(np.arange(len(d), dtype=np.int32))
    assert [d.find_value(value) for value in known] == list(range(len(d)))
    assert d.encode_values([*known, "new"]).tolist() == list(range(len(d)))


# Costs that show only as seconds


def test_numba_waits_for_the_first_value() -> None:
    program = (
        "import sys; from everlog.engine.memory.dictionary import Dictionary; "
        "Dictionary(); assert 'numba' not in sys.modules; Dictionary().encode_value(1); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_door_uses_one_specialisation_of_each_kernel() -> None:
    from everlog.engine.memory.kernels import dictionary_kernels

    d = Dictionary()
    given_ids = d.encode_values(NASTY)
    read_only = given_ids.copy()
    read_only.flags.writeable = False
    for ids in (given_ids, given_ids[::2], read_only, given_ids[:0]):
        d.values(ids)
        d.decode_field("", ids)[1]
    d.encode_column(pa.array([0.5, math.nan], type=pa.float32()))
    d.encode_column(pa.array(np.arange(10)[::2]))
    d.encode_column(pa.array(["a", ""]))
    d.encode_column(pa.array([""]))
    d.encode_ntriples(pa.array(["<a:b>", r'"\n"']))
    d.encode_column(pa.array(range(5000)))
    for kernel in ("encode", "rebuild", "copy_text", "scan_ntriples"):
        assert len(getattr(dictionary_kernels, kernel).signatures) == 1, kernel


def test_room_that_is_reserved_changes_no_ids() -> None:
    words = [f"word {number}" for number in range(5000)]
    plain, roomy = Dictionary(), Dictionary()
    roomy.encode_values(words[:10])
    roomy.reserve(5000, 10)
    roomy.reserve(10, 1 << 16)
    assert roomy.encode_values(words).tolist() == plain.encode_values(words).tolist() == list(range(5000))
    assert roomy.characters == plain.characters == sum(map(len, words))
    assert roomy.value(4999) == "word 4999"
