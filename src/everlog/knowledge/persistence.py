"""A knowledge base as a version of a store: what is written of it, and when it counts.

A version has explicit facts, derived facts, terms, and what is kept for updates (`engine/kept_kinds.py`). Only what changed
since the version before is written; how, is the business of the engine's `Shelf`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyoxigraph import BlankNode

from everlog import interrupts
from everlog.datalog.printer import print_program
from everlog.datalog.syntax import Program
from everlog.engine.kept_kinds import kind_of
from everlog.errors import EverlogError
from everlog.knowledge.report import Report
from everlog.knowledge.saved_kinds import BY_KIND, BY_TERM, BY_TEXT, BY_VALUE, OLDER
from everlog.spark.failures import spark_failures
from everlog.store.blank_nodes import blank_nodes, renamed_blank_nodes
from everlog.store.commit import Writing, making, writing
from everlog.store.held_versions import hold
from everlog.store.manifest import CURRENT, Layer, Manifest, Part
from everlog.store.sections import write_section
from everlog.store.spark_layers import section_counts
from everlog.store.term_dictionary import BLANK

if TYPE_CHECKING:
    from everlog.knowledge.base import KnowledgeBase
    from everlog.knowledge.reasoner import Reasoner


_PASSING: Final = ("warnings", "peak_rss_bytes")
"""What a report has that no version keeps."""


def save(kb: KnowledgeBase, path: Path, overwrite: bool) -> int:
    """Writes a version with the contents of a knowledge base, and gives its number."""
    place: AbstractContextManager[Writing] = writing(path) if (path / CURRENT).exists() else making(path)
    undo = kb.reasoner.backend.savepoint()
    try:
        with place as writer, spark_failures(f"saving to the store {path}"):
            if writer.before is not None and not overwrite:
                _check_known(kb, path, writer.before)
            manifest = saved(kb, writer, writer.before if kb.stored == (path, writer.before) else None)
            interrupts.settle()
            manifest = writer.commit(manifest)
    except BaseException:
        undo()
        raise
    kb.stored = path, manifest
    kb.known_stores[path] = manifest
    if kb.holding is not None and not kb.reasoner.backend.query_dictionary()[1]:
        kb.holding.release()
        kb.holding = hold(path, manifest.version)[0]  # in memory nothing is read from older files any more
    return manifest.version


def _check_known(kb: KnowledgeBase, path: Path, newest: Manifest) -> None:
    """Raises unless a knowledge base knows the newest version of a store, which it was opened from or saved to."""
    known = kb.known_stores.get(path)
    if known is None:
        raise EverlogError(
            f"there is a store at {path} that this knowledge base was neither opened from nor saved to: choose another "
            "path, or say overwrite=True to make this the next version of it"
        )
    if known != newest:
        raise EverlogError(
            f"the store {path} has changed since: it is at version {newest.version}, and this knowledge base is its "
            f"version {known.version} and what was done to that. Open the store anew and update it there, or save to "
            "another path"
        )


def saved(kb: KnowledgeBase, writer: Writing, known: Manifest | None, report: Report | None = None) -> Manifest:
    """A version with the contents of a knowledge base; `known` is the one that it has changed since.

    The report is of what was done last, if a store is to say so.
    """
    reasoner, arities = kb.reasoner, dict(kb.arities)
    program = stored_text(kb.program, reasoner)
    sections = {"explicit": reasoner.E, "derived": reasoner.derived()}
    dictionary = () if known is None else known.dictionary
    draft = Manifest(
        writer.version,
        program,
        options=kb.options,
        arities=arities,
        dictionary=dictionary,
        columns=kb.column_names,
        ontology={} if known is None else known.ontology,
        given_files=kb.given_files,
        streams={} if known is None else known.streams,
    )
    making = _Making(writer, reasoner, known)
    for section, facts in sections.items():
        old = () if known is None else known.layers(section)
        draft = making.with_facts(draft, section, old, *making.shelf.since(section, old, facts, arities))
    found = making.completed(draft, known is not None, once=False)
    making.shelf.done(*sections.values())
    return found if report is None else _reported(found, report)


def stored_text(program: Program, reasoner: Reasoner[Any, Any, Any]) -> str:
    """The text of a program, with the names that the store has for its blank nodes."""
    labels = sorted(blank_nodes(program))
    ids = reasoner.backend.encode_values([BlankNode(label) for label in labels])
    names = {label: f"{BLANK[2:]}{id}" for label, id in zip(labels, ids, strict=True)}
    return print_program(renamed_blank_nodes(program, names))


def written(
    writer: Writing, reasoner: Reasoner[Any, Any, Any], draft: Manifest, before: Manifest, report: Report
) -> Manifest:
    """The manifest of a version after one update of the version `before`."""
    making, what = _Making(writer, reasoner, before), reasoner.difference
    draft = making.with_facts(draft, "explicit", draft.explicit, what.explicit_added, what.explicit_deleted)
    draft = making.with_facts(draft, "derived", draft.derived, what.derived_added, what.derived_deleted)
    return _reported(making.completed(draft, True, once=True), report)


def _reported(manifest: Manifest, report: Report) -> Manifest:
    """A manifest with what was done, in values as JSON has them, so that it equals the one that is read."""
    statistics = {key: value for key, value in report.stats().items() if key not in _PASSING}
    return replace(manifest, statistics=json.loads(json.dumps(statistics)))


class _Making:
    """A version in the making, of what a reasoner has; it comes after the version `before`, if there is one."""

    def __init__(self, writer: Writing, reasoner: Reasoner[Any, Any, Any], before: Manifest | None) -> None:
        self._writer, self._reasoner, self._before = writer, reasoner, before
        self.shelf = reasoner.backend.shelf(writer)

    def with_facts(self, draft: Manifest, section: str, old: Sequence[Layer], added: Any, deleted: Any) -> Manifest:
        """A manifest with a section whose facts have changed."""
        changed: dict[str, Any] = {section: self.shelf.write(section, old, added, deleted, draft.arities)}
        return replace(draft, **changed)

    def completed(self, draft: Manifest, known: bool, once: bool) -> Manifest:
        """A manifest that has facts, with terms, counts and what is kept.

        The terms of the draft's dictionary are `known` to be the reasoner's. There was one update since the version
        before, or, if `once` is false, any number of them.
        """
        explicit, derived = section_counts(draft.explicit), section_counts(draft.derived)
        counts = {
            predicate: {"explicit": explicit.get(predicate, 0), "derived": derived.get(predicate, 0)}
            for predicate in sorted(draft.arities)
        }
        return replace(
            draft,
            dictionary=self.shelf.terms(draft.dictionary, known),
            counts=self._reasoner.stored_counts(counts),
            **self._kept(once),
        )

    def _kept(self, once: bool) -> dict[str, Any]:
        """The section `state`, what is kept for updates, as a manifest has it.

        What an algorithm did not keep up to date leaves the store with an update.
        """
        before, reasoner = self._before, self._reasoner
        if before is not None and reasoner.is_untouched:
            return _entries(before.state, before.state_arities, before.state_kinds)
        kinds = reasoner.kept_kinds()
        layers, arities = ((), {}) if before is None else _still_right(before, kinds)
        change = None if before is None else reasoner.kept_change(once)
        if change is not None:
            added, deleted = change
            arities |= {name: ids.shape[0] for name, ids in added.items()}
            layers = write_section(self._writer, "state", layers, added, deleted, arities)
        else:
            layers, arities = self.shelf.kept(*reasoner.to_keep(), layers, arities, kinds)
        reasoner.note_stored()
        found = {name for layer in layers for name in layer.added}
        return _entries(
            layers, {name: arity for name, arity in arities.items() if name in found}, kinds | {BY_VALUE, BY_KIND}
        )


def _entries(layers: Sequence[Layer], arities: Mapping[str, int], kinds: Iterable[str]) -> dict[str, Any]:
    """The section `state` as a manifest has it."""
    named = tuple(sorted(kind for kind in kinds if kind not in (OLDER, BY_TERM, BY_TEXT)))
    return {"state": tuple(layers), "state_arities": dict(arities), "state_kinds": named}


def _still_right(before: Manifest, kinds: frozenset[str]) -> tuple[tuple[Layer, ...], dict[str, int]]:
    """The layers and arities of the relations whose kinds are still kept."""

    def chosen(parts: Mapping[str, Part]) -> dict[str, Part]:
        return {name: part for name, part in parts.items() if kind_of(name) in kinds}

    layers = (Layer(chosen(layer.added), chosen(layer.deleted)) for layer in before.state)
    arities = {name: arity for name, arity in before.state_arities.items() if kind_of(name) in kinds}
    return tuple(layer for layer in layers if layer.added or layer.deleted), arities
