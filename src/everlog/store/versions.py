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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from everlog.datalog.ntriples import write_term
from everlog.datalog.values import SAME_AS
from everlog.store.cleanup import committed_versions
from everlog.store.fingerprints import check_files
from everlog.store.history import existing_version
from everlog.store.local_place import local_place
from everlog.store.manifest import Manifest, current_manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.store.all_names import Rewritten
    from everlog.store.publishing.fact_files import FactFiles, FiledFacts, TermFiles
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
        from everlog.store.term_dictionary import StoredDictionary

        return StoredDictionary(spark, list(map(str, self._dictionary_files())), self.manifest.dictionary_size)

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

    def filed(self, which: Literal["all", "explicit", "derived"], spark: SparkSession, folder: Path) -> FiledFacts:
        """The facts as files of ids: the store's own, unless names are rewritten; those are written to a folder."""
        from everlog.store.publishing.fact_files import FactFiles, FiledFacts

        arities = {predicate: self.manifest.arities[predicate] for predicate in self.predicates()}
        if self.is_rewritten and which != "explicit":
            seen = {predicate: self.ids(predicate, which, spark) for predicate in arities}
            return FiledFacts(_written(seen, arities, folder), self._term_files(), self.manifest.columns)
        sections = [self.manifest.layers(name) for name in (("explicit", "derived") if which == "all" else (which,))]
        facts = {name: FactFiles.of_layers(self.path, sections, name, arity) for name, arity in arities.items()}
        return FiledFacts(facts, self._term_files(), self.manifest.columns)

    def filed_representatives(
        self, spark: SparkSession, folder: Path, as_triples: bool
    ) -> tuple[FiledFacts, FactFiles]:
        """The r-materialisation: `I` by predicate, and `π` as names with what represents them, or as triples of it."""
        from pyspark.sql.functions import lit

        from everlog.store.publishing.fact_files import FactFiles, FiledFacts

        rewritten, terms = self._rewritten(spark), self._term_files()
        arities = {predicate: self.manifest.arities[predicate] for predicate in self.predicates()}
        facts = _written({predicate: rewritten.stored(predicate) for predicate in arities}, arities, folder)
        pairs = rewritten.classes
        if as_triples:
            terms, same = terms.with_term(write_term(SAME_AS), folder / "same.parquet")
            pairs = pairs.select("a0", lit(same).cast("bigint").alias("a1"), pairs["a1"].alias("a2"))
        filed = FiledFacts(facts, terms, self.manifest.columns)
        return filed, FactFiles.of_frame(pairs, 3 if as_triples else 2, folder / "representatives")

    def _term_files(self) -> TermFiles:
        from everlog.store.publishing.fact_files import TermFiles

        return TermFiles(tuple(self._dictionary_files()), self.manifest.dictionary_size)

    def _dictionary_files(self) -> list[Path]:
        from everlog.store.parquet_files import check_part

        parts = (check_part(self.path, part, ["id", "term"]) for part in self.manifest.dictionary)
        return [file for files in parts for file in files]

    def _rewritten(self, spark: SparkSession) -> Rewritten:
        from everlog.store.all_names import Rewritten

        return Rewritten(spark, self.path, self.manifest, self.dictionary(spark))


def _written(facts: Mapping[str, DataFrame], arities: Mapping[str, int], folder: Path) -> dict[str, FactFiles]:
    """Facts in id form, written to a folder."""
    from everlog.store.publishing.fact_files import FactFiles

    return {
        predicate: FactFiles.of_frame(frame, arities[predicate], folder / f"facts-{number}")
        for number, (predicate, frame) in enumerate(facts.items())
    }
