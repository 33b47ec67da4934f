"""Which columns are arguments: those of a table's files and those that its folders name, all or chosen by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from everlog.sources.null_policy import Nulls, null_reason
from everlog.sources.problems import SourceMistake
from everlog.sources.source_files import Source
from everlog.sources.table_folders import partition_terms

Constants: TypeAlias = Mapping[str, tuple[str | None, ...]]
"""By file, the arguments that its folders tell, as N-Triples texts; None for a null that leaves facts out."""


@dataclass(frozen=True)
class Arrangement:
    """The arguments of facts: first the columns of a file, then constants, unless they come in another order."""

    own: tuple[int, ...]
    """The places of columns in the file."""
    constants: Constants
    order: tuple[int, ...] | None
    names: tuple[str, ...]
    """Of the arguments."""

    @property
    def width(self) -> int:
        return len(self.names)


def arranged(source: Source, file: str, names: Sequence[str], nulls: Nulls) -> Arrangement:
    """The arrangement of a table whose file has columns of these names, or `SourceMistake` if a wanted one is not there."""
    wanted = source.columns or (*names, *(name for name in source.partitions if name not in names))
    own = [name for name in wanted if name not in source.partitions]
    for name in own:
        if name not in names:
            raise SourceMistake(
                f"{file}: there is no column {name}; it has {', '.join((*names, *source.partitions)) or 'none'}", file
            )
    told = [name for name in wanted if name in source.partitions]
    order = sorted(range(len(wanted)), key=lambda place: (wanted[place] in source.partitions, place))
    places = tuple(order.index(place) for place in range(len(wanted)))
    return Arrangement(
        tuple(names.index(name) for name in own),
        constants_of(source, told, nulls),
        None if list(places) == sorted(places) else places,
        tuple(wanted),
    )


def constants_of(source: Source, columns: Sequence[str], nulls: Nulls) -> Constants:
    """The arguments that the names of folders tell about the files of a table, for some of its partition columns."""
    if not columns:
        return {}
    places = [source.partitions.index(column) for column in columns]
    found: dict[str, tuple[str | None, ...]] = {}
    for file, row in partition_terms(source.values).items():
        texts = [row[place] for place in places]
        if None in texts and nulls == "error":
            column = columns[texts.index(None)]
            raise SourceMistake(null_reason(nulls, f"{file}: the partition column {column} is null"), file)
        found[file] = tuple('""' if text is None and nulls == "empty" else text for text in texts)
    return found
