"""Arrow columns of plain values as canonical N-Triples texts, without a Python loop over rows.

Floats and terms are worked on once per distinct value, and so is all of a column that comes with a dictionary, which it
keeps. Strings that need escapes are rare; only those are rewritten.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from everlog.datalog.ntriples import read_term, write_term
from everlog.datalog.values import XSD, canonical_double
from everlog.engine.literal_columns import is_literal_type, literal_texts
from everlog.errors import UnsupportedValue

_NEEDS_ESCAPE = r'[\x00-\x1f\x7f\x{FFFE}\x{FFFF}"\\]'


def texts_of(values: pa.Array) -> pa.Array:
    """The texts of integers, floats, booleans, strings, dates, timestamps or decimals; nulls stay null."""
    if isinstance(values, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(values.indices, texts_of(values.dictionary))
    if is_literal_type(values.type):
        return literal_texts(values)
    if pa.types.is_boolean(values.type):
        return joined('"', values.cast(pa.string()), f'"^^<{XSD}boolean>')
    if pa.types.is_integer(values.type):
        return joined('"', values.cast(pa.string()), f'"^^<{XSD}integer>')
    if pa.types.is_floating(values.type):
        encoded = values.cast(pa.float64()).dictionary_encode()
        forms = [None if number is None else canonical_double(number) for number in encoded.dictionary.to_pylist()]
        return joined('"', pa.array(forms, type=pa.string()).take(encoded.indices), f'"^^<{XSD}double>')
    return joined('"', _escaped(values.cast(pa.string())), '"')


def canonical_texts(terms: pa.Array, mark: str | None) -> tuple[pa.Array, list[tuple[int, str]]]:
    """N-Triples terms in canonical form, null where they are malformed, and those rows with the reason.

    Blank nodes are renamed by the mark of their file, if there is one.
    """
    from everlog.rdf.blanks import renamed
    from everlog.rdf.lines import are_plain

    encoded = terms if isinstance(terms, pa.DictionaryArray) else terms.dictionary_encode()
    distinct = encoded.dictionary.cast(pa.string())
    plain = are_plain(distinct)
    needy = pc.invert(plain if mark is None else pc.and_not(plain, pc.starts_with(distinct, "_:")))
    changed: list[str | None] = []
    reasons: dict[int, str] = {}
    for number, term in zip(pc.indices_nonzero(needy).to_pylist(), distinct.filter(needy).to_pylist(), strict=True):
        try:
            text = write_term(read_term(term))
            changed.append("_:" + renamed(text[2:], mark) if mark is not None and text.startswith("_:") else text)
        except UnsupportedValue as mistake:
            changed.append(None)
            reasons[number] = str(mistake)
    places = encoded.indices.to_pylist() if reasons else []
    mistakes = [(row, reasons[place]) for row, place in enumerate(places) if place in reasons]
    texts = pc.replace_with_mask(distinct, needy, pa.array(changed, type=pa.string()))
    found = pa.DictionaryArray.from_arrays(encoded.indices, texts)
    return found if isinstance(terms, pa.DictionaryArray) else found.dictionary_decode(), mistakes


def joined(before: str, texts: pa.Array, after: str) -> pa.Array:
    """Each text between two others."""
    return pc.binary_join_element_wise(before, texts, after, "")


def _escaped(strings: pa.Array) -> pa.Array:
    needy = pc.fill_null(pc.match_substring_regex(strings, _NEEDS_ESCAPE), False)
    if not pc.any(needy).as_py():
        return strings
    forms = [write_term(string)[1:-1] for string in strings.filter(needy).to_pylist()]
    return pc.replace_with_mask(strings, needy, pa.array(forms, type=pa.string()))
