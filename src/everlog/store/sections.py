"""What changed in a knowledge base of this process, as new files of a store, by Arrow; nothing for what is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from everlog.store.arrays import table_of
from everlog.store.commit import Writing
from everlog.store.layers import alone, compose, facts_table, mentioned, merged_length, net_change, without
from everlog.store.manifest import Layer, Part
from everlog.store.parquet_files import write_file, write_pieces
from everlog.store.term_dictionary import BLANK

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.facts.table import Ids

Facts: TypeAlias = Mapping[str, "Ids | NDArray[np.int64] | AllFacts"]


class AllFacts(NamedTuple):
    """All facts of a predicate, which take the place of those that a section has; they come in pieces."""

    pieces: Callable[[], Iterator[Ids]]
    rows: int


def write_section(
    writer: Writing,
    section: str,
    layers: Sequence[Layer],
    added: Facts,
    deleted: Facts,
    arities: Mapping[str, int],
) -> tuple[Layer, ...]:
    """The layers of a section after a change; small layers are merged on the way."""
    whole = {predicate: facts for predicate, facts in added.items() if isinstance(facts, AllFacts)}
    layers = without(layers, whole) if whole else layers
    changed: dict[str, tuple[pa.Table, pa.Table]] = {
        predicate: (
            _table(added.get(predicate), arities[predicate]),
            _table(deleted.get(predicate), arities[predicate]),
        )
        for predicate in {**added, **deleted}
        if predicate not in whole
    }
    rows = sum(table.num_rows for tables in changed.values() for table in tables)
    rows += sum(facts.rows for facts in whole.values())
    if not rows:
        return tuple(layers)
    count = merged_length([*(layer.rows() for layer in layers), rows]) - 1
    older, merging = layers[: len(layers) - count], layers[len(layers) - count :]
    kept = alone(merging, changed)
    tables: dict[str, pa.Table] = {}
    for predicate in dict.fromkeys((*mentioned(merging), *changed)):
        if predicate in kept.added or predicate in kept.deleted:
            continue
        arity = arities[predicate]
        if older or not merging:
            more, gone = net_change(writer.path, merging, predicate, arity)
        else:  # the first layer too: what results is all there is
            more, gone = facts_table(writer.path, merging, predicate, arity), _table(None, arity)
        if predicate in changed:
            more, gone = compose((more, gone), changed[predicate])
        tables[f"+{predicate}"], tables[f"-{predicate}"] = more, gone
    written = _write_tables(writer, section, tables)
    written |= {f"+{name}": _write_all(writer, section, facts) for name, facts in whole.items() if facts.rows}
    result = Layer(
        {**kept.added, **{name[1:]: part for name, part in written.items() if name[0] == "+"}},
        {**kept.deleted, **{name[1:]: part for name, part in written.items() if name[0] == "-"}},
    )
    return (*older, result) if older or result.added or result.deleted else ()


def _table(ids: Ids | NDArray[np.int64] | AllFacts | None, arity: int) -> pa.Table:
    import numpy as np

    assert not isinstance(ids, AllFacts), "these are written in pieces"

    return table_of(np.empty((arity, 0), np.int32) if ids is None else ids)


def _write_tables(writer: Writing, section: str, tables: Mapping[str, pa.Table]) -> dict[str, Part]:
    """A file for each table that has rows."""
    present = {name: table for name, table in tables.items() if table.num_rows}
    if not present:
        return {}
    folder = writer.folder(section)
    return {
        name: _part(writer, write_file(table, folder / f"{number}.parquet"), table.num_rows)
        for number, (name, table) in enumerate(present.items())
    }


def _write_all(writer: Writing, section: str, facts: AllFacts) -> Part:
    """A file of all facts of a predicate."""
    tables = (table_of(ids) for ids in facts.pieces())
    first = next(tables)
    file = write_pieces(chain([first], tables), first.schema, writer.folder(section) / "all.parquet")
    return _part(writer, file, facts.rows)


def _part(writer: Writing, file: Path, rows: int) -> Part:
    return Part((writer.named(file),), rows)


def extend_dictionary(writer: Writing, parts: Sequence[Part], dictionary: Dictionary) -> tuple[Part, ...]:
    """The parts of the dictionary with the terms that are new since.

    Small parts are merged, so that their number grows with the logarithm of the updates.
    """
    size = sum(part.rows for part in parts)
    if size == len(dictionary):
        return tuple(parts)
    sizes = [*(part.rows for part in parts), len(dictionary) - size]
    kept = parts[: len(sizes) - merged_length(sizes)]
    return (*kept, _write_terms(writer, sum(part.rows for part in kept), dictionary))


def _write_terms(writer: Writing, first: int, dictionary: Dictionary) -> Part:
    import numpy as np
    import pyarrow as pa

    ids = np.arange(first, len(dictionary), dtype=np.int32)
    table = pa.table({"id": pa.array(ids.astype(np.int64)), "term": stored_terms(dictionary, ids)})
    return _part(writer, write_file(table, writer.folder("dictionary") / "terms.parquet"), len(ids))


def stored_terms(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """The texts of terms as a store has them: blank nodes are named after their ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = dictionary.ntriples_column(ids)
    blank = pc.starts_with(texts, "_:")
    if not pc.any(blank).as_py():
        return texts
    large = pa.large_string()
    names = pc.binary_join_element_wise(pa.scalar(BLANK, large), pa.array(ids).cast(large), pa.scalar("", large))
    return pc.if_else(blank, names, texts)
