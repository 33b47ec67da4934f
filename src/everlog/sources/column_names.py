"""The names of columns: facts that come from a table keep those that it has, and go back into one with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def columns_of_width(width: int) -> list[str]:
    """The columns of facts with this many arguments, where nobody has named them."""
    return [f"a{number}" for number in range(width)] if width else ["present"]


def usable_names(names: Sequence[object]) -> tuple[str, ...] | None:
    """Names that a table can have, or None: SQL does not tell capitals from small letters, and some are ours anyway.

    >>> usable_names(["customer", "product"]), usable_names(["a", "A"]), usable_names(["a0", "a1"])
    (('customer', 'product'), None, None)
    """
    texts = tuple(name for name in names if isinstance(name, str) and name)
    ours = list(texts) in (columns_of_width(len(texts)), columns_of_width(0))
    if len({text.lower() for text in texts}) != len(names) or ours:
        return None
    return texts


def names_of(facts: Any) -> tuple[str, ...] | None:
    """The names of the columns of an Arrow table, or of a pandas or Spark DataFrame."""
    library = type(facts).__module__.partition(".")[0]
    if library == "pyarrow":
        return usable_names(facts.schema.names)
    return usable_names(list(facts.columns)) if library in ("pandas", "pyspark", "polars") else None


def known_names(
    known: Mapping[str, tuple[str, ...]], more: Mapping[str, tuple[str, ...]], arities: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """The names that are known, and more of them for predicates that have none yet."""
    fitting = {predicate: names for predicate, names in more.items() if arities.get(predicate) == len(names)}
    return {**fitting, **known}
