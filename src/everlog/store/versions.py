"""A store: versions of a knowledge base in a folder, as Parquet files that Spark writes and never changes.

    store/
      manifest/NNNNNN.json    one per version
      CURRENT                 names the newest version; replaced by an atomic rename
      LOCK                    who is writing, while somebody is
      dictionary/ explicit/ derived/ state/

The folder is on a file system that this process sees as local (rename must be atomic there) and that Spark's executors
see under the same path. Reading takes no lock and never waits; writing is in `commit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from everlog.store.cleanup import committed_versions
from everlog.store.fingerprints import check_files
from everlog.store.history import existing_version
from everlog.store.local_place import local_place
from everlog.store.manifest import Manifest, current_manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.store.all_names import Rewritten
    from everlog.store.term_dictionary import StoredDictionary


@dataclass(frozen=True)
class Store:
    """One version of a store, for reading."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: str | Path, version: int | None = None) -> Store:
        """A version of the store at a path, the newest if none is named; its files are there, and look as they did."""
        place = local_place(path, "the store")
        manifest = current_manifest(place) if version is None else existing_version(place, version)
        check_files(place, manifest)
        return cls(place, manifest)

    def versions(self) -> list[int]:
        """The versions that can be opened, ascending."""
        return committed_versions(self.path)

    def predicates(self) -> list[str]:
        """The predicates of the program and of the facts, sorted."""
        return sorted(self.manifest.arities)

    def dictionary(self, spark: SparkSession) -> StoredDictionary:
        """The dictionary as of this version."""
        from everlog.store.parquet_files import check_part
        from everlog.store.term_dictionary import StoredDictionary

        parts = (check_part(self.path, part, ["id", "term"]) for part in self.manifest.dictionary)
        return StoredDictionary(spark, [str(file) for files in parts for file in files], self.manifest.dictionary_size)

    def ids(self, predicate: str, which: Literal["all", "explicit", "derived"], spark: SparkSession) -> DataFrame:
        """The facts of a predicate in id form."""
        from everlog.store.layers import facts_frame

        if self.is_rewritten:
            return self._rewritten(spark).seen(predicate, which)
        if which == "all":
            return self.ids(predicate, "explicit", spark).unionByName(self.ids(predicate, "derived", spark))
        arity = self.manifest.arities.get(predicate, 0)
        return facts_frame(spark, self.path, self.manifest.layers(which), predicate, arity)

    def text(self, predicate: str, which: Literal["all", "explicit", "derived"], spark: SparkSession) -> DataFrame:
        """The facts of a predicate in text form."""
        return self.dictionary(spark).decode(self.ids(predicate, which, spark))

    @property
    def is_rewritten(self) -> bool:
        """Whether equal constants are rewritten to one of them."""
        return self.manifest.options.get("equality") == "rewrite"

    def representatives(self, spark: SparkSession) -> tuple[dict[str, DataFrame], DataFrame]:
        """The r-materialisation in text form: `I` by predicate, and `π` as names with their representatives."""
        rewritten, dictionary = self._rewritten(spark), self.dictionary(spark)
        facts = {predicate: dictionary.decode(rewritten.stored(predicate)) for predicate in self.predicates()}
        return facts, dictionary.decode(rewritten.classes)

    def _rewritten(self, spark: SparkSession) -> Rewritten:
        from everlog.store.all_names import Rewritten

        return Rewritten(spark, self.path, self.manifest, self.dictionary(spark))
