"""A version of a store in the memory engine, without reasoning: `I` is the explicit and the derived facts."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from everlog.knowledge.saved_kinds import stored_kinds
from everlog.store.all_names import CLASSES
from everlog.store.arrays import batches, ids_of, load_dictionary
from everlog.store.layers import facts_table
from everlog.store.manifest import Manifest

if TYPE_CHECKING:
    from everlog.knowledge.state import MemoryState


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
    from everlog.knowledge.equated import EquatedState
    from everlog.knowledge.state import MemoryState

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
