"""Facts, terms and kept state of the Spark engine as files of a version; no section is read into this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from everlog.engine.algebra import FactSet
from everlog.engine.backend import KeptState, Names, Shelf
from everlog.engine.spark.kept_relations import arities as kept_arities
from everlog.engine.spark.kept_relations import difference, laid_out, stored, whole
from everlog.engine.spark.listed_facts import SparkListed
from everlog.engine.spark.names import represented
from everlog.store.layers import facts_frame
from everlog.store.manifest import Layer, Part
from everlog.store.spark_layers import Rows, extended_dictionary, write_rows
from everlog.store.term_dictionary import NUMBER

if TYPE_CHECKING:
    from everlog.engine.spark.spark_backend import SparkBackend
    from everlog.store.commit import Writing


class SparkShelf(Shelf[FactSet, SparkListed, FactSet]):
    """A version that a knowledge base on Spark makes."""

    def __init__(self, backend: SparkBackend, writer: Writing) -> None:
        self._backend, self._writer, self._spark = backend, writer, backend.spark

    def write(
        self, section: str, layers: Sequence[Layer], added: FactSet, deleted: FactSet, arities: Mapping[str, int]
    ) -> tuple[Layer, ...]:
        more, fewer = (self._rows(facts, arities) for facts in (added, deleted))
        return write_rows(self._spark, self._writer, section, tuple(layers), more, fewer, arities)

    def _rows(self, facts: FactSet, arities: Mapping[str, int]) -> Rows | None:
        """The facts of visible predicates."""
        if not len(facts):
            return None
        engine, width = self._backend.engine, max(arities.values(), default=0)
        numbers = {name: number for number, name in enumerate(arities)}
        return Rows(laid_out(engine, engine.together(facts), numbers, width), list(arities), len(facts))

    def since(
        self, section: str, layers: Sequence[Layer], facts: FactSet, arities: Mapping[str, int]
    ) -> tuple[FactSet, FactSet]:
        then = self._backend.saved[section != "explicit"] if layers else self._backend.engine.empty()
        return facts - then, then - facts

    def done(self, E: FactSet, derived: FactSet) -> None:
        self._backend.saved = E, derived

    def terms(self, parts: Sequence[Part], known: bool) -> tuple[Part, ...]:
        terms, files = self._backend.terms, []
        for file in terms.new if known else terms.all_files():
            if self._writer.path in file.parents:
                files.append(file)
            else:
                place = self._writer.folder("dictionary")
                place.mkdir(parents=True)
                files.append(Path(shutil.copy(file, place / file.name)))
        result = extended_dictionary(self._spark, self._writer, parts, files)
        terms.saved([self._writer.path / file for part in result for file in part.files])
        return result

    def kept(
        self,
        state: KeptState | None,
        names: Names[FactSet, SparkListed, FactSet] | None,
        kept: Callable[[], Mapping[str, SparkListed]],
        layers: Sequence[Layer],
        arities: Mapping[str, int],
        kinds: frozenset[str],
    ) -> tuple[tuple[Layer, ...], dict[str, int]]:
        widths = {**kept_arities(self._backend.engine, kinds), **arities}
        if state is None:  # it was opened, and no more
            frames = {name: one.frame for name, one in kept().items()}
            widths = {name: 0 if frame.columns == ["present"] else len(frame.columns) for name, frame in frames.items()}
            rows = stored(frames, list(frames), max(widths.values(), default=0))
            now = None if rows is None else Rows(rows, list(frames), rows.count())
        else:
            now = whole(self._backend.engine, state, widths, represented(names))
        added, deleted = (now, None) if not layers else self._compared(now, layers, arities, widths)
        return write_rows(self._spark, self._writer, "state", tuple(layers), added, deleted, widths), widths

    def _compared(
        self, now: Rows | None, layers: Sequence[Layer], arities: Mapping[str, int], widths: Mapping[str, int]
    ) -> tuple[Rows, Rows]:
        """The rows of relations that some layers lack, and those that they have and should not."""
        names, width = list(widths), max(widths.values())
        frames = {name: facts_frame(self._spark, self._writer.path, layers, name, arities[name]) for name in arities}
        then = stored(frames, names, width)
        columns = ", ".join([f"{NUMBER} int", *(f"a{n} bigint" for n in range(width))])
        nothing = self._spark.createDataFrame([], columns)
        return difference(now or Rows(nothing, names, 0), Rows(nothing if then is None else then, names, 0))
