"""A store that is opened to be asked something: in memory or, where its facts do not fit there, on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.cli import options

if TYPE_CHECKING:
    from everlog.knowledge.base import KnowledgeBase
    from everlog.store.versions import Store


def opened_store(
    store: Path,
    found: Store,
    engine: str | None,
    memory: str | None,
    master: str | None,
    settings: Mapping[str, str],
    verbose: bool,
) -> KnowledgeBase:
    """The knowledge base of a version that was found; a Spark session is started if one is needed."""
    from everlog.knowledge.engine_choice import engine_of
    from everlog.knowledge.stores import open_store

    spark = None
    if engine_of(found.path, found.manifest, engine, memory).name == "spark":
        spark = options.started_session(master, settings, verbose, (store,))
    return open_store(store, version=found.manifest.version, spark=spark, engine=engine, memory=memory)
