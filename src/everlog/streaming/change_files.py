"""The changes of each version as a file of JSON lines: `DIR/000018.jsonl`.

    {"version": 18, "predicate": "reach", "op": "insert", "arguments": ["a", {"type": "uri", "value": "http://b"}]}

Values are as the server has them (`json_values.py`). A file appears whole, and after its version. What is missing because a
process ended in between is written from the store when the stream goes on; so are versions that others have written.
"""

from __future__ import annotations

import json
from pathlib import Path

from everlog.datalog.json_values import json_value
from everlog.datalog.ntriples import read_term
from everlog.errors import EverlogError
from everlog.knowledge.base import KnowledgeBase
from everlog.store.cleanup import committed_versions
from everlog.store.manifest import Manifest, number
from everlog.store.version_diff import Rows
from everlog.streaming.materialised_changes import changed_facts, in_lines


class ChangeFiles:
    """A folder of changes. It begins with the first version that is written after it was made."""

    def __init__(self, folder: Path, store: Path) -> None:
        self._folder, self._store = folder, store
        folder.mkdir(parents=True, exist_ok=True)
        there = [int(file.stem) for file in folder.glob("*.jsonl") if file.stem.isdigit()]
        self._last = max(there, default=0) or committed_versions(store)[-1]
        """The last version that is here, or that nobody asks for."""
        self.catch_up()

    def catch_up(self) -> None:
        """Writes what is missing, from the store."""
        versions = committed_versions(self._store)
        for version in (one for one in versions if one > self._last):
            if self._last not in versions:
                raise EverlogError(
                    f"{self._folder} ends with version {self._last}, which the store {self._store} has forgotten, so that "
                    f"nobody can say what changed since; give --changes a new folder, or keep more versions (--keep)"
                )
            self._write(version, changed_facts(self._store, self._last, version))

    def write(self, kb: KnowledgeBase, manifest: Manifest) -> None:
        """Writes what the last update of a knowledge base, which has become a version, changed."""
        if manifest.version != self._last + 1:
            self.catch_up()
            return
        reasoner, changes = kb.reasoner, {}
        backend, what = reasoner.backend, reasoner.difference
        parts = (what.added, what.deleted)
        for predicate in sorted({name for part in parts for name in backend.sizes(part)}):
            arity = kb.arity(predicate)
            came, went = (_texts(kb, backend.part_listed(part, predicate, arity), arity) for part in parts)
            changes[predicate] = came, went
        self._write(manifest.version, changes)

    def _write(self, version: int, changes: dict[str, tuple[Rows, Rows]]) -> None:
        path = self._folder / f"{number(version)}.jsonl"
        new = path.with_name(f".{path.name}.new")
        with new.open("w", encoding="utf-8") as file:
            for predicate, op, row in in_lines(changes):
                arguments = [json_value(read_term(text)) for text in row]
                line = {"version": version, "predicate": predicate, "op": op, "arguments": arguments}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        new.replace(path)
        self._last = version


def _texts(kb: KnowledgeBase, listed: object, arity: int) -> Rows:
    from everlog.datalog.ntriples import write_term

    found = kb.reasoner.backend.rows(listed, arity, few=True)
    return sorted(tuple(map(write_term, row)) for row in found)
