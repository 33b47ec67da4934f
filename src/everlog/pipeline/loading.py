"""A version of a store in the memory engine, by Arrow and without reasoning: `I` is the explicit and the derived facts.

The engine's ids are the store's ids, because the dictionary is read in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from everlog.errors import EverlogError
from everlog.pipeline.layers import facts_table
from everlog.pipeline.manifest import Layer, Manifest, Part
from everlog.pipeline.parquet import check_rows, read_files, wrong
from everlog.saved_kinds import CLASSES, stored_kinds

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from everlog.engine.memory.dictionary import Dictionary
    from everlog.engine.memory.table import Ids
    from everlog.state import Batch, MemoryState

MOST = 2**31


class Loading:
    """A version that is loaded in a thread beside, while Spark starts or works. Nobody waits for one that is not wanted."""

    def __init__(self, store: Path, manifest: Manifest, workers: int | None = None) -> None:
        self._store, self._manifest, self._workers = store, manifest, workers
        self._loaded: MemoryState | None = None
        self._failure: Exception | None = None
        self._thread = Thread(target=self._load, name="everlog-loading", daemon=True)
        self._thread.start()

    def _load(self) -> None:
        try:
            self._loaded = load_state(self._store, self._manifest, self._workers)
        except Exception as failure:
            self._failure = failure

    def state(self, manifest: Manifest) -> MemoryState:
        """The facts of a version: those that were loaded, unless they are of another one. To be asked for once."""
        self._thread.join()
        loaded, self._loaded = self._loaded, None
        if self._manifest.version != manifest.version:
            return load_state(self._store, manifest, self._workers)
        if loaded is None:
            assert self._failure is not None
            raise self._failure
        return loaded


def load_state(store: Path, manifest: Manifest, workers: int | None = None) -> MemoryState:
    """The facts of a version, explicit and derived."""
    from everlog.equated import EquatedState
    from everlog.state import MemoryState

    dictionary = load_dictionary(store, manifest.dictionary)
    explicit, derived = (
        batches(store, manifest.layers(section), manifest.arities) for section in ("explicit", "derived")
    )
    kinds = stored_kinds(manifest.state_kinds, manifest.state_arities)
    state = (EquatedState if manifest.options.get("equality") == "rewrite" else MemoryState).restored(
        dictionary,
        explicit,
        derived,
        workers,
        kept=lambda: batches(store, manifest.state, manifest.state_arities),
        kinds=kinds,
    )
    if isinstance(state, EquatedState) and CLASSES in kinds:
        state.represent(ids_of(facts_table(store, manifest.state, CLASSES, 2), 2))
    return state


def load_dictionary(store: Path, parts: Sequence[Part]) -> Dictionary:
    """The terms of a store, each with its id of the store."""
    from everlog.engine.memory.dictionary import Dictionary

    size = sum(part.rows for part in parts)
    if size > MOST:
        raise EverlogError(f"the store has {size} terms, and the memory engine has ids for {MOST}")
    dictionary = Dictionary()
    for part in parts:
        learn_terms(dictionary, [store / file for file in part.files], len(dictionary) + part.rows)
    return dictionary


def learn_terms(dictionary: Dictionary, files: Sequence[Path], size: int) -> None:
    """Gives a dictionary the terms of some files, whose ids are the next ones; then it has `size`."""
    import numpy as np
    import pyarrow as pa

    table = read_files(files, ["id", "term"], pa.schema([("id", pa.int64()), ("term", pa.string())]))
    expected = np.arange(len(dictionary), size)
    if files:
        check_rows(files, table.num_rows, len(expected))
    ids = table.column("id").to_numpy()
    if not np.array_equal(ids, expected):
        table = table.take(pa.array(np.argsort(ids, kind="stable")))
        ids = table.column("id").to_numpy()
    whole = np.array_equal(ids, expected)
    if not whole or not np.array_equal(dictionary.encode_ntriples(table.column("term")), expected):
        raise wrong(files[0], f"has terms with other ids than {expected[0]} to {expected[-1]}, one for each")


def batches(store: Path, layers: tuple[Layer, ...], arities: Mapping[str, int]) -> Iterator[Batch]:
    """The facts of a section, by predicate."""
    for predicate in dict.fromkeys(predicate for layer in layers for predicate in layer.added):
        yield predicate, ids_of(facts_table(store, layers, predicate, arities[predicate]), arities[predicate])


def ids_of(table: pa.Table, arity: int) -> Ids:
    """A table of ids as the memory engine takes facts: one per column of an array."""
    import numpy as np

    if arity == 0:
        return np.empty((0, min(table.num_rows, 1)), np.int32)
    ids = np.empty((arity, table.num_rows), np.int32)
    for place in range(arity):
        ids[place] = table.column(f"a{place}").to_numpy()
    return ids


def table_of(ids: Ids | NDArray[np.int64]) -> pa.Table:
    """The other way round."""
    import numpy as np
    import pyarrow as pa

    columns = ids if ids.shape[0] else np.zeros((1, ids.shape[1]), np.int64)
    return pa.table({f"a{place}": pa.array(column.astype(np.int64)) for place, column in enumerate(columns)})
