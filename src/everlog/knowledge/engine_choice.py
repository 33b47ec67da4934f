"""How much memory facts need on the memory engine, and where to reason when nobody says: `engine="auto"`.

The estimate is made before anything is loaded, from what is known then: rows, columns, and the size of the terms. The
memory engine takes four bytes for each argument of a fact, about as much again for each of two indexes and for its tables
of what is present, and room to grow; a term takes its text and some bytes to find it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from everlog.errors import EverlogError
from everlog.knowledge.saved_kinds import closed_predicates
from everlog.spark.session import machine_bytes
from everlog.store.layers import without
from everlog.store.parquet_files import footer

if TYPE_CHECKING:
    from everlog.sources.read_facts import Read
    from everlog.store.manifest import Manifest

GROWTH: Final = 3.0
"""How many times as many facts there are expected to be after a materialisation."""

_UPDATED: Final = 1.25
"""The same after an update of what is materialised."""

_FACT: Final = 24
_ARGUMENT: Final = 16
"""Six million facts of two arguments, materialised by rules that look them up from both ends, took 56 bytes each."""

_CLOSED_FACT: Final = 1
"""A fact of a relation that is closed took 0.3 to 0.5 bytes."""

_TERM: Final = 48

_SHARE: Final = 2
"""One in so many bytes of this machine is for reasoning, unless told otherwise."""

_SIZE = re.compile(r"([1-9][0-9]*)([kmgt])b?", re.IGNORECASE)
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}


@dataclass(frozen=True)
class Engine:
    """An engine, and why it was chosen if it was not asked for."""

    name: Literal["memory", "spark"]
    reasons: tuple[str, ...] = ()


def choose_engine(asked: str, bytes_needed: float, memory: str | None = None) -> Engine:
    """The engine for facts that need so much memory; `memory` is the budget, such as `4g`."""
    if asked != "auto":
        return Engine("spark" if asked == "spark" else "memory")
    budget = budget_bytes(memory)
    fits = bytes_needed <= budget
    why = f"about {_text(bytes_needed)} are needed and {_text(budget)} may be used"
    return Engine("memory", (f"in memory: {why}",)) if fits else Engine("spark", (f"on Spark: {why}",))


def budget_bytes(memory: str | None) -> int:
    """The bytes that reasoning may use."""
    if memory is None:
        return machine_bytes() // _SHARE
    match = _SIZE.fullmatch(memory)
    if match is None:
        raise EverlogError(f"memory={memory!r}: give a number and a unit, such as 800m or 4g")
    return int(match[1]) << _UNITS[match[2].lower()]


def needed_by_facts(rows: Iterable[tuple[int, int]], growth: float = GROWTH) -> float:
    """The bytes for facts, given how many there are of which arity, and for what follows from them."""
    return growth * sum(count * (_FACT + _ARGUMENT * arity) for count, arity in rows)


def needed_by_version(store: Path, manifest: Manifest) -> float:
    """The bytes for a version of a store, before or after its materialisation."""
    counts: dict[str, int] = {}
    closed = closed_predicates(manifest.state_kinds)
    for layer in (*manifest.explicit, *without(manifest.derived, closed)):
        for sign, parts in ((1, layer.added), (-1, layer.deleted)):
            for predicate, part in parts.items():
                counts[predicate] = counts.get(predicate, 0) + sign * part.rows
    growth = _UPDATED if manifest.derived else GROWTH
    facts = needed_by_facts(_with_arities(counts, manifest.arities), growth)
    files = [store / file for part in manifest.dictionary for file in part.files]
    facts += _CLOSED_FACT * sum(manifest.counts.get(name, {}).get("derived", 0) for name in closed)
    return facts + _TERM * manifest.dictionary_size + sum(map(_text_bytes, files))


def engine_of(store: Path, manifest: Manifest, asked: str | None, memory: str | None = None) -> Engine:
    """Where to reason about a version: where it is asked for, else where its options say, else where it fits."""
    wanted = asked or manifest.options.get("engine", "auto")
    return choose_engine(wanted, needed_by_version(store, manifest) if wanted == "auto" else 0, memory)


def needed_by_read(read: Read) -> float:
    """The bytes for facts that were read, and for what follows from them."""
    terms, characters = read.terms
    return needed_by_facts(_with_arities(read.sizes, read.arities)) + characters + _TERM * terms


def _with_arities(counts: Mapping[str, int], arities: Mapping[str, int]) -> list[tuple[int, int]]:
    return [(count, arities[predicate]) for predicate, count in counts.items()]


def _text_bytes(file: Path) -> int:
    """The bytes of the terms in a file of a dictionary, not compressed."""
    metadata = footer(file)
    return sum(
        metadata.row_group(group).column(column).total_uncompressed_size
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
        if metadata.row_group(group).column(column).path_in_schema == "term"
    )


def _text(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
