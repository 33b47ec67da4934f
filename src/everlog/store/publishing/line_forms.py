"""Facts as lines of fields: CSV, and Soufflé's files.

Lines are sorted by their bytes. As lines can be read, no field goes on where another one and the delimiter behind it end.
So lines are in order if facts are, column by column: by the field with the delimiter, and in the last one by the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from everlog.datalog.values import XSD
from everlog.sources.csv_fields import csv_field
from everlog.sources.facts_lines import facts_field
from everlog.store.publishing.written_form import Columns, TextForm, line_pieces, together

_INTEGER_END: Final = f'"^^<{XSD}integer>'
_INTEGER: Final = r'^"(?:0|-?[1-9][0-9]*)"\^\^<' + XSD.replace(".", r"\.") + "integer>$"


@dataclass(frozen=True)
class LineForm(TextForm):
    """Fields between delimiters. `field` makes one of a term; None if it cannot be one."""

    field: Callable[[str], str | None]
    delimiter: str
    nullary: bytes

    def texts(self, terms: pa.Array) -> pa.Table:
        """Most terms are plain IRIs, words or integers, and no Python is run for them."""
        same = pc.invert(pc.match_substring_regex(terms, f'^"|{self.delimiter}'))
        word = pc.match_substring_regex(terms, rf'^"[A-Za-z][^"\\{self.delimiter}]*"$')
        integer = pc.match_substring_regex(terms, _INTEGER)
        other = pc.invert(pc.or_(pc.or_(same, word), integer))
        fields = terms
        for mask, end in ((word, '"'), (integer, _INTEGER_END)):
            fields = pc.replace_with_mask(fields, mask, pc.utf8_slice_codeunits(terms.filter(mask), 1, -len(end)))
        rest = pa.array([self.field(text) for text in terms.filter(other).to_pylist()], terms.type)
        return pa.table({"field": pc.replace_with_mask(fields, other, rest)})

    def keys(self, texts: pa.Table, arity: int) -> list[pa.Array]:
        fields = texts.column("field").combine_chunks()
        return [*[together(fields, self.delimiter)] * (arity - 1), fields]

    def fit(self, columns: Columns, texts: pa.Table) -> NDArray[np.bool_] | None:
        fields = texts.column("field")
        if not fields.null_count:
            return None
        writable = pc.is_valid(fields).to_numpy()
        fits: NDArray[np.bool_] = np.all([writable[column] for column in columns], axis=0)
        return fits

    def pieces(self, columns: Columns, texts: pa.Table) -> Iterator[pa.Array]:
        yield from line_pieces(columns, texts.column("field").combine_chunks(), self.delimiter, "\n")


CSV: Final = LineForm(csv_field, ",", b"\n")
FACTS: Final = LineForm(facts_field, "\t", b"()\n")
