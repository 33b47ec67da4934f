"""What a version changed in the materialisation: facts that came and facts that went, whatever they are, given or derived.

A fact that was derived and is given now has changed its section of the store, and nothing else: it is no change here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from everlog.knowledge.version_changes import diff
from everlog.store.version_diff import Rows


def changed_facts(store: Path, before: int, after: int, predicate: str | None = None) -> dict[str, tuple[Rows, Rows]]:
    """By predicate the facts that came from one version to another, and those that went, as N-Triples terms, sorted."""
    found = diff(store, before, after, predicate)
    sections = (found.explicit, found.derived)
    names = {name for section in sections for part in (section.added, section.deleted) for name in part}
    changes = {}
    for name in sorted(names if predicate is None else names & {predicate}):
        came = {row for section in sections for row in section.added.get(name, ())}
        went = {row for section in sections for row in section.deleted.get(name, ())}
        if came != went:
            changes[name] = sorted(came - went), sorted(went - came)
    return changes


def in_lines(changes: dict[str, tuple[Rows, Rows]]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Changes one by one: predicate, `insert` or `delete`, arguments. What goes is said first."""
    for name, (came, went) in changes.items():
        yield from ((name, "delete", row) for row in went)
        yield from ((name, "insert", row) for row in came)
