"""Facts of a store in which equal constants are rewritten, in all names, by Spark.

Such a store has explicit facts in the names that were given and derived ones in those of representatives; the relation
`classes` of its state has the constants that others represent. `I` is what is derived, and what is explicit and names
representatives alone. Nobody stores what it stands for: a fact becomes as many rows as it has names when it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from everlog.datalog.ntriples import write_term
from everlog.datalog.syntax import TRIPLE
from everlog.datalog.values import SAME_AS
from everlog.engine.kept_kinds import CLASSES
from everlog.store.layers import facts_frame

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from everlog.store.manifest import Manifest
    from everlog.store.term_dictionary import StoredDictionary


class Rewritten:
    """The facts of a version."""

    def __init__(self, spark: SparkSession, path: Path, manifest: Manifest, dictionary: StoredDictionary) -> None:
        self._spark, self._path, self._manifest, self._dictionary = spark, path, manifest, dictionary
        self.classes = facts_frame(spark, path, manifest.state, CLASSES, 2)
        """`π`: constants `a0` that others, `a1`, represent."""

    def stored(self, predicate: str) -> DataFrame:
        """`I`."""
        explicit, derived = (self._section(section, predicate) for section in ("explicit", "derived"))
        for name in _arguments(explicit):
            gone = self.classes.select(self.classes["a0"].alias(name))
            explicit = explicit.join(gone, name, "left_anti")
        return derived.unionByName(explicit.select(*derived.columns))

    def seen(self, predicate: str, which: Literal["all", "explicit", "derived"]) -> DataFrame:
        """`I^π`, or its explicit or derived facts. Of `c ≈ c`, only what is explicit."""
        explicit = self._section("explicit", predicate)
        if which == "explicit":
            return explicit
        found = self._expanded(self.stored(predicate))
        names = _arguments(found)
        if predicate == TRIPLE:
            same = self._same_as()
            found = found.where((found["a1"] != same) | (found["a0"] != found["a2"]))
            if which == "all":
                given = (explicit["a1"] == same) & (explicit["a0"] == explicit["a2"])
                return found.unionByName(explicit.where(given).select(*names))
        return found if which == "all" else found.join(explicit, names or ["present"], "left_anti")

    def _expanded(self, facts: DataFrame) -> DataFrame:
        from pyspark.sql.functions import coalesce, col

        own = self.classes.select(col("a1").alias("representative"), col("a0").alias("name"))
        themselves = self.classes.select(col("a1").alias("representative"), col("a1").alias("name")).distinct()
        names = own.unionByName(themselves)
        columns = facts.columns
        for place in _arguments(facts):
            found = names.withColumnRenamed("representative", place)
            facts = facts.join(found, place, "left").withColumn(place, coalesce("name", place)).drop("name")
        return facts.select(*columns)

    def _section(self, section: str, predicate: str) -> DataFrame:
        arity = self._manifest.arities.get(predicate, 0)
        return facts_frame(self._spark, self._path, self._manifest.layers(section), predicate, arity)

    def _same_as(self) -> int:
        """The id of owl:sameAs; -1 if nobody mentions it."""
        return self._dictionary.id_of(write_term(SAME_AS))


def _arguments(facts: DataFrame) -> list[str]:
    return [name for name in facts.columns if name != "present"]
