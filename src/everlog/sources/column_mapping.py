"""Which columns of which table are the arguments of a predicate: `edge=orders.parquet:customer,product`.

The table is a path, as facts have them, or `table:NAME` for one that Spark's catalog knows by that name. Without columns
all of them are meant, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from everlog.errors import EverlogError

IN_CATALOG: Final = "table:"
"""What the name of a table in Spark's catalog begins with."""

_MAPPING = re.compile(r"(<[^>]*>|[^=]+)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class Mapped:
    """A table whose columns are the arguments of a predicate."""

    predicate: str
    table: str
    columns: tuple[str, ...]


def parse_mapping(text: str, option: str = "--table") -> Mapped:
    """A mapping as the command line has it.

    >>> parse_mapping("edge=orders.parquet:customer,product")
    Mapped(predicate='edge', table='orders.parquet', columns=('customer', 'product'))
    >>> parse_mapping("<http://a?b=c>=table:db.orders")
    Mapped(predicate='<http://a?b=c>', table='table:db.orders', columns=())
    """
    match = _MAPPING.fullmatch(text)
    if match is None:
        raise EverlogError(
            f"{option} {text}: give PREDICATE=TABLE:COLUMN,…, such as edge=orders.parquet:customer,product"
        )
    return _mapped(match[1], match[2], f"{option} {text}")


def mappings(tables: Mapping[str, str]) -> list[Mapped]:
    """Mappings as Python has them: by predicate the table, with its columns."""
    for predicate, text in tables.items():
        if not isinstance(predicate, str) or not isinstance(text, str):
            raise EverlogError(
                f"{predicate!r}: {text!r} is no table with its columns by predicate; give "
                "{'edge': 'orders.parquet:customer,product'}, and DataFrames to add()"
            )
    return [_mapped(predicate, text, f"the table of {predicate}, {text}") for predicate, text in tables.items()]


def _mapped(predicate: str, text: str, place: str) -> Mapped:
    table, colon, last = text.rpartition(":")
    if not colon or "/" in last or f"{table}:" == IN_CATALOG:
        return Mapped(predicate, text, ())
    columns = tuple(column.strip() for column in last.split(","))
    if not table or not all(columns):
        raise EverlogError(f"{place}: a column has no name; give them as in orders.parquet:customer,product")
    return Mapped(predicate, table, columns)
