"""Updates of a store by somebody who keeps it open: what `update_store` does, without loading the store each time.

The knowledge base is the store's newest version when an update begins, or the update is refused (`OtherVersion`), and it
is the version that was written when it ends. If it fails on the way the store is as before; the knowledge base may be ahead
of it then, says so by knowing no store (`stored` is None), and has to be opened anew.

Blank nodes of an update are new ones, and are called here as the store will call them. Those that are called so already,
`_:everlog<id>`, are the store's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode

from everlog import interrupts
from everlog.datalog.prefixes import with_prefixes
from everlog.datalog.printer import print_program
from everlog.datalog.suspicions import none_deleted
from everlog.engine.memory.dictionary import NTRIPLES_METADATA
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.knowledge.persistence import written
from everlog.knowledge.report import Report
from everlog.rdf.blanks import OWN
from everlog.sources.column_names import columns_of_width
from everlog.store.commit import writing
from everlog.store.manifest import Manifest, StreamPosition
from everlog.store.term_dictionary import BLANK

Rows: TypeAlias = Sequence[tuple[str, ...]]
Texts: TypeAlias = Mapping[str, "Rows | pa.Table"]
"""Facts by predicate, as N-Triples terms; those of a predicate all have the same length. A table has columns of texts."""

_NONE: Mapping[str, StreamPosition] = {}


class OtherVersion(EverlogError):
    """The store has a version that the knowledge base does not know."""


@dataclass(frozen=True)
class FactChange:
    """Explicit facts to add and to delete; one that is both is added. `prefixes` become prefixes of the program."""

    add: Texts = field(default_factory=dict)
    delete: Texts = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(rows) for facts in (self.add, self.delete) for rows in facts.values())


def update_opened(
    kb: KnowledgeBase,
    change: FactChange,
    progress: Callable[[int, int, int], None] | None = None,
    written_last: Manifest | None = None,
    streams: Mapping[str, StreamPosition] = _NONE,
    wait: float = 0.0,
) -> tuple[Report, Manifest]:
    """Writes a change of facts as a new version of the store that a knowledge base was opened from.

    `progress` is called between rounds; if it raises, everything is as before. What dead writers left behind is looked for
    unless the newest version is the one that the same process has `written_last`. The version also says how far some
    `streams` have come. Another writer is waited for some seconds.
    """
    started = perf_counter()
    assert kb.stored is not None
    place, known = kb.stored
    with kb.during("an update", changes=True), writing(place, wait, written_last != known) as writer:
        before = writer.before
        assert before is not None
        if before != known:
            raise OtherVersion(
                f"the store {place} is at version {before.version}, and what is open here is version {known.version}"
            )
        add, delete = _named_as_stored(kb, change)
        program = with_prefixes(kb.program, change.prefixes)
        text = before.program if program is kb.program else print_program(program)
        report = kb.update(add, delete, progress=progress)
        kb.stored = None
        report = replace(report, warnings=[*_missed(kb, change), *report.warnings])
        # Texts have columns, but these have no names of their own.
        draft = replace(
            before,
            version=writer.version,
            program=text,
            arities=dict(kb.arities),
            counts={},
            statistics={},
            given_files=kb.given_files,
            streams={**before.streams, **streams},
        )
        draft = written(writer, kb.reasoner, draft, before, report)
        interrupts.settle()
        manifest = writer.commit(draft)
        kb.program, kb.stored, kb.known_stores[place] = program, (place, manifest), manifest
        if kb.holding is not None and not kb.reasoner.backend.query_dictionary()[1]:
            kb.holding.release()  # in memory nothing is read from files any more
    return replace(report, seconds={**report.seconds, "total": perf_counter() - started}), manifest


def _named_as_stored(kb: KnowledgeBase, change: FactChange) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is to be added and to be deleted, with the names that the store has for blank nodes."""
    dictionary, grows = kb.reasoner.backend.query_dictionary()
    if grows:  # ids are Spark's business, and so are names
        return _tables(change.add), _tables(change.delete)
    names: dict[str, str] = {}
    for text in _blank_nodes(change.add.values()):
        if OWN.fullmatch(text[2:]):
            if dictionary.find_value(BlankNode(text[2:])) < 0:
                raise EverlogError(f"the store has no blank node {text}; call a new one by another name")
        else:
            label = f"{BLANK[2:]}{len(dictionary)}"
            dictionary.encode_value(BlankNode(label))
            names[text] = f"_:{label}"
    # A blank node that is neither stored nor added is in no fact that could be deleted.
    unknown = {
        text for text in _blank_nodes(change.delete.values()) if text not in names and not OWN.fullmatch(text[2:])
    }
    delete = change.delete
    if unknown:
        delete = {name: [row for row in _listed(rows) if unknown.isdisjoint(row)] for name, rows in delete.items()}
    return _tables(_renamed(change.add, names)), _tables(_renamed(delete, names))


def _blank_nodes(facts: Iterable[Rows | pa.Table]) -> list[str]:
    """The blank nodes of some facts, each once, in order."""
    suspected = (rows for rows in facts if not isinstance(rows, pa.Table) or _has_blank_nodes(rows))
    texts = (text for rows in suspected for row in _listed(rows) for text in row)
    return list(dict.fromkeys(text for text in texts if text.startswith("_:")))


def _has_blank_nodes(table: pa.Table) -> bool:
    return any(pc.any(pc.starts_with(column, "_:")).as_py() for column in table.columns)


def _listed(rows: Rows | pa.Table) -> Rows:
    if not isinstance(rows, pa.Table):
        return rows
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _renamed(facts: Texts, names: Mapping[str, str]) -> Texts:
    if not names:
        return facts
    return {
        name: [tuple(names.get(text, text) for text in row) for row in _listed(rows)] for name, rows in facts.items()
    }


def _tables(facts: Texts) -> dict[str, Any]:
    """Facts as a knowledge base takes them: Arrow tables, or a list for a predicate without arguments."""
    found: dict[str, Any] = {}
    for predicate, rows in facts.items():
        if isinstance(rows, pa.Table):
            found.update({predicate: _named(rows.columns)} if len(rows) else {})
        elif rows:
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
            found[predicate] = _named(columns) if rows[0] else list(rows)
    return found


def _named(columns: Sequence[pa.Array | pa.ChunkedArray]) -> pa.Table:
    fields = [pa.field(name, pa.string(), metadata=NTRIPLES_METADATA) for name in columns_of_width(len(columns))]
    return pa.Table.from_arrays(list(columns), schema=pa.schema(fields))


def _missed(kb: KnowledgeBase, change: FactChange) -> list[str]:
    """A warning if some facts were to be deleted and none was."""
    asked = sum(map(len, change.delete.values()))
    reasoner = kb.reasoner
    gone = any(reasoner.backend.sizes(reasoner.difference.explicit_deleted).values())
    return [none_deleted(asked)] if asked and not gone else []
