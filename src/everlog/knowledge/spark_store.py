"""Versions of a store in the Spark engine, and what it did to them as new files; no section is read into this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode

from everlog.datalog.printer import print_program
from everlog.engine.algebra import FactSet
from everlog.engine.spark.facts.fact_schema import RELATION
from everlog.engine.spark.terms import SparkTerms
from everlog.knowledge.keeping import entries, still_right
from everlog.knowledge.saved_kinds import stored_kinds
from everlog.knowledge.spark_equated import SparkEquatedState
from everlog.knowledge.spark_saved import arities as kept_arities
from everlog.knowledge.spark_saved import difference, padding, stored, whole
from everlog.knowledge.spark_state import SparkState
from everlog.store.blank_nodes import blank_nodes, renamed_blank_nodes
from everlog.store.commit import Writing
from everlog.store.layers import facts_frame
from everlog.store.manifest import Layer, Manifest, Part
from everlog.store.parquet_files import check_part
from everlog.store.sections import write_section
from everlog.store.spark_layers import Rows, extended_dictionary, section_counts, write_rows
from everlog.store.term_dictionary import BLANK, NUMBER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from everlog.knowledge.spark_base import KnowledgeBase


def load_spark_state(
    spark: SparkSession,
    store: Path,
    manifest: Manifest,
    scratch: Callable[[], Path],
    terms: Callable[[], Path],
    by_label: bool = True,
) -> SparkState:
    """The facts of a version; `scratch` gives places for files that are soon forgotten, `terms` for new terms."""
    files = [file for part in manifest.dictionary for file in check_part(store, part, ["id", "term"])]
    kind = SparkEquatedState if manifest.options.get("equality") == "rewrite" else SparkState
    state = kind(spark, SparkTerms(spark, files, manifest.dictionary_size, terms, by_label), scratch)
    explicit, derived = (_frames(spark, store, manifest, section) for section in ("explicit", "derived"))
    kinds = stored_kinds(manifest.state_kinds, manifest.state_arities)
    state.restore(explicit, derived, lambda: _frames(spark, store, manifest, "state"), kinds)
    return state


def _frames(spark: SparkSession, store: Path, manifest: Manifest, section: str) -> dict[str, DataFrame]:
    """The relations of a section."""
    layers = manifest.layers(section)
    arities = manifest.state_arities if section == "state" else manifest.arities
    names = dict.fromkeys(name for layer in layers for name in layer.added)
    return {name: facts_frame(spark, store, layers, name, arities[name]) for name in names}


def written(
    spark: SparkSession, writer: Writing, state: SparkState, draft: Manifest, before: Manifest | None
) -> Manifest:
    """The manifest of a version after a materialisation or, if there is a version `before`, after an update of it.

    The explicit facts of a materialisation are in the draft.
    """
    explicit, derived = draft.explicit, draft.derived
    change = state.difference
    if before is None or change is None:
        derived = _write_facts(spark, writer, "derived", (), state, state.derived, state.engine.empty(), draft.arities)
    else:
        explicit, derived = (
            _write_facts(spark, writer, section, layers, state, added, deleted, draft.arities)
            for section, layers, added, deleted in (
                ("explicit", explicit, change.explicit_added, change.explicit_deleted),
                ("derived", derived, change.derived_added, change.derived_deleted),
            )
        )
    return replace(
        draft,
        explicit=explicit,
        derived=derived,
        dictionary=write_terms(spark, writer, draft.dictionary, state),
        counts=state.counted(counts(explicit, derived, draft.arities)),
        **write_kept(spark, writer, before, state),
    )


def spark_version(kb: KnowledgeBase, writer: Writing, known: Manifest | None) -> Manifest:
    """A version with the contents of a knowledge base on Spark; `known` is the one that it has changed since."""
    state, arities = kb._state, kb._arities
    assert isinstance(state, SparkState)
    labels = sorted(blank_nodes(kb.program))
    ids = state.terms.encode_values([BlankNode(label) for label in labels])
    program = renamed_blank_nodes(
        kb.program, {label: f"{BLANK[2:]}{id}" for label, id in zip(labels, ids, strict=True)}
    )
    nothing = state.engine.empty()
    now = state.explicit, state.derived
    then = (nothing, nothing) if known is None else state.saved
    explicit, derived = (
        _write_facts(
            kb.spark,
            writer,
            section,
            () if known is None else known.layers(section),
            state,
            new - old,
            old - new,
            arities,
        )
        for section, new, old in zip(("explicit", "derived"), now, then, strict=True)
    )
    manifest = Manifest(
        version=writer.version,
        program=print_program(program),
        options=kb._options,
        arities=dict(arities),
        dictionary=write_terms(kb.spark, writer, None if known is None else known.dictionary, state),
        explicit=explicit,
        derived=derived,
        counts=state.counted(counts(explicit, derived, arities)),
        **write_kept(kb.spark, writer, known, state),
    )
    state.saved = now
    return manifest


def _write_facts(
    spark: SparkSession,
    writer: Writing,
    section: str,
    layers: tuple[Layer, ...],
    state: SparkState,
    added: FactSet,
    deleted: FactSet,
    arities: Mapping[str, int],
) -> tuple[Layer, ...]:
    """The layers of a section after a change of its facts."""
    more, fewer = (_rows(state, facts, arities) for facts in (added, deleted))
    return write_rows(spark, writer, section, layers, more, fewer, arities)


def _rows(state: SparkState, facts: FactSet, arities: Mapping[str, int]) -> Rows | None:
    """The facts of visible predicates."""
    from pyspark.sql.functions import array, col, element_at, greatest, lit

    if not len(facts):
        return None
    names = list(arities)
    known = state.engine.relations()
    numbers = [-1] * (1 + max(number for number, _ in known.values()))
    for place, name in enumerate(names):
        if name in known:
            numbers[known[name][0]] = place
    frame = state.engine.together(facts)
    number = element_at(array(*map(lit, numbers)), (col(RELATION) + 1).cast("int"))
    width = max(arities.values(), default=0)
    # The fact of a nullary predicate has 0 in its first column.
    columns = [greatest(col(f"a{place}"), lit(padding(place))).alias(f"a{place}") for place in range(width)]
    return Rows(frame.select(number.alias(NUMBER), *columns).where(col(NUMBER) >= 0), names, len(facts))


def write_kept(spark: SparkSession, writer: Writing, before: Manifest | None, state: SparkState) -> dict[str, Any]:
    """What a manifest says about the section `state`."""
    kinds = state.kept_kinds()
    if state.materialisation is None:
        if before is None:
            return _write_again(spark, writer, state)
        return entries(before.state, before.state_arities, before.state_kinds)
    layers, old = ((), {}) if before is None else still_right(before, kinds)
    arities = {**kept_arities(state.engine, kinds), **old}
    changes, now = None, state.marked()
    if before is not None and state.marks is not None:
        changes = state.marks.changes(state.engine, now, kinds)
    state.marks = now
    if changes is not None:
        written = write_section(spark, writer, "state", layers, *changes, arities)
    else:
        written = _write_whole(spark, writer, state, layers, old, arities)
    found = {name for layer in written for name in layer.added}
    return entries(written, {name: arity for name, arity in arities.items() if name in found}, kinds)


def _write_again(spark: SparkSession, writer: Writing, state: SparkState) -> dict[str, Any]:
    """The section of a state that was opened, and no more, as another store has it."""
    frames = state.kept()
    arities = {name: 0 if frame.columns == ["present"] else len(frame.columns) for name, frame in frames.items()}
    rows = stored(frames, list(frames), max(arities.values(), default=0))
    found = None if rows is None else Rows(rows, list(frames), rows.count())
    return entries(write_rows(spark, writer, "state", (), found, None, arities), arities, state.kept_kinds())


def _write_whole(
    spark: SparkSession,
    writer: Writing,
    state: SparkState,
    layers: tuple[Layer, ...],
    old: Mapping[str, int],
    arities: Mapping[str, int],
) -> tuple[Layer, ...]:
    """The layers of the section `state` by comparing all that is kept with all that they have."""
    assert state.materialisation is not None
    assert state.marks is not None
    names = list(arities)
    now = whole(state.engine, state.materialisation, arities, state.marks.classes)
    if not layers:
        written = write_rows(spark, writer, "state", layers, now, None, arities)
    else:
        width = max(arities.values())
        frames = {name: facts_frame(spark, writer.path, layers, name, old[name]) for name in old}
        then = stored(frames, names, width)
        nothing = spark.createDataFrame([], ", ".join([f"{NUMBER} int", *(f"a{n} bigint" for n in range(width))]))
        added, deleted = difference(now or Rows(nothing, names, 0), Rows(nothing if then is None else then, names, 0))
        written = write_rows(spark, writer, "state", layers, added, deleted, arities)
    return written


def counts(explicit: tuple[Layer, ...], derived: tuple[Layer, ...], arities: Mapping[str, int]) -> dict[str, Any]:
    """The numbers of facts, as the layers have them."""
    sizes = {"explicit": section_counts(explicit), "derived": section_counts(derived)}
    return {
        predicate: {which: found.get(predicate, 0) for which, found in sizes.items()} for predicate in sorted(arities)
    }


def write_terms(
    spark: SparkSession, writer: Writing, parts: Sequence[Part] | None, state: SparkState
) -> tuple[Part, ...]:
    """The parts of the dictionary with the terms that are new; without parts, with all terms."""
    files = []
    for file in state.terms.all_files() if parts is None else state.terms.new:
        if writer.path in file.parents:
            files.append(file)
        else:
            folder = writer.folder("dictionary")
            folder.mkdir(parents=True)
            files.append(Path(shutil.copy(file, folder / file.name)))
    result = extended_dictionary(spark, writer, parts or (), files)
    state.terms.saved([writer.path / file for part in result for file in part.files])
    return result
